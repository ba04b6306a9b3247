//! From columns into the two formats of `COPY .. FROM STDIN`.
//!
//! Binary is used when every column has a direct form for its destination type ([`direct`]); otherwise the whole
//! statement is text, and the server's own input functions parse it. Either way a value is written exactly or refused.

pub mod binary;
pub mod text;

use arrow_buffer::NullBuffer;
use faucet_core::error::{Blame, Code, Error, Retry};
use faucet_core::model::{Column, Interval, Kind, Values};

use super::types::Wire;

/// A value that the destination's type can't hold, found before it was sent.
pub static VALUE_TOO_LARGE: Code = Code {
    id: "postgres.value_too_large",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "a value is too large for the destination's column",
    help: "The destination's column is narrower than the source's: an integer of 8 bytes does not fit an `integer` or \
           `smallint`, a number has more digits than `numeric` holds, a timestamp lies before 4714 BC. Widen the \
           column at the destination (`ALTER TABLE .. ALTER COLUMN .. TYPE bigint`), or correct the row at the source.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&VALUE_TOO_LARGE, &NOT_A_NUMBER];

/// A decimal whose text is no number.
pub static NOT_A_NUMBER: Code = Code {
    id: "postgres.not_a_number",
    blame: Blame::Plugin,
    retry: Retry::Never,
    title: "a decimal column holds text that is no number",
    help: "Decimals travel as their exact text. No source of faucet writes anything else into such a column, so a \
           transform made it: check the plugins of the pipeline.",
};

/// Why a value can't be written in a destination type's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unwritable {
    /// The destination's type can't hold it.
    TooLarge,
    /// A decimal that is no number.
    NotANumber,
}

impl Unwritable {
    /// The error that names the column and never the value.
    pub fn in_column(self, column: &str, type_name: &str) -> Error {
        match self {
            Unwritable::TooLarge => Error::new(
                &VALUE_TOO_LARGE,
                format!("a value for column \"{column}\" is too large for its type {type_name} at the destination"),
            )
            .hint(format!("widen the column \"{column}\" at the destination, or correct the row at the source")),
            Unwritable::NotANumber => {
                Error::new(&NOT_A_NUMBER, format!("a decimal of column \"{column}\" is not a number"))
            }
        }
    }
}

/// Whether values of `kind` have a direct binary form for a destination type that is read as `wire`.
///
/// Anything can be written to a text column. Numbers narrow with a check; a float never loses bits silently.
pub fn direct(kind: Kind, wire: Wire) -> bool {
    match wire {
        Wire::Bool => kind == Kind::Bool,
        Wire::Int2 | Wire::Int4 | Wire::Int8 | Wire::Oid => matches!(kind, Kind::I64 | Kind::U64),
        Wire::Float4 => kind == Kind::F32,
        Wire::Float8 => matches!(kind, Kind::F32 | Kind::F64),
        Wire::Numeric => matches!(kind, Kind::Decimal | Kind::I64 | Kind::U64),
        Wire::Text => true,
        Wire::Jsonb => kind.is_text(),
        Wire::Bytea => kind == Kind::Bytes,
        Wire::Date => kind == Kind::Date,
        Wire::Time => kind == Kind::Time,
        // A zone is neither dropped nor made up here: only like to like.
        Wire::Timestamp => matches!(kind, Kind::Timestamp | Kind::TimestampTz),
        Wire::Interval => kind == Kind::Interval,
        Wire::Uuid => kind == Kind::Uuid,
        Wire::Char => false,
    }
}

/// One column of a page, ready to have single slots written.
#[derive(Debug, Clone, Copy)]
pub struct Lane<'a> {
    values: &'a Values,
    nulls: Option<&'a NullBuffer>,
}

impl<'a> Lane<'a> {
    /// Looks up once per page what every slot needs.
    pub fn new(column: &'a Column) -> Self {
        Self { values: column.values(), nulls: column.values().array().nulls() }
    }

    /// Whether the slot is null or absent.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }
}

/// The two infinite intervals of PostgreSQL 17, every part at its end.
fn infinite(value: Interval) -> Option<&'static [u8]> {
    match value {
        Interval { months: i32::MAX, days: i32::MAX, microseconds: i64::MAX } => Some(b"infinity"),
        Interval { months: i32::MIN, days: i32::MIN, microseconds: i64::MIN } => Some(b"-infinity"),
        _ => None,
    }
}
