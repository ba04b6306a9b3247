//! `#[config]`: the derives of a configuration, by the SDK's own copies of serde and schemars.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

pub(crate) fn expand(item: DeriveInput) -> TokenStream {
    quote! {
        #[derive(
            ::core::fmt::Debug,
            ::core::clone::Clone,
            ::faucet_sdk::serde::Deserialize,
            ::faucet_sdk::schemars::JsonSchema,
        )]
        #[serde(crate = "::faucet_sdk::serde", deny_unknown_fields)]
        #[schemars(crate = "::faucet_sdk::schemars")]
        #item
    }
}
