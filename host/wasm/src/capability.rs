//! What a guest gets of the world: nothing, and then what is granted.
//!
//! Ungranted there are no arguments, no environment, no files, no network. The clocks stand still at 1970-01-01, so
//! sleeping returns at once and nothing depends on when a page is processed. Random numbers come from a fixed sequence,
//! the same for every instance. All of this makes a transform a function of its configuration and its page.

use crate::capture::Capture;
use crate::folders;
use crate::grant::Effective;
use crate::limits::{Limits, Meter};
use crate::log::GuestLog;
use crate::measure::{Metrics, Names};
use crate::outbound::{Sender, Tls, Traffic};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasmtime::StoreContextMut;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock;
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};
use wasmtime_wasi::{
    Deterministic, HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView, async_trait,
};
use wasmtime_wasi_http::p2::bindings::http::outgoing_handler;
use wasmtime_wasi_http::p2::bindings::http::types::{self, RequestOptions};
use wasmtime_wasi_http::p2::types::HostOutgoingRequest;
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

/// Handles a guest may hold on the host's side.
const HANDLES: usize = 1000;

/// Bytes of the random sequence before it repeats.
const RANDOM: u32 = 4096;

/// What all instances of a plugin are started with.
#[derive(Clone)]
pub(crate) struct World {
    /// The name it goes by.
    pub(crate) plugin: String,
    /// What it may use.
    pub(crate) limits: Limits,
    /// What it may do.
    pub(crate) grants: Arc<Effective>,
    /// Its requests of the last minute.
    pub(crate) traffic: Arc<Traffic>,
    /// The names of its metrics.
    pub(crate) names: Arc<Names>,
    /// For its requests.
    pub(crate) tls: Tls,
}

/// Nanoseconds that the monotonic clock begins at: Go's runtime takes 0 for a broken clock.
const BEGIN: u64 = 1;

impl World {
    /// The same without anything granted, for calls that must not touch the world.
    pub(crate) fn closed(&self) -> Self {
        Self { grants: Arc::new(Effective::closed()), limits: self.limits.quick(), ..self.clone() }
    }
}

/// The host's side of one instance.
pub(crate) struct Surroundings {
    wasi: WasiCtx,
    table: ResourceTable,
    http: WasiHttpCtx,
    sender: Sender,
    /// The monotonic clock, if there is one.
    started: Option<Instant>,
    /// What the guest wrote to stdout and stderr.
    pub(crate) written: Capture,
    /// Where its log lines go.
    pub(crate) log: GuestLog,
    /// Where its metrics go.
    pub(crate) metrics: Metrics,
    /// What it may use.
    pub(crate) meter: Meter,
    /// What it may do.
    pub(crate) grants: Arc<Effective>,
}

impl Surroundings {
    /// # Errors
    /// If a granted folder can't be opened.
    pub(crate) fn new(world: &World) -> wasmtime::Result<Self> {
        let (plugin, limits, grants) = (world.plugin.as_str(), &world.limits, &world.grants);
        let written = Capture::default();
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES);
        let sender = Sender::new(plugin, grants.clone(), *limits, world.traffic.clone(), world.tls.clone());
        Ok(Self {
            wasi: wasi(&written, grants)?.build(),
            table,
            http: WasiHttpCtx::new(),
            sender,
            started: grants.clock.then(Instant::now),
            written,
            log: GuestLog::new(plugin, limits.log_lines),
            metrics: Metrics::new(plugin, world.names.clone()),
            meter: Meter::new(limits),
            grants: grants.clone(),
        })
    }

    /// A new call: logs are counted and refusals remembered afresh.
    pub(crate) fn next_call(&mut self) {
        self.log.next_call();
        self.meter.next_call();
        self.sender.next_call();
    }

    /// When the call that is running ends.
    pub(crate) fn deadline(&self) -> Instant {
        self.sender.deadline()
    }

    /// Whether the guest was refused something in this call.
    pub(crate) fn was_refused(&self) -> bool {
        self.sender.refusals().any()
    }

    /// What the guest was refused in this call.
    pub(crate) fn refusal(&self) -> Option<String> {
        self.sender.refusals().take()
    }
}

impl WasiView for Surroundings {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for Surroundings {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { ctx: &mut self.http, table: &mut self.table, hooks: &mut self.sender }
    }
}

/// WASI with what is granted, all but the monotonic clock.
///
/// # Errors
/// If a granted folder can't be opened.
pub(crate) fn wasi(written: &Capture, grants: &Effective) -> wasmtime::Result<WasiCtxBuilder> {
    let mut builder = WasiCtx::builder();
    builder
        .stdout(written.clone())
        .stderr(written.clone())
        .max_random_size(1 << 20)
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .envs(&grants.env);
    if !grants.clock {
        builder.wall_clock(StillClock);
    }
    if !grants.random {
        builder
            .secure_random(Deterministic::new(sequence("secure")))
            .insecure_random(Deterministic::new(sequence("insecure")))
            .insecure_random_seed(0);
    }
    folders::open(&mut builder, &grants.dirs)?;
    Ok(builder)
}

/// Bytes that look random and are always the same.
fn sequence(name: &str) -> Vec<u8> {
    let block = |at: u32| Sha256::new().chain_update("faucet ").chain_update(name).chain_update(at.to_le_bytes());
    (0..RANDOM / 32).flat_map(|at| block(at).finalize()).collect()
}

/// Offers this world to components.
pub(crate) fn link(linker: &mut Linker<Surroundings>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_sync(linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_sync(linker)?;
    linker.allow_shadowing(true);
    link_requests(linker)?;
    folders::link(linker)?;
    monotonic_clock::add_to_linker::<_, Ticking>(linker, |surroundings| Clock {
        started: surroundings.started,
        deadline: surroundings.sender.deadline(),
        table: &mut surroundings.table,
    })?;
    linker.allow_shadowing(false);
    Ok(())
}

/// The interface of requests, as wasmtime names it. Other versions of its track are served by it too.
const OUTGOING_HANDLER: &str = "wasi:http/outgoing-handler@0.2.12";

/// Puts a handler of requests in the place of wasmtime's own, which keeps the handle of a request's options for ever, so
/// that an instance would run out of handles after as many requests.
fn link_requests(linker: &mut Linker<Surroundings>) -> wasmtime::Result<()> {
    type Given = (Resource<HostOutgoingRequest>, Option<Resource<RequestOptions>>);
    linker.instance(OUTGOING_HANDLER)?.func_wrap(
        "handle",
        |mut store: StoreContextMut<'_, Surroundings>, (request, options): Given| {
            let mut http = store.data_mut().http();
            let kept = options.as_ref().map(Resource::rep);
            let answer = outgoing_handler::Host::handle(&mut http, request, options);
            if let Some(kept) = kept {
                http.table.delete(Resource::<RequestOptions>::new_own(kept))?;
            }
            let answer = match answer {
                Ok(answer) => Ok(answer),
                Err(error) => Err(types::Host::convert_error_code(&mut http, error)?),
            };
            Ok((answer,))
        },
    )
}

/// A clock that stands still: the wall clock at 1970-01-01, the monotonic one where [`Clock`] begins.
pub(crate) struct StillClock;

impl HostWallClock for StillClock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl HostMonotonicClock for StillClock {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        BEGIN
    }
}

/// The monotonic clock. WASI's own would let a guest sleep inside the host, out of reach of the deadline.
struct Ticking;

impl HasData for Ticking {
    type Data<'a> = Clock<'a>;
}

/// Stands still unless the real time is granted. A pause is over at once where it stands still, and no later than the
/// call's deadline where it does not.
struct Clock<'a> {
    started: Option<Instant>,
    deadline: Instant,
    table: &'a mut ResourceTable,
}

impl Clock<'_> {
    /// Nanoseconds since it was started, from [`BEGIN`].
    fn elapsed(&self) -> u64 {
        let elapsed = self.started.map_or(0, |started| u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX));
        elapsed.saturating_add(BEGIN)
    }

    fn after(&mut self, nanoseconds: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let over = |_| self.deadline.min(Instant::now() + Duration::from_nanos(nanoseconds));
        let moment = self.table.push(Moment(self.started.map(over)))?;
        subscribe(self.table, moment)
    }
}

impl monotonic_clock::Host for Clock<'_> {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(self.elapsed())
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(1)
    }

    fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.after(when.saturating_sub(self.elapsed()))
    }

    fn subscribe_duration(&mut self, pause: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.after(pause)
    }
}

/// A moment; none is one that has come.
struct Moment(Option<Instant>);

#[async_trait]
impl Pollable for Moment {
    async fn ready(&mut self) {
        if let Some(moment) = self.0 {
            tokio::time::sleep_until(moment.into()).await;
        }
    }
}
