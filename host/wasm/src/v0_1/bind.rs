//! The types of `wit/`, generated. Parameters are borrowed, so a page goes into a guest straight from its buffers.
//!
//! One world with all that any component exports, so that the three kinds share their types; a component is bound
//! interface by interface.
#![allow(missing_docs, unsafe_code, dead_code, unused_variables, clippy::all, clippy::too_many_lines)]

wasmtime::component::bindgen!({
    path: "../../wit",
    inline: "
        package faucet:everything;
        world plugin {
            import faucet:connector/host@0.1.0;
            import faucet:connector/text@0.1.0;
            export faucet:connector/transforms@0.1.0;
            export faucet:connector/sources@0.1.0;
            export faucet:connector/sinks@0.1.0;
        }
    ",
    world: "faucet:everything/plugin",
    ownership: Borrowing { duplicate_if_necessary: true },
    require_store_data_send: true,
});
