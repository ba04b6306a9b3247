//! The engine, and how guest code is run on it.

use crate::capability::{self, Surroundings, World};
use crate::deadline::Ticker;
use crate::fault::ENGINE;
use crate::limits::Limits;
use crate::outbound::Tls;
use crate::v0_1;
use faucet_core::error::{Error, Result};
use tokio::runtime::{Handle, RuntimeFlavor};
use wasmtime::component::Linker;
use wasmtime::{Config, Store};

/// Stack that guest code may use, in bytes. The stacks of tokio's threads are four times that.
const STACK: usize = 512 << 10;

/// Handles that the component model keeps for an instance.
const COMPONENT_HANDLES: usize = 10_000;

/// Everything that all plugins of a process share.
pub(crate) struct Runtime {
    pub(crate) engine: wasmtime::Engine,
    pub(crate) linker: Linker<Surroundings>,
    pub(crate) tls: Tls,
    ticker: Ticker,
}

impl Runtime {
    pub(crate) fn new() -> Result<Self> {
        let failed = |error: String| Error::new(&ENGINE, format!("the WebAssembly engine can't start: {error}"));
        let engine = wasmtime::Engine::new(&config()).map_err(|error| failed(error.to_string()))?;
        let linker = linker(&engine).map_err(|error| failed(error.to_string()))?;
        let ticker = Ticker::start(engine.clone()).map_err(|error| failed(error.to_string()))?;
        Ok(Self { engine, linker, tls: Tls::default(), ticker })
    }

    /// A store for one instance, with nothing in it but what is granted.
    ///
    /// # Errors
    /// If a granted folder can't be opened.
    pub(crate) fn store(&self, world: &World) -> wasmtime::Result<Store<Surroundings>> {
        let mut store = Store::new(&self.engine, Surroundings::new(world)?);
        store.limiter(|surroundings| &mut surroundings.meter);
        store.set_max_component_handles(COMPONENT_HANDLES);
        store.epoch_deadline_trap();
        Ok(store)
    }

    /// Runs guest code under a deadline, off the threads that drive async tasks. `input` is the size of what the guest
    /// is given, from which the size of its answer follows.
    pub(crate) fn run<R: Send>(
        &self,
        store: &mut Store<Surroundings>,
        limits: &Limits,
        input: usize,
        call: impl FnOnce(&mut Store<Surroundings>) -> R + Send,
    ) -> R {
        store.set_epoch_deadline(Ticker::epochs(limits.deadline()));
        store.set_hostcall_fuel(limits.output_bytes(input));
        store.data_mut().next_call();
        let _running = self.ticker.running();
        apart(|| call(store))
    }
}

/// Runs `work`, which may take long and may block, without holding up other tasks of a multi-threaded runtime. Under a
/// single-threaded one it gets a thread of its own, because WASI's streams need one that drives no tasks.
fn apart<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Err(_) => work(),
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        Ok(_) => std::thread::scope(|scope| {
            let joined = scope.spawn(work).join();
            joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        }),
    }
}

fn config() -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true).max_wasm_stack(STACK).wasm_relaxed_simd(false).wasm_memory64(false);
    config
}

fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<Surroundings>> {
    let mut linker = Linker::new(engine);
    capability::link(&mut linker)?;
    v0_1::link(&mut linker)?;
    Ok(linker)
}
