//! From PostgreSQL's two formats into columns.
//!
//! [`binary`] reads the fields of `COPY .. (FORMAT BINARY)`, [`text`] those of logical replication and of plain results.
//! **The same SQL value gives the identical slot through either**: snapshot bytes equal stream bytes. Where the formats
//! differ in what they can say (the bits of a NaN), both give the canonical form.
//!
//! Text is read under the session settings of every connection of ours: `DateStyle` ISO, `IntervalStyle` iso_8601,
//! `TimeZone` UTC, `bytea_output` hex, `extra_float_digits` 1.

pub mod binary;
pub mod text;

use faucet_core::error::{Blame, Code, Error, Retry};

/// Microseconds from 1970-01-01 to 2000-01-01, PostgreSQL's epoch.
pub const EPOCH_MICROS: i64 = EPOCH_DAYS as i64 * MICROS_PER_DAY;
/// Days from 1970-01-01 to 2000-01-01.
pub const EPOCH_DAYS: i32 = 10_957;

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// A field that is not what its type's format allows.
pub static MALFORMED: Code = Code {
    id: "postgres.value_malformed",
    blame: Blame::Source,
    retry: Retry::Never,
    title: "a value is not in the form PostgreSQL gives it",
    help: "The server sent a value that does not follow the format of its type. A proxy, a compatible server that \
           formats values its own way, or session settings forced by the role (DateStyle, IntervalStyle, \
           bytea_output) can cause it. Cast the column to text in the query, or remove the setting.",
};

/// A value that PostgreSQL holds and a column can't.
pub static OUT_OF_RANGE: Code = Code {
    id: "postgres.value_out_of_range",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "a value lies outside the range of its column",
    help: "Timestamps are microseconds since 1970 in 64 bits, which end in the year 294247; PostgreSQL's end in \
           294276. Set `timestamps: text` at the source (and at a mirror's snapshot source), or correct the row. An integer \
           can also be too large for the narrower integer column it is written to: widen that.",
};

/// Bytes that are no text.
pub static NOT_UTF8: Code = Code {
    id: "postgres.not_utf8",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "a text of the source is not UTF-8",
    help: "A database whose encoding is SQL_ASCII keeps whatever bytes it was given, and can't convert them: nobody knows \
           which characters they are. `SELECT .. WHERE column ~ '[^[:ascii:]]'` lists the rows to look at. If they are \
           Latin-1, `UPDATE t SET c = convert_from(convert(convert_to(c, 'SQL_ASCII'), 'LATIN1', 'UTF8'), 'SQL_ASCII') WHERE ..` \
           mends them. A change that is in the log already keeps its bytes: after mending the rows run `faucet mirror drop \
           CONFIG`, then `faucet mirror --replace CONFIG`. To stop it for good, load the database into one in UTF8.",
};

/// Why a field could not be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecodable {
    /// Not in the form of its type.
    Malformed,
    /// A text that is not UTF-8.
    NotUtf8,
    /// Well formed, but the column's kind can't hold it.
    OutOfRange,
}

impl Undecodable {
    /// The error that names the column and never the value.
    pub fn in_column(self, column: &str) -> Error {
        match self {
            Undecodable::Malformed => Error::new(
                &MALFORMED,
                format!("a value of column \"{column}\" is not in the form PostgreSQL gives its type"),
            ),
            Undecodable::NotUtf8 => Error::new(
                &NOT_UTF8,
                format!("a text in column \"{column}\" is not UTF-8: the source's encoding is SQL_ASCII, which converts nothing"),
            )
            .hint(format!(
                "find the rows at the source with WHERE \"{column}\"::text ~ '[^[:ascii:]]', and mend those that are not UTF-8"
            )),
            Undecodable::OutOfRange => Error::new(
                &OUT_OF_RANGE,
                format!("a value of column \"{column}\" lies after the year 294246, the last a timestamp column holds"),
            )
            .hint("set `timestamps: text` at the source, or correct the row"),
        }
    }
}

/// Moves a timestamp's epoch from 2000 to 1970; infinities stay the ends of the range.
fn unix_micros(postgres: i64) -> Result<i64, Undecodable> {
    if postgres == i64::MIN || postgres == i64::MAX {
        return Ok(postgres);
    }
    finite(postgres.checked_add(EPOCH_MICROS))
}

/// `None` and the two numbers that stand for infinity are out of a finite timestamp's range.
fn finite(micros: Option<i64>) -> Result<i64, Undecodable> {
    micros.filter(|m| *m != i64::MAX && *m != i64::MIN).ok_or(Undecodable::OutOfRange)
}

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&MALFORMED, &NOT_UTF8, &OUT_OF_RANGE];
