//! Which columns a file of JSON lines has: what the configuration declares, and what the lines show.
//!
//! A kind is found from every value seen so far, so that each of them is held exactly:
//!
//! | values | kind |
//! |---|---|
//! | `true`, `false` | `bool` |
//! | whole numbers of 64 bits | `int64` |
//! | numbers that floats hold without losing a digit, some with a fraction | `float64` |
//! | other numbers | `decimal` |
//! | strings | `text` |
//! | objects and arrays, or values of several sorts | `json` |
//!
//! When a later page brings a new member, or a value that its column's kind can't hold, the schema widens from that page
//! on. A null says nothing; a member that was only ever null is text.

use faucet_core::model::{Field, Kind, Schema, TableId};
use std::collections::HashMap;
use std::sync::Arc;

use super::number::{Number, NumberSort};
use super::token::Token;
use crate::pages::DeclaredColumns;

/// The columns so far.
pub(super) struct Shape {
    table: TableId,
    /// What the configuration sets.
    declared: DeclaredColumns,
    /// In the order in which members came; those that are declared and did not come are last.
    columns: Vec<ColumnShape>,
    places: HashMap<String, usize>,
    /// Made from the columns; remade when they change.
    schema: Arc<Schema>,
    /// Whether the schema has been made from a first page.
    is_settled: bool,
}

struct ColumnShape {
    name: String,
    /// Set by the configuration.
    declared: Option<Kind>,
    seen: Seen,
}

/// Which sorts of value a member has had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Seen {
    bools: bool,
    texts: bool,
    nested: bool,
    /// Whole numbers that floats hold exactly.
    small_integers: bool,
    /// Other whole numbers of 64 bits.
    integers: bool,
    /// Numbers with a fraction or an exponent that floats hold exactly.
    floats: bool,
    /// All other numbers.
    decimals: bool,
}

impl Seen {
    fn add(&mut self, token: Token<'_>) {
        match token {
            Token::Null => {}
            Token::Bool(_) => self.bools = true,
            Token::Text(_) => self.texts = true,
            Token::Nested(_) => self.nested = true,
            Token::Number(text) => match Number::of(text).sort() {
                NumberSort::SmallInteger => self.small_integers = true,
                NumberSort::Integer => self.integers = true,
                NumberSort::Float => self.floats = true,
                NumberSort::Decimal => self.decimals = true,
            },
        }
    }

    fn kind(self) -> Kind {
        let numbers = self.small_integers || self.integers || self.floats || self.decimals;
        match (self.bools, self.texts, self.nested, numbers) {
            (false, _, false, false) => Kind::Text,
            (true, false, false, false) => Kind::Bool,
            (false, false, false, true) => self.number_kind(),
            _ => Kind::Json,
        }
    }

    fn number_kind(self) -> Kind {
        match (self.decimals, self.floats, self.integers) {
            (false, false, _) => Kind::I64,
            (false, true, false) => Kind::F64,
            _ => Kind::Decimal,
        }
    }
}

impl Shape {
    /// No columns yet.
    pub(super) fn new(table: TableId, declared: DeclaredColumns) -> Self {
        let schema = Arc::new(Schema::new(table.clone(), Vec::new()));
        Self { table, declared, columns: Vec::new(), places: HashMap::new(), schema, is_settled: false }
    }

    /// The schema of the columns so far.
    pub(super) fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Whether the schema is that of the pages so far: before the first one there is none.
    pub(super) fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// The column of a member; `guess` is where it likely stands, which spares the look-up.
    #[inline]
    pub(super) fn place(&self, name: &str, guess: usize) -> Option<usize> {
        match self.columns.get(guess) {
            Some(column) if column.name == name => Some(guess),
            _ => self.places.get(name).copied(),
        }
    }

    /// Whether the configuration set the column's kind.
    pub(super) fn is_declared(&self, place: usize) -> bool {
        self.columns[place].declared.is_some()
    }

    /// Takes a value of a member into account.
    pub(super) fn learn(&mut self, name: &str, token: Token<'_>) {
        self.column(name).seen.add(token);
    }

    /// Makes the schema anew after values were learned.
    pub(super) fn settle(&mut self) {
        self.is_settled = true;
        let declared: Vec<String> = self.declared.keys().cloned().collect();
        for name in &declared {
            self.column(name);
        }
        let field = |c: &ColumnShape| Field::new(c.name.as_str(), c.declared.unwrap_or_else(|| c.seen.kind()));
        let fields: Vec<Field> = self.columns.iter().map(field).collect();
        if fields != self.schema.fields {
            self.schema = Arc::new(Schema::new(self.table.clone(), fields));
        }
    }

    fn column(&mut self, name: &str) -> &mut ColumnShape {
        let place = self.places.get(name).copied().unwrap_or_else(|| {
            let declared = self.declared.get(name).map(|&kind| kind.into());
            self.columns.push(ColumnShape { name: name.to_owned(), declared, seen: Seen::default() });
            self.places.insert(name.to_owned(), self.columns.len() - 1);
            self.columns.len() - 1
        });
        &mut self.columns[place]
    }
}
