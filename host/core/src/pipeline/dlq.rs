//! The dead-letter queue: rows that can't be written, kept with what stands against them.
//!
//! * **L1** A row is durable in the queue before a bookmark passes it. A crash in between can put it there twice.
//! * **L2** More than `max_rows` of them in one attempt end it: then more is wrong than a few rows.
//!
//! A letter is a plain row, so that any sink that appends can keep it: when, by which stage and why, and the row as JSON.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{Blame, Code, Error, Result, Retry};
use crate::model::{Field, JsonRows, Kind, Page, PageBuilder, Schema, TableId, ValueRef};
use crate::observe::Meter;
use crate::ports::{SetAside, Sink};

/// Too many rows were set aside.
pub static TOO_MANY: Code = Code {
    id: "dlq.too_many_rows",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "more rows were set aside than `dlq.max_rows` allows",
    help: "Rows that can't be written go to the dead-letter queue. So many of them mean that something is wrong with all \
           rows: a changed column, a wrong transform, a constraint at the destination. Look at `reason` in the queue, \
           put it right, and run again from where it stopped. Raise `dlq.max_rows` if they are to be set aside.",
};

/// The columns of a letter.
const COLUMNS: [(&str, Kind); 7] = [
    ("at", Kind::TimestampTz),
    ("pipeline", Kind::Text),
    ("stage", Kind::Text),
    ("table", Kind::Text),
    ("code", Kind::Text),
    ("reason", Kind::Text),
    ("row", Kind::Json),
];

/// An open queue.
pub struct DeadLetters {
    sink: Box<dyn Sink>,
    pipeline: String,
    max_rows: u64,
    rows: u64,
    schema: Arc<Schema>,
}

impl DeadLetters {
    /// A queue in `sink` for the pipeline called `pipeline`, which takes `max_rows` rows.
    pub fn new(sink: Box<dyn Sink>, pipeline: &str, max_rows: u64) -> Self {
        let fields = COLUMNS.map(|(name, kind)| Field::new(name, kind)).to_vec();
        let schema = Arc::new(Schema::new(TableId::bare("dead_letters"), fields));
        Self { sink, pipeline: pipeline.to_owned(), max_rows, rows: 0, schema }
    }

    /// Writes rows that `stage` set aside.
    ///
    /// # Errors
    /// `dlq.too_many_rows` (L2), and those of the queue's sink.
    pub(super) async fn write(&mut self, stage: &str, aside: SetAside, meter: &Meter) -> Result<()> {
        let SetAside { rows, error } = aside;
        tracing::warn!(stage, code = error.code().id, rows = rows.rows(), reason = ?error, "rows were set aside");
        self.rows += rows.rows() as u64;
        meter.set_aside(rows.rows() as u64);
        let letters = self.letters(stage, &rows, &error)?;
        self.sink.write(letters).await.map_err(|e| e.context("writing to the dlq"))?;
        if self.rows > self.max_rows {
            // What is there says why; the rows come again with the next run.
            self.commit().await?;
            let what = format!("{} rows were set aside, and dlq.max_rows is {}", self.rows, self.max_rows);
            return Err(Error::new(&TOO_MANY, what).context(format!("the last because: {error}")));
        }
        Ok(())
    }

    /// Makes durable what was written (L1).
    pub(super) async fn commit(&mut self) -> Result<()> {
        self.sink.commit(None).await.map_err(|e| e.context("writing to the dlq"))
    }

    /// Ends the queue in good order.
    pub(super) async fn close(&mut self) -> Result<()> {
        self.sink.close().await
    }

    fn letters(&self, stage: &str, rows: &Page, error: &Error) -> Result<Page> {
        let json = JsonRows::new(rows.schema())?;
        let (table, code, reason) = (rows.schema().table.to_string(), error.code().id, error.to_string());
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as i64);
        let mut page = PageBuilder::rows(self.schema.clone());
        let mut text = Vec::new();
        for row in 0..rows.rows() {
            text.clear();
            json.push_row(&mut text, rows, row);
            let values = [
                ValueRef::TimestampTz(at),
                ValueRef::Text(&self.pipeline),
                ValueRef::Text(stage),
                ValueRef::Text(&table),
                ValueRef::Text(code),
                ValueRef::Text(&reason),
                ValueRef::Json(std::str::from_utf8(&text).expect("JSON text of rows is UTF-8")),
            ];
            page.columns().iter_mut().zip(values).for_each(|(column, value)| column.push(value));
            page.end_row();
        }
        Ok(page.finish())
    }
}
