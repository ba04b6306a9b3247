//! The types of `wit/`, generated, and the glue that exports a component. Authors never need this module.
#![allow(missing_docs, unsafe_code, clippy::all, clippy::wildcard_imports, clippy::too_many_lines)]

wit_bindgen::generate!({
    path: "../../wit",
    world: "transform",
    pub_export_macro: true,
    export_macro_name: "export_component",
    default_bindings_module: "faucet_sdk::bindings",
    additional_derives: [PartialEq],
});
