//! What a plugin boundary of one JSON record a call costs: each row is written as JSON, handed over, taken back and read.
//! It is what the columns of `wit/` are measured against; `sdk/json-baseline` has the components.
//!
//! `cargo bench --workspace --bench records -- COMPONENT.wasm CASES.json` prints nanoseconds a row. The cases are those of
//! `faucet plugin bench`: rows of the first page, repeated to 1,000.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use faucet_core::model::{JsonRows, Page};
use faucet_wasm::cases::{self, page_from_json};
use serde_json::{Value, json};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};
use wasmtime::component::{Component, Linker, ResourceTable, TypedFunc};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

const ROWS: usize = 1000;
const LONG: Duration = Duration::from_secs(3);

struct Surroundings {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for Surroundings {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// A component of the world `records`, told which columns to redact.
struct Records {
    store: Store<Surroundings>,
    apply: TypedFunc<(String,), (String,)>,
}

impl Records {
    fn open(file: &Path, columns: &Value) -> Self {
        let engine = Engine::new(&Config::new()).unwrap();
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker).unwrap();
        let component = Component::from_file(&engine, file).unwrap();
        let mut store =
            Store::new(&engine, Surroundings { wasi: WasiCtx::builder().build(), table: ResourceTable::new() });
        let instance = linker.instantiate(&mut store, &component).unwrap();
        let configure = instance.get_typed_func::<(String,), ()>(&mut store, "configure").unwrap();
        configure.call(&mut store, (columns.to_string(),)).unwrap();
        let apply = instance.get_typed_func(&mut store, "apply").unwrap();
        Self { store, apply }
    }

    /// All rows of a page, one call each.
    fn page(&mut self, rows: &JsonRows, page: &Page) {
        for row in 0..page.rows() {
            let mut text = Vec::new();
            rows.push_row(&mut text, page, row);
            let (back,) = self.apply.call(&mut self.store, (String::from_utf8(text).unwrap(),)).unwrap();
            black_box(serde_json::from_str::<Value>(&back).unwrap());
        }
    }
}

fn main() {
    // Cargo adds `--bench`.
    let files: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [component, cases] = files.as_slice() else {
        return println!("records: nothing to measure (COMPONENT.wasm CASES.json)");
    };
    let case = cases::read(Path::new(cases)).unwrap().remove(0);
    let page = page_from_json(case.page.as_ref().unwrap()).unwrap();
    let page = Page::concat(vec![page.clone(); ROWS.div_ceil(page.rows())]).slice(0, ROWS);
    let rows = JsonRows::new(page.schema()).unwrap();
    let mut records = Records::open(Path::new(component), &case.config["columns"]);
    records.page(&rows, &page);
    let (mut times, start) = (Vec::new(), Instant::now());
    while start.elapsed() < LONG {
        let one = Instant::now();
        records.page(&rows, &page);
        times.push(one.elapsed());
    }
    times.sort();
    let median = times[times.len() / 2].as_secs_f64() * 1e9 / ROWS as f64;
    println!("{}", json!({ "ns_per_row": median }));
}
