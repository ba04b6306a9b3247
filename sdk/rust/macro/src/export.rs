//! `#[transform]`, `#[source]` and `#[sink]`: what the component says about itself, and its export.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Ident, ItemImpl, LitStr, Token};

/// The attribute's arguments.
#[derive(Default)]
pub(crate) struct Arguments {
    name: Option<LitStr>,
    summary: Option<LitStr>,
    nondeterministic: bool,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arguments = Self::default();
        while !input.is_empty() {
            arguments.parse_one(input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

impl Arguments {
    fn parse_one(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let key: Ident = input.parse()?;
        match key.to_string().as_str() {
            "nondeterministic" => self.nondeterministic = true,
            "name" => self.name = Some(text(input)?),
            "summary" => self.summary = Some(text(input)?),
            _ => {
                return Err(syn::Error::new(key.span(), "expected `name`, `summary` or `nondeterministic`"));
            }
        }
        Ok(())
    }
}

fn text(input: ParseStream<'_>) -> syn::Result<LitStr> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// `world` is the name of the trait that `item` implements.
pub(crate) fn expand(world: &str, arguments: &Arguments, item: &ItemImpl) -> TokenStream {
    let exported = &item.self_ty;
    let world = Ident::new(world, Span::call_site());
    let name = or_env(arguments.name.as_ref(), "CARGO_PKG_NAME");
    let summary = or_env(arguments.summary.as_ref(), "CARGO_PKG_DESCRIPTION");
    let deterministic = !arguments.nondeterministic;
    quote! {
        #item

        impl ::faucet_sdk::About for #exported {
            const NAME: &'static str = #name;
            const VERSION: &'static str = ::core::env!("CARGO_PKG_VERSION");
            const SUMMARY: &'static str = #summary;
            const DETERMINISTIC: bool = #deterministic;
        }

        ::faucet_sdk::__export!(#world, #exported);
    }
}

fn or_env(given: Option<&LitStr>, variable: &str) -> Expr {
    match given {
        Some(text) => syn::parse_quote!(#text),
        None => syn::parse_quote!(::core::env!(#variable)),
    }
}
