//! The types of `wit/`, generated. Parameters are borrowed, so a page goes into a guest straight from its buffers.
#![allow(missing_docs, unsafe_code, dead_code, unused_variables, clippy::all, clippy::too_many_lines)]

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "transform",
    ownership: Borrowing { duplicate_if_necessary: true },
    require_store_data_send: true,
});
