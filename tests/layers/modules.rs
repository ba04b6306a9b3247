//! Which module may know which, read from the syntax trees.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, ItemMod, Macro, UseTree};

use crate::none;
use crate::sources::{self, Source, attributes, is_test};

/// A module of `faucet-core`, the modules of it that it may use, and why.
struct ModuleRule {
    module: &'static str,
    may_use: &'static [&'static str],
    because: &'static str,
}

const CORE: &str = "host/core/src/";

const MODULES: &[ModuleRule] = &[
    ModuleRule { module: "error", may_use: &[], because: "everything else uses it" },
    ModuleRule { module: "failpoint", may_use: &[], because: "a place to crash at needs nothing" },
    ModuleRule { module: "model", may_use: &["error"], because: "pages mean the same whoever moves them" },
    ModuleRule { module: "ports", may_use: &["model", "error"], because: "a port is a contract, not an engine" },
    ModuleRule {
        module: "recording",
        may_use: &["error", "ports", "model"],
        because: "a file of pages is the same whoever made them",
    },
    ModuleRule { module: "observe", may_use: &["model", "error"], because: "anything may report, it asks nobody" },
    ModuleRule {
        module: "state",
        may_use: &["error", "ports", "model", "failpoint"],
        because: "a store keeps bytes and knows no pipeline",
    },
    ModuleRule {
        module: "delivery",
        may_use: &["error", "ports", "model"],
        because: "guarantees are decided before anything runs",
    },
    ModuleRule {
        module: "config",
        may_use: &["error", "ports", "model", "delivery"],
        because: "a document is judged by what it asks for, and reading it runs nothing",
    },
    ModuleRule {
        module: "pipeline",
        may_use: &["error", "ports", "model", "delivery", "state", "observe", "failpoint"],
        because: "the engine sees connectors through ports alone, and knows no mirror",
    },
    ModuleRule {
        module: "mirror",
        may_use: &["error", "ports", "model", "delivery", "state", "observe", "failpoint", "pipeline"],
        because: "it drives pipelines, and sees connectors through ports alone",
    },
];

/// A path prefix, words that must not be used in shipped code below it, and why.
struct WordRule {
    below: &'static str,
    except: &'static [&'static str],
    paths: &'static [&'static str],
    because: &'static str,
}

const PATHS: &[WordRule] = &[
    WordRule {
        below: "host/core/src/mirror/coordinator",
        except: &[],
        paths: &[
            "tokio",
            "std::fs",
            "std::net",
            "std::thread",
            "std::time::Instant::now",
            "std::time::SystemTime",
            "rand",
        ],
        because: "the coordinator is a pure state machine: the simulator runs the same code",
    },
    WordRule {
        below: "host/core/src/model",
        except: &[],
        paths: &["tokio", "std::fs", "std::net"],
        because: "the model does no I/O",
    },
    WordRule {
        below: "host/connectors/src/",
        except: &["host/connectors/src/sqlite"],
        paths: &["rusqlite"],
        because: "only the sqlite connector knows its driver",
    },
    WordRule {
        below: "host/connectors/src/",
        except: &["host/connectors/src/postgres"],
        paths: &["tokio_postgres", "pgwire_replication", "postgres_protocol"],
        because: "only the postgres connectors know their driver",
    },
    WordRule {
        below: "host/",
        except: &["host/cli/", "host/core/src/failpoint.rs"],
        paths: &["std::process::exit", "std::process::abort"],
        because: "only the binary decides when the process ends, and a failpoint that was armed on purpose",
    },
    WordRule {
        below: "sdk/",
        except: &[],
        paths: &["std::process::exit", "std::process::abort"],
        because: "a guest reports errors",
    },
];

/// Macros that print, and where they may.
const PRINTING: [&str; 4] = ["println", "eprintln", "print", "eprint"];
const MAY_PRINT: [&str; 2] = ["host/cli/", "xtask/"];

/// What a file uses outside tests.
#[derive(Default)]
struct Uses {
    /// Absolute paths, `crate` first for our own (`super` and `self` resolved).
    paths: Vec<Vec<String>>,
    macros: Vec<String>,
    has_async: bool,
    /// The module the visitor is in, from the crate root.
    module: Vec<String>,
}

impl Uses {
    fn of(source: &Source) -> Self {
        let mut uses = Self { module: module_of(&source.path), ..Self::default() };
        uses.visit_file(&source.syntax);
        uses
    }

    fn note(&mut self, segments: Vec<String>) {
        let mut base = self.module.clone();
        let mut rest = segments.as_slice();
        match rest.first().map(String::as_str) {
            Some("self") => rest = &rest[1..],
            Some("super") => {
                while let Some((first, tail)) = rest.split_first().filter(|(f, _)| *f == "super") {
                    debug_assert_eq!(first, "super");
                    base.pop();
                    rest = tail;
                }
            }
            Some("crate") => (base, rest) = (Vec::new(), &rest[1..]),
            _ => return self.paths.push(segments),
        }
        let mut absolute = vec!["crate".to_owned()];
        absolute.extend(base);
        absolute.extend(rest.iter().cloned());
        self.paths.push(absolute);
    }

    fn note_use(&mut self, tree: &UseTree, mut before: Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.note_use(&path.tree, before);
            }
            UseTree::Group(group) => group.items.iter().for_each(|item| self.note_use(item, before.clone())),
            UseTree::Name(name) => self.note_last(before, name.ident.to_string()),
            UseTree::Rename(rename) => self.note_last(before, rename.ident.to_string()),
            UseTree::Glob(_) => self.note(before),
        }
    }

    fn note_last(&mut self, mut path: Vec<String>, last: String) {
        if last != "self" || path.is_empty() {
            path.push(last);
        }
        self.note(path);
    }

    /// Paths inside a macro call, which `syn` leaves as tokens.
    fn note_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.finish(&mut path);
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.finish(&mut path);
                    colons = 0;
                    self.note_tokens(group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    self.finish(&mut path);
                    colons = 0;
                }
            }
        }
        self.finish(&mut path);
    }

    fn finish(&mut self, path: &mut Vec<String>) {
        if path.len() > 1 {
            self.note(std::mem::take(path));
        }
        path.clear();
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.module.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.note_use(&item.tree, Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            self.note(path.segments.iter().map(|s| s.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        if let Some(name) = call.path.segments.last() {
            self.macros.push(name.ident.to_string());
        }
        self.note_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.has_async |= signature.asyncness.is_some();
        visit::visit_signature(self, signature);
    }

    fn visit_expr_async(&mut self, block: &'ast syn::ExprAsync) {
        self.has_async = true;
        visit::visit_expr_async(self, block);
    }

    fn visit_expr_await(&mut self, wait: &'ast syn::ExprAwait) {
        self.has_async = true;
        visit::visit_expr_await(self, wait);
    }
}

/// The module a file holds, from the root of its crate: `host/core/src/model/page.rs` is `[model, page]`.
fn module_of(path: &str) -> Vec<String> {
    let inside = path.split_once("/src/").map_or("", |(_, inside)| inside);
    let inside = inside.strip_suffix(".rs").unwrap_or(inside);
    let mut module: Vec<String> = inside.split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    module
}

/// Whether `path` starts with `prefix` written as `a::b`.
fn starts_with(path: &[String], prefix: &str) -> bool {
    let mut segments = path.iter();
    prefix.split("::").all(|part| segments.next().is_some_and(|s| s == part))
}

#[test]
fn core_modules_know_only_what_lies_below_them() {
    let mut violations = Vec::new();
    for source in sources::shipped().iter().filter(|s| s.path.starts_with(CORE)) {
        let Some(module) = module_of(&source.path).into_iter().next() else { continue };
        let Some(rule) = MODULES.iter().find(|r| r.module == module) else {
            violations.push(format!("{} is in module `{module}`, which has no row in MODULES", source.path));
            continue;
        };
        for path in Uses::of(source).paths.iter().filter(|p| p[0] == "crate" && p.len() > 1) {
            let used = path[1].as_str();
            let known = MODULES.iter().any(|r| r.module == used);
            if known && used != module && !rule.may_use.contains(&used) {
                violations.push(format!("{} uses {}: {}", source.path, path.join("::"), rule.because));
            }
        }
    }
    violations.dedup();
    none("a module of faucet-core uses one above it", &violations);
}

#[test]
fn modules_keep_away_from_what_is_not_theirs() {
    let mut violations = Vec::new();
    for rule in PATHS {
        let except = |path: &str| rule.except.iter().any(|e| path.starts_with(e));
        for source in sources::shipped().iter().filter(|s| s.path.starts_with(rule.below) && !except(&s.path)) {
            let uses = Uses::of(source);
            let wrong = uses.paths.iter().filter(|p| rule.paths.iter().any(|w| starts_with(p, w)));
            violations.extend(wrong.map(|p| format!("{} uses {}: {}", source.path, p.join("::"), rule.because)));
        }
    }
    violations.dedup();
    none("a module uses what another one owns", &violations);
}

#[test]
fn the_coordinator_is_not_async() {
    let below = |s: &&Source| s.path.starts_with("host/core/src/mirror/coordinator");
    let asynchronous = sources::shipped().iter().filter(below).filter(|s| Uses::of(s).has_async);
    let violations: Vec<String> = asynchronous.map(|s| s.path.clone()).collect();
    none("the mirror coordinator does no I/O, so nothing in it waits", &violations);
}

#[test]
fn only_the_binary_prints() {
    let silent = |s: &&Source| !MAY_PRINT.iter().any(|p| s.path.starts_with(p));
    let mut violations = Vec::new();
    for source in sources::shipped().iter().filter(silent) {
        let printing = Uses::of(source).macros.into_iter().filter(|m| PRINTING.contains(&m.as_str()));
        violations.extend(printing.map(|m| format!("{} calls {m}!", source.path)));
    }
    none("library code reports through errors and tracing", &violations);
}

#[test]
fn the_reader_of_paths_sees_what_it_should() {
    let text = r#"
        use crate::{model::{Page, self}, error as e};
        use super::super::state::Key;
        mod inner { fn f() { super::sibling::g(); } }
        fn f() -> crate::ports::Sink { format!("{}", crate::observe::x(1)); std::process::exit(1) }
        #[cfg(test)] mod tests { use crate::mirror::Plan; }
    "#;
    let syntax = syn::parse_file(text).expect("it is Rust");
    let source = Source { path: "host/core/src/pipeline/pump.rs".to_owned(), text: text.to_owned(), syntax };
    let paths: Vec<String> = Uses::of(&source).paths.iter().map(|p| p.join("::")).collect();
    for expected in [
        "crate::model::Page",
        "crate::model",
        "crate::error",
        "crate::state::Key",
        "crate::pipeline::pump::sibling::g",
        "crate::ports::Sink",
        "crate::observe::x",
        "std::process::exit",
    ] {
        assert!(paths.iter().any(|p| p == expected), "{expected} is not in {paths:?}");
    }
    assert!(!paths.iter().any(|p| p.contains("mirror")), "tests may use anything: {paths:?}");
}
