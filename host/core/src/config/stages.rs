//! Looks up what each `{ type, config }` block names, and checks the block against it.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::catalog::{Catalog, Kind, LoadedPlugin};
use super::document::{ConnectorSpec, Document, Plugin};
use super::load::Session;
use super::plan::{DeadLettersPlan, MirrorPlan, Plan, PluginPlan, Purpose, Stage};
use super::text::ConfigText;
use super::{Redactor, path, suggest};
use crate::delivery::Mechanism;
use crate::error::Problem;
use crate::ports::{AnySink, AnySource, AnyStore, AnyTransform};

/// What the blocks of a configuration name; `None` where that is unknown or the block is missing.
pub(super) struct Stages {
    pub(super) source: Option<Arc<dyn AnySource>>,
    pub(super) transforms: Vec<Option<Arc<dyn AnyTransform>>>,
    pub(super) sink: Option<Arc<dyn AnySink>>,
    pub(super) store: Option<Arc<dyn AnyStore>>,
    pub(super) dead_letters: Option<Arc<dyn AnySink>>,
    pub(super) snapshot: Option<Arc<dyn AnySource>>,
    /// The entries under `plugins`.
    pub(super) plugins: Vec<Declared>,
}

/// Finds and checks every stage.
pub(super) fn find(session: &mut Session, text: &ConfigText, purpose: Purpose, catalog: &Catalog) -> Stages {
    let plugins = plugins(session, text, catalog);
    let count = session.tree.pointer("/pipeline/transforms").and_then(Value::as_array).map_or(0, Vec::len);
    let mut search = Search { session, catalog, plugins: &plugins };
    let source = search.stage("/pipeline/source", "pipeline.source", &catalog.sources);
    let found = (0..count).map(|nth| {
        let at = path::item("pipeline.transforms", nth);
        search.stage(&format!("/pipeline/transforms/{nth}"), &at, &catalog.transforms)
    });
    let found = found.collect();
    let sink = search.stage("/pipeline/sink", "pipeline.sink", &catalog.sinks);
    let pipeline_store = search.stage("/pipeline/state", "pipeline.state", &catalog.stores);
    let top_store = search.stage("/state", "state", &catalog.stores);
    let store = pipeline_store.or(top_store);
    let pipeline_queue = search.stage("/pipeline/dlq/sink", "pipeline.dlq.sink", &catalog.sinks);
    let dead_letters = pipeline_queue.or(search.stage("/dlq/sink", "dlq.sink", &catalog.sinks));
    let snapshot = match purpose {
        Purpose::Run => None,
        Purpose::Mirror | Purpose::Validate => {
            let older = search.stage("/replication/snapshot/source", "replication.snapshot.source", &catalog.sources);
            search.stage("/mirror/snapshot/source", "mirror.snapshot.source", &catalog.sources).or(older)
        }
    };
    Stages { source, transforms: found, sink, store, dead_letters, snapshot, plugins }
}

/// An entry under `plugins`.
pub(super) struct Declared {
    pub(super) name: String,
    /// Whether a stage names it.
    pub(super) used: bool,
    /// `None` when it could not be loaded; that is already reported.
    pub(super) loaded: Option<LoadedPlugin>,
}

fn plugins(session: &mut Session, text: &ConfigText, catalog: &Catalog) -> Vec<Declared> {
    let entries = session.tree.get("plugins").and_then(Value::as_object).cloned().unwrap_or_default();
    let types = used_types(&session.tree);
    let mut declared = Vec::with_capacity(entries.len());
    for (name, entry) in entries {
        let at = path::key("plugins", &name);
        let taken = catalog.roles(&name).first().copied().filter(|_| entry.get("path").or(entry.get("oci")).is_some());
        if let Some(role) = taken {
            let problem = Problem::error(&at, format!("`{name}` is the name of a built-in {role}"));
            session.key_problem(problem.hint("give the plugin another name"));
        }
        let loaded = plugin(session, text, catalog, &name, &at, &entry);
        declared.push(Declared { used: types.contains(&name), loaded: loaded.filter(|_| taken.is_none()), name });
    }
    declared
}

fn plugin(
    session: &mut Session,
    text: &ConfigText,
    catalog: &Catalog,
    name: &str,
    at: &str,
    entry: &Value,
) -> Option<LoadedPlugin> {
    let Some(loader) = &catalog.plugins else {
        session.key_problem(Problem::error(at, "this build of faucet can't load plugins"));
        return None;
    };
    let pointer = format!("/plugins/{}", name.replace('~', "~0").replace('/', "~1"));
    let limits = session.check(&format!("{pointer}/limits"), &path::key(at, "limits"), &loader.limits_schema());
    let grants = session.check(&format!("{pointer}/grants"), &path::key(at, "grants"), &loader.grants_schema());
    let fine = limits && grants && session.is_filled(at);
    // An entry of the wrong shape is reported by the document's schema.
    let plugin: Plugin = serde_json::from_value(entry.clone()).ok().filter(|_| fine)?;
    let problems = |found: Vec<Problem>| found.into_iter().map(|problem| problem.under(at));
    match loader.load(name, &plugin, &text.folder) {
        Ok(mut loaded) => {
            session.problems(problems(std::mem::take(&mut loaded.warnings)));
            Some(loaded)
        }
        Err(found) => {
            session.problems(problems(found));
            None
        }
    }
}

/// The blocks that may name a plugin.
const BLOCKS: [&str; 6] = [
    "/pipeline/source",
    "/pipeline/sink",
    "/pipeline/dlq/sink",
    "/dlq/sink",
    "/mirror/snapshot/source",
    "/replication/snapshot/source",
];

fn used_types(tree: &Value) -> Vec<String> {
    let transforms = tree.pointer("/pipeline/transforms").and_then(Value::as_array).into_iter().flatten();
    let others = BLOCKS.iter().filter_map(|block| tree.pointer(block));
    transforms.chain(others).filter_map(|spec| spec.get("type")?.as_str().map(str::to_owned)).collect()
}

struct Search<'a> {
    session: &'a mut Session,
    catalog: &'a Catalog,
    plugins: &'a [Declared],
}

impl Search<'_> {
    /// Looks up the block at `pointer`, whose path is `at`, among `kinds`, and checks its `config`.
    fn stage<K: Kind + ?Sized>(&mut self, pointer: &str, at: &str, kinds: &[Arc<K>]) -> Option<Arc<K>> {
        let spec = self.session.tree.pointer(pointer)?;
        let name = spec.get("type")?.as_str()?.to_owned();
        let type_path = path::key(at, "type");
        if !self.session.is_filled(&type_path) {
            return None;
        }
        let declared = self.plugins.iter().any(|plugin| plugin.name == name && plugin.loaded.is_some());
        let built_in = kinds.iter().find(|kind| kind.label() == name && !declared).map(Arc::clone);
        match built_in.map_or_else(|| self.plugin(&name, kinds), Ok) {
            Ok(kind) => {
                self.config(pointer, at, kind.as_ref());
                Some(kind)
            }
            Err(problem) => {
                self.session.problems(problem.map(|problem| problem.under(&type_path)));
                None
            }
        }
    }

    /// The plugin called `name`, in the role that is wanted. `Err(None)` if what is wrong with it is reported already.
    fn plugin<K: Kind + ?Sized>(&self, name: &str, kinds: &[Arc<K>]) -> Result<Arc<K>, Option<Problem>> {
        let Some(declared) = self.plugins.iter().find(|plugin| plugin.name == name) else {
            return Err(Some(self.unknown(name, kinds)));
        };
        let Some(loaded) = &declared.loaded else { return Err(None) };
        K::of(&loaded.part).ok_or_else(|| {
            let (wanted, is) = (K::ROLE, loaded.part.role());
            Some(Problem::error("", format!("the plugin `{name}` is a {is}, and a {wanted} is needed here")))
        })
    }

    fn config<K: Kind + ?Sized>(&mut self, pointer: &str, at: &str, kind: &K) {
        let pointer = format!("{pointer}/config");
        let at = path::key(at, "config");
        let schema = kind.config_schema();
        let fine = match self.session.tree.pointer(&pointer) {
            Some(Value::Object(_)) => self.session.check(&pointer, &at, &schema),
            // The document's schema says what else is wrong with it.
            Some(_) => false,
            None => self.session.check_absent(&Value::Object(Map::new()), &at, &schema),
        };
        if fine && self.session.is_filled(&at) {
            let empty = Value::Object(Map::new());
            let config = self.session.tree.pointer(&pointer).unwrap_or(&empty);
            let problems = kind.config_problems(config);
            self.session.problems(problems.into_iter().map(|problem| problem.under(&at)));
        }
    }

    fn unknown<K: Kind + ?Sized>(&self, name: &str, kinds: &[Arc<K>]) -> Problem {
        let role = K::ROLE;
        let fits = |plugin: &&Declared| plugin.loaded.as_ref().is_some_and(|loaded| K::of(&loaded.part).is_some());
        let plugins = self.plugins.iter().filter(fits).map(|plugin| plugin.name.as_str());
        let mut known: Vec<&str> = kinds.iter().map(|kind| kind.label()).chain(plugins).collect();
        known.sort_unstable();
        let elsewhere = self.catalog.roles(name);
        let hint = match elsewhere.first() {
            Some(other) => format!("`{name}` is a {other}; known here: {}", known.join(", ")),
            None => suggest::hint(name, &known, "known are"),
        };
        let hint = match (role, suggest::closest(name, known)) {
            ("source" | "transform" | "sink", None) if elsewhere.is_empty() => {
                format!("{hint}; a component of your own is named under `plugins` with its `path`")
            }
            _ => hint,
        };
        Problem::error("", format!("there is no {role} of type \"{name}\"")).hint(hint)
    }
}

impl Stages {
    /// The plan, when everything it needs was found.
    pub(super) fn plan(
        &self,
        document: &Document,
        purpose: Purpose,
        mechanism: Mechanism,
        redactor: Redactor,
    ) -> Option<Plan> {
        let pipeline = &document.pipeline;
        let specs = pipeline.transforms.iter().zip(&self.transforms);
        let transforms: Option<Vec<_>> = specs.map(|(spec, kind)| stage(kind.as_ref(), spec)).collect();
        let store = match document.store() {
            Some((spec, _)) => Some(stage(self.store.as_ref(), spec)?),
            None => None,
        };
        let dead_letters = match document.dead_letters() {
            Some((queue, _)) => Some(DeadLettersPlan {
                sink: stage(self.dead_letters.as_ref(), &queue.sink)?,
                max_rows: queue.max_rows,
            }),
            None => None,
        };
        let mirror = match document.mirror().filter(|_| purpose != Purpose::Run) {
            Some((mirror, _)) => Some(MirrorPlan {
                mode: mirror.mode,
                continuous: mirror.continuous,
                snapshot: stage(self.snapshot.as_ref(), &mirror.snapshot.source)?,
                shards: mirror.snapshot.shards,
                concurrency: mirror.snapshot.concurrency.unwrap_or(1),
            }),
            None => None,
        };
        Some(Plan {
            name: document.name.clone(),
            source: stage(self.source.as_ref(), &pipeline.source)?,
            transforms: transforms?,
            sink: stage(self.sink.as_ref(), &pipeline.sink)?,
            store,
            dead_letters,
            mirror,
            schema: document.schema,
            mechanism,
            execution: document.execution.clone(),
            observability: document.observability.clone(),
            redactor,
            plugins: self.plugins.iter().filter_map(Declared::summary).collect(),
        })
    }
}

impl Declared {
    fn summary(&self) -> Option<PluginPlan> {
        self.loaded.clone().map(|plugin| PluginPlan { name: self.name.clone(), plugin })
    }
}

fn stage<K: ?Sized>(kind: Option<&Arc<K>>, spec: &ConnectorSpec) -> Option<Stage<K>> {
    Some(Stage { kind: Arc::clone(kind?), config: Value::Object(spec.config.clone()) })
}
