//! Looks up what each `{ type, config }` block names, and checks the block against it.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::catalog::{Catalog, Kind};
use super::document::{ConnectorSpec, Document, Plugin};
use super::load::Session;
use super::plan::{DeadLettersPlan, MirrorPlan, Plan, Purpose, Stage};
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
    /// The names under `plugins` that no transform uses.
    pub(super) unused_plugins: Vec<String>,
}

/// Finds and checks every stage.
pub(super) fn find(session: &mut Session, text: &ConfigText, purpose: Purpose, catalog: &Catalog) -> Stages {
    let plugins = plugins(session, text, catalog);
    let mut transforms = catalog.transforms.clone();
    transforms.extend(plugins.iter().filter_map(|plugin| plugin.transform.clone()));
    let count = session.tree.pointer("/pipeline/transforms").and_then(Value::as_array).map_or(0, Vec::len);
    let mut search = Search { session, catalog, plugins: &plugins };
    let source = search.stage("/pipeline/source", "pipeline.source", &catalog.sources);
    let found = (0..count).map(|nth| {
        let at = path::item("pipeline.transforms", nth);
        search.stage(&format!("/pipeline/transforms/{nth}"), &at, &transforms)
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
    let used = used_types(&session.tree);
    let unused_plugins = plugins.into_iter().map(|plugin| plugin.name).filter(|name| !used.contains(name)).collect();
    Stages { source, transforms: found, sink, store, dead_letters, snapshot, unused_plugins }
}

/// An entry under `plugins`.
struct Declared {
    name: String,
    /// `None` when it could not be loaded; that is already reported.
    transform: Option<Arc<dyn AnyTransform>>,
}

fn plugins(session: &mut Session, text: &ConfigText, catalog: &Catalog) -> Vec<Declared> {
    let entries = session.tree.get("plugins").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut declared = Vec::with_capacity(entries.len());
    for (name, entry) in entries {
        let at = path::key("plugins", &name);
        let roles = catalog.roles(&name);
        if let Some(role) = roles.first() {
            let problem = Problem::error(&at, format!("`{name}` is the name of a built-in {role}"));
            session.key_problem(problem.hint("give the plugin another name"));
        }
        let transform = plugin(session, text, catalog, &name, &at, &entry);
        declared.push(Declared { name, transform: transform.filter(|_| roles.is_empty()) });
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
) -> Option<Arc<dyn AnyTransform>> {
    let Some(loader) = &catalog.plugins else {
        session.key_problem(Problem::error(at, "this build of faucet can't load plugins"));
        return None;
    };
    let pointer = format!("/plugins/{}/limits", name.replace('~', "~0").replace('/', "~1"));
    let fine = session.check(&pointer, &path::key(at, "limits"), &loader.limits_schema());
    // An entry of the wrong shape is reported by the document's schema.
    let plugin: Plugin = serde_json::from_value(entry.clone()).ok().filter(|_| fine && session.is_filled(at))?;
    match loader.load(name, &plugin, &text.folder) {
        Ok(transform) => Some(transform),
        Err(problems) => {
            session.problems(problems.into_iter().map(|problem| problem.under(at)));
            None
        }
    }
}

fn used_types(tree: &Value) -> Vec<String> {
    let transforms = tree.pointer("/pipeline/transforms").and_then(Value::as_array).into_iter().flatten();
    transforms.filter_map(|spec| spec.get("type")?.as_str().map(str::to_owned)).collect()
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
        let Some(kind) = kinds.iter().find(|kind| kind.label() == name) else {
            let declared = self.plugins.iter().any(|plugin| plugin.name == name) && K::ROLE == "transform";
            if !declared {
                let problem = self.unknown(&name, kinds);
                self.session.problems([problem.under(&type_path)]);
            }
            return None;
        };
        self.config(pointer, at, kind.as_ref());
        Some(Arc::clone(kind))
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
        let mut known: Vec<&str> = kinds.iter().map(|kind| kind.label()).collect();
        known.sort_unstable();
        let elsewhere = self.catalog.roles(name);
        let hint = match elsewhere.first() {
            Some(other) => format!("`{name}` is a {other}; known here: {}", known.join(", ")),
            None => suggest::hint(name, &known, "known are"),
        };
        let hint = match (role, suggest::closest(name, known)) {
            ("transform", None) => format!("{hint}; a component of your own is named under `plugins` with its `path`"),
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
        })
    }
}

fn stage<K: ?Sized>(kind: Option<&Arc<K>>, spec: &ConnectorSpec) -> Option<Stage<K>> {
    Some(Stage { kind: Arc::clone(kind?), config: Value::Object(spec.config.clone()) })
}
