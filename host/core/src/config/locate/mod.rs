//! Lines and columns of every key and value of a configuration.
//!
//! Values are parsed by `serde_yaml` and `serde_json`, which don't keep places. This module reads the same text once
//! more as a stream of events and remembers where each path stands. It also finds what those parsers accept or report
//! one at a time: repeated keys, several documents, keys that aren't text, and aliases that expand without bound.

mod json;
mod yaml;

use std::collections::HashMap;

use serde::Serialize;

use super::path;
use super::problem::Located;
use crate::error::Problem;

pub(super) use json::locate as locate_json;
pub(super) use yaml::locate as locate_yaml;

/// The deepest nesting that is read.
const DEEPEST: usize = 64;

/// The most values a configuration may hold once its aliases are expanded.
const MOST_VALUES: usize = 200_000;

/// A place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Which part of an entry a problem points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// The key; in a list, the element.
    Key,
    /// The value, when it is a scalar; else the key.
    Value,
}

/// Where everything is.
#[derive(Debug, Default)]
pub struct Locations {
    places: HashMap<String, Place>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    key: Position,
    /// Only of scalars: a list or a mapping is found by its key, not by the line after it.
    scalar: Option<Position>,
}

impl Locations {
    /// Where `path` stands. A path that isn't in the text, such as a missing key, stands at its nearest ancestor.
    pub fn find(&self, path: &str, spot: Spot) -> Option<Position> {
        let mut at = Some(path);
        let mut exact = true;
        while let Some(current) = at {
            if let Some(place) = self.places.get(current) {
                let value = place.scalar.filter(|_| exact && spot == Spot::Value);
                return Some(value.unwrap_or(place.key));
            }
            exact = false;
            at = path::parent(current);
        }
        None
    }

    fn insert(&mut self, path: String, key: Position, scalar: Option<Position>) {
        self.places.entry(path).or_insert(Place { key, scalar });
    }
}

/// What reading the places of a text gave.
#[derive(Debug, Default)]
pub struct Survey {
    /// Where everything is, as far as the text could be read.
    pub locations: Locations,
    /// What is wrong with the text itself.
    pub problems: Vec<Located>,
}

/// Follows the events of a text and knows the path at every step.
#[derive(Default)]
struct Walk {
    survey: Survey,
    open: Vec<Frame>,
    /// Values met so far, aliases expanded.
    values: usize,
}

enum Frame {
    Mapping { path: String, keys: HashMap<String, Position>, pending: Option<(String, Position)> },
    Sequence { path: String, next: usize },
}

impl Walk {
    fn fault(&mut self, problem: Problem, position: Position) {
        self.survey.problems.push(Located { problem, position: Some(position) });
    }

    /// Whether the next scalar is a key.
    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(Frame::Mapping { pending: None, .. }))
    }

    fn key(&mut self, name: &str, at: Position) {
        let Some(Frame::Mapping { path: parent, keys, pending }) = self.open.last_mut() else { return };
        let path = path::key(parent, name);
        *pending = Some((path.clone(), at));
        if let Some(first) = keys.insert(name.to_owned(), at) {
            let message = format!("the key \"{name}\" is given twice: first at line {}", first.line);
            self.fault(Problem::error(path, message).hint("remove one of the two"), at);
        }
    }

    /// Notes a scalar that starts at `at` and returns its path.
    fn scalar(&mut self, at: Position) -> String {
        self.value(at, Some(at))
    }

    fn value(&mut self, at: Position, scalar: Option<Position>) -> String {
        self.values += 1;
        let (path, key) = match self.open.last_mut() {
            Some(Frame::Mapping { path, pending, .. }) => pending.take().unwrap_or_else(|| (path.clone(), at)),
            Some(Frame::Sequence { path, next }) => {
                *next += 1;
                (path::item(path, *next - 1), at)
            }
            None => (String::new(), at),
        };
        self.survey.locations.insert(path.clone(), key, scalar);
        path
    }

    fn open_mapping(&mut self, at: Position) {
        let path = self.value(at, None);
        self.open.push(Frame::Mapping { path, keys: HashMap::new(), pending: None });
    }

    fn open_sequence(&mut self, at: Position) {
        let path = self.value(at, None);
        self.open.push(Frame::Sequence { path, next: 0 });
    }

    fn close(&mut self) {
        self.open.pop();
    }

    /// Refuses texts built to exhaust memory. True when reading has to stop.
    fn exhausted(&mut self, at: Position) -> bool {
        if self.open.len() > DEEPEST {
            self.fault(Problem::error("", format!("nested deeper than {DEEPEST} levels")), at);
            return true;
        }
        if self.values > MOST_VALUES {
            let message = format!("holds more than {MOST_VALUES} values, aliases expanded");
            self.fault(Problem::error("", message).hint("write the values out instead of nesting aliases"), at);
            return true;
        }
        false
    }
}
