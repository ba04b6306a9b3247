//! PostgreSQL's types: the kind, the native name and the binary form behind a type OID and its modifier.
//!
//! Types are told apart by OID, never by name: two schemas may each have a type of one name. What is built in is known
//! here without asking the server; everything else takes one catalog query per set of new types, and its answer is kept.
//!
//! A domain has the kind of the type under it. A type without a kind here is [`Kind::Native`]: its exact text travels
//! beside its name. Names are those of `format_type`, and a type outside `pg_catalog` always carries its schema, so that
//! the name means the same whatever the search path.
//!
//! Sources: the PostgreSQL manual, "System Catalogs: pg_type"; modifiers as the types' `typmodout` functions read them.

use faucet_core::error::Result;
use faucet_core::model::{Field, Kind};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use tokio_postgres::Client;
use tokio_postgres::types::{Kind as Shape, Type};

/// How a value of a type looks in PostgreSQL's binary format, where that form is decoded here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// One byte, 0 or 1.
    Bool,
    /// Two bytes, signed.
    Int2,
    /// Four bytes, signed.
    Int4,
    /// Eight bytes, signed.
    Int8,
    /// Four bytes, unsigned.
    Oid,
    /// IEEE 754, four bytes.
    Float4,
    /// IEEE 754, eight bytes.
    Float8,
    /// Base-10000 digits with weight, sign and display scale.
    Numeric,
    /// The text itself.
    Text,
    /// One byte; zero stands for the empty string.
    Char,
    /// The bytes themselves.
    Bytea,
    /// Days since 2000-01-01.
    Date,
    /// Microseconds since midnight.
    Time,
    /// Microseconds since 2000-01-01.
    Timestamp,
    /// Microseconds, days, months.
    Interval,
    /// 16 bytes.
    Uuid,
    /// A version byte, then the text.
    Jsonb,
}

/// The modifier of a type that has none.
pub const NO_MODIFIER: i32 = -1;

/// A type as one column uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnType {
    /// The OID under all domains.
    pub base: u32,
    /// How its values are represented.
    pub kind: Kind,
    /// Its binary form; `None` when it is read as text only.
    pub wire: Option<Wire>,
    /// Its name as `format_type` spells it, with schema (outside `pg_catalog`) and modifier.
    pub name: Arc<str>,
    /// The same of the type under all domains, with the modifier that they give it.
    pub under: Arc<str>,
    /// What its values are made of.
    pub shape: Made,
    /// The labels of an enum, in its order.
    pub labels: Option<Arc<[Arc<str>]>>,
    /// Whether a cast to text gives something else than the type's own output does, as with `inet` and `xml`.
    pub cast_differs: bool,
}

/// Whether a type of one name can be another elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// It means the same everywhere: built in, or an extension's.
    Alike,
    /// An enum, whose labels are the database's own.
    Enum,
    /// Made of other types: a composite, a range, an array of what is not built in.
    Composed,
}

impl ColumnType {
    /// The model's field for a column called `name` of this type. A domain is told as the type under it, as the description
    /// of a query's result does: what a domain's name means is known to its own database only.
    pub fn field(&self, name: &str) -> Field {
        Field::new(name, self.kind).native(format!("postgres:{}", self.under)).labels(self.labels.clone())
    }
}

/// How timestamps travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Timestamps {
    /// As microseconds since 1970 in 64 bits, which end in January of the year 294247. PostgreSQL's end 29 years later; one
    /// of those is an error.
    #[default]
    Microseconds,
    /// As PostgreSQL's own text beside the type's name: every timestamp that PostgreSQL has. Transforms see text.
    Text,
}

impl Timestamps {
    fn of(self, mut column: ColumnType) -> ColumnType {
        if self == Self::Text && matches!(column.kind, Kind::Timestamp | Kind::TimestampTz) {
            (column.kind, column.wire) = (Kind::Native, None);
        }
        column
    }
}

/// The types met so far, each with its modifier (`-1` for none).
#[derive(Debug, Clone, Default)]
pub struct Types {
    known: HashMap<(u32, i32), ColumnType>,
    timestamps: Timestamps,
}

impl Types {
    /// No types yet.
    pub fn new(timestamps: Timestamps) -> Self {
        Self { known: HashMap::new(), timestamps }
    }

    /// Which of these (OID, modifier) pairs need [`Types::load`] first.
    pub fn missing(&self, columns: impl IntoIterator<Item = (u32, i32)>) -> Vec<(u32, i32)> {
        let unknown = |c: &(u32, i32)| !self.known.contains_key(c) && builtin(c.0, c.1).is_none();
        let mut missing: Vec<_> = columns.into_iter().filter(unknown).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// Asks the catalog, in one query, for those of the pairs that are neither built in nor known.
    ///
    /// # Errors
    /// Failures of the connection.
    pub async fn load(&mut self, client: &Client, columns: impl IntoIterator<Item = (u32, i32)>) -> Result<()> {
        let missing = self.missing(columns);
        if missing.is_empty() {
            return Ok(());
        }
        let (oids, modifiers): (Vec<u32>, Vec<i32>) = missing.into_iter().unzip();
        let rows = client.query(LOOKUP, &[&oids, &modifiers]).await.map_err(|e| super::error::from_driver(&e))?;
        for row in rows {
            let found = Looked {
                base: row.get(2),
                class: row.get::<_, i8>(3) as u8,
                base_name: row.get(4),
                name: row.get(5),
                cast_differs: row.get(6),
                under: row.get(7),
                is_array: row.get(8),
                labels: row.get(9),
            };
            self.known.insert((row.get(0), row.get(1)), found.into_type());
        }
        Ok(())
    }

    /// The type, if it is built in or was loaded.
    pub fn get(&self, oid: u32, modifier: i32) -> Option<ColumnType> {
        let found = self.known.get(&(oid, modifier)).cloned().or_else(|| builtin(oid, modifier))?;
        Some(self.timestamps.of(found))
    }

    /// The type; one that the catalog no longer knows is read as text under its OID.
    pub fn get_or_text(&self, oid: u32, modifier: i32) -> ColumnType {
        self.get(oid, modifier).unwrap_or_else(|| ColumnType {
            base: oid,
            kind: Kind::Native,
            wire: None,
            name: format!("oid {oid}").into(),
            under: format!("oid {oid}").into(),
            shape: Made::Composed,
            labels: None,
            cast_differs: false,
        })
    }
}

/// Resolves domains to their base, names types with their schema, and finds casts to text that are not the output function.
const LOOKUP: &str = "\
WITH RECURSIVE asked AS (
  SELECT oid, modifier FROM ROWS FROM (
    pg_catalog.unnest($1::pg_catalog.oid[]), pg_catalog.unnest($2::pg_catalog.int4[])) AS a (oid, modifier)
), chain AS (
  SELECT a.oid AS asked, a.modifier, a.modifier AS own, t.oid, t.typtype, t.typbasetype, t.typtypmod, t.typname
  FROM asked a JOIN pg_catalog.pg_type t ON t.oid = a.oid
  UNION ALL
  SELECT c.asked, c.modifier, c.typtypmod, t.oid, t.typtype, t.typbasetype, t.typtypmod, t.typname
  FROM chain c JOIN pg_catalog.pg_type t ON t.oid = c.typbasetype WHERE c.typtype = 'd'
), named AS (
  SELECT t.oid, e.oid <> t.oid AS is_array,
    CASE WHEN n.nspname <> 'pg_catalog' AND pg_catalog.pg_type_is_visible(e.oid)
      THEN pg_catalog.quote_ident(n.nspname) || '.' ELSE '' END AS prefix
  FROM pg_catalog.pg_type t
  JOIN pg_catalog.pg_type e ON e.oid = CASE WHEN t.typsubscript = 'pg_catalog.array_subscript_handler'::regproc
    THEN t.typelem ELSE t.oid END
  JOIN pg_catalog.pg_namespace n ON n.oid = e.typnamespace
  WHERE t.oid IN (SELECT oid FROM chain)
)
SELECT c.asked, c.modifier, c.oid, c.typtype, c.typname::pg_catalog.text,
  a.prefix || pg_catalog.format_type(c.asked, c.modifier),
  EXISTS (SELECT FROM pg_catalog.pg_cast k WHERE k.castsource = c.oid AND k.casttarget = 25 AND k.castmethod <> 'i'),
  b.prefix || pg_catalog.format_type(c.oid, c.own), b.is_array,
  ARRAY(SELECT l.enumlabel::pg_catalog.text FROM pg_catalog.pg_enum l WHERE l.enumtypid = c.oid ORDER BY l.enumsortorder)
FROM chain c JOIN named a ON a.oid = c.asked JOIN named b ON b.oid = c.oid
WHERE c.typtype <> 'd'";

struct Looked {
    base: u32,
    class: u8,
    base_name: String,
    name: String,
    cast_differs: bool,
    under: String,
    is_array: bool,
    labels: Vec<String>,
}

impl Looked {
    fn into_type(self) -> ColumnType {
        let known = builtin(self.base, NO_MODIFIER);
        let (kind, wire) = match (&known, self.class, self.base_name.as_str()) {
            (Some(base), _, _) => (base.kind, base.wire),
            // An enum's binary form is its label.
            (None, b'e', _) => (Kind::Native, Some(Wire::Text)),
            (None, b'b', "citext") => (Kind::Text, Some(Wire::Text)),
            (None, _, _) => (Kind::Native, None),
        };
        let shape = match (&known, self.class) {
            (Some(_), _) => Made::Alike,
            (None, b'e') => Made::Enum,
            (None, b'b') if !self.is_array => Made::Alike,
            (None, _) => Made::Composed,
        };
        let cast_differs = self.cast_differs || known.is_some_and(|base| base.cast_differs);
        let labels = (shape == Made::Enum).then(|| self.labels.into_iter().map(Arc::from).collect());
        let (name, under) = (self.name.into(), self.under.into());
        ColumnType { base: self.base, kind, wire, name, under, shape, labels, cast_differs }
    }
}

/// A built-in type, or `None` for what lives in a catalog only.
fn builtin(oid: u32, modifier: i32) -> Option<ColumnType> {
    let built_in = Type::from_oid(oid)?;
    let (kind, wire) = form(&built_in);
    // A cast keeps the declaration that a document was given with, and the output function leaves it out.
    let cast_differs = matches!(built_in, Type::INET | Type::CIDR | Type::XML);
    let name: Arc<str> = name(&built_in, modifier).into();
    Some(ColumnType {
        base: oid,
        kind,
        wire,
        under: name.clone(),
        name,
        shape: Made::Alike,
        labels: None,
        cast_differs,
    })
}

fn form(built_in: &Type) -> (Kind, Option<Wire>) {
    let (kind, wire) = match *built_in {
        Type::BOOL => (Kind::Bool, Wire::Bool),
        Type::INT2 => (Kind::I64, Wire::Int2),
        Type::INT4 => (Kind::I64, Wire::Int4),
        Type::INT8 => (Kind::I64, Wire::Int8),
        Type::OID => (Kind::I64, Wire::Oid),
        Type::FLOAT4 => (Kind::F32, Wire::Float4),
        Type::FLOAT8 => (Kind::F64, Wire::Float8),
        Type::NUMERIC => (Kind::Decimal, Wire::Numeric),
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => (Kind::Text, Wire::Text),
        Type::CHAR => (Kind::Text, Wire::Char),
        Type::BYTEA => (Kind::Bytes, Wire::Bytea),
        Type::DATE => (Kind::Date, Wire::Date),
        Type::TIME => (Kind::Time, Wire::Time),
        Type::TIMESTAMP => (Kind::Timestamp, Wire::Timestamp),
        Type::TIMESTAMPTZ => (Kind::TimestampTz, Wire::Timestamp),
        Type::INTERVAL => (Kind::Interval, Wire::Interval),
        Type::UUID => (Kind::Uuid, Wire::Uuid),
        Type::JSON => (Kind::Json, Wire::Text),
        Type::JSONB => (Kind::Json, Wire::Jsonb),
        // The binary form of XML is its text with a declaration that the text form does not have.
        _ => return (Kind::Native, None),
    };
    (kind, Some(wire))
}

fn name(built_in: &Type, modifier: i32) -> String {
    if let (Shape::Array(element), true) = (built_in.kind(), built_in.name().starts_with('_')) {
        return format!("{}[]", name(element, modifier));
    }
    let bare = match *built_in {
        Type::BOOL => "boolean",
        Type::INT2 => "smallint",
        Type::INT4 => "integer",
        Type::INT8 => "bigint",
        Type::FLOAT4 => "real",
        Type::FLOAT8 => "double precision",
        Type::CHAR => "\"char\"",
        Type::VARCHAR => "character varying",
        Type::BPCHAR if modifier >= 0 => "character",
        Type::VARBIT => "bit varying",
        Type::BIT if modifier < 0 => "\"bit\"",
        Type::TIME | Type::TIMETZ => "time",
        Type::TIMESTAMP | Type::TIMESTAMPTZ => "timestamp",
        _ => built_in.name(),
    };
    let mut out = bare.to_owned();
    push_modifier(&mut out, built_in, modifier);
    match *built_in {
        Type::TIME | Type::TIMESTAMP => out.push_str(" without time zone"),
        Type::TIMETZ | Type::TIMESTAMPTZ => out.push_str(" with time zone"),
        _ => {}
    }
    out
}

/// What the length and precision of varlena types count on top: the size of their header.
const HEADER: i32 = 4;

fn push_modifier(out: &mut String, built_in: &Type, modifier: i32) {
    if modifier < 0 {
        return;
    }
    let written = match *built_in {
        Type::VARCHAR | Type::BPCHAR => write!(out, "({})", modifier - HEADER),
        Type::BIT | Type::VARBIT | Type::TIME | Type::TIMETZ | Type::TIMESTAMP | Type::TIMESTAMPTZ => {
            write!(out, "({modifier})")
        }
        Type::NUMERIC => {
            let packed = modifier - HEADER;
            // The scale is eleven bits, signed since PostgreSQL 15.
            write!(out, "({},{})", (packed >> 16) & 0xffff, ((packed & 0x7ff) ^ 1024) - 1024)
        }
        Type::INTERVAL => {
            out.push_str(interval_fields(modifier >> 16));
            match modifier & 0xffff {
                0xffff => Ok(()),
                precision => write!(out, "({precision})"),
            }
        }
        _ => Ok(()),
    };
    written.expect("writing to a String does not fail");
}

fn interval_fields(mask: i32) -> &'static str {
    const MONTH: i32 = 1 << 1;
    const YEAR: i32 = 1 << 2;
    const DAY: i32 = 1 << 3;
    const HOUR: i32 = 1 << 10;
    const MINUTE: i32 = 1 << 11;
    const SECOND: i32 = 1 << 12;
    const UNITS: [(i32, &str); 13] = [
        (YEAR, " year"),
        (MONTH, " month"),
        (DAY, " day"),
        (HOUR, " hour"),
        (MINUTE, " minute"),
        (SECOND, " second"),
        (YEAR | MONTH, " year to month"),
        (DAY | HOUR, " day to hour"),
        (DAY | HOUR | MINUTE, " day to minute"),
        (DAY | HOUR | MINUTE | SECOND, " day to second"),
        (HOUR | MINUTE, " hour to minute"),
        (HOUR | MINUTE | SECOND, " hour to second"),
        (MINUTE | SECOND, " minute to second"),
    ];
    UNITS.iter().find(|(bits, _)| *bits == mask).map_or("", |(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(oid: u32, modifier: i32) -> String {
        Types::default().get_or_text(oid, modifier).name.to_string()
    }

    #[test]
    fn modifiers_read_as_format_type_writes_them() {
        // Expected values: `select format_type(oid, typmod)` on PostgreSQL 15.
        let cases = [
            (Type::NUMERIC.oid(), 786_438, "numeric(12,2)"),
            (Type::NUMERIC.oid(), 198_657, "numeric(3,-3)"),
            (Type::NUMERIC.oid(), -1, "numeric"),
            (Type::VARCHAR.oid(), 14, "character varying(10)"),
            (Type::BPCHAR.oid(), 14, "character(10)"),
            (Type::BPCHAR.oid(), -1, "bpchar"),
            (Type::TIMESTAMPTZ.oid(), 3, "timestamp(3) with time zone"),
            (Type::TIME.oid(), -1, "time without time zone"),
            (Type::INTERVAL.oid(), 0x7fff_0003, "interval(3)"),
            (Type::INTERVAL.oid(), (6 << 16) | 0xffff, "interval year to month"),
            (Type::INTERVAL.oid(), (0x1c08 << 16) | 2, "interval day to second(2)"),
            (Type::NUMERIC_ARRAY.oid(), 786_438, "numeric(12,2)[]"),
            (Type::INT2_VECTOR.oid(), -1, "int2vector"),
            (Type::VARBIT.oid(), 5, "bit varying(5)"),
            (Type::CHAR_ARRAY.oid(), -1, "\"char\"[]"),
            (Type::TSTZ_RANGE.oid(), -1, "tstzrange"),
        ];
        for (oid, modifier, expected) in cases {
            assert_eq!(named(oid, modifier), expected);
        }
    }

    #[test]
    fn only_what_the_catalog_must_answer_is_missing() {
        let types = Types::default();
        assert_eq!(types.missing([(23, -1), (16_500, 7), (16_500, 7), (1700, 786_438)]), vec![(16_500, 7)]);
    }
}
