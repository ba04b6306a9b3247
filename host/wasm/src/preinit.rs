//! Guests that are started when they are built.
//!
//! Go's runtime takes a millisecond to start, and does the same in every instance: a guest that is granted nothing finds no
//! environment and no folder, a clock that stands still, and a fixed sequence of random numbers. So it can be started once.
//! The memory and the globals that it has then are what every instance begins with; the tool for it is wizer
//! (<https://docs.rs/wasmtime-wizer>).

use crate::capability::{self, StillClock};
use crate::capture::Capture;
use crate::grant::Effective;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{DataSection, RawSection};
use wasmparser::{DataKind, DataSectionReader, Parser, Payload};
use wasmtime::{Config, Engine, Instance, Linker, Module, OptLevel, Store, StoreLimits, StoreLimitsBuilder, Val};
use wasmtime_wasi::HostWallClock;
use wasmtime_wasi::p1::{self, WasiP1Ctx};
use wasmtime_wizer::{InstanceState, SnapshotVal, ValType, Wizer};

/// Starts a reactor of WASI preview 1.
const START: &str = "_initialize";

/// Where WASI's adapter gets its memory. What a started runtime gives to others is its collector's, and the adapter keeps
/// what it gets for as long as the instance lives.
const ADAPTER: &str = "cabi_realloc_adapter";

/// Instructions that a start may take, some seconds of them.
const FUEL: u64 = 2_000_000_000;

/// Bytes that a guest may use as it starts, and entries of its tables.
const MEMORY: usize = 256 << 20;
const TABLE: usize = 200_000;

/// A core module that imports WASI preview 1, as it is once it is started. For a plugin that asks for no environment, no
/// folder and no randomness it is the same plugin: what else is granted, a start can't have seen.
///
/// # Errors
/// Says why it has to be started in each instance: it has no start; gives no memory to WASI's adapter; does not start when
/// it is alone, in some seconds and 256 MiB; writes or asks for the time when it is started; or does what can't be recorded.
/// The sentences begin with "it".
///
/// # Example
/// ```no_run
/// # fn main() -> std::io::Result<()> {
/// let module = std::fs::read("core.wasm")?;
/// match faucet_wasm::preinitialize(&module) {
///     Ok(started) => std::fs::write("core.wasm", started)?,
///     Err(why) => println!("each instance starts it: {why}"),
/// }
/// # Ok(()) }
/// ```
pub fn preinitialize(module: &[u8]) -> Result<Vec<u8>, String> {
    let mut wizer = Wizer::new();
    wizer.init_func(START);
    let (context, observable) = wizer.instrument(module).map_err(unrecorded)?;
    let mut started = Started::new(&observable)?;
    let recorded = at_once(wizer.snapshot(&context, &mut started)).map_err(unrecorded)?;
    without_remains(&recorded).map_err(|error| unrecorded(error.into()))
}

fn unrecorded(error: wasmtime::Error) -> String {
    format!("it can't be recorded: {}", error.root_cause())
}

/// The output of a future in which nothing waits.
fn at_once<R>(future: impl Future<Output = R>) -> R {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("what is read of an instance is there"),
    }
}

/// The module without what wizer leaves of each segment of data it came with: an empty one that fills nothing. Go's linker
/// makes some 50,000, and all would be looked at whenever the module is loaded.
fn without_remains(module: &[u8]) -> Result<Vec<u8>, wasm_encoder::reencode::Error> {
    let mut out = wasm_encoder::Module::new();
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            // Code may refer to segments by their numbers, which says this section; without it, none does.
            Payload::DataCountSection { .. } => return Ok(module.to_owned()),
            Payload::DataSection(segments) => {
                out.section(&filling(segments)?);
            }
            payload => {
                if let Some((id, range)) = payload.as_section() {
                    out.section(&RawSection { id, data: &module[range] });
                }
            }
        }
    }
    Ok(out.finish())
}

/// The segments that fill memory.
fn filling(segments: DataSectionReader<'_>) -> Result<DataSection, wasm_encoder::reencode::Error> {
    let mut out = DataSection::new();
    for segment in segments {
        let segment = segment?;
        if matches!(segment.kind, DataKind::Active { .. }) {
            RoundtripReencoder.parse_data(&mut out, segment)?;
        }
    }
    Ok(out)
}

/// What a guest is started in.
struct Surroundings {
    wasi: WasiP1Ctx,
    limits: StoreLimits,
}

/// An instance that was started, and exports its memory and its globals.
struct Started {
    store: Store<Surroundings>,
    instance: Instance,
}

impl Started {
    fn new(module: &[u8]) -> Result<Self, String> {
        let engine = Engine::new(&config()).map_err(unrecorded)?;
        let module = Module::from_binary(&engine, module).map_err(unrecorded)?;
        if let Some(missing) = [START, ADAPTER].iter().find(|name| module.get_export(name).is_none()) {
            return Err(format!("it exports no {missing}"));
        }
        let (written, time) = (Capture::default(), Time::default());
        let mut store = Store::new(&engine, surroundings(&written, &time).map_err(unrecorded)?);
        store.limiter(|surroundings| &mut surroundings.limits);
        store.set_fuel(FUEL).map_err(unrecorded)?;
        let instance = start(&mut store, &module)
            .map_err(|error| format!("it does not start when it is alone: {}", error.root_cause()))?;
        if !written.is_empty() {
            return Err("it writes something when it is started".to_owned());
        }
        if time.0.load(Ordering::Relaxed) {
            return Err("it asks for the time when it is started".to_owned());
        }
        Ok(Self { store, instance })
    }
}

/// A wall clock that stands still, and whether anybody looked at it. The monotonic clock may be looked at: it begins anew in
/// each instance.
#[derive(Clone, Default)]
struct Time(Arc<AtomicBool>);

impl HostWallClock for Time {
    fn resolution(&self) -> Duration {
        HostWallClock::resolution(&StillClock)
    }

    fn now(&self) -> Duration {
        self.0.store(true, Ordering::Relaxed);
        HostWallClock::now(&StillClock)
    }
}

/// It runs once: what is compiled soon is better than what is fast.
fn config() -> Config {
    let mut config = Config::new();
    config.cranelift_opt_level(OptLevel::None).consume_fuel(true).wasm_relaxed_simd(false).wasm_memory64(false);
    config
}

fn surroundings(written: &Capture, time: &Time) -> wasmtime::Result<Surroundings> {
    let mut wasi = capability::wasi(written, &Effective::closed())?;
    let wasi = wasi.wall_clock(time.clone()).monotonic_clock(StillClock).build_p1();
    let limits = StoreLimitsBuilder::new().memory_size(MEMORY).table_elements(TABLE).build();
    Ok(Surroundings { wasi, limits })
}

/// What it imports beside WASI traps: whatever the host would be told is told by every instance.
fn start(store: &mut Store<Surroundings>, module: &Module) -> wasmtime::Result<Instance> {
    let mut linker = Linker::new(store.engine());
    p1::add_to_linker_sync(&mut linker, |surroundings: &mut Surroundings| &mut surroundings.wasi)?;
    linker.define_unknown_imports_as_traps(module)?;
    let instance = linker.instantiate(&mut *store, module)?;
    instance.get_typed_func::<(), ()>(&mut *store, START)?.call(store, ())?;
    Ok(instance)
}

impl InstanceState for Started {
    async fn global_get(&mut self, name: &str, _: ValType) -> SnapshotVal {
        let global = self.instance.get_global(&mut self.store, name);
        match global.map(|global| global.get(&mut self.store)) {
            Some(Val::I32(value)) => SnapshotVal::I32(value),
            Some(Val::I64(value)) => SnapshotVal::I64(value),
            Some(Val::F32(bits)) => SnapshotVal::F32(bits),
            Some(Val::F64(bits)) => SnapshotVal::F64(bits),
            Some(Val::V128(value)) => SnapshotVal::V128(value.as_u128()),
            _ => unreachable!("wizer exports its globals, and refuses those of other types"),
        }
    }

    async fn memory_contents(&mut self, name: &str, contents: impl FnOnce(&[u8]) + Send) {
        let memory = self.instance.get_memory(&mut self.store, name);
        contents(memory.map_or(&[], |memory| memory.data(&self.store)));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A reactor that does `start`, and has what a start needs. `$zero` is the place of a clock's answer.
    fn reactor(start: &str) -> Vec<u8> {
        let text = format!(
            r#"(module
                (import "wasi_snapshot_preview1" "clock_time_get" (func $time (param i32 i64 i32) (result i32)))
                (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
                (import "faucet:connector/host@0.1.0" "secrets" (func $secrets (param i32)))
                (memory (export "memory") 1)
                (global $count (mut i64) (i64.const 0))
                (data (i32.const 8) "before")
                (func (export "_initialize") {start})
                (func (export "cabi_realloc_adapter") (param i32 i32 i32 i32) (result i32) (i32.const 0))
                (func (export "count") (result i64) (global.get $count)))"#
        );
        wat::parse_str(text).unwrap()
    }

    #[test]
    fn an_instance_begins_as_the_start_left_it() {
        let module = reactor(
            "(i32.store16 (i32.const 9) (i32.const 0x6e61)) (i32.store8 (i32.const 200000) (memory.grow (i32.const 3)))
             (global.set $count (i64.add (global.get $count) (i64.const -7)))",
        );
        let started = preinitialize(&module).unwrap();
        let engine = Engine::default();
        let module = Module::from_binary(&engine, &started).unwrap();
        assert!(module.get_export(START).is_none(), "it is not started again");
        let mut store = Store::new(&engine, ());
        let mut linker = Linker::new(&engine);
        linker.define_unknown_imports_as_traps(&module).unwrap();
        let instance = linker.instantiate(&mut store, &module).unwrap();
        let memory = instance.get_memory(&mut store, "memory").unwrap();
        assert_eq!((&memory.data(&store)[8..14], memory.data(&store)[200_000]), (&b"banore"[..], 1));
        assert_eq!(memory.size(&store), 4);
        let count = instance.get_typed_func::<(), i64>(&mut store, "count").unwrap();
        assert_eq!(count.call(&mut store, ()).unwrap(), -7);
    }

    #[test]
    fn nothing_is_left_of_the_segments_it_came_with() {
        let started = preinitialize(&reactor("(i32.store8 (i32.const 8) (i32.const 0x42))")).unwrap();
        let segments = Parser::new(0).parse_all(&started).find_map(|payload| match payload.unwrap() {
            Payload::DataSection(segments) => Some(segments.into_iter().map(|segment| segment.unwrap().data.to_vec())),
            _ => None,
        });
        assert_eq!(segments.unwrap().collect::<Vec<_>>(), [b"Before"]);
    }

    #[test]
    fn numbered_segments_keep_their_numbers() {
        let text = r#"(module (memory (export "memory") 1) (data $word "word")
            (func (export "_initialize") (memory.init $word (i32.const 16) (i32.const 0) (i32.const 4)))
            (func (export "again") (memory.init $word (i32.const 32) (i32.const 0) (i32.const 4)))
            (func (export "cabi_realloc_adapter") (param i32 i32 i32 i32) (result i32) (i32.const 0)))"#;
        let started = preinitialize(&wat::parse_str(text).unwrap()).unwrap();
        let engine = Engine::default();
        let module = Module::from_binary(&engine, &started).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        instance.get_typed_func::<(), ()>(&mut store, "again").unwrap().call(&mut store, ()).unwrap();
        let memory = instance.get_memory(&mut store, "memory").unwrap().data(&store);
        assert_eq!((&memory[16..20], &memory[32..36]), (&b"word"[..], &b"word"[..]));
    }

    #[test]
    fn what_others_could_see_or_change_is_done_in_each_instance() {
        let print = "(i32.store (i32.const 32) (i32.const 8)) (i32.store (i32.const 36) (i32.const 6))
                     (drop (call $write (i32.const 1) (i32.const 32) (i32.const 1) (i32.const 40)))";
        let cases = [
            (print, "it writes something when it is started"),
            (
                "(drop (call $time (i32.const 0) (i64.const 1) (i32.const 0)))",
                "it asks for the time when it is started",
            ),
            ("(call $secrets (i32.const 0))", "it does not start when it is alone: "),
            ("unreachable", "it does not start when it is alone: wasm trap"),
            ("(loop $for_ever (br $for_ever))", "it does not start when it is alone: wasm trap: all fuel consumed"),
            (
                "(drop (memory.grow (i32.const 8192))) (i32.store (i32.const 300000000) (i32.const 1))",
                "it does not start",
            ),
        ];
        for (start, why) in cases {
            let refused = preinitialize(&reactor(start)).unwrap_err();
            assert!(refused.starts_with(why), "{start}: {refused}");
        }
        // The monotonic clock begins anew in each.
        preinitialize(&reactor("(drop (call $time (i32.const 1) (i64.const 1) (i32.const 0)))")).unwrap();
    }

    #[test]
    fn what_has_no_start_or_no_memory_for_the_adapter_is_left_as_it_is() {
        for (text, why) in [
            ("(module)", "it exports no _initialize"),
            (r#"(module (func (export "_initialize")))"#, "it exports no cabi_realloc_adapter"),
            ("(module (import \"a\" \"b\" (memory 1)))", "it can't be recorded: imported memories are not supported"),
        ] {
            assert_eq!(preinitialize(&wat::parse_str(text).unwrap()).unwrap_err(), why);
        }
        assert!(preinitialize(b"no module").unwrap_err().starts_with("it can't be recorded: "));
    }
}
