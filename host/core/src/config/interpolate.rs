//! `${...}` in configuration values.
//!
//! Works on scalars that are already parsed, never on the text of the file, so a value can't change the file's
//! structure and needs no quoting of its own. Substituted text is not looked at again.
//!
//! | Form | Becomes |
//! |---|---|
//! | `${env:NAME}` | the environment variable; a problem when it isn't set |
//! | `${env:NAME:-text}` | the variable, or `text` when it isn't set or empty |
//! | `${file:PATH}` | the file's text without its last line break; relative to the configuration's folder |
//! | `$${` | a literal `${` |
//! | `${bookmark}` | itself: sources put their bookmark there |
//!
//! Text that came from the environment or a file is a secret from then on: see [`Redactor`]. A scalar that is nothing
//! but one `${...}` may stand where a number or a bool is wanted: [`check`](super::check) converts it there.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::path;
use super::redact::Redactor;
use crate::error::Problem;

/// The largest file `${file:...}` brings in, in bytes.
const LARGEST_FILE: u64 = 1 << 20;

/// Where interpolated values come from.
pub trait Surroundings {
    /// The environment variable `name`; `None` when it isn't set.
    ///
    /// # Errors
    /// Why its value can't be used.
    fn variable(&self, name: &str) -> Result<Option<String>, String>;

    /// The text of the file at `path`.
    ///
    /// # Errors
    /// Why it can't be read.
    fn file(&self, path: &Path) -> Result<String, String>;
}

/// The environment of this process, and files relative to a folder.
#[derive(Debug, Clone)]
pub struct ProcessSurroundings {
    folder: PathBuf,
}

impl ProcessSurroundings {
    /// Files are relative to `folder`, which is the configuration's.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }
}

impl Surroundings for ProcessSurroundings {
    fn variable(&self, name: &str) -> Result<Option<String>, String> {
        match std::env::var(name) {
            Ok(value) => Ok(Some(value)),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => Err("its value is not UTF-8 text".to_owned()),
        }
    }

    fn file(&self, path: &Path) -> Result<String, String> {
        let file = std::fs::File::open(self.folder.join(path)).map_err(|e| e.to_string())?;
        let mut bytes = Vec::new();
        file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        if bytes.len() as u64 > LARGEST_FILE {
            return Err("it is larger than 1 MiB".to_owned());
        }
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
    }
}

/// Which values were interpolated.
#[derive(Debug, Default)]
pub struct Origins {
    /// The path of each interpolated scalar, with the text it was written as.
    written: HashMap<String, Origin>,
}

#[derive(Debug)]
struct Origin {
    text: String,
    /// Whether the scalar was one `${...}` and nothing else.
    whole: bool,
}

impl Origins {
    /// What was written at `path`, when it was interpolated. Safe to show: it holds the reference, not the value.
    pub fn written(&self, path: &str) -> Option<&str> {
        self.written.get(path).map(|origin| origin.text.as_str())
    }

    /// Whether the scalar at `path` was one `${...}` and nothing else.
    pub fn is_whole(&self, path: &str) -> bool {
        self.written.get(path).is_some_and(|origin| origin.whole)
    }
}

/// What interpolating a tree gave besides the changed tree.
#[derive(Debug, Default)]
pub struct Interpolated {
    /// Which values changed.
    pub origins: Origins,
    /// Knows every value that came in.
    pub redactor: Redactor,
    /// What couldn't be filled in; those scalars are left as they were written.
    pub problems: Vec<Problem>,
}

/// Fills in every `${...}` of `tree` in place.
pub fn interpolate(tree: &mut Value, surroundings: &dyn Surroundings) -> Interpolated {
    let mut result = Interpolated::default();
    walk(tree, String::new(), surroundings, &mut result);
    result
}

fn walk(tree: &mut Value, at: String, surroundings: &dyn Surroundings, result: &mut Interpolated) {
    match tree {
        Value::String(text) => {
            if text.contains("${") {
                scalar(text, at, surroundings, result);
            }
        }
        Value::Array(items) => {
            for (nth, item) in items.iter_mut().enumerate() {
                walk(item, path::item(&at, nth), surroundings, result);
            }
        }
        Value::Object(entries) => {
            for (name, entry) in entries.iter_mut() {
                walk(entry, path::key(&at, name), surroundings, result);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn scalar(text: &mut String, at: String, surroundings: &dyn Surroundings, result: &mut Interpolated) {
    let mut filled = Filled::default();
    let mut problems = Vec::new();
    for piece in (Pieces { rest: text.as_str() }) {
        match piece {
            Piece::Text(plain) => filled.literal(plain),
            Piece::Escape => filled.literal("${"),
            Piece::Unfinished => problems.push(unfinished(&at)),
            Piece::Reference(inner) => match resolve(inner, surroundings) {
                Ok(Resolved::Keep) => filled.literal(&format!("${{{inner}}}")),
                Ok(Resolved::Default(value)) => filled.reference(value),
                Ok(Resolved::Secret(value)) => {
                    result.redactor.add(&value);
                    filled.reference(&value);
                }
                Err(problem) => problems.push(problem.under(&at)),
            },
        }
    }
    if !problems.is_empty() {
        result.problems.append(&mut problems);
        return;
    }
    let written = std::mem::replace(text, filled.text);
    if filled.references > 0 {
        let whole = filled.references == 1 && !filled.has_literal;
        result.origins.written.insert(at, Origin { text: written, whole });
    }
}

/// A scalar while it is filled in.
#[derive(Default)]
struct Filled {
    text: String,
    references: usize,
    has_literal: bool,
}

impl Filled {
    fn literal(&mut self, text: &str) {
        self.has_literal |= !text.is_empty();
        self.text.push_str(text);
    }

    fn reference(&mut self, value: &str) {
        self.references += 1;
        self.text.push_str(value);
    }
}

fn unfinished(at: &str) -> Problem {
    Problem::error(at, "`${` is never closed").hint("close it with }, or write $${ for a literal ${")
}

enum Piece<'a> {
    Text(&'a str),
    Escape,
    Reference(&'a str),
    Unfinished,
}

/// Cuts a scalar into plain text, escapes and references.
struct Pieces<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        if let Some(rest) = self.rest.strip_prefix("$${") {
            self.rest = rest;
            return Some(Piece::Escape);
        }
        if let Some(inside) = self.rest.strip_prefix("${") {
            let Some(end) = inside.find('}') else {
                self.rest = "";
                return Some(Piece::Unfinished);
            };
            self.rest = &inside[end + 1..];
            return Some(Piece::Reference(&inside[..end]));
        }
        let end = self.rest.find("${").unwrap_or(self.rest.len());
        let end = if end > 0 && self.rest[..end].ends_with('$') && end < self.rest.len() { end - 1 } else { end };
        let (plain, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(Piece::Text(plain))
    }
}

enum Resolved<'a> {
    /// Not ours: stays as written.
    Keep,
    /// Text from the configuration itself, no secret.
    Default(&'a str),
    /// Text from outside.
    Secret(String),
}

fn resolve<'a>(inner: &'a str, surroundings: &dyn Surroundings) -> Result<Resolved<'a>, Problem> {
    if inner == "bookmark" {
        return Ok(Resolved::Keep);
    }
    if inner.contains("${") {
        return Err(Problem::error("", format!("`${{{inner}}}` is nested: a default can't hold another reference")));
    }
    match inner.split_once(':') {
        Some(("env", rest)) => variable(rest, surroundings),
        Some(("file", path)) if !path.is_empty() => file(path, surroundings),
        Some(("file", _)) => Err(Problem::error("", "`${file:}` names no file").hint("write ${file:PATH}")),
        Some((scheme, _)) => {
            let problem = Problem::error("", format!("`${{{scheme}:...}}` is not a known reference"));
            Err(problem
                .hint("known are ${env:NAME}, ${env:NAME:-default} and ${file:PATH}; write $${ for a literal ${"))
        }
        None => {
            let problem = Problem::error("", format!("`${{{inner}}}` is not a known reference"));
            let name = if inner.is_empty() { "NAME" } else { inner };
            Err(problem.hint(format!("write ${{env:{name}}} for an environment variable, or $${{ for a literal ${{")))
        }
    }
}

fn variable<'a>(rest: &'a str, surroundings: &dyn Surroundings) -> Result<Resolved<'a>, Problem> {
    let (name, default) = match rest.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (rest, None),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(plain) || name.starts_with(|c: char| c.is_ascii_digit()) {
        let problem = Problem::error("", format!("`{name}` is not the name of an environment variable"));
        return Err(problem.hint("write ${env:NAME} or ${env:NAME:-default}"));
    }
    let value = surroundings
        .variable(name)
        .map_err(|why| Problem::error("", format!("can't use the environment variable {name}: {why}")))?;
    match (value, default) {
        (Some(value), None) => Ok(Resolved::Secret(value)),
        (Some(value), Some(_)) if !value.is_empty() => Ok(Resolved::Secret(value)),
        (_, Some(default)) => Ok(Resolved::Default(default)),
        (None, None) => {
            let problem = Problem::error("", format!("the environment variable {name} is not set"));
            Err(problem.hint(format!("set it, or give a default: ${{env:{name}:-...}}")))
        }
    }
}

fn file<'a>(path: &str, surroundings: &dyn Surroundings) -> Result<Resolved<'a>, Problem> {
    let mut text = surroundings.file(Path::new(path)).map_err(|why| {
        let problem = Problem::error("", format!("can't read the file '{path}': {why}"));
        problem.hint("relative paths start at the folder of the configuration file")
    })?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(Resolved::Secret(text))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Variables `NAME=value` and files `@path=text`.
    struct Fixed(&'static [(&'static str, &'static str)]);

    impl Surroundings for Fixed {
        fn variable(&self, name: &str) -> Result<Option<String>, String> {
            Ok(self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        }

        fn file(&self, path: &Path) -> Result<String, String> {
            let name = format!("@{}", path.display());
            self.variable(&name)?.ok_or_else(|| "No such file".to_owned())
        }
    }

    const OUTSIDE: Fixed = Fixed(&[
        ("USER", "app"),
        ("PW", "s3cret-${env:USER}"),
        ("EMPTY", ""),
        ("PORT", "5432"),
        ("@pw.txt", "from file\r\n"),
    ]);

    fn fill(text: &str) -> Result<String, String> {
        let mut tree = json!(text);
        let result = interpolate(&mut tree, &OUTSIDE);
        match result.problems.first() {
            Some(problem) => Err(problem.message.clone()),
            None => Ok(tree.as_str().unwrap().to_owned()),
        }
    }

    #[test]
    fn the_table_in_the_module_documentation() {
        for (written, filled) in [
            ("postgres://${env:USER}:${env:PW}@h", "postgres://app:s3cret-${env:USER}@h"),
            ("${env:NONE:-a b}", "a b"),
            ("${env:NONE:-}", ""),
            ("${env:EMPTY:-x}", "x"),
            ("${env:EMPTY}", ""),
            ("${env:USER:-x}", "app"),
            ("${file:pw.txt}", "from file"),
            ("$${env:USER}", "${env:USER}"),
            ("$$${env:USER}", "$${env:USER}"),
            ("a$${b}${env:USER}c", "a${b}appc"),
            ("WHERE id >= ${bookmark}", "WHERE id >= ${bookmark}"),
            ("$5 and {x} $", "$5 and {x} $"),
        ] {
            assert_eq!(fill(written).as_deref(), Ok(filled), "{written}");
        }
    }

    #[test]
    fn what_cannot_be_filled_in_is_a_problem() {
        insta::assert_snapshot!(
            [
                "${env:NONE}",
                "${env:}",
                "${env:1X}",
                "${env:A B}",
                "${file:none.txt}",
                "${file:}",
                "${vault:secret/x#y}",
                "${USER}",
                "${}",
                "${env:USER",
                "${env:NONE:-${env:USER}}",
            ]
            .map(|text| format!("{text} => {}", fill(text).unwrap_err()))
            .join("\n")
        );
    }

    #[test]
    fn every_problem_is_found_at_its_path() {
        let mut tree = json!({"a": ["x", "${env:NO1}"], "b.c": "${env:NO2} ${env:NO3}", "n": 1});
        let result = interpolate(&mut tree, &OUTSIDE);
        let paths: Vec<_> = result.problems.iter().map(|p| p.path.as_str()).collect();
        assert_eq!(paths, ["a[1]", "[\"b.c\"]", "[\"b.c\"]"]);
    }

    #[test]
    fn what_came_from_outside_is_remembered() {
        let mut tree =
            json!({"whole": "${env:PORT}", "part": "p${env:PORT}", "default": "${env:NO:-word}", "plain": "5432"});
        let result = interpolate(&mut tree, &OUTSIDE);
        assert_eq!(tree, json!({"whole": "5432", "part": "p5432", "default": "word", "plain": "5432"}));
        assert_eq!(result.origins.written("whole"), Some("${env:PORT}"));
        assert!(result.origins.is_whole("whole") && result.origins.is_whole("default"));
        assert!(!result.origins.is_whole("part"));
        assert_eq!(result.origins.written("plain"), None);
        assert_eq!(result.redactor.redact("5432 word"), "*** word");
    }

    #[test]
    fn files_are_relative_to_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("s"), "x\n\n").unwrap();
        let surroundings = ProcessSurroundings::new(folder.path());
        let mut tree = json!("${file:s}");
        assert!(interpolate(&mut tree, &surroundings).problems.is_empty());
        assert_eq!(tree, json!("x\n"), "only the last line break goes");
        std::fs::write(folder.path().join("b"), [0xff]).unwrap();
        let problems = interpolate(&mut json!("${file:b}"), &surroundings).problems;
        assert!(problems[0].message.contains("not UTF-8"));
    }
}
