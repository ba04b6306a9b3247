//! What the boundary costs: a page of 1,000 rows and 10 columns into a component and back, and loading a plugin that
//! was compiled before. The figures are in `docs/src/benchmarks.md`.
//!
//! `cargo bench --workspace --bench boundary`
// `missing_docs`: criterion_group! writes a public function.
#![allow(clippy::unwrap_used, missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use faucet_core::model::{ColumnBuilder, Field, Kind, Page, Schema, TableId, ValueRef};
use faucet_guest_build::Workspace;
use faucet_wasm::{Host, HostOptions, Origin, PluginSpec};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ROWS: usize = 1000;

fn build(workspace: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Workspace { folder: root.join(workspace), target }.build().unwrap_or_else(|error| panic!("{error}"))
}

fn spec(folder: &Path, name: &str) -> PluginSpec {
    let origin = Origin::File(folder.join(format!("{name}.wasm")));
    PluginSpec::new(name, origin)
}

/// Orders, as a shop has them: integers, a decimal, texts of several lengths, a time, a truth value, nulls.
fn page() -> Page {
    let kinds = [
        ("id", Kind::I64),
        ("customer", Kind::I64),
        ("email", Kind::Text),
        ("status", Kind::Text),
        ("total", Kind::Decimal),
        ("weight", Kind::F64),
        ("paid", Kind::Bool),
        ("created", Kind::TimestampTz),
        ("day", Kind::Date),
        ("note", Kind::Text),
    ];
    let fields = kinds.iter().map(|(name, kind)| Field::new(*name, *kind)).collect();
    let schema = Schema::new(TableId::new("shop", "orders"), fields).with_key(vec![0]);
    let mut columns: Vec<ColumnBuilder> = kinds.iter().map(|(_, kind)| ColumnBuilder::new(*kind)).collect();
    for row in 0..ROWS as i64 {
        let (email, total) =
            (format!("customer{}@example.com", row * 37 % 5000), format!("{}.{:02}", row * 7, row % 100));
        let note = format!("please leave parcel {row} with the neighbours");
        let values = [
            ValueRef::I64(row),
            ValueRef::I64(row * 37 % 5000),
            ValueRef::Text(&email),
            ValueRef::Text(["new", "paid", "shipped"][row as usize % 3]),
            ValueRef::Decimal(&total),
            ValueRef::F64(row as f64 / 3.0),
            ValueRef::Bool(row % 2 == 0),
            ValueRef::TimestampTz(1_700_000_000_000_000 + row),
            ValueRef::Date(19_000 + row as i32 % 365),
            if row % 4 == 0 { ValueRef::Null } else { ValueRef::Text(&note) },
        ];
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    Page::new(Arc::new(schema), ROWS, columns.iter_mut().map(ColumnBuilder::finish).collect())
}

fn calls(criterion: &mut Criterion) {
    let (test_guests, guests) = (build("tests/hostile/guests"), build("guests"));
    let host = Host::new(HostOptions::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let page = page();
    let mut group = criterion.benchmark_group("boundary");
    group.throughput(Throughput::Elements(ROWS as u64));
    let cases = [
        ("noop_all_buffers_new", &test_guests, "echo", json!("buffers")),
        ("noop", &test_guests, "echo", json!("pass")),
        ("mask_partial", &guests, "mask", json!({ "columns": ["email"], "method": "partial" })),
        ("mask_redact", &guests, "mask", json!({ "columns": ["email"] })),
        ("mask_hash", &guests, "mask", json!({ "columns": ["email"], "method": "hash" })),
        ("filter_two_thirds_stay", &guests, "filter", json!({ "field": "status", "op": "ne", "value": "new" })),
    ];
    for (name, folder, component, config) in cases {
        let plugin = host.load(&spec(folder, component)).unwrap();
        let mut transform = plugin.open(config).unwrap();
        group.bench_function(name, |bencher| {
            bencher.iter(|| runtime.block_on(transform.apply(page.clone())).unwrap());
        });
    }
    group.finish();
}

fn loading(criterion: &mut Criterion) {
    let guests = build("guests");
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions { cache_dir: Some(folder.path().join("kept")) };
    let host = Host::new(options.clone()).unwrap();
    host.load(&spec(&guests, "mask")).unwrap();
    criterion.bench_function("load_kept", |bencher| {
        bencher.iter(|| host.load(&spec(&guests, "mask")).unwrap());
    });
    criterion.bench_function("start_engine_and_load_kept", |bencher| {
        bencher.iter(|| Host::new(options.clone()).unwrap().load(&spec(&guests, "mask")).unwrap());
    });
    let plugin = host.load(&spec(&guests, "mask")).unwrap();
    criterion.bench_function("open_instance", |bencher| {
        bencher.iter(|| plugin.open(json!({ "columns": ["email"] })).unwrap());
    });
}

criterion_group!(benches, calls, loading);
criterion_main!(benches);
