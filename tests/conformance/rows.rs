//! The rows that the promises are checked with: a number that is the key, and a text.

use std::sync::Arc;

use faucet_core::model::{Field, Interval, Kind, Page, PageBuilder, Schema, TableId, ValueRef};

/// A row as a destination holds it.
pub type Row = (i64, Option<String>);

/// What a row does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// The row is put, whole.
    Put(i64, &'static str),
    /// The row that is there is changed, but its text was not sent.
    Touch(i64),
    /// The row is removed.
    Delete(i64),
}

fn schema(fields: Vec<Field>) -> Arc<Schema> {
    Arc::new(Schema::new(TableId::bare("t"), fields).with_key(vec![0]))
}

fn fields() -> Vec<Field> {
    vec![Field::new("id", Kind::I64), Field::new("a", Kind::Text)]
}

/// A page of plain rows.
pub fn page(rows: &[(i64, &str)]) -> Page {
    let mut page = PageBuilder::rows(schema(fields()));
    for (id, a) in rows {
        page.columns()[0].push_i64(*id);
        page.columns()[1].push_str(a);
        page.end_row();
    }
    page.finish()
}

/// A page of rows that say in `__op` what they do, as `cdc_unwrap` makes it.
pub fn acts(acts: &[Act]) -> Page {
    let mut marked = fields();
    marked.push(Field::new("__op", Kind::Text));
    let mut page = PageBuilder::rows(schema(marked));
    for act in acts {
        let (id, a, op) = match act {
            Act::Put(id, a) => (id, ValueRef::Text(a), "c"),
            Act::Touch(id) => (id, ValueRef::Absent, "u"),
            Act::Delete(id) => (id, ValueRef::Absent, "d"),
        };
        page.columns()[0].push_i64(*id);
        page.columns()[1].push(a);
        page.columns()[2].push_str(op);
        page.end_row();
    }
    page.finish()
}

/// A page that no sink can write: two of its columns have one name.
pub fn broken() -> Page {
    let fields = vec![Field::new("id", Kind::I64), Field::new("a", Kind::Text), Field::new("a", Kind::Text)];
    let mut page = PageBuilder::rows(schema(fields));
    page.columns()[0].push_i64(1);
    page.columns()[1].push_str("x");
    page.columns()[2].push_str("y");
    page.end_row();
    page.finish()
}

/// A page whose last row has no key.
pub fn without_key() -> Page {
    let mut page = PageBuilder::rows(schema(fields()));
    for id in [Some(100), None] {
        page.columns()[0].push(id.map_or(ValueRef::Null, ValueRef::I64));
        page.columns()[1].push_str("x");
        page.end_row();
    }
    page.finish()
}

/// A page with a column of every kind: a row of unusual values, a row of nulls, a row that sends only its key.
pub fn every_kind() -> Page {
    let values = [
        ValueRef::Bool(true),
        ValueRef::I64(i64::MIN),
        ValueRef::U64(u64::MAX),
        ValueRef::F32(f32::MIN_POSITIVE),
        ValueRef::F64(f64::NAN),
        ValueRef::Decimal("-12345678901234567890.1234567890"),
        ValueRef::Text("\"\n,é"),
        ValueRef::Bytes(&[0, 255]),
        ValueRef::Date(i32::MAX),
        ValueRef::Time(86_400_000_000),
        ValueRef::Timestamp(i64::MIN),
        ValueRef::TimestampTz(-1),
        ValueRef::Interval(Interval { months: -14, days: 3, microseconds: -1 }),
        ValueRef::Uuid(&[0xab; 16]),
        ValueRef::Json("{\"a\": [1.50, null]}"),
        ValueRef::Native("(1,2)"),
    ];
    let mut fields = vec![Field::new("id", Kind::I64)];
    fields.extend(Kind::ALL.map(|kind| Field::new(format!("c_{kind}"), kind)));
    let mut page = PageBuilder::rows(schema(fields));
    for (id, row) in [values, [ValueRef::Null; 16], [ValueRef::Absent; 16]].into_iter().enumerate() {
        let columns = page.columns();
        columns[0].push_i64(id as i64);
        columns[1..].iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        page.end_row();
    }
    page.finish()
}

/// The rows of a page of `id` and `a`.
pub fn rows_of(page: &Page) -> impl Iterator<Item = Row> + '_ {
    (0..page.rows()).map(|row| {
        let view = page.row(row);
        let id = match view.by_name("id") {
            Some(ValueRef::I64(id)) => id,
            other => panic!("row {row} has the id {other:?}"),
        };
        let a = match view.by_name("a") {
            Some(ValueRef::Text(a)) => Some(a.to_owned()),
            None | Some(ValueRef::Null | ValueRef::Absent) => None,
            other => panic!("row {row} has the text {other:?}"),
        };
        (id, a)
    })
}
