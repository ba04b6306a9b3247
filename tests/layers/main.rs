//! The rules that keep the code base in shape, as tests: which crate and module may know which, how large functions
//! and files may be, what must not be in shipped code, and which licences come in.
//!
//! Each rule is a row in a table with its reason. A folder that doesn't exist yet breaks no rule.

mod crates;
mod licences;
mod modules;
mod sizes;
mod sources;
mod wit;
mod words;

/// Fails with all violations at once.
#[track_caller]
fn none(rule: &str, violations: &[String]) {
    assert!(violations.is_empty(), "{rule}:\n  {}", violations.join("\n  "));
}
