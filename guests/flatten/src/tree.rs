//! The shape that the documents of a column have together: which paths become columns, and of which kind.

use faucet_sdk::Kind;
use faucet_values::decimal::DecimalText;
use faucet_values::document::{self, Shape};
use std::collections::HashMap;

/// What stands at one path, in any of the documents.
#[derive(Debug, Default)]
pub(crate) struct Node {
    seen: Seen,
    /// Members in the order they were first seen.
    children: Vec<(String, Node)>,
    by_name: HashMap<String, usize>,
    /// Number of the column this is, once it is known.
    column: Option<usize>,
}

/// Which sorts of values were seen.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    boolean: bool,
    integer: bool,
    number: bool,
    text: bool,
    list: bool,
    object: bool,
    /// One that no kind but JSON holds exactly.
    odd: bool,
}

impl Seen {
    fn is_object_only(self) -> bool {
        let Self { boolean, integer, number, text, list, object, odd } = self;
        object && !(boolean || integer || number || text || list || odd)
    }

    fn kind(self) -> Kind {
        let Self { boolean, integer, number, text, list, object, odd } = self;
        let is_number = integer || number;
        match [boolean, is_number, text, list || object || odd] {
            [true, false, false, false] => Kind::Boolean,
            [false, true, false, false] => {
                if number {
                    Kind::Decimal
                } else {
                    Kind::Int64
                }
            }
            // Nothing but null says nothing about the kind.
            [false, false, _, false] => Kind::Text,
            _ => Kind::Json,
        }
    }
}

/// A path that becomes a column.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Names of the members on the way, joined.
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

impl Node {
    /// Takes a document into account; `depth` is how many levels of objects may become columns.
    pub(crate) fn see(&mut self, json: &str, depth: u32) {
        let json = json.trim();
        match document::shape(json) {
            Shape::Null => {}
            Shape::Boolean => self.seen.boolean = true,
            Shape::Array => self.seen.list = true,
            Shape::Number if json.parse::<i64>().is_ok() => self.seen.integer = true,
            Shape::Number if DecimalText::new(json).is_some() => self.seen.number = true,
            Shape::String if document::string(json).is_some() => self.seen.text = true,
            Shape::Number | Shape::String => self.seen.odd = true,
            Shape::Object if depth == 0 => self.seen.list = true,
            Shape::Object => match document::members(json) {
                None => self.seen.odd = true,
                Some(members) => {
                    self.seen.object = true;
                    members.iter().for_each(|(name, value)| self.child(name).see(value, depth - 1));
                }
            },
        }
    }

    fn child(&mut self, name: &str) -> &mut Self {
        let next = self.children.len();
        let at = *self.by_name.entry(name.to_owned()).or_insert(next);
        if at == next {
            self.children.push((name.to_owned(), Self::default()));
        }
        &mut self.children[at].1
    }

    /// Whether its members become columns: every document has an object here, or null, and one of them has a member.
    pub(crate) fn splits(&self) -> bool {
        self.seen.is_object_only() && !self.children.is_empty()
    }

    /// Whether no document has a value here.
    pub(crate) fn is_unseen(&self) -> bool {
        let Seen { boolean, integer, number, text, list, object, odd } = self.seen;
        !(boolean || integer || number || text || list || object || odd)
    }

    /// Adds the paths below this one to `leaves`, and remembers the place of each.
    pub(crate) fn number(&mut self, name: &str, separator: &str, leaves: &mut Vec<Leaf>) {
        if !self.splits() {
            self.column = Some(leaves.len());
            return leaves.push(Leaf { name: name.to_owned(), kind: self.seen.kind() });
        }
        for (member, child) in &mut self.children {
            child.number(&format!("{name}{separator}{member}"), separator, leaves);
        }
    }

    /// Puts the parts of a document at the places of their columns. Of a member that comes twice, the last one counts.
    pub(crate) fn cut<'a>(&self, json: &'a str, parts: &mut [Option<&'a str>]) {
        if let Some(column) = self.column {
            parts[column] = Some(json);
            return;
        }
        // Null where other documents have an object has no members either.
        for (name, value) in document::members(json).unwrap_or_default() {
            if let Some(at) = self.by_name.get(&*name) {
                self.children[*at].1.cut(value, parts);
            }
        }
    }
}
