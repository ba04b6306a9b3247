//! Declared types: which kind a column's declaration means, and which declaration keeps a kind exact.
//!
//! SQLite types values, not columns. A column's declaration only gives it an *affinity*
//! (<https://www.sqlite.org/datatype3.html>, section 3): what SQLite tries to turn values into. That is harmless for
//! most and ruinous for some: `DECIMAL(10,2)` means NUMERIC, which stores the text `1.50` as the float 1.5. So tables
//! that faucet creates use declarations whose affinity leaves the value alone, and still say what it is:
//!
//! | kind | declaration | stored as |
//! |---|---|---|
//! | `bool` | `BOOLEAN` | 0, 1 |
//! | `i64` | `INTEGER` | integer |
//! | `u64` | `UNSIGNED TEXT` | text of digits |
//! | `f32`, `f64` | `FLOAT4`, `REAL` | float; NaN (which SQLite would store as null) as the text `NaN` |
//! | `decimal` | `DECIMAL TEXT` | text, scale kept |
//! | `text`, `native` | `TEXT`, `NATIVE TEXT` | text |
//! | `bytes` | `BLOB` | blob |
//! | `date`, `time` | `DATE TEXT`, `TIME TEXT` | text, ISO 8601 |
//! | `timestamp` | `TIMESTAMP TEXT` | `2024-01-31 23:59:59.5` |
//! | `timestamptz` | `TIMESTAMPTZ TEXT` | `2024-01-31 23:59:59.5+00:00`, in UTC: it sorts as text |
//! | `interval` | `DURATION TEXT` | text, ISO 8601 (`INTERVAL` would mean INTEGER: it has INT in it) |
//! | `uuid` | `UUID TEXT` | text |
//! | `json` | `JSON TEXT` | text |
//!
//! One thing is lost: SQLite stores -0.0 in a `REAL` column as 0, and so keeps no sign of a zero.

use faucet_core::model::Kind;

/// What SQLite tries to turn a column's values into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Affinity {
    Integer,
    Text,
    /// Also called NONE: values stay as they are.
    Blob,
    Real,
    Numeric,
}

impl Affinity {
    /// By the rules of SQLite, in their order.
    pub(super) fn of(declaration: &str) -> Self {
        let declaration = declaration.to_ascii_uppercase();
        let has = |words: &[&str]| words.iter().any(|word| declaration.contains(word));
        if has(&["INT"]) {
            Affinity::Integer
        } else if has(&["CHAR", "CLOB", "TEXT"]) {
            Affinity::Text
        } else if has(&["BLOB"]) || declaration.trim().is_empty() {
            Affinity::Blob
        } else if has(&["REAL", "FLOA", "DOUB"]) {
            Affinity::Real
        } else {
            Affinity::Numeric
        }
    }

    /// Whether text that looks like a number becomes one.
    pub(super) fn is_numeric(self) -> bool {
        match self {
            Affinity::Integer | Affinity::Real | Affinity::Numeric => true,
            Affinity::Text | Affinity::Blob => false,
        }
    }
}

/// The declaration that keeps values of `kind` exact.
pub(super) fn declaration(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "BOOLEAN",
        Kind::I64 => "INTEGER",
        Kind::U64 => "UNSIGNED TEXT",
        Kind::F32 => "FLOAT4",
        Kind::F64 => "REAL",
        Kind::Decimal => "DECIMAL TEXT",
        Kind::Text => "TEXT",
        Kind::Bytes => "BLOB",
        Kind::Date => "DATE TEXT",
        Kind::Time => "TIME TEXT",
        Kind::Timestamp => "TIMESTAMP TEXT",
        Kind::TimestampTz => "TIMESTAMPTZ TEXT",
        Kind::Interval => "DURATION TEXT",
        Kind::Uuid => "UUID TEXT",
        Kind::Json => "JSON TEXT",
        Kind::Native => "NATIVE TEXT",
    }
}

/// The kind that a declaration means; `None` when it says nothing (an expression, `ANY`), so that the values have to.
pub(super) fn kind_of(declared: &str) -> Option<Kind> {
    let upper = declared.to_ascii_uppercase();
    let name = upper.split('(').next().unwrap_or_default().trim();
    if let Some(kind) = Kind::ALL.into_iter().find(|kind| declaration(*kind) == name) {
        return Some(kind);
    }
    Some(match name {
        "BOOL" => Kind::Bool,
        "DECIMAL" | "NUMERIC" | "NUMBER" | "MONEY" => Kind::Decimal,
        "DATE" => Kind::Date,
        "TIME" => Kind::Time,
        "DATETIME" | "TIMESTAMP" => Kind::Timestamp,
        "TIMESTAMPTZ" | "DATETIMETZ" | "TIMESTAMP WITH TIME ZONE" => Kind::TimestampTz,
        "INTERVAL" => Kind::Interval,
        "UUID" | "GUID" => Kind::Uuid,
        "JSON" | "JSONB" => Kind::Json,
        "STRING" => Kind::Text,
        "BINARY" | "VARBINARY" | "BYTEA" => Kind::Bytes,
        "" | "ANY" => return None,
        _ => match Affinity::of(name) {
            Affinity::Integer => Kind::I64,
            Affinity::Text => Kind::Text,
            Affinity::Real => Kind::F64,
            Affinity::Blob => Kind::Bytes,
            Affinity::Numeric => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_mean_their_kind_and_leave_values_alone() {
        for kind in Kind::ALL {
            assert_eq!(kind_of(declaration(kind)), Some(kind));
            let expected = match kind {
                Kind::Bool => Affinity::Numeric,
                Kind::I64 => Affinity::Integer,
                Kind::F32 | Kind::F64 => Affinity::Real,
                Kind::Bytes => Affinity::Blob,
                _ => Affinity::Text,
            };
            assert_eq!(Affinity::of(declaration(kind)), expected, "{kind}");
        }
    }

    #[test]
    fn usual_declarations_are_known() {
        let cases = [
            ("int", Some(Kind::I64)),
            ("UNSIGNED BIG INT", Some(Kind::I64)),
            ("varchar(20)", Some(Kind::Text)),
            ("DECIMAL(10, 2)", Some(Kind::Decimal)),
            ("double precision", Some(Kind::F64)),
            ("datetime", Some(Kind::Timestamp)),
            ("blob", Some(Kind::Bytes)),
            ("", None),
            ("geometry", None),
        ];
        for (declared, kind) in cases {
            assert_eq!(kind_of(declared), kind, "{declared}");
        }
    }
}
