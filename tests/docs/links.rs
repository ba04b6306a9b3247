//! Every relative link in a Markdown file leads to a file, and to a heading where it names one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::{files, shown};

/// Lines outside fenced code, with inline code removed: links live there.
fn prose(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push(line.split('`').step_by(2).collect());
        }
    }
    lines
}

/// Targets of `[text](target)` and `[name]: target`.
fn targets(line: &str) -> Vec<String> {
    let mut found: Vec<String> =
        line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()).map(str::to_owned).collect();
    if let Some((_, target)) = line.trim_start().strip_prefix('[').and_then(|l| l.split_once("]: ")) {
        found.extend(target.split_whitespace().next().map(str::to_owned));
    }
    found
}

/// The anchors of a page, made from its headings as GitHub and mdBook make them.
fn anchors(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut anchors = Vec::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let Some(title) = line.strip_prefix('#').filter(|_| !fenced) else { continue };
        let title = title.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let slug: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let number = seen.entry(slug.clone()).or_default();
        anchors.push(if *number == 0 { slug } else { format!("{slug}-{number}") });
        *number += 1;
    }
    anchors
}

fn is_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// What is wrong with a link, if anything.
fn problem(page: &Path, target: &str) -> Option<String> {
    let (file, anchor) = target.split_once('#').map_or((target, None), |(f, a)| (f, Some(a)));
    let path: PathBuf = match file {
        "" => page.to_owned(),
        file => page.parent().unwrap_or(page).join(file),
    };
    if !path.exists() {
        return Some("no such file".to_owned());
    }
    let anchor = anchor.filter(|_| path.extension().is_some_and(|e| e == "md"))?;
    let text = std::fs::read_to_string(&path).ok()?;
    (!anchors(&text).iter().any(|a| a == anchor)).then(|| "no such heading".to_owned())
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for page in files("md") {
        let text = std::fs::read_to_string(&page).expect("a page is readable");
        for target in prose(&text).iter().flat_map(|line| targets(line)).filter(|t| !is_elsewhere(t)) {
            broken.extend(problem(&page, &target).map(|what| format!("{}: ({target}): {what}", shown(&page))));
        }
    }
    assert!(broken.is_empty(), "broken links:\n  {}", broken.join("\n  "));
}

#[test]
fn links_and_anchors_are_read_right() {
    let text = "# A `b` c\nsee [x](y.md#z) and `[no](code)`\n```\n[no](fence)\n# no\n```\n[ref]: other.md\n# A b c\n";
    let found: Vec<String> = prose(text).iter().flat_map(|line| targets(line)).collect();
    assert_eq!(found, ["y.md#z", "other.md"]);
    assert_eq!(anchors(text), ["a-b-c", "a-b-c-1"]);
}
