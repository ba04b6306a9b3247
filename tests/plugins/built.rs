//! The components under test, built once.

use faucet_core::ports::Transform;
use faucet_guest_build::Workspace;
use faucet_wasm::{Host, HostOptions, Origin, Plugin, PluginSpec};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The host of all of these tests.
pub fn host() -> Arc<Host> {
    static HOST: OnceLock<Arc<Host>> = OnceLock::new();
    HOST.get_or_init(|| Arc::new(Host::new(HostOptions::default()).unwrap())).clone()
}

/// Builds a workspace of components; the file of one of them.
pub fn component(workspace: &str, name: &str) -> PathBuf {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned();
    let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let built = Workspace { folder: root().join(workspace), target }.build();
    drop(turn);
    built.unwrap_or_else(|error| panic!("{error}")).join(format!("{name}.wasm"))
}

/// The same, loaded.
pub fn plugin(workspace: &str, name: &str) -> Plugin {
    host().load(&PluginSpec::new(name, Origin::File(component(workspace, name)))).unwrap()
}

/// Applies a transform on a runtime of its own.
pub fn apply(
    transform: &mut Box<dyn Transform>,
    page: faucet_core::model::Page,
) -> faucet_core::error::Result<faucet_core::ports::Output> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    runtime.block_on(transform.apply(page))
}
