//! The messages of the `pgoutput` plugin, protocol version 1, lent from the buffer they arrived in.
//!
//! Source: PostgreSQL manual, "Logical Replication Message Formats". Every length is checked before it is used, and
//! a message is read to its last byte or refused: what can't be understood may hold rows, so nothing is ever skipped.
//! No input makes this module panic.

use faucet_core::error::Error;
use std::fmt;

use super::error::{STREAM_CORRUPT, STREAM_UNEXPECTED};
use super::lsn::Lsn;

/// A message that is not as the protocol says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It ends early, goes on too long, or holds what can't be.
    Corrupt(&'static str),
    /// A kind of message that was never asked for.
    Unexpected(u8),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Corrupt(what) => write!(f, "a message of the change stream is damaged: {what}"),
            Fault::Unexpected(kind) => {
                write!(
                    f,
                    "the change stream holds a message of kind '{}', which was not asked for",
                    kind.escape_ascii()
                )
            }
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let code = match fault {
            Fault::Corrupt(_) => &STREAM_CORRUPT,
            Fault::Unexpected(_) => &STREAM_UNEXPECTED,
        };
        Error::new(code, fault.to_string())
    }
}

type Result<T> = std::result::Result<T, Fault>;

/// One message of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message<'a> {
    /// A transaction begins.
    Begin {
        /// Where its commit record starts: unique to it, and rising from one transaction to the next.
        commit: Lsn,
        /// When it was committed, microseconds since the Unix epoch.
        committed_at: i64,
    },
    /// It ends.
    Commit {
        /// Where its commit record starts.
        commit: Lsn,
        /// Where its commit record ends.
        end: Lsn,
    },
    /// The transaction came from another server.
    Origin,
    /// A table's columns, before its first change and after each change to them.
    Relation(Relation<'a>),
    /// The name of a type that is not built in.
    Type {
        /// Its OID.
        oid: u32,
        /// Its schema; empty for `pg_catalog`.
        schema: &'a str,
        /// Its name (under a domain, that of the base type).
        name: &'a str,
    },
    /// A row was inserted.
    Insert {
        /// The table.
        relation: u32,
        /// The row.
        new: Tuple<'a>,
    },
    /// A row was updated.
    Update {
        /// The table.
        relation: u32,
        /// What is told of the row before.
        old: Option<Image<'a>>,
        /// The row after.
        new: Tuple<'a>,
    },
    /// A row was deleted.
    Delete {
        /// The table.
        relation: u32,
        /// What is told of the row.
        old: Image<'a>,
    },
    /// Tables were emptied, all at once.
    Truncate {
        /// The tables.
        relations: Oids<'a>,
    },
    /// `pg_logical_emit_message`.
    Logical {
        /// Whether it belongs to the transaction it stands in.
        transactional: bool,
        /// Where it stands in the log.
        lsn: Lsn,
    },
}

/// How a table's rows are told apart in updates and deletes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// By the primary key.
    Default,
    /// Not at all.
    Nothing,
    /// By all columns.
    Full,
    /// By a unique index.
    Index,
}

/// A table as the stream describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relation<'a> {
    /// Its OID.
    pub oid: u32,
    /// Its schema.
    pub schema: &'a str,
    /// Its name.
    pub name: &'a str,
    /// How its rows are told apart.
    pub identity: Identity,
    columns: Counted<'a>,
}

/// A column of a [`Relation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelationColumn<'a> {
    /// Whether it is part of the replica identity.
    pub key: bool,
    /// Its name.
    pub name: &'a str,
    /// Its type.
    pub oid: u32,
    /// Its type's modifier, -1 for none.
    pub modifier: i32,
}

/// What is told of a row before a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Image<'a> {
    /// The columns of the replica identity; the others' slots say null and mean nothing.
    Key(Tuple<'a>),
    /// Every column.
    Full(Tuple<'a>),
}

/// The values of a row, in the order of the relation's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuple<'a> {
    values: Counted<'a>,
    /// Whether any of them is [`Value::Unchanged`].
    unsent: bool,
}

/// One value of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Null.
    Null,
    /// An out-of-line value that the change left as it was; not sent.
    Unchanged,
    /// In the type's text format.
    Text(&'a [u8]),
}

/// OIDs of relations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Oids<'a>(&'a [u8]);

/// A number of items and the bytes they take, which were checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counted<'a> {
    count: usize,
    bytes: &'a [u8],
}

/// Reads one message.
///
/// # Errors
/// [`Fault`], for a message that is damaged or was not asked for.
pub fn message(bytes: &[u8]) -> Result<Message<'_>> {
    let mut reader = Reader::new(bytes);
    let message = match reader.u8()? {
        b'I' => Message::Insert { relation: reader.u32()?, new: reader.new_tuple()? },
        b'U' => update(&mut reader)?,
        b'D' => delete(&mut reader)?,
        b'B' => begin(&mut reader)?,
        b'C' => commit(&mut reader)?,
        b'R' => Message::Relation(relation(&mut reader)?),
        b'Y' => Message::Type { oid: reader.u32()?, schema: reader.text()?, name: reader.text()? },
        b'O' => origin(&mut reader)?,
        b'T' => truncate(&mut reader)?,
        b'M' => logical(&mut reader)?,
        kind => return Err(Fault::Unexpected(kind)),
    };
    reader.end()?;
    Ok(message)
}

fn begin<'a>(reader: &mut Reader<'a>) -> Result<Message<'a>> {
    let commit = reader.lsn()?;
    let committed_at = reader.timestamp()?;
    let _transaction = reader.u32()?;
    Ok(Message::Begin { commit, committed_at })
}

fn commit<'a>(reader: &mut Reader<'a>) -> Result<Message<'a>> {
    let _flags = reader.u8()?;
    let (commit, end) = (reader.lsn()?, reader.lsn()?);
    let _committed_at = reader.timestamp()?;
    if end <= commit {
        return Err(Fault::Corrupt("a commit ends before it starts"));
    }
    Ok(Message::Commit { commit, end })
}

fn origin<'a>(reader: &mut Reader<'a>) -> Result<Message<'a>> {
    let _commit = reader.lsn()?;
    let _name = reader.text()?;
    Ok(Message::Origin)
}

fn relation<'a>(reader: &mut Reader<'a>) -> Result<Relation<'a>> {
    let oid = reader.u32()?;
    let (schema, name) = (reader.text()?, reader.text()?);
    let identity = match reader.u8()? {
        b'd' => Identity::Default,
        b'n' => Identity::Nothing,
        b'f' => Identity::Full,
        b'i' => Identity::Index,
        _ => return Err(Fault::Corrupt("a table's replica identity is none of those known")),
    };
    let columns = reader.counted(|r| r.relation_column().map(drop))?;
    let schema = if schema.is_empty() { "pg_catalog" } else { schema };
    Ok(Relation { oid, schema, name, identity, columns })
}

fn update<'a>(reader: &mut Reader<'a>) -> Result<Message<'a>> {
    let relation = reader.u32()?;
    let old = match reader.peek()? {
        b'K' | b'O' => Some(reader.image()?),
        _ => None,
    };
    Ok(Message::Update { relation, old, new: reader.new_tuple()? })
}

fn delete<'a>(reader: &mut Reader<'a>) -> Result<Message<'a>> {
    Ok(Message::Delete { relation: reader.u32()?, old: reader.image()? })
}

fn truncate<'a>(reader: &mut Reader<'a>) -> Result<Message<'a>> {
    let count = reader.u32()? as usize;
    let _options = reader.u8()?;
    let length = count.checked_mul(4).ok_or(Fault::Corrupt("a truncate names too many tables"))?;
    Ok(Message::Truncate { relations: Oids(reader.take(length)?) })
}

fn logical<'a>(reader: &mut Reader<'a>) -> Result<Message<'a>> {
    let transactional = reader.u8()? & 1 == 1;
    let lsn = reader.lsn()?;
    let _prefix = reader.text()?;
    let length = reader.u32()? as usize;
    let _content = reader.take(length)?;
    Ok(Message::Logical { transactional, lsn })
}

/// Microseconds from 1970-01-01 to 2000-01-01, where the server's clock starts.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

struct Reader<'a> {
    rest: &'a [u8],
    /// A value that was not sent was met.
    unsent: bool,
}

impl<'a> Reader<'a> {
    #[inline]
    fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, unsent: false }
    }

    #[inline]
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Fault::Corrupt("it ends early"))?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Fault::Corrupt("it ends early"))?;
        self.rest = rest;
        Ok(*taken)
    }

    #[inline]
    fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    fn peek(&self) -> Result<u8> {
        self.rest.first().copied().ok_or(Fault::Corrupt("it ends early"))
    }

    #[inline]
    fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    #[inline]
    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    fn lsn(&mut self) -> Result<Lsn> {
        Ok(Lsn(u64::from_be_bytes(self.array()?)))
    }

    fn timestamp(&mut self) -> Result<i64> {
        i64::from_be_bytes(self.array()?).checked_add(EPOCH_MICROS).ok_or(Fault::Corrupt("a time is out of range"))
    }

    fn text(&mut self) -> Result<&'a str> {
        let end = memchr::memchr(0, self.rest).ok_or(Fault::Corrupt("a name has no end"))?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        std::str::from_utf8(text).map_err(|_| Fault::Corrupt("a name is not UTF-8"))
    }

    /// A 16-bit number of items, each read by `item`.
    #[inline]
    fn counted(&mut self, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<Counted<'a>> {
        let count = usize::from(self.u16()?);
        let start = self.rest;
        for _ in 0..count {
            item(self)?;
        }
        Ok(Counted { count, bytes: &start[..start.len() - self.rest.len()] })
    }

    fn relation_column(&mut self) -> Result<RelationColumn<'a>> {
        let key = self.u8()? & 1 == 1;
        Ok(RelationColumn { key, name: self.text()?, oid: self.u32()?, modifier: self.u32()? as i32 })
    }

    #[inline]
    fn value(&mut self) -> Result<Value<'a>> {
        match self.u8()? {
            b't' => {
                let length = self.u32()? as usize;
                Ok(Value::Text(self.take(length)?))
            }
            b'n' => Ok(Value::Null),
            b'u' => {
                self.unsent = true;
                Ok(Value::Unchanged)
            }
            b'b' => Err(Fault::Corrupt("a value is in binary format, which was not asked for")),
            _ => Err(Fault::Corrupt("a value is of no known kind")),
        }
    }

    #[inline]
    fn tuple(&mut self) -> Result<Tuple<'a>> {
        self.unsent = false;
        let values = self.counted(|r| r.value().map(drop))?;
        Ok(Tuple { values, unsent: self.unsent })
    }

    fn new_tuple(&mut self) -> Result<Tuple<'a>> {
        match self.u8()? {
            b'N' => self.tuple(),
            _ => Err(Fault::Corrupt("the row after the change is missing")),
        }
    }

    fn image(&mut self) -> Result<Image<'a>> {
        match self.u8()? {
            b'K' => self.tuple().map(Image::Key),
            b'O' => self.tuple().map(Image::Full),
            _ => Err(Fault::Corrupt("the row before the change is missing")),
        }
    }

    fn end(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(Fault::Corrupt("it goes on after its end")) }
    }
}

impl<'a> Relation<'a> {
    /// Its columns, in the order of its rows' values.
    pub fn columns(&self) -> impl Iterator<Item = RelationColumn<'a>> + use<'a> {
        let mut reader = Reader::new(self.columns.bytes);
        // Reading stops at the first fault, and there is none: the bytes were checked.
        std::iter::from_fn(move || reader.relation_column().ok()).take(self.columns.count)
    }
}

impl<'a> Tuple<'a> {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.values.count
    }

    /// Whether a value was not sent.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        self.unsent
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.count == 0
    }

    /// The values.
    #[inline]
    pub fn values(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let mut reader = Reader::new(self.values.bytes);
        std::iter::from_fn(move || reader.value().ok()).take(self.values.count)
    }
}

impl Oids<'_> {
    /// The OIDs, in the order the tables were named.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.as_chunks::<4>().0.iter().map(|bytes| u32::from_be_bytes(*bytes))
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
