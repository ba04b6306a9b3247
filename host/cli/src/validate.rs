//! `faucet validate CONFIG`.

use faucet_core::config::{ConfigText, ProcessSurroundings, Purpose, load};
use serde_json::json;

use crate::args::{ConfigArgs, Global, Output};
use crate::catalog;
use crate::display::{self, Failure};

/// Checks a configuration; connects nowhere.
pub fn execute(global: &Global, args: &ConfigArgs) -> Result<(), Failure> {
    let text = ConfigText::read(&args.config)?;
    let surroundings = ProcessSurroundings::new(text.folder.clone());
    let report = match load(&text, Purpose::Validate, &catalog::bundled()?, &surroundings) {
        Ok(loaded) => loaded.warnings,
        Err(report) => return Err(Failure::Config { report, text: text.text }),
    };
    match global.output {
        Output::Json => println!("{}", json!({"valid": true, "report": report})),
        Output::Text => {
            if !report.problems.is_empty() && !global.quiet {
                eprint!("{}", display::report(&report, &text.text));
            }
            if !global.quiet {
                println!("{} is valid", text.name);
            }
        }
    }
    Ok(())
}
