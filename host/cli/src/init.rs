//! `faucet init`: a commented configuration, made from the connectors' own schemas so that it never goes stale.

use faucet_core::config::Catalog;
use faucet_core::error::{Blame, Code, Error, Retry};
use std::fs::OpenOptions;
use std::io::Write;

use crate::args::InitArgs;
use crate::catalog;
use crate::display::Failure;
use crate::list::{Entry, Key, entries, keys};

/// The file to write can't be made.
pub static NOT_WRITTEN: Code = Code {
    id: "init.not_written",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "the configuration could not be written",
    help: "`faucet init --file` makes a new file and never replaces one. Choose another name, remove the old file, or \
           leave `--file` out to print the configuration.",
};

/// Prints or writes the configuration.
pub fn execute(args: &InitArgs) -> Result<(), Failure> {
    let text = configuration(&catalog::bundled()?, args)?;
    let Some(path) = &args.file else {
        print!("{text}");
        return Ok(());
    };
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|mut f| f.write_all(text.as_bytes()));
    written.map_err(|e| Error::new(&NOT_WRITTEN, format!("can't write '{}': {e}", path.display())))?;
    println!("wrote {0}; check it with `faucet validate {0}`", path.display());
    Ok(())
}

/// The text for a source and a sink.
fn configuration(catalog: &Catalog, args: &InitArgs) -> Result<String, Failure> {
    let all = entries(catalog);
    let find = |role: &str, name: &str| {
        let found = all.iter().find(|e| e.role == role && e.name == name);
        found.ok_or_else(|| Failure::Usage(format!("there is no {role} '{name}'; `faucet list` shows all")))
    };
    let (source, sink) = (find("source", &args.source)?, find("sink", &args.sink)?);
    // A reader of changes is mirrored together with the query source of the same system.
    let snapshot = args.source.strip_suffix("-cdc").and_then(|query| find("source", query).ok());
    let mut out = header(args, snapshot.is_some());
    out.push_str(&format!("version: 1\nname: {}\n\npipeline:\n  source:\n", args.name));
    out.push_str(&block(source, args, 4));
    if snapshot.is_some() {
        out.push_str(
            "  transforms:\n    - type: cdc_unwrap   # {op, before, after} becomes a flat row and the marker __op\n",
        );
    }
    out.push_str("  sink:\n");
    out.push_str(&block(sink, args, 4));
    if let Some(upsert) = snapshot.map(|_| upsert_keys(sink)) {
        out.push_str(&upsert);
    }
    out.push_str("  state:               # where the pipeline keeps its place between runs\n    type: file\n    config:\n      path: ./faucet-state\n");
    if let Some(snapshot) = snapshot {
        out.push_str("\nmirror:\n  continuous: true     # keep streaming; false ends when the source is idle\n  snapshot:\n    source:            # reads the rows that exist already\n");
        out.push_str(&block(snapshot, args, 6));
    }
    Ok(out)
}

fn header(args: &InitArgs, mirrors: bool) -> String {
    let command = if mirrors { "mirror" } else { "run" };
    let mut out = format!("# Check with `faucet validate FILE`, then start with `faucet {command} FILE`.\n");
    if args.source == "postgres-cdc" {
        out.push_str("# The source needs wal_level = logical and a publication:\n");
        out.push_str(&format!("#   CREATE PUBLICATION {}_pub FOR TABLE public.orders;\n", args.name));
    }
    out
}

/// `type` and `config`: required keys with an example, the others as comments with their defaults.
fn block(entry: &Entry, args: &InitArgs, indent: usize) -> String {
    let pad = " ".repeat(indent);
    let mut out = format!("{pad}type: {}\n", entry.name);
    let keys = keys(&entry.schema);
    if keys.is_empty() {
        return out;
    }
    let shown = |key: &&Key| key.required || example(entry, key, args).is_some();
    // An empty block is not a mapping: when every key is a comment, so is its heading.
    let heading = if keys.iter().any(|key| shown(&key)) { "config:" } else { "# config:" };
    out.push_str(&format!("{pad}{heading}\n"));
    for key in keys.iter().filter(shown) {
        let value = example(entry, key, args).unwrap_or_else(|| filler(key));
        out.push_str(&format!("{pad}  {}: {value}{}\n", key.name, remark(&key.text)));
    }
    for key in keys.iter().filter(|k| !shown(k) && !is_upsert_key(k)) {
        let value = key.default.as_ref().map_or_else(|| "...".to_owned(), ToString::to_string);
        out.push_str(&format!("{pad}  # {}: {value}{}\n", key.name, remark(&key.text)));
    }
    out
}

fn remark(text: &str) -> String {
    match text.split_terminator(['\n']).next().map(str::trim) {
        Some(first) if !first.is_empty() => format!("   # {first}"),
        _ => String::new(),
    }
}

fn is_upsert_key(key: &Key) -> bool {
    matches!(key.name.as_str(), "write_mode" | "key" | "delete_marker")
}

/// What makes a sink of rows a mirror.
fn upsert_keys(sink: &Entry) -> String {
    let values = [("write_mode", "upsert"), ("key", "[id]"), ("delete_marker", "{ field: __op, values: [d] }")];
    let offered = keys(&sink.schema);
    let offers = |name: &str| offered.iter().any(|k| k.name == name);
    if !offers("delete_marker") {
        return String::new();
    }
    let lines = values.iter().filter(|(name, _)| offers(name)).map(|(name, value)| format!("      {name}: {value}\n"));
    lines.collect()
}

/// Values that make sense for the keys people always fill in.
fn example(entry: &Entry, key: &Key, args: &InitArgs) -> Option<String> {
    let name = &args.name;
    Some(match (entry.role, key.name.as_str()) {
        ("source", "connection_url") => "${env:SOURCE_URL}".to_owned(),
        ("sink", "connection_url") => "${env:DESTINATION_URL}".to_owned(),
        ("source" | "sink", "url") => "https://api.example.com/orders".to_owned(),
        ("source", "query") => "\"SELECT * FROM orders\"".to_owned(),
        ("source", "slot_name") => format!("{}_slot", name.to_ascii_lowercase().replace(['-', '.'], "_")),
        ("source", "publication_name") => format!("{name}_pub"),
        ("source", "path") => format!("./{name}.{}", extension(&entry.name)),
        ("sink", "path") => format!("./{name}_out.{}", extension(&entry.name)),
        ("sink", "table_name") => "orders".to_owned(),
        ("sink", "create_table") => "true".to_owned(),
        _ => return None,
    })
}

fn extension(kind: &str) -> &str {
    if kind == "sqlite" { "db" } else { kind }
}

/// A value of the right type for a required key nobody thought of.
fn filler(key: &Key) -> String {
    match key.schema["type"].as_str() {
        Some("boolean") => "false".to_owned(),
        Some("integer" | "number") => "1".to_owned(),
        Some("array") => "[]".to_owned(),
        Some("object") => "{}".to_owned(),
        _ => format!("\"{}\"", key.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faucet_core::config::{ConfigText, Purpose, Surroundings, load};

    struct Urls;

    impl Surroundings for Urls {
        fn variable(&self, _name: &str) -> Result<Option<String>, String> {
            Ok(Some("postgres://faucet@localhost/shop".to_owned()))
        }

        fn file(&self, _path: &std::path::Path) -> Result<String, String> {
            Err("there are no files".to_owned())
        }
    }

    #[test]
    fn every_pair_of_source_and_sink_gives_a_valid_configuration() {
        let catalog = catalog::bundled().expect("the catalog is complete");
        for source in &catalog.sources {
            for sink in &catalog.sinks {
                let args = InitArgs {
                    source: source.name().into(),
                    sink: sink.name().into(),
                    name: "shop".into(),
                    file: None,
                };
                let text = configuration(&catalog, &args).expect("the pair exists");
                let result = load(&ConfigText::yaml("init.yaml", &text), Purpose::Validate, &catalog, &Urls);
                let problems = result.err().map(|report| report.to_string()).unwrap_or_default();
                assert_eq!(problems, "", "{} -> {}:\n{text}", source.name(), sink.name());
            }
        }
    }
}
