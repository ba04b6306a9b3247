//! A source and a sink that are WebAssembly components.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use async_trait::async_trait;
use faucet_core::config::Part;
use faucet_core::error::Result;
use faucet_core::ports::{
    AnySink, AnySource, Bookmark, Sink, SinkCapabilities, SinkContext, Source, SourceCapabilities, SourceContext,
    WriteMode,
};
use faucet_guest_build::Workspace;
use faucet_tests::Scratch;
use faucet_wasm::{Access, DirGrant, Grants, Host, HostOptions, Origin as File, Plugin, PluginSpec};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::origins::Origin;
use crate::rows::Row;
use crate::sinks::Destination;

/// The folder of the built components.
fn components() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/guests");
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in a folder").to_owned();
        Workspace { folder, target }.build().unwrap_or_else(|error| panic!("{error}"))
    })
}

fn load(name: &str, grants: Grants) -> Plugin {
    static HOST: OnceLock<Host> = OnceLock::new();
    let host = HOST.get_or_init(|| Host::new(HostOptions::default()).expect("the engine starts"));
    let file = File::File(components().join(format!("{name}.wasm")));
    host.load(&PluginSpec { grants, ..PluginSpec::new(name, file) }).unwrap_or_else(|error| panic!("{error:?}"))
}

struct Numbers {
    plugin: Arc<dyn AnySource>,
    config: Value,
}

#[async_trait]
impl Origin for Numbers {
    async fn new(rows: usize) -> Self {
        let Part::Source(plugin) = load("numbers", Grants::default()).into() else { panic!("it is a source") };
        Self { plugin, config: json!({ "rows": rows }) }
    }

    fn capabilities(&self) -> SourceCapabilities {
        self.plugin.capabilities(&self.config).expect("the configuration is right")
    }

    async fn open(&self, bookmark: Option<Bookmark>) -> Result<Box<dyn Source>> {
        self.plugin.open(&self.config, SourceContext { bookmark, ..SourceContext::default() }).await
    }
}

struct Ledger {
    plugin: Arc<dyn AnySink>,
    config: Value,
    folder: Scratch,
}

#[async_trait]
impl Destination for Ledger {
    async fn new(mode: WriteMode) -> Option<Self> {
        let folder = Scratch::new("conformance-plugin");
        let granted =
            DirGrant { path: folder.path().to_owned(), name: Some("/ledger".to_owned()), access: Access::Write };
        let Part::Sink(plugin) = load("ledger", Grants { dirs: vec![granted], ..Grants::default() }).into() else {
            panic!("it is a sink")
        };
        Some(Self { plugin, config: json!({ "mode": mode }), folder })
    }

    fn capabilities(&self) -> SinkCapabilities {
        self.plugin.capabilities(&self.config).expect("the configuration is right")
    }

    async fn open(&self) -> Result<Box<dyn Sink>> {
        self.plugin.open(&self.config, SinkContext::default()).await
    }

    async fn rows(&self) -> Vec<Row> {
        let Ok(text) = std::fs::read(self.folder.path().join("now.json")) else { return Vec::new() };
        let book: Value = serde_json::from_slice(&text).expect("the file is whole at any time");
        serde_json::from_value(book["rows"].clone()).expect("each row has a number and a text")
    }
}

mod source {
    crate::origins::source_suite!(super::Numbers);
}

mod sink {
    crate::sinks::sink_suite!(super::Ledger);
}
