//! A row's key, compared and hashed in place.

use faucet_core::error::{Blame, Code, Error, Result, Retry};
use faucet_core::model::{Page, ValueRef, Values};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::RowOp;

/// A row can't be told from others.
pub static KEY_NULL: Code = Code {
    id: "sink.key_null",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "a row has no value in a column of the key",
    help: "Under `write_mode: upsert` each row is found at the destination by the columns of `key`. A row that lacks one \
           of them, or has null there, can't be. Use a key whose columns are never null (the primary key), keep such \
           rows out in the query or with a `filter`, or give them a value in a transform.",
};

/// Finds the key's columns in the page and checks that every row that puts or deletes has all of them.
///
/// # Errors
/// `sink.key_null`.
pub fn check_key(page: &Page, key: &[String], ops: Option<&[RowOp]>) -> Result<Vec<usize>> {
    let find = |name: &String| page.schema().index_of(name).ok_or_else(|| missing(page, name));
    let columns = key.iter().map(find).collect::<Result<Vec<_>>>()?;
    for &column in &columns {
        let values = &page.columns()[column];
        if values.values().array().null_count() == 0 {
            continue;
        }
        let keyed =
            |row: &usize| ops.is_none_or(|ops| matches!(ops[*row], RowOp::Upsert | RowOp::Update | RowOp::Delete));
        if (0..page.rows()).filter(keyed).any(|row| values.is_null(row)) {
            let name = &page.schema().fields[column].name;
            let what = format!("a row of {} has no value in key column \"{name}\"", page.schema().table);
            return Err(Error::new(&KEY_NULL, what).hint("use a key that is never null, or keep such rows out"));
        }
    }
    Ok(columns)
}

fn missing(page: &Page, name: &str) -> Error {
    let names: Vec<_> = page.schema().fields.iter().map(|f| &*f.name).collect();
    Error::new(&KEY_NULL, format!("the rows of {} have no column \"{name}\", which `key` names", page.schema().table))
        .hint(format!("their columns are: {}", names.join(", ")))
}

/// The key of one row. Equal keys are equal as SQL sees it for numbers: `1.0` is `1.00`, and `-0` is `0`.
#[derive(Clone, Copy)]
pub struct RowKey<'a> {
    page: &'a Page,
    columns: &'a [usize],
    row: usize,
}

impl<'a> RowKey<'a> {
    /// The key of `row`, in these columns.
    pub fn new(page: &'a Page, columns: &'a [usize], row: usize) -> Self {
        Self { page, columns, row }
    }

    fn values(&self) -> impl Iterator<Item = ValueRef<'a>> {
        let Self { page, columns, row } = *self;
        columns.iter().map(move |&c| page.columns()[c].value(row))
    }
}

impl PartialEq for RowKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.values().zip(other.values()).all(|(a, b)| equal(a, b))
    }
}

impl Eq for RowKey<'_> {}

impl Hash for RowKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.values().for_each(|value| hash(value, state));
    }
}

/// About the order in which an index on the columns `key` has the rows: neighbours there are neighbours here, so writing
/// them one after the other finds the same blocks. No more than that: texts are ordered by their bytes, and kinds that
/// are rare in keys not at all.
pub fn index_order(page: &Page, key: &[usize], a: u32, b: u32) -> Ordering {
    let (a, b) = (a as usize, b as usize);
    let column = |column: &usize| match page.columns()[*column].values() {
        Values::I64(v) => v.value(a).cmp(&v.value(b)),
        Values::U64(v) => v.value(a).cmp(&v.value(b)),
        Values::Text(v) => v.value(a).cmp(v.value(b)),
        Values::Uuid(v) => v.value(a).cmp(v.value(b)),
        Values::Date(v) => v.value(a).cmp(&v.value(b)),
        Values::Timestamp(v) | Values::TimestampTz(v) => v.value(a).cmp(&v.value(b)),
        Values::Bool(_)
        | Values::F32(_)
        | Values::F64(_)
        | Values::Decimal(_)
        | Values::Bytes(_)
        | Values::Time(_)
        | Values::Interval(_)
        | Values::Json(_)
        | Values::Native(_) => Ordering::Equal,
    };
    key.iter().map(column).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn equal(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    match (a, b) {
        (ValueRef::F32(a), ValueRef::F32(b)) => a == b || (a.is_nan() && b.is_nan()),
        (ValueRef::F64(a), ValueRef::F64(b)) => a == b || (a.is_nan() && b.is_nan()),
        (ValueRef::Decimal(a), ValueRef::Decimal(b)) => significant(a) == significant(b),
        (a, b) => a == b,
    }
}

fn hash<H: Hasher>(value: ValueRef<'_>, state: &mut H) {
    match value {
        ValueRef::Absent | ValueRef::Null => state.write_u8(0),
        ValueRef::Bool(v) => v.hash(state),
        ValueRef::I64(v) | ValueRef::Time(v) | ValueRef::Timestamp(v) | ValueRef::TimestampTz(v) => v.hash(state),
        ValueRef::U64(v) => v.hash(state),
        // Adding zero makes -0 to 0; every NaN is one.
        ValueRef::F32(v) => if v.is_nan() { f32::NAN } else { v + 0.0 }.to_bits().hash(state),
        ValueRef::F64(v) => if v.is_nan() { f64::NAN } else { v + 0.0 }.to_bits().hash(state),
        ValueRef::Decimal(v) => significant(v).hash(state),
        ValueRef::Text(v) | ValueRef::Json(v) | ValueRef::Native(v) => v.hash(state),
        ValueRef::Bytes(v) => v.hash(state),
        ValueRef::Date(v) => v.hash(state),
        ValueRef::Interval(v) => v.hash(state),
        ValueRef::Uuid(v) => v.hash(state),
    }
}

/// A decimal without the zeros that don't change it. One with an exponent is left as it is: no database sends those.
fn significant(text: &str) -> (bool, &str) {
    if text.bytes().any(|b| matches!(b, b'e' | b'E')) {
        return (false, text);
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.trim_start_matches('0');
    let digits = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    // What is left of a zero is nothing, and it has no sign.
    (negative && !digits.is_empty(), digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faucet_core::model::{Field, Kind, PageBuilder, Schema, TableId};
    use std::sync::Arc;

    #[test]
    fn rows_stand_as_in_an_index_by_one_column_after_the_other() {
        let fields = vec![Field::new("a", Kind::Text), Field::new("b", Kind::I64)];
        let mut page = PageBuilder::rows(Arc::new(Schema::new(TableId::bare("t"), fields)));
        for (a, b) in [("x", 10), ("x", 9), ("a", 11)] {
            page.columns()[0].push_str(a);
            page.columns()[1].push_i64(b);
            page.end_row();
        }
        let page = page.finish();
        let mut rows = [0, 1, 2];
        rows.sort_by(|a, b| index_order(&page, &[0, 1], *a, *b));
        assert_eq!(rows, [2, 1, 0]);
        rows.sort_by(|a, b| index_order(&page, &[1], *a, *b));
        assert_eq!(rows, [1, 0, 2]);
    }

    #[test]
    fn numbers_are_equal_as_sql_sees_them() {
        let decimal = |a, b| equal(ValueRef::Decimal(a), ValueRef::Decimal(b));
        assert!(decimal("1.0", "1.00") && decimal("0", "-0.000") && decimal("+007", "7") && decimal("10", "10.0"));
        assert!(!decimal("10", "1") && !decimal("-1", "1") && !decimal("0.1", "0.01") && !decimal("100", "1e2"));
        assert!(
            equal(ValueRef::F64(-0.0), ValueRef::F64(0.0)) && equal(ValueRef::F64(f64::NAN), ValueRef::F64(f64::NAN))
        );
    }
}
