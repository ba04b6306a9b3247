//! Rows that wait to be sent.

use crate::config::Format;
use std::ops::Range;

/// Rows of one table, as JSON.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    table: String,
    text: String,
    /// Where each row ends in `text`.
    ends: Vec<usize>,
}

impl Batch {
    pub(crate) fn new(table: &str) -> Self {
        Self { table: table.to_owned(), ..Self::default() }
    }

    /// The table its rows are of.
    pub(crate) fn table(&self) -> &str {
        &self.table
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of its rows.
    pub(crate) fn size(&self) -> usize {
        self.text.len()
    }

    /// Adds a row that `write` appends.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.ends.push(self.text.len());
    }

    /// The body of a request for some of its rows.
    pub(crate) fn body(&self, rows: Range<usize>, format: Format, rows_key: &str) -> Vec<u8> {
        let (open, between, close) = match format {
            Format::Array => ("[".to_owned(), ",", "]"),
            Format::Lines => (String::new(), "\n", "\n"),
            Format::Object => (format!("{{{}:[", serde_json::Value::from(rows_key)), ",", "]}"),
            Format::Row => (String::new(), "", ""),
        };
        let mut body = open;
        for row in rows.clone() {
            if row > rows.start {
                body.push_str(between);
            }
            let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
            body.push_str(&self.text[start..self.ends[row]]);
        }
        body.push_str(close);
        body.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_four_forms() {
        let mut batch = Batch::new("t");
        for row in ["{1}", "{22}", "{3}"] {
            batch.push(|out| out.push_str(row));
        }
        let body = |rows, format| String::from_utf8(batch.body(rows, format, "a\"b")).unwrap_or_default();
        assert_eq!(body(0..3, Format::Array), "[{1},{22},{3}]");
        assert_eq!(body(1..3, Format::Lines), "{22}\n{3}\n");
        assert_eq!(body(0..1, Format::Object), r#"{"a\"b":[{1}]}"#);
        assert_eq!(body(2..3, Format::Row), "{3}");
        assert_eq!((batch.rows(), batch.size(), batch.table()), (3, 10, "t"));
    }
}
