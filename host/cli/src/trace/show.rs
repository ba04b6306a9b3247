//! A record on its way, for people and for programs.

use faucet_core::model::{JsonRows, Op, Page, Position, push_timestamp};
use faucet_core::recording::Step;
use serde::Serialize;
use serde_json::value::RawValue;
use std::fmt;

use crate::args::Output;
use crate::look::counted;

/// A row as a JSON object, every digit as it is.
type Row = Box<RawValue>;

/// A record, what became of it, and what the sink would do.
#[derive(Serialize)]
pub struct Shown {
    source: Part,
    table: String,
    #[serde(flatten)]
    change: Option<Change>,
    images: Vec<Image>,
    steps: Vec<Made>,
    sink: Part,
    writes: Vec<Written>,
}

/// A source or a sink.
#[derive(Clone, Serialize)]
pub struct Part {
    /// Its type.
    pub r#type: String,
    /// The digest of its component; `None` for one that is part of faucet.
    pub digest: Option<String>,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.r#type, component(self.digest.as_deref()))
    }
}

/// Which component it is, behind the name of one.
fn component(digest: Option<&str>) -> String {
    digest.map_or_else(String::new, |digest| format!(", component {}", short(digest)))
}

/// Where a change stands, what it did and when it was committed.
#[derive(Serialize)]
struct Change {
    op: &'static str,
    position: String,
    committed_at: String,
}

/// The record at one side of a change, or the row of a query.
#[derive(Serialize)]
struct Image {
    of: &'static str,
    row: Row,
}

#[derive(Serialize)]
struct Made {
    r#type: String,
    digest: Option<String>,
    rows: Vec<Row>,
    rejected: Vec<String>,
}

#[derive(Serialize)]
struct Written {
    rows: Vec<Row>,
    /// `None` where only the sink knows.
    statements: Option<Vec<String>>,
}

impl Shown {
    /// A record (a page of one row) as the source delivered it.
    pub fn new(source: Part, sink: Part, record: &Page) -> Self {
        Self {
            source,
            table: record.schema().table.to_string(),
            change: change(record),
            images: images(record),
            steps: Vec::new(),
            sink,
            writes: Vec::new(),
        }
    }

    /// What a step made of it.
    pub fn step(&mut self, step: Step, pages: &[Page], rejected: Vec<String>) {
        let rows = pages.iter().flat_map(rows).collect();
        self.steps.push(Made { r#type: step.name, digest: step.digest, rows, rejected });
    }

    /// What the sink would do with rows.
    pub fn sink(&mut self, statements: Option<Vec<String>>, page: &Page) {
        self.writes.push(Written { rows: rows(page), statements });
    }

    /// Prints it as the `nth` record.
    pub fn print(&self, nth: u64, output: Output) {
        match output {
            Output::Text => print!("{}", self.text(nth)),
            Output::Json => println!("{}", serde_json::to_string(self).expect("it is plain data")),
        }
    }

    fn text(&self, nth: u64) -> String {
        let mut out = format!("record {nth}: {}", self.table);
        if let Some(Change { op, position, committed_at }) = &self.change {
            out.push_str(&format!(", {op} at {position}, committed {committed_at}"));
        }
        out.push_str(&format!("\n  source {}\n", self.source));
        self.images.iter().for_each(|image| out.push_str(&format!("    {:<6}  {}\n", image.of, image.row)));
        for (at, step) in (1..).zip(&self.steps) {
            out.push_str(&format!("  {at} {}{}\n", step.r#type, component(step.digest.as_deref())));
            let rejected = step.rejected.iter().map(|why| format!("rejected: {why}"));
            out.push_str(&lines(step.rows.iter().map(|row| row.get().to_owned()).chain(rejected), "no row comes out"));
        }
        out.push_str(&format!("  sink {}\n", self.sink));
        let said = self.writes.iter().flat_map(|written| match &written.statements {
            Some(statements) => statements.clone(),
            None => vec![format!("{}, for the component to write", counted(written.rows.len() as u64, "row"))],
        });
        out.push_str(&lines(said, "nothing reaches it"));
        out
    }
}

/// The first digits of a digest.
fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

fn lines(lines: impl Iterator<Item = String>, none: &str) -> String {
    let lines: Vec<String> = lines.map(|line| format!("    {}\n", line.replace('\n', "\n    "))).collect();
    if lines.is_empty() { format!("    {none}\n") } else { lines.concat() }
}

fn change(record: &Page) -> Option<Change> {
    let change = record.change()?;
    let op = match change.ops.first()? {
        Op::Read => "read",
        Op::Insert => "insert",
        Op::Update => "update",
        Op::Delete => "delete",
        Op::Truncate => "truncate",
    };
    let mut committed = Vec::new();
    push_timestamp(&mut committed, *change.committed_at.first()?, b' ', "Z");
    let committed_at = String::from_utf8_lossy(&committed).into_owned();
    Some(Change { op, position: position(change.positions.get(0)), committed_at })
}

/// A position of a commit and a number as `COMMIT:NUMBER`, others in hex.
fn position(bytes: &[u8]) -> String {
    match <[u8; 16]>::try_from(bytes).map(u128::from_be_bytes) {
        Ok(both) => {
            let (commit, number) = ((both >> 64) as u64, both as u64);
            format!("{:X}/{:X}:{number}", commit >> 32, commit as u32)
        }
        Err(_) => format!("{:?}", Position::from_bytes(bytes)),
    }
}

/// The images of a record that are there.
fn images(record: &Page) -> Vec<Image> {
    let image = |of, page: &Page| rows(page).into_iter().next().map(|row| Image { of, row });
    let Some(change) = record.change() else { return image("row", record).into_iter().collect() };
    let before = change.before.as_ref().filter(|before| before.present.value(0));
    let before = before.map(|before| Page::new(record.schema().clone(), 1, before.columns.clone()));
    let has_after = !matches!(change.ops.first(), Some(Op::Delete | Op::Truncate));
    let before = before.and_then(|before| image("before", &before));
    before.into_iter().chain(has_after.then(|| image("after", record)).flatten()).collect()
}

/// The rows of a page as JSON objects.
pub fn rows(page: &Page) -> Vec<Row> {
    let text = |text: Vec<u8>| RawValue::from_string(String::from_utf8_lossy(&text).into_owned());
    let Ok(writer) = JsonRows::new(page.schema()) else {
        // JSON has no place for a second value under one name.
        return text(b"\"two columns have one name\"".to_vec()).into_iter().collect();
    };
    let row = |row| {
        let mut out = Vec::new();
        writer.push_row(&mut out, page, row);
        text(out).expect("a row is written as JSON")
    };
    (0..page.rows()).map(row).collect()
}
