//! A page into a component and out again.

use std::path::Path;

use faucet_core::model::Page;
use faucet_core::ports::Transform;
use faucet_guest_build::Workspace;
use faucet_wasm::{Host, HostOptions, Limits, Origin, PluginSpec};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::rows;

/// The component `echo` of `tests/hostile/guests`, configured with `how`, and a page for it.
pub fn echo(how: &str) -> (Runtime, Box<dyn Transform>, Page) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("../target"), Into::into);
    let folder = Workspace { folder: root.join("hostile/guests"), target }.build().unwrap_or_else(|e| panic!("{e}"));
    // The call may take minutes under valgrind.
    let limits = Limits { deadline_ms: Some(600_000), ..Limits::default() };
    let origin = Origin::File(folder.join("echo.wasm"));
    let spec = PluginSpec { limits, ..PluginSpec::new("echo", origin) };
    let host = Host::new(HostOptions::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut transform = host.load(&spec).unwrap().open(json!(how)).unwrap();
    let page = rows::page();
    // What the first call makes once is not counted.
    runtime.block_on(transform.apply(page.clone())).unwrap();
    (runtime, transform, page)
}

/// Rows that came back.
#[inline(never)]
pub fn measured_crossing(runtime: &Runtime, transform: &mut dyn Transform, page: Page) -> usize {
    let output = runtime.block_on(transform.apply(page)).unwrap();
    output.pages.iter().map(Page::rows).sum()
}

/// The same, for a component that gives back new buffers.
#[inline(never)]
pub fn measured_anew(runtime: &Runtime, transform: &mut dyn Transform, page: Page) -> usize {
    // Not the same code as above, or one function would serve both.
    let table = page.schema().table.clone();
    let output = runtime.block_on(transform.apply(page)).unwrap();
    output.pages.iter().filter(|page| page.schema().table == table).map(Page::rows).sum()
}
