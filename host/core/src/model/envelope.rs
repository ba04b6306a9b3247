//! Pages of changes as plain rows in the shape of a change envelope.
//!
//! This is what a sink gets when no `cdc_unwrap` came before it: nothing of the change is lost, and every sink that
//! can store a row can store it.
//!
//! | column | kind | |
//! |---|---|---|
//! | `op` | text | `r` read, `c` insert, `u` update, `d` delete, `t` truncate |
//! | `schema` | text | the table's schema or database; null where the source has none |
//! | `table` | text | the table |
//! | `position` | text | where the change stands, as hex digits whose order is the order of the stream |
//! | `committed_at` | timestamptz | when its transaction was committed, by the source's clock |
//! | `before` | json | the row before, as far as the source tells; else null |
//! | `after` | json | the row after, without the columns that were not sent; null for a delete and a truncate |

use arrow_array::{StringArray, TimestampMicrosecondArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, OffsetBufferBuilder};
use std::sync::Arc;

use super::{Change, Column, Field, JsonRows, Kind, Op, Page, Schema, Values};
use crate::error::Result;

/// Turns pages of changes into pages of plain rows; pages of plain rows go through as they are.
///
/// Keeps what it prepared for the last schema, so one is meant to serve a whole stream.
#[derive(Debug, Default)]
pub struct Envelope {
    prepared: Option<Prepared>,
}

#[derive(Debug)]
struct Prepared {
    of: Arc<Schema>,
    rows: JsonRows,
    schema: Arc<Schema>,
}

impl Envelope {
    /// The columns of an envelope.
    pub fn fields() -> Vec<Field> {
        vec![
            Field::new("op", Kind::Text).not_null(),
            Field::new("schema", Kind::Text),
            Field::new("table", Kind::Text).not_null(),
            Field::new("position", Kind::Text).not_null(),
            Field::new("committed_at", Kind::TimestampTz).not_null(),
            Field::new("before", Kind::Json),
            Field::new("after", Kind::Json),
        ]
    }

    /// The page as plain rows, one per change.
    ///
    /// # Errors
    /// `page.duplicate_column` when two columns have one name.
    pub fn apply(&mut self, page: Page) -> Result<Page> {
        let Some(change) = page.change() else { return Ok(page) };
        let Prepared { rows: json, schema, .. } = self.prepare(page.schema())?;
        let count = page.rows();
        let table = &schema.table;
        let columns = vec![
            texts(count, |row, out| out.extend_from_slice(change.ops[row].letter().as_bytes())),
            match &table.schema {
                Some(name) => texts(count, |_, out| out.extend_from_slice(name.as_bytes())),
                None => Column::new(Values::Text(StringArray::new_null(count))),
            },
            texts(count, |_, out| out.extend_from_slice(table.name.as_bytes())),
            texts(count, |row, out| super::text::push_hex(out, change.positions.get(row))),
            committed_at(change),
            before_images(json, change),
            after_images(json, &page, change),
        ];
        Ok(Page::new(schema.clone(), count, columns))
    }

    fn prepare(&mut self, of: &Arc<Schema>) -> Result<&Prepared> {
        if !self.prepared.as_ref().is_some_and(|p| Arc::ptr_eq(&p.of, of)) {
            let schema = Arc::new(Schema::new(of.table.clone(), Self::fields()));
            self.prepared = Some(Prepared { of: of.clone(), rows: JsonRows::new(of)?, schema });
        }
        Ok(self.prepared.as_ref().expect("it was prepared above"))
    }
}

fn committed_at(change: &Change) -> Column {
    let array = TimestampMicrosecondArray::new(change.committed_at.clone().into(), None);
    Column::new(Values::TimestampTz(array.with_timezone("UTC")))
}

fn before_images(json: &JsonRows, change: &Change) -> Column {
    let rows = change.ops.len();
    match &change.before {
        None => Column::new(Values::Json(StringArray::new_null(rows))),
        Some(before) => documents(before.present.clone(), |row, out| json.push_columns(out, &before.columns, row)),
    }
}

fn after_images(json: &JsonRows, page: &Page, change: &Change) -> Column {
    let present = change.ops.iter().map(|op| match op {
        Op::Read | Op::Insert | Op::Update => true,
        Op::Delete | Op::Truncate => false,
    });
    documents(present.collect(), |row, out| json.push_row(out, page, row))
}

fn texts(rows: usize, push: impl FnMut(usize, &mut Vec<u8>)) -> Column {
    let (offsets, data) = variable(rows, push);
    Column::new(Values::Text(StringArray::new(offsets, data, None)))
}

fn documents(present: BooleanBuffer, mut push: impl FnMut(usize, &mut Vec<u8>)) -> Column {
    let (offsets, data) = variable(present.len(), |row, out| {
        if present.value(row) {
            push(row, out);
        }
    });
    Column::new(Values::Json(StringArray::new(offsets, data, Some(NullBuffer::new(present)))))
}

/// One buffer for all rows, filled by `push`, which writes UTF-8.
fn variable(rows: usize, mut push: impl FnMut(usize, &mut Vec<u8>)) -> (OffsetBuffer<i32>, Buffer) {
    let mut data = Vec::new();
    let mut offsets = OffsetBufferBuilder::<i32>::new(rows);
    for row in 0..rows {
        let start = data.len();
        push(row, &mut data);
        offsets.push_length(data.len() - start);
    }
    (offsets.finish(), Buffer::from_vec(data))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::model::{PageBuilder, TableId, ValueRef};

    fn changes(table: TableId) -> Page {
        let fields = vec![Field::new("id", Kind::I64), Field::new("note", Kind::Text)];
        let mut page = PageBuilder::changes(Arc::new(Schema::new(table, fields).with_key(vec![0])));
        page.columns()[0].push_i64(1);
        page.columns()[1].push_str("a\"b");
        page.end_change(Op::Insert, 0x10, 0, 5);
        page.columns()[0].push_i64(2);
        page.columns()[1].push_absent();
        page.before()[0].push_i64(1);
        page.before()[1].push_absent();
        page.end_change(Op::Update, 0x10, 1, 5);
        page.columns().iter_mut().for_each(|c| c.push_absent());
        page.before()[0].push_i64(2);
        page.before()[1].push_null();
        page.end_change(Op::Delete, 0x0a00, 0, 6);
        page.columns().iter_mut().for_each(|c| c.push_absent());
        page.end_change(Op::Truncate, 0x0a00, 1, 6);
        page.finish()
    }

    fn shown(page: &Page) -> Vec<String> {
        let json = JsonRows::new(page.schema()).unwrap();
        let line = |row| {
            let mut out = Vec::new();
            json.push_row(&mut out, page, row);
            String::from_utf8(out).unwrap()
        };
        (0..page.rows()).map(line).collect()
    }

    #[test]
    fn nothing_of_a_change_is_lost() {
        let page = Envelope::default().apply(changes(TableId::new("public", "orders"))).unwrap();
        let start = |op: &str, position: &str, micros: &str| {
            let zeros = "0".repeat(16 - position.len() + 1);
            let (commit, ordinal) = position.split_at(position.len() - 1);
            format!(
                r#"{{"op":"{op}","schema":"public","table":"orders","position":"{zeros}{commit}000000000000000{ordinal}","committed_at":"1970-01-01T00:00:00.00000{micros}Z","#
            )
        };
        assert_eq!(
            shown(&page),
            [
                start("c", "100", "5") + r#""before":null,"after":{"id":1,"note":"a\"b"}}"#,
                start("u", "101", "5") + r#""before":{"id":1},"after":{"id":2}}"#,
                start("d", "a000", "6") + r#""before":{"id":2,"note":null},"after":null}"#,
                start("t", "a001", "6") + r#""before":null,"after":null}"#,
            ]
        );
    }

    #[test]
    fn positions_keep_the_order_of_the_stream_as_text() {
        let page = Envelope::default().apply(changes(TableId::bare("t"))).unwrap();
        let position = page.column("position").unwrap();
        let texts: Vec<_> = (0..4)
            .map(|row| match position.value(row) {
                ValueRef::Text(text) => text.to_owned(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(texts.is_sorted() && texts.len() == 4);
        assert_eq!(page.column("schema").unwrap().value(0), ValueRef::Null);
    }

    #[test]
    fn plain_rows_go_through() {
        let envelope = Envelope::default().apply(changes(TableId::bare("t"))).unwrap();
        assert_eq!(Envelope::default().apply(envelope.clone()).unwrap(), envelope);
    }
}
