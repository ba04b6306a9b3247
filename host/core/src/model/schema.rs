//! What a page's columns are: table, fields, key.

use std::fmt;
use std::sync::Arc;

use super::Fill;
use crate::error::{Blame, Code, Error, Result, Retry};

/// Two columns of a row have one name.
pub static DUPLICATE_COLUMN: Code = Code {
    id: "page.duplicate_column",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "two columns of a row have the same name",
    help: "A query may return two columns under one name (`SELECT a.id, b.id ...`); a table, a JSON object and a CSV \
           header can't have both. Give one of the columns another name in the query (`b.id AS b_id`), or drop it in a \
           transform.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&DUPLICATE_COLUMN];

/// How a column's values are represented. The set is closed: code matches it exhaustively.
///
/// | kind | one value | special values |
/// |---|---|---|
/// | `Bool` | one bit | |
/// | `I64`, `U64` | 8 bytes | |
/// | `F32`, `F64` | IEEE 754, bits kept (NaN payloads, -0) | |
/// | `Decimal` | exact text, scale kept (`1.50`) | `NaN`, `Infinity`, `-Infinity` |
/// | `Text` | UTF-8 | |
/// | `Bytes` | any bytes | |
/// | `Date` | i32 days since 1970-01-01, proleptic Gregorian | `i32::MIN`/`MAX` = -/+infinity |
/// | `Time` | i64 microseconds since midnight, `0..=86_400_000_000` (24:00:00 is a value) | |
/// | `Timestamp` | i64 microseconds since 1970-01-01T00:00:00, no zone | `i64::MIN`/`MAX` = -/+infinity |
/// | `TimestampTz` | i64 microseconds since the Unix epoch, an instant | `i64::MIN`/`MAX` = -/+infinity |
/// | `Interval` | i64 microseconds, i32 days, i32 months, kept apart (16 bytes, little-endian) | |
/// | `Uuid` | 16 bytes in network order | |
/// | `Json` | one JSON text; JSON `null` is a value, not a null | |
/// | `Native` | exact text of a type that has no kind here; the field says which | |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// True or false.
    Bool = 0,
    /// A signed 64-bit integer.
    I64 = 1,
    /// An unsigned 64-bit integer.
    U64 = 2,
    /// A 32-bit float.
    F32 = 3,
    /// A 64-bit float.
    F64 = 4,
    /// An exact decimal number as text.
    Decimal = 5,
    /// Text.
    Text = 6,
    /// Bytes.
    Bytes = 7,
    /// A calendar date.
    Date = 8,
    /// A time of day.
    Time = 9,
    /// A date and time without a zone.
    Timestamp = 10,
    /// An instant.
    TimestampTz = 11,
    /// Months, days and microseconds.
    Interval = 12,
    /// A UUID.
    Uuid = 13,
    /// A JSON document.
    Json = 14,
    /// Exact text of a type without a kind of its own.
    Native = 15,
}

impl Kind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Kind; 16] = [
        Kind::Bool,
        Kind::I64,
        Kind::U64,
        Kind::F32,
        Kind::F64,
        Kind::Decimal,
        Kind::Text,
        Kind::Bytes,
        Kind::Date,
        Kind::Time,
        Kind::Timestamp,
        Kind::TimestampTz,
        Kind::Interval,
        Kind::Uuid,
        Kind::Json,
        Kind::Native,
    ];

    /// The name used in configuration, documentation and WIT.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Bool => "boolean",
            Kind::I64 => "int64",
            Kind::U64 => "uint64",
            Kind::F32 => "float32",
            Kind::F64 => "float64",
            Kind::Decimal => "decimal",
            Kind::Text => "text",
            Kind::Bytes => "bytes",
            Kind::Date => "date",
            Kind::Time => "time",
            Kind::Timestamp => "timestamp",
            Kind::TimestampTz => "timestamptz",
            Kind::Interval => "interval",
            Kind::Uuid => "uuid",
            Kind::Json => "json",
            Kind::Native => "native",
        }
    }

    /// Whether values are UTF-8 text with offsets.
    pub fn is_text(self) -> bool {
        matches!(self, Kind::Decimal | Kind::Text | Kind::Json | Kind::Native)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A table's name as a structure: never one string to be split on a dot.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId {
    /// Schema, database or other container, where the source has one.
    pub schema: Option<Arc<str>>,
    /// The table, collection or stream.
    pub name: Arc<str>,
}

impl TableId {
    /// A table inside a schema.
    pub fn new(schema: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Self { schema: Some(schema.into()), name: name.into() }
    }

    /// A table of a source without schemas.
    pub fn bare(name: impl Into<Arc<str>>) -> Self {
        Self { schema: None, name: name.into() }
    }
}

/// For people only; two different tables may read the same.
impl fmt::Display for TableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.schema {
            Some(schema) => write!(f, "{schema}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// One column's name and type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    /// The column's name, exactly as the source spells it.
    pub name: Arc<str>,
    /// How its values are represented.
    pub kind: Kind,
    /// The source's own type as `system:type`, e.g. `postgres:numeric(12,2)`; a sink of the same system uses it.
    pub native: Option<Arc<str>>,
    /// Whether the source allows null. Nothing relies on `false`: it only shapes tables that a sink creates.
    pub nullable: bool,
    /// What rows hold here that were there before the column was; `None` is null, or nobody knows.
    pub fill: Option<Fill>,
    /// The labels of an enum in its order, as far as they are known; rows may have newer ones.
    pub labels: Option<Arc<[Arc<str>]>>,
}

impl Field {
    /// A nullable field without a native type.
    pub fn new(name: impl Into<Arc<str>>, kind: Kind) -> Self {
        Self { name: name.into(), kind, native: None, nullable: true, fill: None, labels: None }
    }

    /// Says the source's own type, `system:type`.
    #[must_use]
    pub fn native(mut self, native: impl Into<Arc<str>>) -> Self {
        self.native = Some(native.into());
        self
    }

    /// Says that the source refuses nulls here.
    #[must_use]
    pub fn not_null(mut self) -> Self {
        self.nullable = false;
        self
    }

    /// Says which labels the column's enum has.
    #[must_use]
    pub fn labels(mut self, labels: Option<Arc<[Arc<str>]>>) -> Self {
        self.labels = labels;
        self
    }

    /// Says what rows hold here that were there before the column was.
    #[must_use]
    pub fn fill(mut self, fill: Fill) -> Self {
        self.fill = Some(fill);
        self
    }

    /// The native type if it belongs to `system`: `numeric(12,2)` for `postgres`.
    pub fn native_of(&self, system: &str) -> Option<&str> {
        self.native.as_deref()?.strip_prefix(system)?.strip_prefix(':')
    }
}

/// The columns of a table at one moment, and its key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Schema {
    /// The table the rows belong to.
    pub table: TableId,
    /// What the source itself calls the table whatever its name is, such as an OID; `None` when it has no such thing, or
    /// after a transform.
    pub source_id: Option<Arc<str>>,
    /// Columns in order.
    pub fields: Vec<Field>,
    /// Indices into `fields` of the key, in the key's own order; empty when the source has or tells none.
    pub key: Vec<usize>,
}

impl Schema {
    /// A schema without a key.
    pub fn new(table: TableId, fields: Vec<Field>) -> Self {
        Self { table, source_id: None, fields, key: Vec::new() }
    }

    /// Sets what the source itself calls the table.
    #[must_use]
    pub fn identified(mut self, source_id: impl Into<Arc<str>>) -> Self {
        self.source_id = Some(source_id.into());
        self
    }

    /// Sets the key by field index, in key order.
    #[must_use]
    pub fn with_key(mut self, key: Vec<usize>) -> Self {
        debug_assert!(key.iter().all(|&k| k < self.fields.len()));
        self.key = key;
        self
    }

    /// Index of the field called exactly `name`.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|f| &*f.name == name)
    }

    /// Checks that every field can be told by its name.
    ///
    /// # Errors
    /// `page.duplicate_column`.
    pub fn check_names(&self) -> Result<()> {
        match self.fields.iter().enumerate().find(|(index, field)| self.index_of(&field.name) != Some(*index)) {
            None => Ok(()),
            Some((_, field)) => {
                let what = format!("two columns of {} are called \"{}\"", self.table, field.name);
                Err(Error::new(&DUPLICATE_COLUMN, what).hint("give one of them another name in the query"))
            }
        }
    }
}
