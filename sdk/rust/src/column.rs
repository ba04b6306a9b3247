//! A column of the page, read by row number. Offsets and bitmaps stay in here.

use crate::bindings::faucet::connector::types as wire;
use crate::bits;
use crate::builder::ColumnBuilder;
use crate::value::{Interval, Layout, kind_name, layout};
use crate::{Error, Kind, Result, Value};

/// A column of the input page.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    wire: &'a wire::Column,
    rows: usize,
    /// `data` as text, checked once, for kinds that are text.
    text: &'a str,
}

impl<'a> Column<'a> {
    pub(crate) fn new(wire: &'a wire::Column, rows: usize) -> Result<Self> {
        let text = match layout(wire.kind) {
            Layout::Text => std::str::from_utf8(&wire.data)
                .map_err(|_| Error::new(format!("the host sent column '{}' with invalid UTF-8", wire.name)))?,
            Layout::Bits | Layout::Fixed(_) | Layout::Bytes => "",
        };
        Ok(Self { wire, rows, text })
    }

    /// Name.
    pub fn name(&self) -> &'a str {
        &self.wire.name
    }

    /// What the values are.
    pub fn kind(&self) -> Kind {
        self.wire.kind
    }

    /// Type in the source as `system:type` (`postgres:citext`), if known.
    pub fn native(&self) -> Option<&'a str> {
        self.wire.native.as_deref()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether the row says nothing about this column.
    pub fn is_absent(&self, row: usize) -> bool {
        bits::get(&self.wire.absent, row)
    }

    /// Whether there is a value: neither null nor absent.
    pub fn is_present(&self, row: usize) -> bool {
        row < self.rows && (self.wire.validity.is_empty() || bits::get(&self.wire.validity, row))
    }

    /// Whether any row has no value.
    pub fn has_gaps(&self) -> bool {
        !self.wire.validity.is_empty()
    }

    /// The value of a row; absent for a row beyond the end.
    pub fn value(&self, row: usize) -> Value<'a> {
        if !self.is_present(row) {
            return if row >= self.rows || self.is_absent(row) { Value::Absent } else { Value::Null };
        }
        match self.wire.kind {
            Kind::Boolean => Value::Boolean(bits::get(&self.wire.data, row)),
            Kind::Int64 => Value::Int64(i64::from_le_bytes(self.fixed(row))),
            Kind::Uint64 => Value::Uint64(u64::from_le_bytes(self.fixed(row))),
            Kind::Float32 => Value::Float32(f32::from_le_bytes(self.fixed(row))),
            Kind::Float64 => Value::Float64(f64::from_le_bytes(self.fixed(row))),
            Kind::Decimal => Value::Decimal(self.str(row)),
            Kind::Text => Value::Text(self.str(row)),
            Kind::Bytes => Value::Bytes(self.bytes(row)),
            Kind::Date => Value::Date(i32::from_le_bytes(self.fixed(row))),
            Kind::Time => Value::Time(i64::from_le_bytes(self.fixed(row))),
            Kind::Timestamp => Value::Timestamp(i64::from_le_bytes(self.fixed(row))),
            Kind::Timestamptz => Value::Timestamptz(i64::from_le_bytes(self.fixed(row))),
            Kind::Interval => Value::Interval(interval(self.fixed(row))),
            Kind::Uuid => Value::Uuid(self.fixed(row)),
            Kind::Json => Value::Json(self.str(row)),
            Kind::Native => Value::Native(self.str(row)),
        }
    }

    /// All values in row order.
    pub fn values(&self) -> impl Iterator<Item = Value<'a>> + '_ {
        (0..self.rows).map(|row| self.value(row))
    }

    /// The texts of a text column in row order; none where there is no value.
    ///
    /// # Errors
    /// If the column is of another kind.
    pub fn texts(&self) -> Result<impl Iterator<Item = Option<&'a str>> + '_> {
        self.expect_kind(Kind::Text)?;
        Ok((0..self.rows).map(|row| self.is_present(row).then(|| self.str(row))))
    }

    /// A new text column under the same name: `write` appends the new text of each value of this text or native
    /// column to its second argument. Rows without a value stay as they are (null stays null, absent stays absent).
    ///
    /// # Errors
    /// If the column is of another kind.
    pub fn map_text(&self, mut write: impl FnMut(&'a str, &mut String)) -> Result<ColumnBuilder> {
        if self.kind() != Kind::Native {
            self.expect_kind(Kind::Text)?;
        }
        let mut out = ColumnBuilder::text_like(self);
        for row in 0..self.rows {
            match self.is_present(row) {
                true => out.push_text_with(|text| write(self.str(row), text)),
                false => out.push(self.value(row))?,
            }
        }
        Ok(out)
    }

    /// Says in an error that names the column and both kinds if this column is not of kind `kind`.
    ///
    /// # Errors
    /// If the column is of another kind.
    pub fn expect_kind(&self, kind: Kind) -> Result<()> {
        if self.wire.kind == kind {
            return Ok(());
        }
        let (name, is) = (&self.wire.name, kind_name(self.wire.kind));
        Err(Error::new(format!("column '{name}' is {is}, and {} is needed", kind_name(kind))))
    }

    /// Size of the values in bytes, for making room.
    pub(crate) fn data_len(&self) -> usize {
        self.wire.data.len()
    }

    fn fixed<const N: usize>(&self, row: usize) -> [u8; N] {
        let at = self.wire.data.get(row * N..(row + 1) * N).and_then(|bytes| bytes.try_into().ok());
        at.expect("the host sends fixed-width columns in full")
    }

    fn range(&self, row: usize) -> std::ops::Range<usize> {
        let at = |i: usize| {
            let bytes = self.wire.offsets.get(i * 4..i * 4 + 4).and_then(|bytes| bytes.try_into().ok());
            i32::from_le_bytes(bytes.expect("the host sends rows + 1 offsets")) as usize
        };
        at(row)..at(row + 1)
    }

    fn bytes(&self, row: usize) -> &'a [u8] {
        &self.wire.data[self.range(row)]
    }

    fn str(&self, row: usize) -> &'a str {
        &self.text[self.range(row)]
    }
}

fn interval(bytes: [u8; 16]) -> Interval {
    let word = |at: usize| i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let low = u64::from(word(0) as u32) | u64::from(word(4) as u32) << 32;
    Interval { microseconds: low as i64, days: word(8), months: word(12) }
}
