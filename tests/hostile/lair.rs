//! What all of these tests share: the built components, a host, a page, and the question how a mode ends.

use faucet_core::error::{Error, Result};
use faucet_core::model::{ColumnBuilder, Field, Kind, Page, Schema, TableId, ValueRef};
use faucet_core::ports::{Output, Transform};
use faucet_guest_build::Workspace;
use faucet_wasm::{Grants, Host, HostOptions, Limits, Origin, Plugin, PluginSpec};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tokio::runtime::{Builder, Runtime};

/// The folder of the built components.
pub fn components() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("hostile/guests");
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned();
        Workspace { folder, target }.build().unwrap_or_else(|error| panic!("{error}"))
    })
}

/// One host for all tests, so that what one component breaks would show in the others.
pub fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    let cache_dir = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile"));
    HOST.get_or_init(|| Host::new(HostOptions { cache_dir }).unwrap())
}

/// Drives a future on a runtime that all tests share, with threads, time and network.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let multi = || Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    RUNTIME.get_or_init(multi).block_on(future)
}

pub fn spec(file: &str) -> PluginSpec {
    let origin = Origin::File(components().join(file));
    let limits = Limits { deadline_ms: Some(300), ..Limits::default() };
    PluginSpec { limits, ..PluginSpec::new("villain", origin) }
}

/// Loads a plugin; what is wrong with its grants is an error too.
pub fn load(spec: &PluginSpec) -> Result<Plugin> {
    Ok(host().load(spec)?)
}

pub fn villain() -> &'static Plugin {
    static PLUGIN: OnceLock<Plugin> = OnceLock::new();
    PLUGIN.get_or_init(|| load(&spec("hostile.wasm")).unwrap())
}

/// Three changes of table `public.orders`, the first with a large note.
pub fn page() -> Page {
    let fields = vec![Field::new("__op", Kind::Text), Field::new("id", Kind::I64), Field::new("note", Kind::Text)];
    let schema = Schema::new(TableId::new("public", "orders"), fields).with_key(vec![1]);
    let mut columns = [Kind::Text, Kind::I64, Kind::Text].map(ColumnBuilder::new);
    let large = "x".repeat(200_000);
    for (op, id, note) in [("c", 1, ValueRef::Text(&large)), ("u", 2, ValueRef::Absent), ("d", 3, ValueRef::Null)] {
        columns[0].push(ValueRef::Text(op));
        columns[1].push(ValueRef::I64(id));
        columns[2].push(note);
    }
    Page::new(Arc::new(schema), 3, columns.iter_mut().map(ColumnBuilder::finish).collect())
}

/// The same rows without `__op`.
pub fn plain_page() -> Page {
    let (schema, columns, _) = page().into_parts();
    let plain = Schema::new(schema.table.clone(), schema.fields[1..].to_vec()).with_key(vec![0]);
    Page::new(Arc::new(plain), 3, columns[1..].to_vec())
}

pub fn open(mode: &str) -> Result<Box<dyn Transform>> {
    villain().open(json!(mode))
}

/// Applies `transform`.
pub fn apply(transform: &mut Box<dyn Transform>, page: Page) -> Result<Output> {
    wait(transform.apply(page))
}

/// What the prober sees under a configuration.
pub fn probe(spec: &PluginSpec, config: Value) -> Result<String> {
    let out = apply(&mut load(spec)?.open(config)?, plain_page())?;
    Ok(first_text(&out).as_str().unwrap().to_owned())
}

/// The prober with what it is granted, and time to wait for answers.
pub fn prober(grants: Grants) -> PluginSpec {
    let limits = Limits { deadline_ms: Some(10_000), ..Limits::default() };
    PluginSpec { grants, limits, ..spec("prober.wasm") }
}

/// A grant of these hosts.
pub fn http(hosts: &[&str]) -> Grants {
    Grants { http: hosts.iter().map(ToString::to_string).collect(), ..Grants::default() }
}

/// What becomes of the page in a mode.
pub fn outcome(mode: &str, page: Page) -> Result<Output> {
    apply(&mut open(mode)?, page)
}

/// A sound plugin still works.
pub fn assert_host_is_well() {
    let echo = load(&spec("echo.wasm")).unwrap();
    let out = apply(&mut echo.open(json!("buffers")).unwrap(), page()).unwrap();
    assert_eq!(out.pages, [page()]);
}

/// The error that a mode ends in has this code, and says who, in which call, and over which rows.
pub fn assert_fails(mode: &str, page: Page, code: &str) -> Error {
    let error = outcome(mode, page).expect_err(mode);
    assert_eq!(error.code().id, code, "{mode}: {error:?}");
    let text = error.to_string();
    let who = format!("plugin 'villain' ({})", &villain().digest()[..12]);
    let place = "in 'apply' on rows 1 to 3 of a page of table public.orders";
    assert!(text.starts_with(&who) && text.ends_with(place), "{mode}: {text}");
    error
}

/// The error has this code, and says who and in which call.
pub fn assert_tells(error: &Error, code: &str, call: &str) {
    assert_eq!(error.code().id, code, "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("plugin 'villain' (") && text.contains(&format!(" in '{call}'")), "{text}");
}

/// Everything an error and its causes say.
pub fn said(error: &Error) -> String {
    format!("{error:?}")
}

/// The only value of the first column.
pub fn first_text(output: &Output) -> Value {
    match output.pages[0].columns()[0].value(0) {
        ValueRef::Text(text) => text.into(),
        other => panic!("expected text, found {other:?}"),
    }
}
