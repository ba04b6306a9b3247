//! Builds new columns, value by value.

use crate::bindings::faucet::connector::types as wire;
use crate::bits::Bitmap;
use crate::value::{Layout, kind_name, layout};
use crate::{Column, Error, Interval, Kind, Result, Value};

/// A new column in the making. Give it one value for each row of the input page, then hand it to
/// [`PageOut::set`](crate::PageOut::set).
///
/// ```
/// use faucet_sdk::{ColumnBuilder, Kind, Value};
/// let mut total = ColumnBuilder::new("total", Kind::Int64);
/// total.push(Value::Int64(3))?;
/// total.push(Value::Null)?;
/// assert_eq!(total.rows(), 2);
/// assert!(total.push(Value::Text("x")).is_err());
/// # Ok::<(), faucet_sdk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ColumnBuilder {
    name: String,
    kind: Kind,
    native: Option<String>,
    rows: usize,
    validity: Bitmap,
    absent: Bitmap,
    offsets: Vec<u8>,
    data: Data,
}

/// Text is kept as text, so that it is valid UTF-8 by construction.
#[derive(Debug, Clone)]
enum Data {
    Bits(Bitmap),
    Fixed(Vec<u8>, usize),
    Text(String),
    Bytes(Vec<u8>),
}

impl ColumnBuilder {
    /// An empty column.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self::with_room(name.into(), kind, 0, 0)
    }

    /// An empty column with the name, kind and native type of `column`, and room for as many values.
    pub fn like(column: &Column<'_>) -> Self {
        let mut out = Self::with_room(column.name().into(), column.kind(), column.rows(), column.data_len());
        out.native = column.native().map(Into::into);
        out
    }

    /// An empty text column with the name of `column`, and room for as many values.
    pub(crate) fn text_like(column: &Column<'_>) -> Self {
        Self::with_room(column.name().into(), Kind::Text, column.rows(), column.data_len())
    }

    fn with_room(name: String, kind: Kind, rows: usize, bytes: usize) -> Self {
        let (data, offsets) = match layout(kind) {
            Layout::Bits => (Data::Bits(Bitmap::new(false)), Vec::new()),
            Layout::Fixed(width) => (Data::Fixed(Vec::with_capacity(rows * width), width), Vec::new()),
            Layout::Text => (Data::Text(String::with_capacity(bytes)), first_offset(rows)),
            Layout::Bytes => (Data::Bytes(Vec::with_capacity(bytes)), first_offset(rows)),
        };
        let (validity, absent) = (Bitmap::new(true), Bitmap::new(false));
        Self { name, kind, native: None, rows: 0, validity, absent, offsets, data }
    }

    /// Names the type in the source as `system:type`. A column of kind `native` needs it.
    #[must_use]
    pub fn native(mut self, name: impl Into<String>) -> Self {
        self.native = Some(name.into());
        self
    }

    /// Gives the column another name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of values so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a value.
    ///
    /// # Errors
    /// If the value is of another kind than the column.
    pub fn push(&mut self, value: Value<'_>) -> Result<()> {
        match value.kind() {
            Some(kind) if kind != self.kind => return Err(self.wrong_kind(kind)),
            Some(_) | None => {}
        }
        match value {
            Value::Absent => self.push_gap(true),
            Value::Null => self.push_gap(false),
            Value::Boolean(v) => self.push_bit(v),
            Value::Int64(v) | Value::Time(v) | Value::Timestamp(v) | Value::Timestamptz(v) => {
                self.push_bytes(&v.to_le_bytes());
            }
            Value::Uint64(v) => self.push_bytes(&v.to_le_bytes()),
            Value::Float32(v) => self.push_bytes(&v.to_le_bytes()),
            Value::Float64(v) => self.push_bytes(&v.to_le_bytes()),
            Value::Date(v) => self.push_bytes(&v.to_le_bytes()),
            Value::Interval(v) => self.push_bytes(&interval(v)),
            Value::Uuid(v) => self.push_bytes(&v),
            Value::Bytes(v) => self.push_bytes(v),
            Value::Decimal(v) | Value::Text(v) | Value::Json(v) | Value::Native(v) => {
                self.push_text_with(|text| text.push_str(v));
            }
        }
        Ok(())
    }

    /// Adds a text that `write` appends to its argument. For columns of kind text, decimal, json and native.
    ///
    /// # Panics
    /// If the column is of another kind, or its texts exceed 2 GiB together.
    pub fn push_text_with(&mut self, write: impl FnOnce(&mut String)) {
        let Data::Text(text) = &mut self.data else {
            panic!("column '{}' is {}: it takes no text", self.name, kind_name(self.kind));
        };
        let before = text.len();
        write(text);
        assert!(text.len() >= before, "the text of earlier rows was shortened");
        let end = text.len();
        self.end_value(end);
    }

    fn push_gap(&mut self, absent: bool) {
        let end = match &mut self.data {
            Data::Bits(bits) => {
                bits.push(false);
                None
            }
            Data::Fixed(bytes, width) => {
                bytes.resize(bytes.len() + *width, 0);
                None
            }
            Data::Text(text) => Some(text.len()),
            Data::Bytes(bytes) => Some(bytes.len()),
        };
        self.validity.push(false);
        self.absent.push(absent);
        self.rows += 1;
        end.into_iter().for_each(|end| self.push_offset(end));
    }

    fn push_bit(&mut self, bit: bool) {
        if let Data::Bits(bits) = &mut self.data {
            bits.push(bit);
        }
        self.end_fixed();
    }

    fn push_bytes(&mut self, value: &[u8]) {
        match &mut self.data {
            Data::Fixed(bytes, _) => {
                bytes.extend_from_slice(value);
                self.end_fixed();
            }
            Data::Bytes(bytes) => {
                bytes.extend_from_slice(value);
                let end = bytes.len();
                self.end_value(end);
            }
            Data::Bits(_) | Data::Text(_) => unreachable!("push checked the kind"),
        }
    }

    fn end_value(&mut self, end: usize) {
        self.push_offset(end);
        self.end_fixed();
    }

    fn end_fixed(&mut self) {
        self.validity.push(true);
        self.absent.push(false);
        self.rows += 1;
    }

    fn push_offset(&mut self, end: usize) {
        let end = i32::try_from(end).expect("a column holds less than 2 GiB");
        self.offsets.extend_from_slice(&end.to_le_bytes());
    }

    fn wrong_kind(&self, kind: Kind) -> Error {
        let (name, is) = (&self.name, kind_name(self.kind));
        Error::new(format!("column '{name}' is {is}: it takes no value of kind {}", kind_name(kind)))
    }

    pub(crate) fn finish(self) -> wire::Column {
        let data = match self.data {
            Data::Bits(bits) => bits.into_full_bits(),
            Data::Fixed(bytes, _) | Data::Bytes(bytes) => bytes,
            Data::Text(text) => text.into_bytes(),
        };
        let (validity, absent) = (self.validity.into_bits(), self.absent.into_bits());
        wire::Column {
            name: self.name,
            kind: self.kind,
            native: self.native,
            validity,
            absent,
            offsets: self.offsets,
            data,
        }
    }
}

fn first_offset(rows: usize) -> Vec<u8> {
    let mut offsets = Vec::with_capacity((rows + 1) * 4);
    offsets.extend_from_slice(&0i32.to_le_bytes());
    offsets
}

fn interval(v: Interval) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&v.microseconds.to_le_bytes());
    bytes[8..12].copy_from_slice(&v.days.to_le_bytes());
    bytes[12..].copy_from_slice(&v.months.to_le_bytes());
    bytes
}
