//! Columns found from the values of records.
//!
//! A column has the narrowest kind that keeps all its values: `boolean`, `int64`, `float64`, `decimal`, `text`; and
//! `json`, each value as its JSON text, where records disagree or hold lists and objects. A number is a `float64` if the
//! shortest text of that float is the same number, and a `decimal` otherwise. Within a run a column only widens.

use crate::json::{Raw, Shape, members, shape};
use faucet_sdk::{ColumnBuilder, Error, Kind, Result, Value};
use faucet_values::decimal::DecimalText;
use std::borrow::Cow;
use std::collections::HashMap;

/// The most columns that are found.
const MOST_COLUMNS: usize = 4096;

/// Integers up to here are floats too.
const EXACT: u64 = 1 << 53;

/// The column of a record that is no object.
const BARE: &str = "value";

/// What values were seen, from narrow to wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Seen {
    #[default]
    Nothing,
    Boolean,
    /// An integer that is a float too.
    Small,
    /// An integer that may be no float.
    Integer,
    Float,
    Decimal,
    Text,
    Json,
}

impl Seen {
    fn of(raw: &Raw) -> Result<Self> {
        Ok(match shape(raw)? {
            Shape::Null => Self::Nothing,
            Shape::Boolean(_) => Self::Boolean,
            Shape::Text(_) => Self::Text,
            Shape::Object | Shape::Array => Self::Json,
            Shape::Number(text) => Self::of_number(text),
        })
    }

    fn of_number(text: &str) -> Self {
        if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            return match text.parse::<i64>() {
                Ok(number) if number.unsigned_abs() <= EXACT => Self::Small,
                Ok(_) => Self::Integer,
                Err(_) => Self::Decimal,
            };
        }
        let Some(exact) = DecimalText::new(text) else { return Self::Json };
        let float = text.parse::<f64>().ok().and_then(|float| DecimalText::new(&float.to_string()));
        match float {
            Some(float) if float.as_decimal() == exact.as_decimal() => Self::Float,
            _ => Self::Decimal,
        }
    }

    /// What holds both.
    fn or(self, other: Self) -> Self {
        use Seen::{Decimal, Float, Integer, Json, Nothing, Small};
        match (self, other) {
            (one, other) if one == other => one,
            (Nothing, seen) | (seen, Nothing) => seen,
            (Small, Integer) | (Integer, Small) => Integer,
            (Small, Float) | (Float, Small) => Float,
            (Small | Integer | Float | Decimal, Small | Integer | Float | Decimal) => Decimal,
            _ => Json,
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Boolean => Kind::Boolean,
            Self::Small | Self::Integer => Kind::Int64,
            Self::Float => Kind::Float64,
            Self::Decimal => Kind::Decimal,
            Self::Nothing | Self::Text => Kind::Text,
            Self::Json => Kind::Json,
        }
    }
}

/// What a run has seen in each column.
#[derive(Debug, Default)]
pub(crate) struct Inferred {
    seen: HashMap<String, Seen>,
}

/// A column's values, row by row; none is absent.
struct Cells<'a> {
    name: Cow<'a, str>,
    values: Vec<Option<&'a Raw>>,
}

impl Inferred {
    /// The columns of records, in the order in which their fields come.
    pub(crate) fn columns(&mut self, records: &[&Raw]) -> Result<Vec<ColumnBuilder>> {
        let cells = by_column(records)?;
        let mut columns = Vec::with_capacity(cells.len());
        for Cells { name, values } in cells {
            let mut seen = self.seen.get(&*name).copied().unwrap_or_default();
            for raw in values.iter().flatten() {
                seen = seen.or(Seen::of(raw)?);
            }
            let mut column = ColumnBuilder::new(&*name, seen.kind());
            for value in values {
                push(&mut column, seen.kind(), value)?;
            }
            columns.push(column);
            self.seen.insert(name.into_owned(), seen);
        }
        Ok(columns)
    }
}

fn by_column<'a>(records: &[&'a Raw]) -> Result<Vec<Cells<'a>>> {
    let mut places: HashMap<Cow<'a, str>, usize> = HashMap::new();
    let mut columns: Vec<Cells<'a>> = Vec::new();
    for (row, record) in records.iter().enumerate() {
        let fields = match shape(record)? {
            Shape::Object => members(record)?,
            _ => vec![(Cow::Borrowed(BARE), *record)],
        };
        for (name, value) in fields {
            let place = *places.entry(name.clone()).or_insert(columns.len());
            if place == columns.len() {
                columns.push(Cells { name, values: Vec::with_capacity(records.len()) });
            }
            columns[place].values.resize(row, None);
            columns[place].values.push(Some(value));
        }
        if columns.len() > MOST_COLUMNS {
            let message =
                format!("the records have more than {MOST_COLUMNS} different fields: name those to keep in `schema`");
            return Err(Error::new(message));
        }
    }
    columns.iter_mut().for_each(|column| column.values.resize(records.len(), None));
    Ok(columns)
}

fn push(column: &mut ColumnBuilder, kind: Kind, value: Option<&Raw>) -> Result<()> {
    let Some(raw) = value else { return column.push(Value::Absent) };
    let lost = || Error::new("a value is not of the kind that was found for it");
    match (kind, shape(raw)?) {
        (_, Shape::Null) => column.push(Value::Null),
        (Kind::Boolean, Shape::Boolean(value)) => column.push(Value::Boolean(value)),
        (Kind::Int64, Shape::Number(text)) => column.push(Value::Int64(text.parse().map_err(|_| lost())?)),
        (Kind::Float64, Shape::Number(text)) => column.push(Value::Float64(text.parse().map_err(|_| lost())?)),
        (Kind::Decimal, Shape::Number(text)) => {
            let text = DecimalText::new(text).map(DecimalText::into_text).ok_or_else(lost)?;
            column.push(Value::Decimal(&text))
        }
        (Kind::Text, Shape::Text(text)) => column.push(Value::Text(&text)),
        (Kind::Json, _) => column.push(Value::Json(raw)),
        _ => Err(lost()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::json::{document, elements};

    /// The kind found for the values of one column.
    fn kind(values: &str) -> Kind {
        let seen = elements(document(values).unwrap()).unwrap().into_iter().map(|raw| Seen::of(raw).unwrap());
        seen.fold(Seen::Nothing, Seen::or).kind()
    }

    #[test]
    fn a_column_has_the_narrowest_kind_that_keeps_all() {
        let cases = [
            ("[true, null, false]", Kind::Boolean),
            ("[1, -9223372036854775808, 9223372036854775807]", Kind::Int64),
            ("[9223372036854775808, 1]", Kind::Decimal),
            ("[0.1, 1.50, 1e5, -2.5e-7, 3, 9007199254740992]", Kind::Float64),
            ("[0.1, 9007199254740993]", Kind::Decimal),
            ("[0.1234567890123456789]", Kind::Decimal),
            ("[12345678901234567.89]", Kind::Decimal),
            ("[1e400]", Kind::Decimal),
            ("[1e40000]", Kind::Json),
            (r#"["a", null]"#, Kind::Text),
            (r#"["1", 1]"#, Kind::Json),
            ("[true, 1]", Kind::Json),
            ("[{}, null]", Kind::Json),
            (r#"[[], "a"]"#, Kind::Json),
            ("[null]", Kind::Text),
            ("[]", Kind::Text),
        ];
        for (values, wanted) in cases {
            assert_eq!(kind(values), wanted, "{values}");
        }
    }

    #[test]
    fn the_order_of_values_does_not_matter() {
        let values = ["null", "true", "1", "9007199254740993", "0.5", "0.12345678901234567891", r#""x""#, "{}"];
        for a in values {
            for b in values {
                for c in values {
                    let all: Vec<Kind> = [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]]
                        .iter()
                        .map(|v| kind(&format!("[{}]", v.join(","))))
                        .collect();
                    assert!(all.iter().all(|kind| *kind == all[0]), "{a} {b} {c}: {all:?}");
                }
            }
        }
    }

    #[test]
    fn a_column_only_widens() {
        let mut inferred = Inferred::default();
        let mut names = |text: &str| {
            let columns = inferred.columns(&elements(document(text).unwrap()).unwrap()).unwrap();
            columns.iter().map(|column| column.name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(r#"[{"b":1},{"a":2,"b":3},7]"#), ["b", "a", "value"]);
        assert_eq!(names(r#"[{"a":0.5}]"#), ["a"]);
        assert_eq!((inferred.seen["a"], inferred.seen["b"]), (Seen::Float, Seen::Small));
        let wide: String = (0..=MOST_COLUMNS).map(|nth| format!(r#""c{nth}":1,"#)).collect();
        let text = format!("[{{{}}}]", wide.trim_end_matches(','));
        assert!(inferred.columns(&elements(document(&text).unwrap()).unwrap()).is_err());
    }
}
