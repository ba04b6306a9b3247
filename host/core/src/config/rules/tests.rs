use super::super::fixture::{Outside, catalog};
use super::super::{ConfigText, Loaded, Purpose, Report, load};
use crate::delivery::Mechanism;

/// A pipeline of named parts.
struct Sketch {
    source: &'static str,
    transforms: &'static str,
    sink: &'static str,
    rest: &'static str,
}

const STREAM: &str = "{ type: stream-cdc, config: { connection_url: 'pg://h' } }";
const QUERY: &str = "{ type: query, config: { connection_url: 'pg://h', query: select } }";
const UNWRAP: &str = "[{ type: cdc_unwrap }]";
const UPSERT: &str = "{ type: table, config: { connection_url: 'pg://h', table_name: t, write_mode: upsert, key: [id], \
                      delete_marker: { field: __op, values: [d] } } }";
const APPEND: &str = "{ type: table, config: { connection_url: 'pg://h', table_name: t } }";
const FILE: &str = "state: { type: file, config: { path: s } }\n";
const MIRROR: &str = "state: { type: file, config: { path: s } }\n\
                      mirror: { snapshot: { source: { type: query, config: { connection_url: 'pg://h', query: select } } } }\n";

impl Default for Sketch {
    fn default() -> Self {
        Self { source: STREAM, transforms: UNWRAP, sink: UPSERT, rest: MIRROR }
    }
}

impl Sketch {
    fn load(&self, purpose: Purpose) -> Result<Loaded, Report> {
        let Self { source, transforms, sink, rest } = self;
        let text = format!(
            "version: 1\nname: p\npipeline:\n  source: {source}\n  transforms: {transforms}\n  sink: {sink}\n{rest}"
        );
        load(&ConfigText::yaml("p.yaml", &text), purpose, &catalog(), &Outside)
    }

    /// All problems, one a line.
    fn problems(&self, purpose: Purpose) -> String {
        match self.load(purpose) {
            Ok(loaded) => loaded.warnings.to_string(),
            Err(report) => report.to_string(),
        }
    }
}

#[track_caller]
fn says(sketch: &Sketch, purpose: Purpose, severity: &str, place: &str, words: &str) {
    let found = sketch.problems(purpose);
    let line = found.lines().find(|line| line.contains(&format!("{severity}: {place}: ")) && line.contains(words));
    assert!(line.is_some(), "no {severity} at {place} with `{words}` in:\n{found}");
}

#[track_caller]
fn says_nothing(sketch: &Sketch, purpose: Purpose) {
    assert_eq!(sketch.problems(purpose), "");
}

#[test]
fn the_pipelines_of_the_book_pass_without_a_word() {
    says_nothing(&Sketch::default(), Purpose::Mirror);
    says_nothing(&Sketch::default(), Purpose::Validate);
    says_nothing(&Sketch { transforms: "[]", sink: APPEND, rest: FILE, ..Sketch::default() }, Purpose::Run);
    says_nothing(&Sketch { source: QUERY, transforms: "[]", sink: APPEND, rest: "" }, Purpose::Run);
    let masked = "[{ type: cdc_unwrap }, { type: mask, config: { columns: [email] } }]";
    says_nothing(&Sketch { transforms: masked, ..Sketch::default() }, Purpose::Mirror);
}

#[test]
fn a_dead_letter_queue_appends_to_a_place_of_its_own() {
    let rest = |more: &str| Box::leak(format!("{MIRROR}{more}").into_boxed_str()) as &'static str;
    let queue = "dlq: { sink: { type: lines, config: { path: q } } }\n";
    let with = |more: &str| Sketch { rest: rest(more), ..Sketch::default() };
    says_nothing(&with(queue), Purpose::Mirror);
    says_nothing(&with(&format!("{queue}schema: {{ on_drift: quarantine }}\n")), Purpose::Mirror);
    let lacking = with("schema: { on_drift: quarantine }\n");
    says(&lacking, Purpose::Mirror, "error", "schema.on_drift", "needs a place");
    let fixed = Sketch {
        sink: "{ type: lines, config: { path: s } }",
        ..with(&format!("{queue}schema: {{ on_drift: quarantine }}\n"))
    };
    says(&fixed, Purpose::Validate, "error", "schema.on_drift", "can't set single rows aside");
    let twice = with(&format!("{queue}delivery: exactly_once\n"));
    says(&twice, Purpose::Mirror, "error", "dlq", "twice");
    let upserts = with(&format!("dlq: {{ sink: {} }}\n", UPSERT.replace("table_name: t", "table_name: q")));
    says(&upserts, Purpose::Mirror, "error", "dlq.sink.config.write_mode", "has to append");
    let same = Sketch { sink: APPEND, ..with(&format!("dlq: {{ sink: {APPEND} }}\n")) };
    says(&same, Purpose::Mirror, "error", "dlq.sink", "the same as `pipeline.sink`");
    let given = Sketch {
        sink: "{ type: lines, config: { path: s } }\n  dlq: { sink: { type: lines, config: { path: q } } }",
        ..with(queue)
    };
    says(&given, Purpose::Mirror, "error", "dlq", "given twice");
    says(
        &with("dlq: { sink: { type: lines, config: { path: q } }, max_rows: 0 }\n"),
        Purpose::Mirror,
        "error",
        "dlq.max_rows",
        "1",
    );
}

#[test]
fn a_mirror_needs_its_block_a_lasting_store_and_the_right_sources() {
    let at = |sketch: &Sketch, place: &str, words: &str| says(sketch, Purpose::Mirror, "error", place, words);
    let no_block = Sketch { rest: FILE, ..Sketch::default() };
    assert!(no_block.problems(Purpose::Mirror).contains("needs a `mirror` block"));
    says_nothing(&no_block, Purpose::Validate);
    const BLOCK: &str =
        "mirror: { snapshot: { source: { type: query, config: { connection_url: 'pg://h', query: q } } } }\n";
    at(&Sketch { rest: BLOCK, ..Sketch::default() }, "pipeline", "needs a state store");
    let memory: &str = "state: { type: memory }\nmirror: { snapshot: { source: { type: query, config: { connection_url: 'pg://h', query: q } } } }\n";
    at(&Sketch { rest: memory, ..Sketch::default() }, "state", "`memory`");
    at(&Sketch { source: QUERY, ..Sketch::default() }, "pipeline.source.type", "can't capture");
    let temporary = "{ type: stream-cdc, config: { connection_url: 'pg://h', slot_type: temporary } }";
    at(&Sketch { source: temporary, ..Sketch::default() }, "pipeline.source.config.slot_type", "permanent");
    let cdc_snapshot = "state: { type: file }\nmirror: { snapshot: { source: { type: stream-cdc, config: { connection_url: 'pg://h' } } } }\n";
    at(&Sketch { rest: cdc_snapshot, ..Sketch::default() }, "mirror.snapshot.source.type", "delivers changes");
    says(
        &Sketch { sink: APPEND, ..Sketch::default() },
        Purpose::Mirror,
        "warning",
        "pipeline.sink.config.write_mode",
        "twice",
    );
}

#[test]
fn ranges_of_a_snapshot_have_to_be_possible() {
    let block = |query: &str, keys: &str| {
        format!(
            "state: {{ type: file }}\nmirror: {{ snapshot: {{ source: {{ type: query, config: {{ connection_url: 'pg://h', \
             query: {query} }} }}, {keys} }} }}\n"
        )
    };
    let sketch = |query, keys| Sketch { rest: block(query, keys).leak(), ..Sketch::default() };
    says_nothing(&sketch("table", "shards: 8, concurrency: 4"), Purpose::Mirror);
    says_nothing(&sketch("select", "shards: 1, concurrency: 1"), Purpose::Mirror);
    let at = |sketch: &Sketch, place: &str, words: &str| says(sketch, Purpose::Mirror, "error", place, words);
    let (shards, concurrency) = ("mirror.snapshot.shards", "mirror.snapshot.concurrency");
    at(&sketch("table", "shards: 0"), shards, "at least 1");
    at(&sketch("table", "concurrency: 0"), concurrency, "at least 1");
    at(&sketch("select", "shards: 2"), shards, "can't be read in ranges");
    at(&sketch("select", "concurrency: 2"), concurrency, "read by one query");
    let lines = "{ type: lines, config: { path: p } }";
    at(&Sketch { sink: lines, ..sketch("table", "concurrency: 2") }, concurrency, "one writer");
    let queued = sketch("table", "concurrency: 2");
    let queue = Box::leak(
        format!("{}dlq: {{ sink: {{ type: lines, config: {{ path: q }} }} }}\n", queued.rest).into_boxed_str(),
    );
    at(&Sketch { rest: queue, ..queued }, concurrency, "each range has one");
    let alone = sketch("table", "shards: 1, concurrency: 2");
    says(&alone, Purpose::Mirror, "warning", concurrency, "no effect");
}

#[test]
fn run_ignores_the_mirror_block() {
    let bad =
        "mirror: { snapshot: { source: { type: stream-cdc, config: { nonsense: 1 } } } }\nstate: { type: file }\n";
    let sketch = Sketch { rest: bad, ..Sketch::default() };
    let loaded = sketch.load(Purpose::Run).unwrap();
    assert!(loaded.plan.mirror.is_none());
    assert!(sketch.load(Purpose::Mirror).is_err());
    assert!(sketch.load(Purpose::Validate).is_err());
}

#[test]
fn transforms_come_after_the_one_that_makes_plain_rows() {
    let place = "pipeline.transforms[0].type";
    let mask_first = Sketch { transforms: "[{ type: mask }, { type: cdc_unwrap }]", ..Sketch::default() };
    says(&mask_first, Purpose::Mirror, "error", place, "before `cdc_unwrap`");
    let never = Sketch { transforms: "[{ type: mask }]", sink: APPEND, rest: FILE, ..Sketch::default() };
    says(&never, Purpose::Run, "warning", place, "change records");
    let nothing_to_do = Sketch { source: QUERY, rest: FILE, ..Sketch::default() };
    says(&nothing_to_do, Purpose::Run, "warning", place, "nothing to do");
    let twice = Sketch { transforms: "[{ type: cdc_unwrap }, { type: cdc_unwrap }]", ..Sketch::default() };
    says(&twice, Purpose::Mirror, "warning", "pipeline.transforms[1].type", "plain already");
}

#[test]
fn an_upsert_needs_a_key_plain_rows_and_a_way_to_delete() {
    let no_key = "{ type: table, config: { connection_url: 'pg://h', table_name: t, write_mode: upsert } }";
    says(
        &Sketch { sink: no_key, ..Sketch::default() },
        Purpose::Mirror,
        "error",
        "pipeline.sink.config",
        "needs a `key`",
    );
    let wrapped = Sketch { transforms: "[]", ..Sketch::default() };
    says(&wrapped, Purpose::Mirror, "error", "pipeline.sink.config.write_mode", "takes plain rows");
    says(&wrapped, Purpose::Mirror, "warning", "pipeline.sink.config.delete_marker", "no effect");
    let no_marker =
        "{ type: table, config: { connection_url: 'pg://h', table_name: t, write_mode: upsert, key: [id] } }";
    says(
        &Sketch { sink: no_marker, ..Sketch::default() },
        Purpose::Mirror,
        "warning",
        "pipeline.sink.config",
        "will stay",
    );
    let overwrite = "{ type: table, config: { connection_url: 'pg://h', table_name: t, write_mode: overwrite } }";
    says(
        &Sketch { sink: overwrite, ..Sketch::default() },
        Purpose::Mirror,
        "error",
        "pipeline.sink.config.write_mode",
        "replace",
    );
}

#[test]
fn the_transform_that_sees_a_changed_key_and_the_sink_mean_the_same_key() {
    let other = "[{ type: cdc_unwrap, config: { key: [uuid] } }]";
    let sketch = Sketch { transforms: other, ..Sketch::default() };
    says(
        &sketch,
        Purpose::Mirror,
        "warning",
        "pipeline.transforms[0].config.key",
        "[uuid] is not the sink's key, which is [id]",
    );
    says_nothing(
        &Sketch { transforms: "[{ type: cdc_unwrap, config: { key: [id] } }]", ..Sketch::default() },
        Purpose::Mirror,
    );
}

#[test]
fn changes_without_a_lasting_store_are_warned_about() {
    let sketch = Sketch { rest: "", ..Sketch::default() };
    says(&sketch, Purpose::Run, "warning", "pipeline", "can be lost");
    let sketch = Sketch { rest: "state: { type: memory }\n", ..Sketch::default() };
    says(&sketch, Purpose::Run, "warning", "state", "can be lost");
}

#[test]
fn the_gate_is_asked_and_its_answer_is_kept() {
    let exactly = "state: { type: file }\ndelivery: exactly_once\n";
    let mechanism = |sketch: Sketch| sketch.load(Purpose::Run).map(|loaded| loaded.plan.mechanism).ok();
    assert_eq!(mechanism(Sketch { rest: exactly, ..Sketch::default() }), Some(Mechanism::Watermark));
    let query = Sketch { source: QUERY, transforms: "[]", rest: exactly, ..Sketch::default() };
    assert_eq!(mechanism(query), Some(Mechanism::KeyedUpsert));
    let lines =
        Sketch { transforms: "[]", sink: "{ type: lines, config: { path: x } }", rest: exactly, ..Sketch::default() };
    says(&lines, Purpose::Run, "error", "pipeline.sink.type", "`lines` is the limit");
    let append = Sketch { source: QUERY, transforms: "[]", sink: APPEND, rest: exactly };
    says(&append, Purpose::Run, "error", "pipeline.source.type", "`query` is the limit");
    assert!(append.problems(Purpose::Run).contains("set `write_mode: upsert` and `key`"));
}

#[test]
fn what_is_given_twice_or_contradicts_itself_is_refused() {
    let twice = Sketch {
        sink: "{ type: lines, config: { path: x } }\n  state: { type: file }",
        rest: FILE,
        transforms: "[]",
        ..Sketch::default()
    };
    says(&twice, Purpose::Run, "error", "state", "given twice");
    let numbers = "state: { type: file }\nexecution: { buffer_size: 1KiB, shutdown_timeout: 0, retry: { initial_backoff: 1m, max_backoff: 30s } }\n\
                   observability: { progress_interval: 0 }\n";
    let sketch = Sketch { rest: numbers, ..Sketch::default() };
    for place in [
        "execution.buffer_size",
        "execution.shutdown_timeout",
        "execution.retry.initial_backoff",
        "observability.progress_interval",
    ] {
        says(&sketch, Purpose::Run, "error", place, "");
    }
    let older = "state: { type: file }\nreplication: { snapshot: { source: { type: query, config: { connection_url: 'pg://h', query: q } } } }\n";
    assert!(Sketch { rest: older, ..Sketch::default() }.load(Purpose::Mirror).unwrap().plan.mirror.is_some());
}

#[test]
fn plugins_are_found_checked_and_missed() {
    let used = "[{ type: cdc_unwrap }, { type: shout, config: { columns: [''] } }]";
    let plugins = "state: { type: file }\nplugins:\n  shout: { path: a.wasm, limits: { memory_mb: 0 } }\n  gone: { path: missing.wasm }\n  \
                   mask: { path: a.wasm }\n";
    let sketch = Sketch { transforms: used, rest: plugins, ..Sketch::default() };
    says(&sketch, Purpose::Run, "error", "plugins.shout.limits.memory_mb", "at least 1");
    says(&sketch, Purpose::Run, "error", "plugins.gone.path", "missing.wasm");
    says(&sketch, Purpose::Run, "warning", "plugins.gone", "no stage uses");
    says(&sketch, Purpose::Run, "error", "plugins.mask", "built-in transform");
    let fine = "state: { type: file }\nplugins: { shout: { path: a.wasm } }\n";
    let sketch = Sketch { transforms: used, rest: fine, ..Sketch::default() };
    says(&sketch, Purpose::Run, "error", "pipeline.transforms[1].config.columns[0]", "must not be empty");
    let sketch = Sketch { transforms: "[{ type: cdc_unwrap }, { type: shuot }]", rest: fine, ..Sketch::default() };
    assert!(sketch.problems(Purpose::Run).contains("did you mean \"shout\"?"));
}

#[test]
fn only_a_sink_that_can_add_columns_evolves() {
    let rest = "schema: { on_drift: evolve }\n";
    says_nothing(&Sketch { source: QUERY, transforms: "[]", sink: APPEND, rest }, Purpose::Run);
    let lines = "{ type: lines, config: { path: f } }";
    let fixed = Sketch { source: QUERY, transforms: "[]", sink: lines, rest };
    says(&fixed, Purpose::Run, "error", "schema.on_drift", "can't add columns");
    says_nothing(&Sketch { rest: "schema: { on_drift: ignore }\n", ..fixed }, Purpose::Run);
}
