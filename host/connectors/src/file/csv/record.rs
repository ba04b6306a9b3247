//! Records of a CSV file ([RFC 4180](https://www.rfc-editor.org/rfc/rfc4180)), read without losing whether a field was
//! quoted: that is what tells an empty text from a null.
//!
//! A record ends with a line feed, with or without a carriage return before it, outside quotes. A field is quoted when
//! its first character is the quote; inside, two quotes stand for one. A quote later in an unquoted field is that
//! character. All special characters are ASCII, so UTF-8 is checked once per record.

use faucet_core::error::Result;

use super::error::{Fault, bad_record};
use crate::file::input::{Input, LARGEST_RECORD};

/// The characters a file is written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Between fields; ASCII.
    pub delimiter: u8,
    /// Around fields; ASCII.
    pub quote: u8,
}

/// Where a field lies in its record, without its quotes.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    start: usize,
    end: usize,
    quoted: bool,
    /// It has two quotes that stand for one.
    doubled: bool,
}

/// One field of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FieldText<'a> {
    /// The text; pairs of quotes are still pairs when `doubled`.
    pub raw: &'a str,
    /// Whether it stood in quotes.
    pub quoted: bool,
    /// Whether it has two quotes that stand for one.
    pub doubled: bool,
}

impl<'a> FieldText<'a> {
    /// The text as it was meant; `scratch` holds it when it isn't in the file like that.
    pub(crate) fn text(&self, quote: u8, scratch: &'a mut String) -> &'a str {
        if !self.doubled {
            return self.raw;
        }
        let quote = char::from(quote);
        scratch.clear();
        let mut rest = self.raw;
        while let Some(at) = rest.find(quote) {
            scratch.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            rest = rest.strip_prefix(quote).unwrap_or(rest);
        }
        scratch.push_str(rest);
        scratch
    }
}

/// What a look for the next record found.
enum Scan {
    /// A record of this many bytes, its line end included, and how many line ends were in it.
    Record {
        bytes: usize,
        lines: u64,
    },
    /// It goes on behind what was read.
    Cut,
    Bad(Fault),
}

/// The records of a file, one at a time.
pub(crate) struct Records {
    input: Input,
    dialect: Dialect,
    spans: Vec<Span>,
    /// Bytes of the current record.
    bytes: usize,
    /// Number of the current record's first line, from 1.
    line: u64,
    next_line: u64,
    /// Whether what made the last record bad is that the file ends in it.
    is_torn: bool,
}

impl Records {
    /// The records of `input`, from where it stands.
    pub(crate) fn new(input: Input, dialect: Dialect) -> Self {
        Self { input, dialect, spans: Vec::new(), bytes: 0, line: 0, next_line: 1, is_torn: false }
    }

    /// Number of the current record's first line, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Bytes of the file before the next record.
    pub(crate) fn offset(&self) -> u64 {
        self.input.position()
    }

    /// Whether the record that could not be read is one that the file ends in.
    pub(crate) fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Number of fields in the current record. A line without anything on it has none.
    pub(crate) fn fields(&self) -> usize {
        self.spans.len()
    }

    /// Whether the current record ends with a line end.
    pub(crate) fn is_whole(&self) -> bool {
        self.input.taken(self.bytes).ends_with(b"\n")
    }

    /// The file.
    pub(crate) fn path(&self) -> &std::path::Path {
        self.input.path()
    }

    /// Goes to the next record. `false` at the end of the file.
    ///
    /// # Errors
    /// `csv.bad_record` with the line, or of the file.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        self.line = self.next_line;
        loop {
            if self.input.rest().is_empty() && !self.input.at_end() {
                self.input.more()?;
            }
            if self.input.rest().is_empty() {
                return Ok(false);
            }
            match scan(self.input.rest(), self.input.at_end(), self.dialect, &mut self.spans) {
                Scan::Record { bytes, lines } => {
                    self.input.take(bytes);
                    self.bytes = bytes;
                    self.next_line += lines;
                    return Ok(true);
                }
                Scan::Cut if self.input.rest().len() > LARGEST_RECORD => return Err(self.bad(Fault::TooLarge)),
                Scan::Cut => {
                    self.input.more()?;
                }
                Scan::Bad(fault) => {
                    let rest = self.input.rest();
                    self.is_torn = self.input.at_end() && (fault == Fault::OpenQuote || !rest.contains(&b'\n'));
                    return Err(self.bad(fault));
                }
            }
        }
    }

    /// The current record, its fields readable by index.
    ///
    /// # Errors
    /// `csv.bad_record` when it is not UTF-8.
    pub(crate) fn record(&self) -> Result<Record<'_>> {
        let text = std::str::from_utf8(self.input.taken(self.bytes)).map_err(|_| self.bad(Fault::NotUtf8))?;
        Ok(Record { text, spans: &self.spans })
    }

    /// The error of the current record.
    pub(crate) fn bad(&self, fault: Fault) -> faucet_core::error::Error {
        bad_record(self.input.path(), self.line, fault)
    }
}

/// The fields of one record.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    text: &'a str,
    spans: &'a [Span],
}

impl<'a> Record<'a> {
    /// The fields in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = FieldText<'a>> {
        self.spans.iter().map(move |s| FieldText {
            raw: &self.text[s.start..s.end],
            quoted: s.quoted,
            doubled: s.doubled,
        })
    }
}

/// Finds the fields of the record at the start of `text`; `last` says that nothing follows `text`.
fn scan(text: &[u8], last: bool, dialect: Dialect, spans: &mut Vec<Span>) -> Scan {
    spans.clear();
    let (mut at, mut lines) = (0, 0);
    loop {
        let field = match text.get(at) {
            Some(&byte) if byte == dialect.quote => quoted_field(text, at, last, dialect, &mut lines),
            _ => unquoted_field(text, at, last, dialect),
        };
        let (span, next) = match field {
            Ok(found) => found,
            Err(scan) => return scan,
        };
        spans.push(span);
        match text.get(next) {
            Some(&byte) if byte == dialect.delimiter => at = next + 1,
            rest => {
                let bytes = rest.map_or(next, |_| next + if text[next] == b'\r' { 2 } else { 1 });
                if let [Span { start, end, quoted: false, .. }] = spans[..]
                    && start == end
                {
                    spans.clear();
                }
                return Scan::Record { bytes, lines: lines + 1 };
            }
        }
    }
}

/// The field and where it ends: at a delimiter, at a line end, or at the end of the text.
fn unquoted_field(text: &[u8], start: usize, last: bool, dialect: Dialect) -> Result<(Span, usize), Scan> {
    let found = memchr::memchr2(dialect.delimiter, b'\n', &text[start..]);
    let Some(length) = found else {
        // At the end of the file a record needs no line end.
        let end = if last { text.len() } else { return Err(Scan::Cut) };
        return Ok((Span { start, end, ..Span::default() }, end));
    };
    let mut end = start + length;
    if text[end] == b'\n' && end > start && text[end - 1] == b'\r' {
        end -= 1;
    }
    Ok((Span { start, end, ..Span::default() }, end))
}

fn quoted_field(
    text: &[u8],
    quote_at: usize,
    last: bool,
    dialect: Dialect,
    lines: &mut u64,
) -> Result<(Span, usize), Scan> {
    let start = quote_at + 1;
    let mut at = start;
    let mut doubled = false;
    loop {
        let Some(length) = memchr::memchr(dialect.quote, &text[at..]) else {
            return Err(if last { Scan::Bad(Fault::OpenQuote) } else { Scan::Cut });
        };
        let end = at + length;
        *lines += memchr::memchr_iter(b'\n', &text[at..end]).count() as u64;
        match text[end + 1..] {
            [next, ..] if next == dialect.quote => {
                doubled = true;
                at = end + 2;
            }
            [next, ..] if next == dialect.delimiter || next == b'\n' => {
                return Ok((Span { start, end, quoted: true, doubled }, end + 1));
            }
            [b'\r', b'\n', ..] => return Ok((Span { start, end, quoted: true, doubled }, end + 1)),
            [] if last => return Ok((Span { start, end, quoted: true, doubled }, end + 1)),
            [] | [b'\r'] if !last => return Err(Scan::Cut),
            _ => return Err(Scan::Bad(Fault::AfterQuote)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    const RFC: Dialect = Dialect { delimiter: b',', quote: b'"' };

    type Fields = Vec<(String, bool)>;

    fn read(text: &[u8]) -> Result<Vec<Fields>> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        let mut records = Records::new(Input::open(file.path())?, RFC);
        let mut found = Vec::new();
        while records.advance()? {
            let mut scratch = String::new();
            let fields = records.record()?.iter();
            found.push(fields.map(|f| (f.text(RFC.quote, &mut scratch).to_owned(), f.quoted)).collect());
        }
        Ok(found)
    }

    fn plain(fields: &[&str]) -> Fields {
        fields.iter().map(|f| ((*f).to_owned(), false)).collect()
    }

    #[test]
    fn records_end_where_they_should() {
        let cases: [(&[u8], Vec<Fields>); 7] = [
            (b"a,b\nc,d\n", vec![plain(&["a", "b"]), plain(&["c", "d"])]),
            (b"a,b\r\nc,d", vec![plain(&["a", "b"]), plain(&["c", "d"])]),
            (b"\xef\xbb\xbfa\n\nb\n", vec![plain(&["a"]), vec![], plain(&["b"])]),
            (b",\n", vec![plain(&["", ""])]),
            (b"\"\"\n", vec![vec![(String::new(), true)]]),
            (b"\"x\"\"y\nz\",5\" pipe\n", vec![vec![("x\"y\nz".into(), true), ("5\" pipe".into(), false)]]),
            (b"a\rb,c\n", vec![plain(&["a\rb", "c"])]),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text).unwrap(), expected, "{:?}", String::from_utf8_lossy(text));
        }
        assert!(read(b"").unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let cases: [(&[u8], &str); 4] = [
            (b"a\n\"b\nc", "line 2: a quote is never closed"),
            (b"\"a\nb\"\n\"a\"b\n", "line 3: text follows a closing quote"),
            (b"a\nb\n\xff\n", "line 3: it is not UTF-8"),
            (b"\"a\"\r", "line 1: text follows a closing quote"),
        ];
        for (text, expected) in cases {
            let error = read(text).unwrap_err();
            assert_eq!(error.code().id, "csv.bad_record");
            assert!(error.to_string().ends_with(expected), "{error}");
        }
    }

    proptest! {
        /// Another reader, fed the same file, finds the same fields.
        #[test]
        fn other_readers_agree(rows in prop::collection::vec(prop::collection::vec("[a\"\n\r,é ]{0,5}", 2..4), 0..6)) {
            let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let text = writer.into_inner().unwrap();
            let found: Vec<Vec<String>> =
                read(&text).unwrap().into_iter().map(|r| r.into_iter().map(|(text, _)| text).collect()).collect();
            prop_assert_eq!(found, rows);
        }

        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(prop_oneof![Just(b'"'), Just(b','), Just(b'\n'), Just(b'\r'), any::<u8>()], 0..40)) {
            let _ = read(&text);
        }
    }
}
