//! `faucet list`.

use faucet_core::config::{Catalog, PluginPlan};
use serde_json::{Value, json};

use crate::args::{Global, ListArgs, Output};
use crate::catalog;
use crate::display::Failure;
use crate::load;

/// One thing that a configuration can name.
pub struct Entry {
    pub role: &'static str,
    pub name: String,
    pub summary: String,
    pub schema: Value,
}

/// Everything in a catalog.
pub fn entries(catalog: &Catalog) -> Vec<Entry> {
    let sources = catalog.sources.iter().map(|s| entry("source", s.name(), &s.summary(), s.schema()));
    let sinks = catalog.sinks.iter().map(|s| entry("sink", s.name(), &s.summary(), s.schema()));
    let transforms = catalog.transforms.iter().map(|t| entry("transform", t.name(), &t.summary(), t.schema()));
    let stores = catalog.stores.iter().map(|s| entry("state", s.name(), s.summary(), s.schema()));
    sources.chain(sinks).chain(transforms).chain(stores).collect()
}

fn entry(role: &'static str, name: &str, summary: &str, schema: Value) -> Entry {
    Entry { role, name: name.to_owned(), summary: summary.to_owned(), schema }
}

/// Lists everything, or one type's keys.
pub fn execute(global: &Global, args: &ListArgs) -> Result<(), Failure> {
    let catalog = catalog::bundled()?;
    let mut entries = entries(&catalog);
    if let Some(path) = &args.config {
        let plugins = load::plugins(path, &catalog)?;
        let plugin =
            |p: &PluginPlan| (p.plugin.part.role(), p.name.clone(), p.plugin.part.summary(), p.plugin.part.schema());
        entries.extend(
            plugins.iter().map(plugin).map(|(role, name, summary, schema)| entry(role, &name, &summary, schema)),
        );
    }
    if let Some(kind) = &args.kind {
        entries.retain(|e| e.name == *kind);
        if entries.is_empty() {
            return Err(Failure::Usage(format!("there is no type '{kind}'; `faucet list` shows all")));
        }
    }
    match global.output {
        Output::Json => entries.iter().for_each(|e| println!("{}", as_json(e))),
        Output::Text if args.kind.is_some() => entries.iter().for_each(|e| print!("{}", with_keys(e))),
        Output::Text => print!("{}", overview(&entries)),
    }
    Ok(())
}

fn as_json(entry: &Entry) -> Value {
    json!({"role": entry.role, "type": entry.name, "summary": entry.summary, "schema": entry.schema})
}

fn overview(entries: &[Entry]) -> String {
    let width = entries.iter().map(|e| e.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    let mut role = "";
    for entry in entries {
        if entry.role != role {
            role = entry.role;
            let gap = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{gap}{role}\n"));
        }
        out.push_str(&format!("  {:width$}  {}\n", entry.name, entry.summary));
        out.push_str(&format!(
            "  {:width$}  keys: {}\n",
            "",
            keys(&entry.schema).iter().map(|k| k.name.as_str()).collect::<Vec<_>>().join(", ")
        ));
    }
    out + "\n`faucet list TYPE` explains a type's keys.\n"
}

/// One key of a `config:` block.
pub struct Key {
    pub name: String,
    pub required: bool,
    pub default: Option<Value>,
    pub text: String,
    pub schema: Value,
}

/// The keys that the schema of a `config:` block declares, in its order.
pub fn keys(schema: &Value) -> Vec<Key> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let key = |(name, schema): (&String, &Value)| Key {
        name: name.clone(),
        required: required.iter().any(|r| r == name),
        default: schema.get("default").cloned().filter(|d| !d.is_null()),
        text: schema["description"].as_str().unwrap_or("").to_owned(),
        schema: schema.clone(),
    };
    properties.map(key).collect()
}

fn with_keys(entry: &Entry) -> String {
    let heading = format!("{} {}: {}\n\n", entry.role, entry.name, entry.summary);
    heading + &keys_as_text(&entry.schema)
}

/// The keys of a `config:` block, explained.
pub fn keys_as_text(schema: &Value) -> String {
    let mut out = String::new();
    for key in keys(schema) {
        let note = match (&key.default, key.required) {
            (_, true) => "required".to_owned(),
            (Some(default), false) => format!("default {default}"),
            (None, false) => "optional".to_owned(),
        };
        out.push_str(&format!("  {}  ({note})\n", key.name));
        key.text.lines().for_each(|line| out.push_str(&format!("      {line}\n")));
    }
    out + "\n"
}
