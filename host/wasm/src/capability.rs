//! What a guest gets of the world: a WASI in which nothing is there.
//!
//! No arguments, no environment, no files, no network. The clocks stand still at 1970-01-01, so sleeping returns at
//! once and nothing depends on when a page is processed. Random numbers come from a fixed sequence, the same for every
//! instance. All of this makes a transform a function of its configuration and its page.

use crate::capture::Capture;
use crate::limits::{Limits, Meter};
use crate::log::GuestLog;
use sha2::{Digest, Sha256};
use std::time::Duration;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock;
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};
use wasmtime_wasi::{Deterministic, HostWallClock, WasiCtx, WasiCtxView, WasiView, async_trait};

/// Handles a guest may hold on the host's side.
const HANDLES: usize = 1000;

/// Bytes of the random sequence before it repeats.
const RANDOM: u32 = 4096;

/// The host's side of one instance.
pub(crate) struct Surroundings {
    wasi: WasiCtx,
    table: ResourceTable,
    /// What the guest wrote to stdout and stderr.
    pub(crate) written: Capture,
    /// Where its log lines go.
    pub(crate) log: GuestLog,
    /// What it may use.
    pub(crate) meter: Meter,
}

impl Surroundings {
    pub(crate) fn new(plugin: &str, limits: &Limits) -> Self {
        let written = Capture::default();
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES);
        Self { wasi: empty_world(&written), table, written, log: GuestLog::new(plugin), meter: Meter::new(limits) }
    }
}

impl Surroundings {
    /// A new call: logs are counted and refusals remembered afresh.
    pub(crate) fn next_call(&mut self) {
        self.log.next_call();
        self.meter.next_call();
    }
}

impl WasiView for Surroundings {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

fn empty_world(written: &Capture) -> WasiCtx {
    WasiCtx::builder()
        .stdout(written.clone())
        .stderr(written.clone())
        .wall_clock(StillClock)
        .secure_random(Deterministic::new(sequence("secure")))
        .insecure_random(Deterministic::new(sequence("insecure")))
        .insecure_random_seed(0)
        .max_random_size(1 << 20)
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .build()
}

/// Bytes that look random and are always the same.
fn sequence(name: &str) -> Vec<u8> {
    let block = |at: u32| Sha256::new().chain_update("faucet ").chain_update(name).chain_update(at.to_le_bytes());
    (0..RANDOM / 32).flat_map(|at| block(at).finalize()).collect()
}

/// Offers this world to components.
pub(crate) fn link(linker: &mut Linker<Surroundings>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_sync(linker)?;
    linker.allow_shadowing(true);
    monotonic_clock::add_to_linker::<_, Still>(linker, |surroundings| StillView(&mut surroundings.table))?;
    linker.allow_shadowing(false);
    Ok(())
}

/// The wall clock.
struct StillClock;

impl HostWallClock for StillClock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

/// The monotonic clock. WASI's own would let a guest sleep inside the host, out of reach of the deadline.
struct Still;

impl HasData for Still {
    type Data<'a> = StillView<'a>;
}

struct StillView<'a>(&'a mut ResourceTable);

impl StillView<'_> {
    fn now_ready(&mut self) -> wasmtime::Result<Resource<DynPollable>> {
        let ready = self.0.push(Ready)?;
        subscribe(self.0, ready)
    }
}

impl monotonic_clock::Host for StillView<'_> {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(0)
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(1)
    }

    fn subscribe_instant(&mut self, _: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.now_ready()
    }

    fn subscribe_duration(&mut self, _: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.now_ready()
    }
}

/// A moment that has come.
struct Ready;

#[async_trait]
impl Pollable for Ready {
    async fn ready(&mut self) {}
}
