//! From text to [`Plan`], in one pass that finds every problem.
//!
//! parse -> interpolate -> check against the document's schema -> check each stage against its connector -> check what
//! the stages mean for each other. A step goes as far as the problems of the steps before it allow: an unknown key does
//! not hide a wrong type elsewhere, and a variable that isn't set is one problem, not a chain of them.

use serde_json::Value;

use super::catalog::Catalog;
use super::check::{Fault, check_at, coerce};
use super::document::Document;
use super::interpolate::{Interpolated, Origins, Surroundings, interpolate};
use super::locate::{Locations, Spot};
use super::plan::{Plan, Purpose};
use super::problem::{Located, Report};
use super::stages::{self, Stages};
use super::text::ConfigText;
use super::{Redactor, parse, path, rules};
use crate::error::{Problem, Severity};

/// A configuration that can run.
#[derive(Clone)]
pub struct Loaded {
    /// What to run.
    pub plan: Plan,
    /// Warnings only.
    pub warnings: Report,
}

/// Reads, fills in and checks a whole configuration. Connects nowhere; reads only the files it names in `${file:...}`
/// and under `plugins`.
///
/// # Errors
/// Everything that is wrong, warnings included.
pub fn load(
    text: &ConfigText,
    purpose: Purpose,
    catalog: &Catalog,
    surroundings: &dyn Surroundings,
) -> Result<Loaded, Report> {
    let (tree, survey) = parse(text);
    let Some(tree) = tree else { return Err(Report::new(&text.name, survey.problems)) };
    let mut session = Session::new(tree, surroundings);
    let schema = schemars::schema_for!(Document).to_value();
    session.check("", "", &schema);
    let stages = stages::find(&mut session, text, purpose, catalog);
    let plan = session.plan(purpose, &stages);
    let report = session.report(&text.name, &survey.locations);
    match plan {
        Some(plan) if !report.is_fatal() => Ok(Loaded { plan, warnings: report }),
        _ => Err(report),
    }
}

/// What the plugins of a configuration are in registries: the name of each that has `oci`, and the reference. Nothing else of
/// the configuration is looked at.
///
/// # Errors
/// When the text can't be read, or a reference can't be filled in.
pub fn references(text: &ConfigText, surroundings: &dyn Surroundings) -> Result<Vec<(String, String)>, Report> {
    let (tree, survey) = parse(text);
    let Some(tree) = tree else { return Err(Report::new(&text.name, survey.problems)) };
    let session = Session::new(tree, surroundings);
    let plugins = session.tree.get("plugins").and_then(Value::as_object).into_iter().flatten();
    let reference = |(name, entry): (&String, &Value)| Some((name.clone(), entry.get("oci")?.as_str()?.to_owned()));
    let found: Vec<_> = plugins.filter_map(reference).collect();
    let at = |name: &str| path::key(&path::key("plugins", name), "oci");
    match found.iter().all(|(name, _)| session.is_filled(&at(name))) {
        true => Ok(found),
        false => Err(session.report(&text.name, &survey.locations)),
    }
}

/// A configuration while it is being checked.
pub(super) struct Session {
    pub(super) tree: Value,
    origins: Origins,
    redactor: Redactor,
    /// The paths whose `${...}` could not be filled in: nothing else about them is worth saying.
    unfilled: Vec<String>,
    faults: Vec<Fault>,
}

impl Session {
    fn new(mut tree: Value, surroundings: &dyn Surroundings) -> Self {
        let Interpolated { origins, mut redactor, problems } = interpolate(&mut tree, surroundings);
        redactor.add_urls_of(&tree);
        let unfilled = problems.iter().map(|problem| problem.path.clone()).collect();
        let faults = problems.into_iter().map(|problem| Fault { problem, spot: Spot::Value }).collect();
        Self { tree, origins, redactor, unfilled, faults }
    }

    /// Checks the part of the tree at `pointer`, whose path is `at`, against `schema`. True when it has no errors.
    pub(super) fn check(&mut self, pointer: &str, at: &str, schema: &Value) -> bool {
        let Some(part) = self.tree.pointer_mut(pointer) else { return true };
        for secret in coerce(part, schema, at, &self.origins) {
            self.redactor.add(&secret);
        }
        let faults = check_at(part, schema, at, &self.origins);
        self.extend(faults)
    }

    /// Checks a part that isn't in the tree because it was left out.
    pub(super) fn check_absent(&mut self, part: &Value, at: &str, schema: &Value) -> bool {
        let faults = check_at(part, schema, at, &self.origins);
        self.extend(faults)
    }

    fn extend(&mut self, faults: Vec<Fault>) -> bool {
        let before = self.faults.len();
        let unfilled = &self.unfilled;
        self.faults.extend(faults.into_iter().filter(|fault| !unfilled.contains(&fault.problem.path)));
        self.faults[before..].iter().all(|fault| fault.problem.severity != Severity::Error)
    }

    /// Notes problems whose paths start at the document.
    pub(super) fn problems(&mut self, problems: impl IntoIterator<Item = Problem>) {
        let faults = problems.into_iter().map(|problem| Fault { problem, spot: Spot::Value }).collect();
        self.extend(faults);
    }

    /// Notes a problem with the key at its path.
    pub(super) fn key_problem(&mut self, problem: Problem) {
        self.extend(vec![Fault { problem, spot: Spot::Key }]);
    }

    /// Whether everything under `at` could be filled in.
    pub(super) fn is_filled(&self, at: &str) -> bool {
        let inside =
            |path: &String| path.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        !self.unfilled.iter().any(inside)
    }

    /// Checks what the stages mean for each other, and puts the plan together when everything it needs is there.
    fn plan(&mut self, purpose: Purpose, stages: &Stages) -> Option<Plan> {
        let document: Document = match serde_json::from_value(self.tree.clone()) {
            Ok(document) => document,
            Err(error) => {
                self.unread(&error.to_string());
                return None;
            }
        };
        let facts = rules::Facts::new(&document, purpose, stages);
        let (problems, mechanism) = rules::check(&facts);
        self.problems(problems);
        stages.plan(&document, purpose, mechanism?, self.redactor.clone())
    }

    /// The schema check words every problem; this is the net under it.
    fn unread(&mut self, why: &str) {
        if self.faults.iter().all(|fault| fault.problem.severity != Severity::Error) {
            self.problems([Problem::error("", format!("the configuration can't be read: {why}"))]);
        }
    }

    fn report(self, file: &str, locations: &Locations) -> Report {
        let locate = |Fault { problem, spot }: Fault| {
            let position = locations.find(&problem.path, spot);
            let message = self.redactor.redact(&problem.message);
            let hint = problem.hint.map(|hint| self.redactor.redact(&hint));
            Located { problem: Problem { message, hint, ..problem }, position }
        };
        Report::new(file, self.faults.into_iter().map(locate).collect())
    }
}
