//! Rows as a shop has them, as messages of the change stream and as pages.

use std::hint::black_box;
use std::sync::Arc;

use faucet_connectors::postgres::cdc::decode::{Message, Value, message};
use faucet_connectors::postgres::decode::text;
use faucet_connectors::sql::{self, RowOp};
use faucet_core::model::{Field, Kind, Page, PageBuilder, Schema, TableId};

pub const ROWS: usize = 1000;

const COLUMNS: [(&str, Kind); 10] = [
    ("id", Kind::I64),
    ("customer", Kind::I64),
    ("sku", Kind::Text),
    ("qty", Kind::I64),
    ("price", Kind::Decimal),
    ("discount", Kind::F64),
    ("active", Kind::Bool),
    ("note", Kind::Text),
    ("meta", Kind::Json),
    ("updated_at", Kind::TimestampTz),
];

fn schema() -> Arc<Schema> {
    let fields = COLUMNS.iter().map(|(name, kind)| Field::new(*name, *kind)).collect();
    Arc::new(Schema::new(TableId::new("shop", "orders"), fields).with_key(vec![0]))
}

/// The columns of a row as PostgreSQL writes them.
fn texts(row: usize) -> [Option<String>; 10] {
    [
        Some(row.to_string()),
        Some((row * 37 % 5000).to_string()),
        Some(format!("SKU-{row:06}")),
        Some((row % 50).to_string()),
        Some(format!("{}.{:02}", row * 7, row % 100)),
        (!row.is_multiple_of(10)).then(|| format!("{}.5", row % 100)),
        Some(if row.is_multiple_of(3) { "t" } else { "f" }.to_owned()),
        (!row.is_multiple_of(5)).then(|| format!("note for order {row} lorem ipsum dolor sit")),
        Some(format!(r#"{{"tier": {}, "tags": ["a", "b"]}}"#, row % 3)),
        Some(format!("2024-01-31 12:{:02}:{:02}.123456+00", row % 60, row / 60 % 60)),
    ]
}

/// One insert of the `pgoutput` plugin for each row.
pub fn stream_messages() -> Vec<Vec<u8>> {
    let insert = |row: usize| {
        let mut out = b"I".to_vec();
        out.extend_from_slice(&16_384_u32.to_be_bytes());
        out.push(b'N');
        out.extend_from_slice(&10_u16.to_be_bytes());
        for text in texts(row) {
            match text {
                Some(text) => {
                    out.push(b't');
                    out.extend_from_slice(&(text.len() as u32).to_be_bytes());
                    out.extend_from_slice(text.as_bytes());
                }
                None => out.push(b'n'),
            }
        }
        out
    };
    (0..ROWS).map(insert).collect()
}

#[inline(never)]
pub fn measured_decode_stream(messages: &[Vec<u8>]) -> Page {
    let (mut page, mut scratch) = (PageBuilder::rows(schema()), Vec::new());
    for bytes in messages {
        let Ok(Message::Insert { new, .. }) = message(black_box(bytes)) else { panic!("an insert") };
        for (column, value) in page.columns().iter_mut().zip(new.values()) {
            match value {
                Value::Text(bytes) => text::push(column, bytes, &mut scratch).unwrap(),
                Value::Null => column.push_null(),
                Value::Unchanged => column.push_absent(),
            }
        }
        page.end_row();
    }
    page.finish()
}

/// The rows as a page.
pub fn page() -> Page {
    measured_decode_stream(&stream_messages())
}

/// Rows of which each two have one key, out of order.
pub fn page_of_changes_to_few_keys() -> Page {
    let page = page();
    let half = ROWS as u32 / 2;
    let rows: Vec<u32> = (0..ROWS as u32).map(|row| row * 7 % half).collect();
    page.take(&rows.into())
}

#[inline(never)]
pub fn measured_fold(page: &Page) -> usize {
    let ops = vec![RowOp::Upsert; page.rows()];
    sql::fold(black_box(page), &[0], None, Some(&ops)).upserts.len()
}
