//! The reference of the plugin interface, from the files in `wit/`.
//!
//! The files are written one way (four spaces, braces at the end of a line), so they are read line by line: a
//! declaration begins after its documentation and ends where its braces are closed.

use std::fmt::Write as _;
use std::path::Path;

use crate::failure::Result;

/// The files, in the order that a reader needs them.
const FILES: [&str; 5] = ["types.wit", "host.wit", "transform.wit", "source.wit", "sink.wit"];

const HEAD: &str = "# The plugin interface\n\n\
Generated from the WIT package in `wit/`, which is what an SDK is made of. Authors of plugins need their SDK's own pages; \
this is for whoever writes an SDK, or wants to know what exactly crosses.\n";

/// The page.
pub fn reference(folder: &Path) -> Result<String> {
    let mut page = String::from(HEAD);
    for file in FILES {
        let text = std::fs::read_to_string(folder.join(file))?;
        sections(&text, &mut page);
    }
    Ok(page)
}

/// A declaration with its documentation.
#[derive(Default)]
struct Part {
    docs: Vec<String>,
    lines: Vec<String>,
}

fn sections(text: &str, page: &mut String) {
    let mut part = Part::default();
    let mut depth = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("package ")) {
        let content = line.trim();
        if let (Some(docs), true) = (content.strip_prefix("///"), part.lines.is_empty()) {
            part.docs.push(docs.trim().to_owned());
            continue;
        }
        let outer = content.starts_with("interface ") || content.starts_with("world ");
        if outer {
            heading(&std::mem::take(&mut part), content.trim_end_matches('{').trim(), page);
            continue;
        }
        if content == "}" && part.lines.is_empty() {
            continue;
        }
        depth += content.matches('{').count();
        depth -= content.matches('}').count();
        part.lines.push(line.strip_prefix("    ").unwrap_or(line).to_owned());
        if depth == 0 {
            declaration(&std::mem::take(&mut part), page);
        }
    }
}

fn heading(part: &Part, name: &str, page: &mut String) {
    let (kind, name) = name.split_once(' ').unwrap_or(("", name));
    let _ = write!(page, "\n## {kind} `{name}`\n\n{}\n", paragraphs(&part.docs));
}

fn declaration(part: &Part, page: &mut String) {
    let code = part.lines.join("\n");
    let docs = paragraphs(&part.docs);
    let gap = if docs.is_empty() { "" } else { "\n\n" };
    let _ = write!(page, "\n{docs}{gap}```wit\n{code}\n```\n");
}

/// Lines of documentation, with its paragraphs.
fn paragraphs(docs: &[String]) -> String {
    docs.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_keep_their_documentation() {
        let text = "package a:b@0.1.0;\n\n/// What it is.\ninterface things {\n    use other.{x};\n\n    /// A thing.\n    \
                    record thing {\n        /// Its name.\n        name: string,\n    }\n\n    /// Makes one.\n    \
                    make: func() -> thing;\n}\n";
        let mut page = String::new();
        sections(text, &mut page);
        assert_eq!(
            page,
            "\n## interface `things`\n\nWhat it is.\n\n```wit\nuse other.{x};\n```\n\nA thing.\n\n```wit\nrecord thing {\n    \
             /// Its name.\n    name: string,\n}\n```\n\nMakes one.\n\n```wit\nmake: func() -> thing;\n```\n"
        );
    }
}
