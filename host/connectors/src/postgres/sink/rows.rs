//! Rows of a page in the bytes of COPY, in chunks.

use bytes::Bytes;
use faucet_core::error::Result;
use faucet_core::model::{Column, Page, ValueRef, json};

use super::copy::is_set;
use super::plan::{Format, Origin, Plan, Write};
use crate::postgres::encode::{Lane, Unwritable, binary, text};
use crate::postgres::types::Wire;
use crate::sql::Folded;

/// Bytes after which a chunk is handed on.
const CHUNK: usize = 128 << 10;

/// Writes fields one after the other in a COPY format.
#[derive(Debug)]
pub struct Fields {
    format: Format,
    out: Vec<u8>,
    /// Whether the next field of a text row needs no separator.
    first: bool,
}

impl Fields {
    /// At the start of a copy.
    pub fn new(format: Format) -> Self {
        let mut out = Vec::with_capacity(CHUNK + CHUNK / 8);
        if format == Format::Binary {
            out.extend_from_slice(binary::HEADER);
        }
        Self { format, out, first: true }
    }

    /// Starts a row of `fields` fields.
    #[inline]
    pub fn begin(&mut self, fields: usize) {
        match self.format {
            Format::Binary => self.out.extend_from_slice(&(fields as u16).to_be_bytes()),
            Format::Text => self.first = true,
        }
    }

    /// Ends the row.
    #[inline]
    pub fn end(&mut self) {
        if self.format == Format::Text {
            self.out.push(b'\n');
        }
    }

    /// The bytes so far, once they are enough for a chunk.
    #[inline]
    pub fn chunk(&mut self) -> Option<Bytes> {
        if self.out.len() < CHUNK {
            return None;
        }
        let next = Vec::with_capacity(CHUNK + CHUNK / 8);
        Some(std::mem::replace(&mut self.out, next).into())
    }

    /// The last bytes of the copy.
    pub fn finish(mut self) -> Bytes {
        if self.format == Format::Binary {
            self.out.extend_from_slice(binary::TRAILER);
        }
        self.out.into()
    }

    #[inline]
    fn separate(&mut self) {
        if self.format == Format::Text && !std::mem::take(&mut self.first) {
            self.out.push(b'\t');
        }
    }

    /// A null.
    pub fn null(&mut self) {
        self.separate();
        self.out.extend_from_slice(match self.format {
            Format::Binary => binary::NULL,
            Format::Text => text::NULL,
        });
    }

    /// A `smallint`.
    pub fn small(&mut self, value: i16) {
        self.separate();
        match self.format {
            Format::Binary => binary::push_fixed(&mut self.out, value.to_be_bytes()),
            Format::Text => self.out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        }
    }

    /// An `integer`.
    pub fn integer(&mut self, value: i32) {
        self.separate();
        match self.format {
            Format::Binary => binary::push_fixed(&mut self.out, value.to_be_bytes()),
            Format::Text => self.out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        }
    }

    /// A `bytea`.
    pub fn bytes(&mut self, value: &[u8]) {
        self.separate();
        match self.format {
            Format::Binary => binary::push_bytes(&mut self.out, value),
            Format::Text => {
                self.out.push(b'\\');
                faucet_core::model::push_bytes_hex(&mut self.out, value);
            }
        }
    }

    #[inline]
    fn slot(&mut self, lane: Lane<'_>, row: usize, wire: Option<Wire>) -> Result<(), Unwritable> {
        self.separate();
        match (self.format, wire) {
            (Format::Binary, Some(wire)) => binary::push_field(&mut self.out, lane, row, wire),
            (Format::Text, Some(Wire::Float8)) => {
                text::push_widened(&mut self.out, lane, row);
                Ok(())
            }
            (Format::Binary | Format::Text, _) => {
                text::push_field(&mut self.out, lane, row);
                Ok(())
            }
        }
    }

    /// A JSON object that `write` writes, for a `jsonb` column.
    fn json(&mut self, scratch: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        self.separate();
        match self.format {
            Format::Binary => binary::push_sized(&mut self.out, |out| {
                out.push(1);
                write(out);
            }),
            Format::Text => {
                scratch.clear();
                write(scratch);
                text::push_escaped(&mut self.out, scratch);
            }
        }
    }
}

/// The slots of a page, ready to be written to the destination's columns.
#[derive(Debug)]
pub struct Slots<'a> {
    page: &'a Page,
    outs: Vec<Out<'a>>,
    /// Under [`Origin::Row`]: the members' columns and their escaped names.
    members: Vec<(usize, Vec<u8>)>,
    scratch: Vec<u8>,
}

#[derive(Debug)]
struct Out<'a> {
    write: &'a Write,
    /// The column and its lane; `None` for a whole row.
    column: Option<(usize, Lane<'a>, &'a Column)>,
    wire: Option<Wire>,
}

impl<'a> Slots<'a> {
    /// The written columns of `page`, which has the plan's schema.
    pub fn new(plan: &'a Plan, page: &'a Page) -> Self {
        let out = |write: &'a Write| {
            let column = match write.source {
                Origin::Column(index) => Some((index, Lane::new(&page.columns()[index]), &page.columns()[index])),
                Origin::Row => None,
            };
            Out { write, column, wire: write.wire(page.schema()) }
        };
        let outs: Vec<_> = plan.writes.iter().map(out).collect();
        let members = if outs.iter().any(|out| out.column.is_none()) { members(plan, page) } else { Vec::new() };
        Self { page, outs, members, scratch: Vec::new() }
    }

    /// The same without the columns whose bit is set in `mask`.
    pub fn without(plan: &'a Plan, page: &'a Page, mask: &[u8]) -> Self {
        let mut slots = Self::new(plan, page);
        let mut place = 0..;
        slots.outs.retain(|_| !place.next().is_some_and(|place| is_set(mask, place)));
        slots
    }

    /// Number of written columns.
    pub fn len(&self) -> usize {
        self.outs.len()
    }

    /// Writes the slots of `row`.
    ///
    /// # Errors
    /// `postgres.value_too_large` and `postgres.not_a_number`, naming the column.
    #[inline]
    pub fn push_row(&mut self, fields: &mut Fields, row: usize) -> Result<()> {
        for out in &self.outs {
            match out.column {
                Some((_, lane, _)) => fields.slot(lane, row, out.wire).map_err(|e| out.refused(e))?,
                None => fields.json(&mut self.scratch, |json| push_object(json, self.page, &self.members, |_| row)),
            }
        }
        Ok(())
    }

    /// Writes the slots of `row`, each from the row of the page that has it; only those of the key if `key_only`.
    ///
    /// # Errors
    /// As [`Slots::push_row`].
    pub fn push_folded(&mut self, fields: &mut Fields, folded: &Folded, row: u32, key_only: bool) -> Result<()> {
        for out in &self.outs {
            if key_only && !out.write.key {
                fields.null();
                continue;
            }
            let source = |column: usize| folded.source(self.page, column, row) as usize;
            match out.column {
                Some((index, lane, _)) => fields.slot(lane, source(index), out.wire).map_err(|e| out.refused(e))?,
                None => fields.json(&mut self.scratch, |json| push_object(json, self.page, &self.members, source)),
            }
        }
        Ok(())
    }

    /// One bit per written column, lowest first as `get_bit` counts: set where the slot is absent in the whole page.
    pub fn absent_mask(&self, mask: &mut Vec<u8>, source: impl Fn(usize) -> usize) {
        mask.clear();
        mask.resize(self.outs.len().div_ceil(8), 0);
        for (place, out) in self.outs.iter().enumerate() {
            if let Some((index, _, column)) = out.column
                && column.is_absent(source(index))
            {
                mask[place / 8] |= 1 << (place % 8);
            }
        }
    }
}

impl Out<'_> {
    #[cold]
    fn refused(&self, why: Unwritable) -> faucet_core::error::Error {
        why.in_column(&self.write.column.name, &self.write.column.column_type.name)
    }
}

fn members(plan: &Plan, page: &Page) -> Vec<(usize, Vec<u8>)> {
    let name = |name: &str| {
        let mut out = Vec::new();
        json::push_string(&mut out, name);
        out.push(b':');
        out
    };
    let fields = page.schema().fields.iter().enumerate().filter(|(index, _)| Some(*index) != plan.marker);
    fields.map(|(index, field)| (index, name(&field.name))).collect()
}

/// Appends the row as an object. Absent slots are left out.
fn push_object(out: &mut Vec<u8>, page: &Page, members: &[(usize, Vec<u8>)], row: impl Fn(usize) -> usize) {
    out.push(b'{');
    let start = out.len();
    for (column, name) in members {
        let value = page.columns()[*column].value(row(*column));
        if value == ValueRef::Absent {
            continue;
        }
        if out.len() > start {
            out.push(b',');
        }
        out.extend_from_slice(name);
        json::push_value(out, value);
    }
    out.push(b'}');
}
