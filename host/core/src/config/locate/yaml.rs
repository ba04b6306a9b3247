//! Places in YAML text, from the events of `saphyr-parser`.
//!
//! This reader also decides what YAML a configuration may use. Anchors and aliases may; merge keys (`<<`), keys that
//! aren't text, application tags and several documents may not, because they read differently from one YAML library to
//! the next.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};

use super::{Position, Survey, Walk};
use crate::error::Problem;

/// Reads the places of `text`, which may be any text at all.
pub fn locate(text: &str) -> Survey {
    let mut reader = Reader { walk: Walk::default(), anchors: HashMap::new(), sizes: Vec::new(), documents: 0 };
    for event in Parser::new_from_str(text) {
        let (event, at) = match event {
            Ok((event, span)) => (event, position(&span.start)),
            Err(error) => {
                reader.syntax(&error, text);
                break;
            }
        };
        if reader.event(event, at) == Flow::Stop || reader.walk.exhausted(at) {
            break;
        }
    }
    if reader.documents == 0 && reader.walk.survey.problems.is_empty() {
        reader.walk.fault(empty(), Position { line: 1, column: 1 });
    }
    reader.walk.survey
}

fn position(marker: &Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

fn empty() -> Problem {
    Problem::error("", "the configuration is empty").hint("`faucet init` writes one to start from")
}

#[derive(PartialEq)]
enum Flow {
    Continue,
    Stop,
}

struct Reader {
    walk: Walk,
    /// How many values each anchor stands for, aliases expanded.
    anchors: HashMap<usize, usize>,
    /// For each open mapping or sequence: its anchor, and how many values had been met before it.
    sizes: Vec<(usize, usize)>,
    documents: usize,
}

impl Reader {
    fn event(&mut self, event: Event<'_>, at: Position) -> Flow {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    let problem = Problem::error("", "a second YAML document starts here (`---`)");
                    self.walk.fault(problem.hint("keep one pipeline in each file"), at);
                    return Flow::Stop;
                }
            }
            Event::Alias(anchor) => return self.alias(anchor, at),
            Event::Scalar(text, style, anchor, tag) => {
                self.tag(tag.as_deref(), at);
                self.scalar(&text, style, at);
                if anchor != 0 {
                    self.anchors.insert(anchor, 1);
                }
            }
            Event::MappingStart(anchor, tag) => {
                self.tag(tag.as_deref(), at);
                return self.open(anchor, at, Walk::open_mapping);
            }
            Event::SequenceStart(anchor, tag) => {
                self.tag(tag.as_deref(), at);
                return self.open(anchor, at, Walk::open_sequence);
            }
            Event::MappingEnd | Event::SequenceEnd => self.close(),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Flow::Continue
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, at: Position) {
        if !self.walk.expects_key() {
            let path = self.walk.scalar(at);
            if style == ScalarStyle::Plain && is_huge_integer(text) {
                let problem = Problem::error(path, "the number is too large to be read exactly");
                self.walk.fault(problem.hint("put it in quotes to keep it as text"), at);
            }
            return;
        }
        if style == ScalarStyle::Plain && text == "<<" {
            let problem = Problem::error("", "merge keys (`<<`) are not supported");
            self.walk.fault(problem.hint("write the keys out, or use an alias for a whole value"), at);
        } else if style == ScalarStyle::Plain && !reads_as_text(text) {
            let problem = Problem::error("", format!("the key `{text}` is not text"));
            self.walk.fault(problem.hint(format!("put it in quotes: \"{text}\"")), at);
        }
        self.walk.key(text, at);
    }

    fn open(&mut self, anchor: usize, at: Position, open: fn(&mut Walk, Position)) -> Flow {
        if self.walk.expects_key() {
            let problem = Problem::error("", "a list or a mapping can't be a key");
            let hint = "a value that starts with { or [ or ${ next to braces needs quotes";
            self.walk.fault(problem.hint(hint), at);
            return Flow::Stop;
        }
        self.sizes.push((anchor, self.walk.values));
        open(&mut self.walk, at);
        Flow::Continue
    }

    fn close(&mut self) {
        self.walk.close();
        if let Some((anchor, before)) = self.sizes.pop().filter(|(anchor, _)| *anchor != 0) {
            self.anchors.insert(anchor, self.walk.values - before);
        }
    }

    fn alias(&mut self, anchor: usize, at: Position) -> Flow {
        if self.walk.expects_key() {
            self.walk.fault(Problem::error("", "an alias can't be a key").hint("write the key out"), at);
            return Flow::Stop;
        }
        self.walk.scalar(at);
        // An alias inside its own anchor has no size yet: it would never end.
        let Some(size) = self.anchors.get(&anchor) else {
            self.walk.fault(Problem::error("", "an alias stands inside the value it repeats"), at);
            return Flow::Stop;
        };
        self.walk.values = self.walk.values.saturating_add(*size);
        Flow::Continue
    }

    fn tag(&mut self, tag: Option<&saphyr_parser::Tag>, at: Position) {
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) {
            let problem = Problem::error("", format!("the YAML tag `{tag}` is not supported"));
            self.walk.fault(problem.hint("remove it; ${env:NAME} and ${file:PATH} bring values in from outside"), at);
        }
    }

    fn syntax(&mut self, error: &ScanError, text: &str) {
        let at = position(error.marker());
        let problem = Problem::error("", format!("not valid YAML: {}", error.info()));
        let line = text.lines().nth(at.line.saturating_sub(1)).unwrap_or("");
        let hint = if line.trim_start_matches(' ').starts_with('\t') {
            Some("indent with spaces: YAML doesn't allow tabs there")
        } else if line.contains("${") && line.contains('{') {
            Some("a value with ${...} inside { } needs quotes: { url: \"${env:URL}\" }")
        } else {
            None
        };
        self.walk.fault(Problem { hint: hint.map(str::to_owned), ..problem }, at);
    }
}

/// Whether `text` is a whole number beyond 64 bits, which YAML libraries round to a floating-point number.
fn is_huge_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let integer = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    integer && text.parse::<i128>().map_or(true, |n| n < i128::from(i64::MIN) || n > i128::from(u64::MAX))
}

/// Whether the core schema of YAML 1.2 reads the plain scalar `text` as text rather than null, a bool or a number.
fn reads_as_text(text: &str) -> bool {
    !matches!(super::super::parse::yaml_value(text), Ok(v) if !v.is_string())
}
