//! `faucet schema`.

use serde_json::Value;

use crate::args::SchemaArgs;
use crate::catalog;
use crate::display::Failure;

/// Prints the JSON Schema of the whole configuration, or of one type's `config:`.
pub fn execute(args: &SchemaArgs) -> Result<(), Failure> {
    let catalog = catalog::bundled()?;
    let schema = match &args.kind {
        None => faucet_core::config::schema::document(&catalog),
        Some(kind) => {
            let entries = crate::list::entries(&catalog);
            let entry = entries.into_iter().find(|e| e.name == *kind);
            entry
                .map(|e| e.schema)
                .ok_or_else(|| Failure::Usage(format!("there is no type '{kind}'; `faucet list` shows all")))?
        }
    };
    println!("{}", pretty(&schema));
    Ok(())
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("JSON values can be written")
}
