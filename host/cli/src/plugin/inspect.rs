//! `faucet plugin inspect`: what a component is, before it is trusted with anything.

use faucet_wasm::{Access, Plugin, Wants};
use serde_json::{Value, json};

use super::subject;
use crate::args::{ComponentArgs, Global, Output};
use crate::display::Failure;
use crate::list;

/// Shows it.
pub fn execute(global: &Global, args: &ComponentArgs) -> Result<(), Failure> {
    let plugin = subject::load(&args.component)?;
    let size = std::fs::metadata(&args.component).map_or(0, |meta| meta.len());
    match global.output {
        Output::Json => println!("{}", as_json(&plugin, size)),
        Output::Text => print!("{}", as_text(&plugin, size)),
    }
    Ok(())
}

fn as_text(plugin: &Plugin, size: u64) -> String {
    let about = plugin.describe();
    let mut out = format!("{} {}: {}\n\n", about.name, about.version, about.summary);
    let mut line = |key: &str, value: &str| out.push_str(&format!("  {key:14} {value}\n"));
    line("kind", plugin.role().name());
    line("interface", &format!("{}@{}", plugin.interface(), plugin.interface_version()));
    line("sha256", plugin.digest());
    line("size", &format!("{} KiB", size.div_ceil(1024)));
    if let Some(deterministic) = about.deterministic {
        line("deterministic", if deterministic { "yes, it says" } else { "no" });
    }
    let wants = asked(&about.wants);
    line("asks for", if wants.is_empty() { "nothing but its pages" } else { "" });
    wants.iter().for_each(|want| out.push_str(&format!("    {want}\n")));
    out.push_str("\nConfiguration:\n\n");
    out.push_str(&list::keys_as_text(&about.config_schema));
    out
}

fn as_json(plugin: &Plugin, size: u64) -> Value {
    let about = plugin.describe();
    json!({
        "name": about.name, "version": about.version, "summary": about.summary, "kind": plugin.role().name(),
        "interface": plugin.interface(), "interface_version": plugin.interface_version(),
        "sha256": plugin.digest(), "bytes": size, "deterministic": about.deterministic,
        "asks_for": asked(&about.wants), "config_schema": about.config_schema,
    })
}

/// What a component asks for, one line each.
pub fn asked(wants: &Wants) -> Vec<String> {
    let mut lines: Vec<String> = wants
        .http
        .iter()
        .map(|host| match host.as_str() {
            "*" => "HTTP requests to the hosts that the configuration grants".to_owned(),
            host => format!("HTTP requests to {host}"),
        })
        .collect();
    lines.extend(wants.dirs.iter().map(|(name, access)| match access {
        Access::Read => format!("reading files in a folder named {name}"),
        Access::Write => format!("reading and writing files in a folder named {name}"),
    }));
    lines.extend(wants.env.iter().map(|name| format!("the environment variable {name}")));
    lines.extend(wants.secrets.iter().map(|name| match name.as_str() {
        "*" => "the secrets that the configuration grants".to_owned(),
        name => format!("the secret {name}"),
    }));
    lines.extend(wants.clock.then(|| "the real time".to_owned()));
    lines.extend(wants.random.then(|| "real randomness".to_owned()));
    lines
}
