//! The dead-letter queue: rows that can't be written, kept with what stands against them.
//!
//! * **L1** A row is durable in the queue before a bookmark passes it. A crash in between can put it there twice.
//! * **L2** More than `max_rows` of them within an hour end the run: then more is wrong than a few rows.
//!
//! A letter is a plain row, so that any sink that appends can keep it: when, by which stage and why, and the row as JSON.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

use crate::error::{Blame, Code, Error, Result, Retry};
use crate::model::{Field, JsonRows, Kind, Page, PageBuilder, Schema, TableId, ValueRef};
use crate::observe::Meter;
use crate::ports::{SetAside, Sink};

/// Too many rows were set aside.
pub static TOO_MANY: Code = Code {
    id: "dlq.too_many_rows",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "more rows were set aside within an hour than `dlq.max_rows` allows",
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

/// How many rows may be set aside within an hour (L2). Shared by all attempts and parts of a run.
#[derive(Debug)]
pub struct Allowance {
    most: u64,
    used: Mutex<Used>,
}

/// The rows of the last hour, second by second, and how many they are.
#[derive(Debug, Default)]
struct Used {
    seconds: VecDeque<(Instant, u64)>,
    rows: u64,
}

impl Allowance {
    /// `most` rows an hour.
    pub fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { most, used: Mutex::default() })
    }

    /// Counts `rows`; the total of the last hour, if that is too many.
    fn exceeded_by(&self, rows: u64) -> Option<u64> {
        let now = Instant::now();
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((_, old)) = used.seconds.pop_front_if(|(began, _)| now - *began >= HOUR) {
            used.rows -= old;
        }
        match used.seconds.back_mut().filter(|(began, _)| now - *began < SECOND) {
            Some((_, count)) => *count += rows,
            None => used.seconds.push_back((now, rows)),
        }
        used.rows += rows;
        Some(used.rows).filter(|total| *total > self.most)
    }
}

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);

/// An open queue.
pub struct DeadLetters {
    sink: Box<dyn Sink>,
    pipeline: String,
    allowance: Arc<Allowance>,
    schema: Arc<Schema>,
}

impl DeadLetters {
    /// A queue in `sink` for the pipeline called `pipeline`.
    pub fn new(sink: Box<dyn Sink>, pipeline: &str, allowance: Arc<Allowance>) -> Self {
        // `jsonb` can't hold every text: a row may be here because of such a one.
        let field = |(name, kind)| match kind {
            Kind::Json => Field::new(name, kind).native("postgres:json"),
            kind => Field::new(name, kind),
        };
        let fields = COLUMNS.map(field).to_vec();
        let schema = Arc::new(Schema::new(TableId::bare("dead_letters"), fields));
        Self { sink, pipeline: pipeline.to_owned(), allowance, schema }
    }

    /// Writes rows that `stage` set aside.
    ///
    /// # Errors
    /// `dlq.too_many_rows` (L2), and those of the queue's sink.
    pub(super) async fn write(&mut self, stage: &str, aside: SetAside, meter: &Meter) -> Result<()> {
        let SetAside { rows, error } = aside;
        tracing::warn!(stage, code = error.code().id, rows = rows.rows(), reason = ?error, "rows were set aside");
        meter.set_aside(rows.rows() as u64);
        let letters = self.letters(stage, &rows, &error)?;
        self.sink.write(letters).await.map_err(|e| e.context("writing to the dlq"))?;
        if let Some(total) = self.allowance.exceeded_by(rows.rows() as u64) {
            // What is there says why; the rows come again with the next run.
            self.commit().await?;
            let what =
                format!("{total} rows were set aside within an hour, and dlq.max_rows is {}", self.allowance.most);
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn what_counts_is_the_last_hour_whenever_that_began() {
        let allowance = Allowance::new(10);
        assert_eq!(allowance.exceeded_by(4), None);
        advance(HOUR * 3 / 4).await;
        assert_eq!(allowance.exceeded_by(6), None, "as many as are allowed");
        advance(HOUR / 4).await;
        assert_eq!(allowance.exceeded_by(4), None, "the first four are an hour old");
        assert_eq!(allowance.exceeded_by(1), Some(11), "seven and four of three quarters of an hour");
        advance(HOUR).await;
        assert_eq!(allowance.exceeded_by(10), None);
    }
}
