//! Columns as raw buffers: the form in which pages cross into WebAssembly and back.
//!
//! Layout, per kind, little-endian as Arrow lays it out (<https://arrow.apache.org/docs/format/Columnar.html>):
//! bitmaps are least significant bit first; an empty validity bitmap means "no nulls", an empty absent bitmap "none
//! absent"; text and bytes have `rows + 1` offsets of 32 bits.
//!
//! [`Column::from_raw`] trusts nothing: lengths, offsets, UTF-8, numbers' ranges and the grammar of decimals and JSON
//! are checked before a column is made, so that a bad buffer is an error and never a panic or a wrong value later.

use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, FixedSizeBinaryArray, Float32Array, Float64Array,
    Int64Array, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::{Column, Kind, Values};

/// One column's buffers, lent where they can be.
#[derive(Debug, Clone, PartialEq)]
pub struct RawColumn<'a> {
    /// How the values are represented.
    pub kind: Kind,
    /// Bitmap, set = has a value; empty when every slot has one.
    pub validity: Cow<'a, [u8]>,
    /// Bitmap, set = not sent; empty when every slot was sent.
    pub absent: Cow<'a, [u8]>,
    /// `rows + 1` offsets of 32 bits for text and bytes, else empty.
    pub offsets: Cow<'a, [u8]>,
    /// The values.
    pub data: Cow<'a, [u8]>,
}

/// One column's buffers as a stranger handed them over.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawParts {
    /// See [`RawColumn::validity`].
    pub validity: Vec<u8>,
    /// See [`RawColumn::absent`].
    pub absent: Vec<u8>,
    /// See [`RawColumn::offsets`].
    pub offsets: Vec<u8>,
    /// See [`RawColumn::data`].
    pub data: Vec<u8>,
}

/// What is wrong with a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawError {
    /// A buffer doesn't have the length its rows need.
    Length {
        /// Which buffer.
        buffer: &'static str,
        /// Bytes it must have.
        expected: usize,
        /// Bytes it has.
        found: usize,
    },
    /// An offset is negative, falls, or points beyond the data.
    Offset {
        /// The row it belongs to.
        row: usize,
    },
    /// A text is not UTF-8.
    Utf8 {
        /// The row it stands in, when known.
        row: usize,
    },
    /// A value is outside what its kind allows.
    Value {
        /// The row it stands in.
        row: usize,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A slot is marked absent and has a value at once.
    AbsentWithValue {
        /// The row.
        row: usize,
    },
}

impl fmt::Display for RawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RawError::Length { buffer, expected, found } => {
                write!(f, "the {buffer} buffer has {found} bytes where its rows need {expected}")
            }
            RawError::Offset { row } => write!(f, "the offset of row {row} is negative, falls or leaves the data"),
            RawError::Utf8 { row } => write!(f, "the text in row {row} is not UTF-8"),
            RawError::Value { row, allowed } => {
                write!(f, "the value in row {row} is not {allowed}")
            }
            RawError::AbsentWithValue { row } => {
                write!(f, "row {row} is marked absent and has a value")
            }
        }
    }
}

impl std::error::Error for RawError {}

impl Column {
    /// The column's buffers; lent, but for bitmaps and offsets that have to be shifted because the column is a slice.
    pub fn to_raw(&self) -> RawColumn<'_> {
        let array = self.values().array();
        let (offsets, data) = match self.values() {
            Values::Bool(a) => (Cow::Borrowed(&[][..]), bitmap(a.values())),
            Values::I64(a) => fixed(a.values().inner()),
            Values::U64(a) => fixed(a.values().inner()),
            Values::F32(a) => fixed(a.values().inner()),
            Values::F64(a) => fixed(a.values().inner()),
            Values::Date(a) => fixed(a.values().inner()),
            Values::Time(a) => fixed(a.values().inner()),
            Values::Timestamp(a) | Values::TimestampTz(a) => fixed(a.values().inner()),
            Values::Interval(a) | Values::Uuid(a) => (Cow::Borrowed(&[][..]), Cow::Borrowed(a.value_data())),
            Values::Decimal(a) | Values::Text(a) | Values::Json(a) | Values::Native(a) => {
                variable(a.offsets(), a.value_data())
            }
            Values::Bytes(a) => variable(a.offsets(), a.value_data()),
        };
        let validity = match array.nulls() {
            Some(nulls) if nulls.null_count() > 0 => bitmap(nulls.inner()),
            _ => Cow::Borrowed(&[][..]),
        };
        let absent = self.absent().map_or(Cow::Borrowed(&[][..]), bitmap);
        RawColumn { kind: self.kind(), validity, absent, offsets, data }
    }

    /// A column of `rows` slots from buffers that nobody vouches for. Buffers are taken over without a copy where their
    /// alignment allows.
    ///
    /// # Errors
    /// The first thing found wrong.
    pub fn from_raw(kind: Kind, rows: usize, raw: RawParts) -> Result<Self, RawError> {
        let nulls = read_bitmap("validity", rows, raw.validity)?.map(NullBuffer::new);
        let absent = read_bitmap("absent", rows, raw.absent)?;
        if let Some(absent) = &absent {
            refuse_absent_values(absent, nulls.as_ref())?;
        }
        let has_offsets = kind.is_text() || kind == Kind::Bytes;
        if !has_offsets {
            expect_length("offsets", 0, raw.offsets.len())?;
        }
        let array = if has_offsets {
            read_variable(kind, rows, raw.offsets, raw.data, nulls)?
        } else {
            read_fixed(kind, rows, raw.data, nulls)?
        };
        let values = Values::from_array(kind, array.as_ref()).expect("each kind was read as its own array");
        Ok(match absent {
            Some(absent) => Column::with_absent(values, absent),
            None => Column::new(values),
        })
    }
}

fn fixed(buffer: &Buffer) -> (Cow<'_, [u8]>, Cow<'_, [u8]>) {
    (Cow::Borrowed(&[][..]), Cow::Borrowed(buffer.as_slice()))
}

fn bitmap(bits: &BooleanBuffer) -> Cow<'_, [u8]> {
    let bytes = bits.len().div_ceil(8);
    if bits.offset().is_multiple_of(8) {
        let start = bits.offset() / 8;
        return Cow::Borrowed(&bits.values()[start..start + bytes]);
    }
    Cow::Owned(bits.sliced().as_slice()[..bytes].to_vec())
}

fn variable<'a>(offsets: &'a OffsetBuffer<i32>, data: &'a [u8]) -> (Cow<'a, [u8]>, Cow<'a, [u8]>) {
    let first = offsets[0];
    let last = offsets[offsets.len() - 1];
    let data = Cow::Borrowed(&data[first as usize..last as usize]);
    if first == 0 {
        return (Cow::Borrowed(offsets.inner().inner().as_slice()), data);
    }
    let shifted = offsets.iter().flat_map(|o| (o - first).to_le_bytes()).collect();
    (Cow::Owned(shifted), data)
}

fn expect_length(buffer: &'static str, expected: usize, found: usize) -> Result<(), RawError> {
    if expected == found { Ok(()) } else { Err(RawError::Length { buffer, expected, found }) }
}

fn read_bitmap(buffer: &'static str, rows: usize, bytes: Vec<u8>) -> Result<Option<BooleanBuffer>, RawError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    expect_length(buffer, rows.div_ceil(8), bytes.len())?;
    Ok(Some(BooleanBuffer::new(Buffer::from_vec(bytes), 0, rows)))
}

fn refuse_absent_values(absent: &BooleanBuffer, nulls: Option<&NullBuffer>) -> Result<(), RawError> {
    let has_value = |row: &usize| nulls.is_none_or(|n| n.is_valid(*row));
    match absent.set_indices().find(has_value) {
        Some(row) => Err(RawError::AbsentWithValue { row }),
        None => Ok(()),
    }
}

fn read_fixed(kind: Kind, rows: usize, data: Vec<u8>, nulls: Option<NullBuffer>) -> Result<ArrayRef, RawError> {
    let width = match kind {
        Kind::Bool => {
            expect_length("data", rows.div_ceil(8), data.len())?;
            let bits = BooleanBuffer::new(Buffer::from_vec(data), 0, rows);
            return Ok(Arc::new(BooleanArray::new(bits, nulls)));
        }
        Kind::F32 | Kind::Date => 4,
        Kind::Interval | Kind::Uuid => 16,
        _ => 8,
    };
    expect_length("data", rows.saturating_mul(width), data.len())?;
    Ok(match kind {
        Kind::U64 => Arc::new(UInt64Array::new(scalars(data, rows), nulls)),
        Kind::F32 => Arc::new(Float32Array::new(scalars(data, rows), nulls)),
        Kind::F64 => Arc::new(Float64Array::new(scalars(data, rows), nulls)),
        Kind::Date => Arc::new(Date32Array::new(scalars(data, rows), nulls)),
        Kind::Time => Arc::new(read_time(scalars(data, rows), nulls)?),
        Kind::Timestamp => Arc::new(TimestampMicrosecondArray::new(scalars(data, rows), nulls)),
        Kind::TimestampTz => Arc::new(TimestampMicrosecondArray::new(scalars(data, rows), nulls).with_timezone("UTC")),
        Kind::Interval | Kind::Uuid => Arc::new(FixedSizeBinaryArray::new(16, Buffer::from_vec(data), nulls)),
        _ => Arc::new(Int64Array::new(scalars(data, rows), nulls)),
    })
}

fn read_time(micros: ScalarBuffer<i64>, nulls: Option<NullBuffer>) -> Result<Time64MicrosecondArray, RawError> {
    let array = Time64MicrosecondArray::new(micros, nulls);
    let bad = (0..array.len()).find(|&r| array.is_valid(r) && !(0..=86_400_000_000).contains(&array.value(r)));
    match bad {
        Some(row) => Err(RawError::Value { row, allowed: "a time between 0 and 86400000000 microseconds" }),
        None => Ok(array),
    }
}

/// Typed values over bytes; a copy only when the bytes don't lie on the type's boundary.
fn scalars<T: ArrowNativeType>(data: Vec<u8>, rows: usize) -> ScalarBuffer<T> {
    let buffer = Buffer::from_vec(data);
    let aligned = buffer.as_ptr().align_offset(std::mem::align_of::<T>()) == 0;
    let buffer = if aligned { buffer } else { Buffer::from_slice_ref(buffer.as_slice()) };
    ScalarBuffer::new(buffer, 0, rows)
}

fn read_variable(
    kind: Kind,
    rows: usize,
    offsets: Vec<u8>,
    data: Vec<u8>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, RawError> {
    expect_length("offsets", (rows + 1).saturating_mul(4), offsets.len())?;
    let offsets: ScalarBuffer<i32> = scalars(offsets, rows + 1);
    check_offsets(&offsets, data.len())?;
    let offsets = OffsetBuffer::new(offsets);
    if kind == Kind::Bytes {
        return Ok(Arc::new(BinaryArray::new(offsets, Buffer::from_vec(data), nulls)));
    }
    let data = Buffer::from_vec(data);
    let text = StringArray::try_new(offsets.clone(), data.clone(), nulls);
    let text = text.map_err(|_| RawError::Utf8 { row: broken_text(&offsets, &data) })?;
    check_grammar(kind, &text)?;
    Ok(Arc::new(text))
}

fn check_offsets(offsets: &[i32], data: usize) -> Result<(), RawError> {
    if offsets[0] != 0 {
        return Err(RawError::Offset { row: 0 });
    }
    let falls = |pair: &[i32]| pair[1] < pair[0];
    // All of them without a branch first, which is several times as fast.
    if offsets.windows(2).fold(false, |any, pair| any | falls(pair)) {
        let row = offsets.windows(2).position(falls).unwrap_or(0);
        return Err(RawError::Offset { row });
    }
    let end = offsets[offsets.len() - 1] as usize;
    expect_length("data", end, data)
}

/// The row of the first text that is not UTF-8, or that an offset cuts within a character.
fn broken_text(offsets: &[i32], data: &[u8]) -> usize {
    match std::str::from_utf8(data) {
        Ok(text) => offsets.iter().position(|&o| !text.is_char_boundary(o as usize)).unwrap_or(0).saturating_sub(1),
        Err(e) => offsets.partition_point(|&o| o as usize <= e.valid_up_to()).saturating_sub(1),
    }
}

fn check_grammar(kind: Kind, text: &StringArray) -> Result<(), RawError> {
    let find = |holds: fn(&str) -> bool| (0..text.len()).find(|&r| text.is_valid(r) && !holds(text.value(r)));
    let (bad, allowed) = match kind {
        Kind::Decimal => (find(super::text::is_decimal), "a decimal number"),
        Kind::Json => (find(is_json), "JSON"),
        _ => (None, ""),
    };
    match bad {
        Some(row) => Err(RawError::Value { row, allowed }),
        None => Ok(()),
    }
}

pub(super) fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
