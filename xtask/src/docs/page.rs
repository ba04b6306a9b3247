//! Reference pages in Markdown.

use std::fmt::Write as _;

use serde_json::Value;

use super::Entry;
use super::keys;

const NOTE: &str = "<!-- Written by `cargo xtask docs`. Change the doc comments in the code instead. -->\n\n";

/// The page of everything called `name`: a source and a sink may share one.
pub fn of_type(name: &str, entries: &[Entry]) -> String {
    let mut text = format!("{NOTE}# {name}\n");
    for entry in entries {
        let title = match entry.role.as_str() {
            "state" => "State store".to_owned(),
            role => role[..1].to_uppercase() + &role[1..],
        };
        let summary = entry.summary.trim_end_matches('.');
        let _ = write!(text, "\n## {title}\n\n{summary}.\n\n{}", keys::table(&entry.schema));
    }
    text
}

/// The page of the whole document.
pub fn of_configuration(schema: &Value) -> String {
    let intro = "The keys of a configuration file, YAML or JSON. A key that isn't here is refused. What belongs under a \
                 `config` is on the page of its `type`.";
    format!("{NOTE}# Configuration\n\n{intro}\n\n{}", keys::table(schema))
}

/// The page of all error codes, each as `faucet explain CODE` prints it.
pub fn of_errors(codes: &[String]) -> String {
    let mut text = format!("{NOTE}# Error codes\n\nWhat `faucet explain CODE` prints.\n");
    for code in codes {
        let (title, rest) = code.split_once('\n').unwrap_or((code, ""));
        let (id, what) = title.split_once(": ").unwrap_or((title, ""));
        let _ = write!(text, "\n## {id}\n\n**{what}**\n\n{}\n", escaped(rest.trim()));
    }
    text
}

/// Text in which Markdown and HTML have no say outside code.
pub fn escaped(text: &str) -> String {
    let pieces = text.split('`').enumerate().map(|(index, piece)| match index % 2 {
        0 => piece.replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_").replace('[', "\\["),
        _ => piece.to_owned(),
    });
    pieces.collect::<Vec<_>>().join("`")
}
