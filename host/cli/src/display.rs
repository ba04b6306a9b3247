//! What a person sees when something is wrong.

use faucet_core::config::{Located, Report};
use faucet_core::error::{Blame, Error, Severity};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource};
use serde_json::json;
use std::error::Error as StdError;
use std::io::IsTerminal;
use std::process::ExitCode;

use crate::args::Output;
use crate::snippet;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The configuration has problems; with its text, for the lines they stand on.
    Config {
        report: Report,
        text: String,
    },
    Error(Error),
    /// The arguments ask for something that doesn't exist.
    Usage(String),
    /// Things that were tried failed; each is printed already.
    Found,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

impl Failure {
    /// 1 the run failed, 2 configuration, 3 environment.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Config { .. } | Failure::Usage(_) => ExitCode::from(2),
            Failure::Found => ExitCode::from(1),
            Failure::Error(error) => match error.code().blame {
                Blame::Config => ExitCode::from(2),
                Blame::Environment => ExitCode::from(3),
                Blame::Source | Blame::Sink | Blame::State | Blame::Plugin | Blame::Bug => ExitCode::from(1),
            },
        }
    }
}

/// Prints a failure to standard error.
pub fn print(failure: &Failure, output: Output) {
    let text = match (failure, output) {
        (Failure::Config { report, text }, Output::Text) => self::report(report, text),
        (Failure::Error(error), Output::Text) => self::error(error),
        (Failure::Usage(what), Output::Text) => format!("error: {what}\n"),
        (Failure::Found, _) => return,
        (Failure::Config { report, .. }, Output::Json) => {
            json_line(&json!({"error": "config.invalid", "report": report}))
        }
        (Failure::Error(error), Output::Json) => json_line(&error_json(error)),
        (Failure::Usage(what), Output::Json) => json_line(&json!({"error": "usage", "message": what})),
    };
    eprint!("{text}");
}

fn json_line(value: &serde_json::Value) -> String {
    format!("{value}\n")
}

/// An error as an object.
pub fn error_json(error: &Error) -> serde_json::Value {
    json!({
        "error": error.code().id,
        "message": error.to_string(),
        "context": error.contexts(),
        "hint": error.hint_text(),
        "causes": causes(error),
    })
}

fn causes(error: &Error) -> Vec<String> {
    let mut found = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        found.push(error.to_string());
        cause = error.source();
    }
    found
}

/// An error with its context, causes and what to do.
pub fn error(error: &Error) -> String {
    let code = error.code();
    let mut message = error.to_string();
    for context in error.contexts() {
        message.push_str(&format!("\nwhile {context}"));
    }
    for cause in causes(error).into_iter().filter(|c| !error.to_string().contains(c.as_str())) {
        message.push_str(&format!("\ncaused by: {cause}"));
    }
    let more = format!("more: faucet explain {}", code.id);
    let help = error.hint_text().map_or_else(|| more.clone(), |hint| format!("{hint}\n{more}"));
    render(&MietteDiagnostic::new(message).with_code(code.id).with_help(help), None)
}

/// All problems of a configuration, each with its line, and a count.
pub fn report(report: &Report, text: &str) -> String {
    let masked = snippet::mask_secrets(text);
    let mut out: String = report.problems.iter().map(|located| problem(located, &report.file, &masked)).collect();
    let (errors, all) = (report.errors(), report.problems.len());
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    out.push_str(&format!("{}, {} in {}\n", plural(errors, "error"), plural(all - errors, "warning"), report.file));
    out
}

fn problem(located: &Located, file: &str, text: &str) -> String {
    let Located { problem, position } = located;
    let message = match problem.path.as_str() {
        "" => problem.message.clone(),
        path => format!("{path}: {}", problem.message),
    };
    let severity = match problem.severity {
        Severity::Error => miette::Severity::Error,
        Severity::Warning => miette::Severity::Warning,
    };
    let mut diagnostic = MietteDiagnostic::new(message).with_severity(severity);
    if let Some(hint) = &problem.hint {
        diagnostic = diagnostic.with_help(hint.clone());
    }
    if let Some(position) = position {
        let (offset, length) = snippet::span(text, position.line, position.column);
        diagnostic = diagnostic.with_label(LabeledSpan::new(Some("here".to_owned()), offset, length));
    }
    render(&diagnostic, Some((file, text)))
}

fn render(diagnostic: &MietteDiagnostic, source: Option<(&str, &str)>) -> String {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(110).with_context_lines(1).with_links(false);
    let mut out = String::new();
    let rendered = match source {
        Some((file, text)) => {
            let named =
                miette::Report::new(diagnostic.clone()).with_source_code(NamedSource::new(file, text.to_owned()));
            handler.render_report(&mut out, named.as_ref())
        }
        None => handler.render_report(&mut out, diagnostic),
    };
    rendered.expect("writing to a string can't fail");
    out.push('\n');
    out
}
