//! What is left of what a plugin asks for, the configuration grants and the operator allows, and what to say about the
//! rest.

use super::ceiling::{Ceiling, Names, named};
use super::{DirGrant, Effective, Folder, Grants, HttpGrant, Wants, patterns};
use faucet_core::error::Problem;
use std::collections::BTreeMap;
use std::path::Path;

/// Puts the three together. `folder` is where relative paths start; `secrets` are the values the configuration gives.
///
/// The warnings say what is asked for and not given, or given and not asked for; their paths start at the plugin's entry.
///
/// # Errors
/// What is wrong with the grants themselves.
pub(crate) fn settle(
    wants: &Wants,
    grants: &Grants,
    secrets: &BTreeMap<String, String>,
    ceiling: &Ceiling,
    folder: &Path,
) -> Result<(Effective, Vec<Problem>), Vec<Problem>> {
    let mut settling = Settling { wants, grants, ceiling, warnings: Vec::new(), errors: Vec::new() };
    let effective = Effective {
        http: settling.http(),
        dirs: settling.dirs(folder),
        env: settling.env(),
        secrets: settling.secrets(secrets),
        clock: settling.flag("clock", "the real time", wants.clock, grants.clock, ceiling.allows_clock()),
        random: settling.flag("random", "real randomness", wants.random, grants.random, ceiling.allows_random()),
        missing: None,
    };
    if settling.errors.is_empty() { Ok((effective, settling.warnings)) } else { Err(settling.errors) }
}

/// The three lists, and what there is to say about them.
struct Settling<'a> {
    wants: &'a Wants,
    grants: &'a Grants,
    ceiling: &'a Ceiling,
    warnings: Vec<Problem>,
    errors: Vec<Problem>,
}

impl Settling<'_> {
    fn http(&mut self) -> HttpGrant {
        let granted = patterns(&self.grants.http).unwrap_or_else(|(nth, why)| {
            self.errors.push(Problem::error(format!("grants.http[{nth}]"), why));
            Vec::new()
        });
        let asked = patterns(&self.wants.http).unwrap_or_else(|(_, why)| {
            self.errors.push(Problem::error("path", format!("the plugin asks for a host that is none: {why}")));
            Vec::new()
        });
        if !granted.is_empty() && asked.is_empty() {
            self.unasked("http");
        }
        if granted.is_empty() && !asked.is_empty() {
            let quoted: Vec<String> = self.wants.http.iter().map(|host| format!("\"{host}\"")).collect();
            let (hosts, quoted) = (self.wants.http.join(", "), quoted.join(", "));
            self.ungranted("http", &format!("HTTP requests to {hosts}"), &format!("grants: {{ http: [{quoted}] }}"));
        }
        let ceiling = self.ceiling.http();
        let grant = HttpGrant { asked, granted, ceiling, closed: false };
        for nth in (0..grant.granted.len()).filter(|nth| !grant.is_below_ceiling(&grant.granted[*nth])) {
            self.above_ceiling(&format!("grants.http[{nth}]"));
        }
        grant
    }

    fn dirs(&mut self, folder: &Path) -> Vec<Folder> {
        let grants = &self.grants.dirs;
        let dirs = (0..grants.len()).filter_map(|nth| self.dir(nth, folder)).collect();
        for (name, _) in &self.wants.dirs {
            if !grants.iter().any(|grant| grant.name() == *name) {
                let example = format!("grants: {{ dirs: [{{ path: ./FOLDER, name: {name} }}] }}");
                self.ungranted("dirs", &format!("a folder named {name}"), &example);
            }
        }
        dirs
    }

    /// The folder of one grant, if the plugin gets it.
    fn dir(&mut self, nth: usize, folder: &Path) -> Option<Folder> {
        let (earlier, grant) = (&self.grants.dirs[..nth], &self.grants.dirs[nth]);
        let (at, path, name) = (format!("grants.dirs[{nth}]"), folder.join(&grant.path), grant.name());
        if let Some(wrong) = wrong_name(&name, earlier) {
            self.errors.push(wrong.under(&format!("{at}.name")));
            return None;
        }
        let Some((_, wanted)) = self.wants.dirs.iter().find(|(wanted, _)| *wanted == name) else {
            let what = format!("the plugin does not ask for a folder named {name}");
            self.warnings.push(Problem::warning(at, what).hint(self.asked_dirs()));
            return None;
        };
        if !path.is_dir() {
            self.errors.push(Problem::error(format!("{at}.path"), format!("{} is no folder", path.display())));
            return None;
        }
        let Some(most) = self.ceiling.access(&path) else {
            self.above_ceiling(&at);
            return None;
        };
        let asked = grant.access.min(*wanted);
        let lowered = most < asked;
        if lowered {
            self.writing_above_ceiling(&at);
        }
        Some(Folder { path, name, access: asked.min(most), lowered })
    }

    fn asked_dirs(&self) -> String {
        let names: Vec<&str> = self.wants.dirs.iter().map(|(name, _)| name.as_str()).collect();
        if names.is_empty() { "remove it".to_owned() } else { format!("it asks for {}", names.join(", ")) }
    }

    fn env(&mut self) -> Vec<(String, String)> {
        let names = self.names("env", "environment variable", &self.wants.env, &self.grants.env, Names::Env);
        names.into_iter().filter_map(|name| std::env::var(&name).ok().map(|value| (name, value))).collect()
    }

    fn secrets(&mut self, values: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let given = &self.grants.secrets;
        let names = self.names("secrets", "secret", &self.wants.secrets, given, Names::Secrets);
        for (nth, name) in given.iter().enumerate().filter(|(_, name)| !values.contains_key(*name)) {
            let problem =
                Problem::error(format!("grants.secrets[{nth}]"), format!("`secrets` has no value for {name}"));
            self.errors.push(problem.hint(format!("add secrets: {{ {name}: ${{env:{}}} }}", name.to_uppercase())));
        }
        for name in values.keys().filter(|name| !given.contains(name)) {
            let what = format!("the secret {name} is not granted");
            self.warnings.push(Problem::warning(format!("secrets.{name}"), what).hint("add it to grants.secrets"));
        }
        names.into_iter().filter_map(|name| values.get(&name).map(|value| (name.clone(), value.clone()))).collect()
    }

    /// The names that are on all three lists.
    fn names(&mut self, key: &str, noun: &str, asked: &[String], given: &[String], most: Names) -> Vec<String> {
        let mut left = Vec::new();
        for (nth, name) in given.iter().enumerate() {
            let at = format!("grants.{key}[{nth}]");
            if !named(asked, name) {
                let problem = Problem::warning(at, format!("the plugin does not ask for the {noun} {name}"));
                self.warnings.push(problem.hint("remove it"));
            } else if self.ceiling.allows_name(most, name) {
                left.push(name.clone());
            } else {
                self.above_ceiling(&at);
            }
        }
        for name in asked.iter().filter(|name| *name != "*" && !given.contains(name)) {
            self.ungranted(key, &format!("the {noun} {name}"), &format!("grants: {{ {key}: [{name}] }}"));
        }
        left
    }

    fn flag(&mut self, key: &str, what: &str, asked: bool, given: bool, ceiling: bool) -> bool {
        match (asked, given) {
            (true, false) => self.ungranted(key, what, &format!("grants: {{ {key}: true }}")),
            (false, true) => self.unasked(key),
            (true, true) if !ceiling => {
                self.above_ceiling(&format!("grants.{key}"));
                return false;
            }
            (true, true) | (false, false) => {}
        }
        asked && given
    }

    fn ungranted(&mut self, key: &str, what: &str, example: &str) {
        let problem =
            Problem::warning("grants", format!("the plugin asks for {what}, and `grants.{key}` does not say so"));
        self.warnings.push(problem.hint(format!("if you trust it with that: {example}")));
    }

    fn unasked(&mut self, key: &str) {
        let problem = Problem::warning(format!("grants.{key}"), "the plugin does not ask for it");
        self.warnings.push(problem.hint("remove it"));
    }

    fn writing_above_ceiling(&mut self, at: &str) {
        let what =
            "writing is above the ceiling that FAUCET_PLUGIN_CEILING sets on this machine: it is granted for reading";
        self.warnings.push(Problem::warning(at, what).hint("ask whoever operates this machine"));
    }

    fn above_ceiling(&mut self, at: &str) {
        let what = "this is above the ceiling that FAUCET_PLUGIN_CEILING sets on this machine, and is not granted";
        self.warnings.push(Problem::warning(at, what).hint("ask whoever operates this machine"));
    }
}

/// What is wrong with a folder's name.
fn wrong_name(name: &str, earlier: &[DirGrant]) -> Option<Problem> {
    if !name.starts_with('/') || name.len() < 2 {
        return Some(Problem::error("", "a folder's name starts with / and goes on"));
    }
    let taken = earlier.iter().any(|other| other.name() == name);
    taken.then(|| {
        Problem::error("", format!("another folder is named {name} too")).hint("give each a `name` of its own")
    })
}
