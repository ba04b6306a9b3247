//! The attribute macros of `faucet-sdk`. Use them through that crate; its documentation shows both at work.

mod config;
mod export;

use proc_macro::TokenStream;

/// On a struct or enum that is (part of) a configuration: it can be read from YAML or JSON, unknown keys are refused,
/// and its documentation comments become the JSON Schema that `faucet` checks configurations against.
#[proc_macro_attribute]
pub fn config(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    expanded(syn::parse(item).map(config::expand))
}

/// On an `impl Transform`: exports it as a component.
///
/// Name, version and summary come from `Cargo.toml` unless given: `#[transform(name = "x", summary = "Does x")]`.
/// Add `nondeterministic` if the same page may give another output.
#[proc_macro_attribute]
pub fn transform(arguments: TokenStream, item: TokenStream) -> TokenStream {
    export("Transform", arguments, item)
}

/// On an `impl Source`: exports it as a component. Takes the arguments of [`macro@transform`].
#[proc_macro_attribute]
pub fn source(arguments: TokenStream, item: TokenStream) -> TokenStream {
    export("Source", arguments, item)
}

/// On an `impl Sink`: exports it as a component. Takes the arguments of [`macro@transform`].
#[proc_macro_attribute]
pub fn sink(arguments: TokenStream, item: TokenStream) -> TokenStream {
    export("Sink", arguments, item)
}

fn export(world: &str, arguments: TokenStream, item: TokenStream) -> TokenStream {
    let parsed = syn::parse(arguments).and_then(|arguments| Ok((arguments, syn::parse(item)?)));
    expanded(parsed.map(|(arguments, item)| export::expand(world, &arguments, &item)))
}

fn expanded(tokens: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    tokens.unwrap_or_else(syn::Error::into_compile_error).into()
}
