//! The types of `wit/`, generated, and the glue that exports a component. Authors never need this module.
//!
//! The world `transform` is at the top; `source` and `sink` share its types. What an export macro does not name is not
//! part of the component.
#![allow(missing_docs, unsafe_code, clippy::all, clippy::wildcard_imports, clippy::too_many_lines)]

wit_bindgen::generate!({
    path: "../../wit",
    world: "transform",
    pub_export_macro: true,
    export_macro_name: "export_component",
    default_bindings_module: "faucet_sdk::bindings",
    additional_derives: [PartialEq],
});

/// The world `source`.
pub mod source {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "source",
        pub_export_macro: true,
        export_macro_name: "export_source",
        default_bindings_module: "faucet_sdk::bindings::source",
        additional_derives: [PartialEq],
        with: {
            "faucet:connector/types@0.1.0": crate::bindings::faucet::connector::types,
            "faucet:connector/host@0.1.0": crate::bindings::faucet::connector::host,
            "faucet:connector/text@0.1.0": crate::bindings::faucet::connector::text,
        },
    });
}

/// The world `sink`.
pub mod sink {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "sink",
        pub_export_macro: true,
        export_macro_name: "export_sink",
        default_bindings_module: "faucet_sdk::bindings::sink",
        additional_derives: [PartialEq],
        with: {
            "faucet:connector/types@0.1.0": crate::bindings::faucet::connector::types,
            "faucet:connector/host@0.1.0": crate::bindings::faucet::connector::host,
            "faucet:connector/text@0.1.0": crate::bindings::faucet::connector::text,
        },
    });
}
