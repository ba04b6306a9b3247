//! Rows out of the bytes of `COPY .. TO STDOUT (FORMAT BINARY)`, however the messages cut them.
//!
//! Source: PostgreSQL manual, "COPY: Binary Format".

use bytes::{Buf, Bytes, BytesMut};
use faucet_core::error::{Error, Result};
use faucet_core::model::PageBuilder;

use crate::postgres::decode::{MALFORMED, binary};
use crate::postgres::error::PROTOCOL;
use crate::postgres::types::Wire;

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";

/// Most bytes one row may take: the server's own limit for a row is 1 GB.
const MOST_ROW: usize = 2 << 30;

/// Decodes rows from chunks. Chunks that hold whole rows, as the server sends them, are read in place.
#[derive(Debug)]
pub struct CopyDecoder {
    wires: Vec<Wire>,
    /// The rest of the last chunk.
    chunk: Bytes,
    /// The beginning of a row whose end is in a later chunk.
    carry: BytesMut,
    scratch: Vec<u8>,
    started: bool,
    ended: bool,
}

impl CopyDecoder {
    /// For rows of columns with these forms.
    pub fn new(wires: Vec<Wire>) -> Self {
        Self { wires, chunk: Bytes::new(), carry: BytesMut::new(), scratch: Vec::new(), started: false, ended: false }
    }

    /// Takes the next chunk. The last one must have been read to its end.
    pub fn feed(&mut self, chunk: Bytes) {
        debug_assert!(self.chunk.is_empty());
        if self.carry.is_empty() {
            self.chunk = chunk;
        } else {
            self.carry.extend_from_slice(&chunk);
            self.chunk = std::mem::take(&mut self.carry).freeze();
        }
    }

    /// Whether the end of the copy was read.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Adds the next row to `page` and returns its size in bytes; `None` when another chunk is needed or the copy ended.
    ///
    /// # Errors
    /// When the bytes are no such copy, or a value can't be decoded.
    pub fn next_row(&mut self, page: &mut PageBuilder) -> Result<Option<usize>> {
        if !self.started && !self.start()? {
            return Ok(None);
        }
        match frame(&self.chunk, self.wires.len())? {
            Frame::Row(length) => {
                decode(&self.chunk[2..length], &self.wires, page, &mut self.scratch)?;
                self.chunk.advance(length);
                Ok(Some(length))
            }
            Frame::End => {
                self.ended = true;
                self.chunk.clear();
                Ok(None)
            }
            Frame::Partial => {
                self.keep_rest();
                Ok(None)
            }
        }
    }

    /// Reads the header once it is there whole.
    fn start(&mut self) -> Result<bool> {
        let header = SIGNATURE.len() + 8;
        if self.chunk.len() < header {
            self.keep_rest();
            return Ok(false);
        }
        let extension = be32(&self.chunk[header - 4..]).unwrap_or(u32::MAX) as usize;
        let flags = be32(&self.chunk[SIGNATURE.len()..]).unwrap_or(u32::MAX);
        // The upper half of the flags must be understood; none is defined any more.
        if !self.chunk.starts_with(SIGNATURE) || flags >> 16 != 0 || extension > MOST_ROW {
            return Err(Error::new(&PROTOCOL, "the server's COPY does not start as a binary copy"));
        }
        if self.chunk.len() < header + extension {
            self.keep_rest();
            return Ok(false);
        }
        self.chunk.advance(header + extension);
        self.started = true;
        Ok(true)
    }

    fn keep_rest(&mut self) {
        let rest = std::mem::take(&mut self.chunk);
        self.carry.extend_from_slice(&rest);
    }
}

enum Frame {
    /// A row of that many bytes is there whole.
    Row(usize),
    /// The trailer.
    End,
    /// More bytes are needed.
    Partial,
}

fn be32(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk::<4>().map(|b| u32::from_be_bytes(*b))
}

/// Finds the end of the row at the start of `bytes`.
fn frame(bytes: &[u8], columns: usize) -> Result<Frame> {
    let Some(count) = bytes.first_chunk::<2>() else { return Ok(Frame::Partial) };
    let count = i16::from_be_bytes(*count);
    if count == -1 {
        return Ok(Frame::End);
    }
    if usize::try_from(count).ok() != Some(columns) {
        let what = format!("a row of the server's COPY has {count} fields where the query has {columns}");
        return Err(Error::new(&PROTOCOL, what));
    }
    let mut at = 2;
    for _ in 0..columns {
        let Some(length) = bytes.get(at..).and_then(be32) else { return Ok(Frame::Partial) };
        at += 4;
        if length != u32::MAX {
            at += length as usize;
        }
        if at > MOST_ROW {
            return Err(Error::new(&PROTOCOL, "a row of the server's COPY is longer than any row can be"));
        }
    }
    Ok(if bytes.len() < at { Frame::Partial } else { Frame::Row(at) })
}

/// Decodes the fields of a framed row.
fn decode(fields: &[u8], wires: &[Wire], page: &mut PageBuilder, scratch: &mut Vec<u8>) -> Result<()> {
    let mut rest = fields;
    for (index, wire) in wires.iter().enumerate() {
        let column = &mut page.columns()[index];
        let (length, after) = rest.split_first_chunk::<4>().ok_or_else(cut_short)?;
        let length = u32::from_be_bytes(*length);
        if length == u32::MAX {
            column.push_null();
            rest = after;
            continue;
        }
        let (field, after) = after.split_at_checked(length as usize).ok_or_else(cut_short)?;
        if let Err(why) = binary::push(column, *wire, field, scratch) {
            return Err(why.in_column(&page.schema().fields[index].name));
        }
        rest = after;
    }
    page.end_row();
    Ok(())
}

fn cut_short() -> Error {
    Error::new(&MALFORMED, "a row of the server's COPY is cut short")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use faucet_core::model::{Field, Kind, Page, Schema, TableId, ValueRef};
    use proptest::prelude::{any, prop_assert_eq, proptest};
    use std::sync::Arc;

    fn builder() -> PageBuilder {
        let fields = vec![Field::new("id", Kind::I64), Field::new("note", Kind::Text)];
        PageBuilder::rows(Arc::new(Schema::new(TableId::bare("t"), fields)))
    }

    fn stream(rows: &[(i32, Option<String>)]) -> Vec<u8> {
        let mut out = crate::postgres::encode::binary::HEADER.to_vec();
        for (id, note) in rows {
            out.extend_from_slice(&[0, 2, 0, 0, 0, 4]);
            out.extend_from_slice(&id.to_be_bytes());
            match note {
                Some(note) => {
                    out.extend_from_slice(&(note.len() as u32).to_be_bytes());
                    out.extend_from_slice(note.as_bytes());
                }
                None => out.extend_from_slice(&[0xff; 4]),
            }
        }
        out.extend_from_slice(&[0xff, 0xff]);
        out
    }

    fn read(decoder: &mut CopyDecoder, chunks: impl Iterator<Item = Bytes>) -> Result<Page> {
        let mut page = builder();
        for chunk in chunks {
            decoder.feed(chunk);
            while decoder.next_row(&mut page)?.is_some() {}
        }
        Ok(page.finish())
    }

    proptest! {
        #[test]
        fn rows_do_not_depend_on_where_chunks_are_cut(
            rows: Vec<(i32, Option<String>)>, cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8)
        ) {
            let bytes = Bytes::from(stream(&rows));
            let mut ends: Vec<usize> = cuts.iter().map(|c| c.index(bytes.len())).chain([bytes.len()]).collect();
            ends.sort_unstable();
            let mut start = 0;
            let chunks = ends.into_iter().map(|end| bytes.slice(std::mem::replace(&mut start, end)..end));
            let mut decoder = CopyDecoder::new(vec![Wire::Int4, Wire::Text]);
            let page = read(&mut decoder, chunks).unwrap();
            assert!(decoder.ended());
            prop_assert_eq!(page.rows(), rows.len());
            for (row, (id, note)) in rows.iter().enumerate() {
                prop_assert_eq!(page.row(row).get(0), ValueRef::I64((*id).into()));
                prop_assert_eq!(page.row(row).get(1), note.as_deref().map_or(ValueRef::Null, ValueRef::Text));
            }
        }

        #[test]
        fn strange_bytes_are_an_error_or_wait_for_more(after in any::<Vec<u8>>(), whole: Vec<u8>) {
            let header = crate::postgres::encode::binary::HEADER;
            for bytes in [[header, &after].concat(), whole] {
                let mut decoder = CopyDecoder::new(vec![Wire::Int4, Wire::Text]);
                let _ = read(&mut decoder, [Bytes::from(bytes)].into_iter());
            }
        }
    }
}
