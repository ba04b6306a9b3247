//! `faucet validate CONFIG`.

use faucet_core::config::{ConfigText, PluginPlan, ProcessSurroundings, Purpose, load};
use serde_json::{Value, json};

use crate::args::{ConfigArgs, Global, Output};
use crate::catalog;
use crate::display::{self, Failure};

/// Checks a configuration; connects nowhere.
pub fn execute(global: &Global, args: &ConfigArgs) -> Result<(), Failure> {
    let text = ConfigText::read(&args.config)?;
    let surroundings = ProcessSurroundings::new(text.folder.clone());
    let (report, plugins) = match load(&text, Purpose::Validate, &catalog::bundled()?, &surroundings) {
        Ok(loaded) => (loaded.warnings, loaded.plan.plugins),
        Err(report) => return Err(Failure::Config { report, text: text.text }),
    };
    match global.output {
        Output::Json => println!("{}", json!({"valid": true, "report": report, "plugins": as_json(&plugins)})),
        Output::Text => {
            if !report.problems.is_empty() && !global.quiet {
                eprint!("{}", display::report(&report, &text.text));
            }
            if !global.quiet {
                println!("{} is valid", text.name);
                plugins.iter().for_each(|plugin| println!("{}", line(plugin)));
            }
        }
    }
    Ok(())
}

/// What a plugin is and may do.
fn line(plan: &PluginPlan) -> String {
    let (name, plugin) = (&plan.name, &plan.plugin);
    let may = if plugin.grants.is_empty() { "nothing but its pages".to_owned() } else { plugin.grants.join("; ") };
    format!("plugin {name} ({}, {}) gets: {may}", plugin.part.role(), &plugin.digest[..12])
}

fn as_json(plugins: &[PluginPlan]) -> Vec<Value> {
    let one = |plan: &PluginPlan| {
        let plugin = &plan.plugin;
        json!({"name": plan.name, "role": plugin.part.role(), "sha256": plugin.digest, "grants": plugin.grants})
    };
    plugins.iter().map(one).collect()
}
