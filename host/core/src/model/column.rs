//! A column: one Arrow array of a closed set, and the absent bitmap beside it.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, FixedSizeBinaryArray, Float32Array, Float64Array,
    Int64Array, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray, UInt32Array, UInt64Array,
};
use arrow_buffer::BooleanBuffer;
use std::sync::Arc;

use super::{Interval, Kind, ValueRef};

/// The arrays a column can hold, one variant per [`Kind`]; no downcasts at use sites.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// See [`Kind::Bool`].
    Bool(BooleanArray),
    /// See [`Kind::I64`].
    I64(Int64Array),
    /// See [`Kind::U64`].
    U64(UInt64Array),
    /// See [`Kind::F32`].
    F32(Float32Array),
    /// See [`Kind::F64`].
    F64(Float64Array),
    /// See [`Kind::Decimal`].
    Decimal(StringArray),
    /// See [`Kind::Text`].
    Text(StringArray),
    /// See [`Kind::Bytes`].
    Bytes(BinaryArray),
    /// See [`Kind::Date`].
    Date(Date32Array),
    /// See [`Kind::Time`].
    Time(Time64MicrosecondArray),
    /// See [`Kind::Timestamp`].
    Timestamp(TimestampMicrosecondArray),
    /// See [`Kind::TimestampTz`].
    TimestampTz(TimestampMicrosecondArray),
    /// See [`Kind::Interval`]; 16 bytes each.
    Interval(FixedSizeBinaryArray),
    /// See [`Kind::Uuid`]; 16 bytes each.
    Uuid(FixedSizeBinaryArray),
    /// See [`Kind::Json`].
    Json(StringArray),
    /// See [`Kind::Native`].
    Native(StringArray),
}

impl Values {
    /// The array behind the variant.
    pub fn array(&self) -> &dyn Array {
        match self {
            Values::Bool(a) => a,
            Values::I64(a) => a,
            Values::U64(a) => a,
            Values::F32(a) => a,
            Values::F64(a) => a,
            Values::Decimal(a) | Values::Text(a) | Values::Json(a) | Values::Native(a) => a,
            Values::Bytes(a) => a,
            Values::Date(a) => a,
            Values::Time(a) => a,
            Values::Timestamp(a) | Values::TimestampTz(a) => a,
            Values::Interval(a) | Values::Uuid(a) => a,
        }
    }

    /// Reads `array` as values of `kind`, sharing its buffers. `None` when its Arrow type is not the one of that kind.
    pub fn from_array(kind: Kind, array: &dyn Array) -> Option<Self> {
        Some(match kind {
            Kind::Bool => Values::Bool(array.as_boolean_opt()?.clone()),
            Kind::I64 => Values::I64(array.as_primitive_opt::<Int64Type>()?.clone()),
            Kind::U64 => Values::U64(array.as_primitive_opt::<UInt64Type>()?.clone()),
            Kind::F32 => Values::F32(array.as_primitive_opt::<Float32Type>()?.clone()),
            Kind::F64 => Values::F64(array.as_primitive_opt::<Float64Type>()?.clone()),
            Kind::Decimal => Values::Decimal(array.as_string_opt::<i32>()?.clone()),
            Kind::Text => Values::Text(array.as_string_opt::<i32>()?.clone()),
            Kind::Bytes => Values::Bytes(array.as_binary_opt::<i32>()?.clone()),
            Kind::Date => Values::Date(array.as_primitive_opt::<Date32Type>()?.clone()),
            Kind::Time => Values::Time(array.as_primitive_opt::<Time64MicrosecondType>()?.clone()),
            Kind::Timestamp => Values::Timestamp(array.as_primitive_opt::<TimestampMicrosecondType>()?.clone()),
            Kind::TimestampTz => Values::TimestampTz(array.as_primitive_opt::<TimestampMicrosecondType>()?.clone()),
            Kind::Interval => Values::Interval(sixteen(array)?),
            Kind::Uuid => Values::Uuid(sixteen(array)?),
            Kind::Json => Values::Json(array.as_string_opt::<i32>()?.clone()),
            Kind::Native => Values::Native(array.as_string_opt::<i32>()?.clone()),
        })
    }

    /// The kind of the values.
    pub fn kind(&self) -> Kind {
        match self {
            Values::Bool(_) => Kind::Bool,
            Values::I64(_) => Kind::I64,
            Values::U64(_) => Kind::U64,
            Values::F32(_) => Kind::F32,
            Values::F64(_) => Kind::F64,
            Values::Decimal(_) => Kind::Decimal,
            Values::Text(_) => Kind::Text,
            Values::Bytes(_) => Kind::Bytes,
            Values::Date(_) => Kind::Date,
            Values::Time(_) => Kind::Time,
            Values::Timestamp(_) => Kind::Timestamp,
            Values::TimestampTz(_) => Kind::TimestampTz,
            Values::Interval(_) => Kind::Interval,
            Values::Uuid(_) => Kind::Uuid,
            Values::Json(_) => Kind::Json,
            Values::Native(_) => Kind::Native,
        }
    }
}

fn sixteen(array: &dyn Array) -> Option<FixedSizeBinaryArray> {
    array.as_fixed_size_binary_opt().filter(|a| a.value_length() == 16).cloned()
}

/// Values with validity (inside the array) and, where some slots were not sent, the absent bitmap (M2).
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    values: Values,
    absent: Option<BooleanBuffer>,
}

impl Column {
    /// A column whose every slot was sent.
    pub fn new(values: Values) -> Self {
        Self { values, absent: None }
    }

    /// A column with an absent bitmap (set bit = not sent). A bitmap without a set bit is dropped.
    ///
    /// # Panics
    /// When the lengths differ (M1).
    pub fn with_absent(values: Values, absent: BooleanBuffer) -> Self {
        assert_eq!(values.array().len(), absent.len(), "M1: absent bitmap and values differ in length");
        let absent = (absent.count_set_bits() > 0).then_some(absent);
        Self { values, absent }
    }

    /// The typed array.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The absent bitmap, if any slot is absent.
    pub fn absent(&self) -> Option<&BooleanBuffer> {
        self.absent.as_ref()
    }

    /// The kind of the values.
    pub fn kind(&self) -> Kind {
        self.values.kind()
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.values.array().len()
    }

    /// Whether there are no slots.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the slot holds no value (null or absent).
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.values.array().is_null(row)
    }

    /// Whether the slot was not sent.
    #[inline]
    pub fn is_absent(&self, row: usize) -> bool {
        self.absent.as_ref().is_some_and(|a| a.value(row))
    }

    /// The slot's value.
    ///
    /// # Panics
    /// When `row` is out of range.
    #[inline]
    pub fn value(&self, row: usize) -> ValueRef<'_> {
        if self.is_null(row) {
            return if self.is_absent(row) { ValueRef::Absent } else { ValueRef::Null };
        }
        match &self.values {
            Values::Bool(a) => ValueRef::Bool(a.value(row)),
            Values::I64(a) => ValueRef::I64(a.value(row)),
            Values::U64(a) => ValueRef::U64(a.value(row)),
            Values::F32(a) => ValueRef::F32(a.value(row)),
            Values::F64(a) => ValueRef::F64(a.value(row)),
            Values::Decimal(a) => ValueRef::Decimal(a.value(row)),
            Values::Text(a) => ValueRef::Text(a.value(row)),
            Values::Bytes(a) => ValueRef::Bytes(a.value(row)),
            Values::Date(a) => ValueRef::Date(a.value(row)),
            Values::Time(a) => ValueRef::Time(a.value(row)),
            Values::Timestamp(a) => ValueRef::Timestamp(a.value(row)),
            Values::TimestampTz(a) => ValueRef::TimestampTz(a.value(row)),
            Values::Interval(a) => ValueRef::Interval(Interval::from_bytes(*as_sixteen(a.value(row)))),
            Values::Uuid(a) => ValueRef::Uuid(as_sixteen(a.value(row))),
            Values::Json(a) => ValueRef::Json(a.value(row)),
            Values::Native(a) => ValueRef::Native(a.value(row)),
        }
    }

    /// The slots at `rows`, in that order; a row may repeat.
    ///
    /// # Panics
    /// When an index is out of range.
    pub fn take(&self, rows: &UInt32Array) -> Self {
        let taken =
            arrow_select::take::take(self.values.array(), rows, None).expect("take accepts every type in Values");
        let values = Values::from_array(self.kind(), taken.as_ref()).expect("take keeps the array's type");
        let absent = self.absent.as_ref().map(|a| rows.values().iter().map(|&r| a.value(r as usize)).collect());
        match absent {
            Some(absent) => Self::with_absent(values, absent),
            None => Self::new(values),
        }
    }

    /// The slots of all `columns`, one column after the other.
    ///
    /// # Panics
    /// When there is none, when their kinds differ, or when their bytes pass what 32-bit offsets can address.
    pub fn concat(columns: &[&Self]) -> Self {
        let arrays: Vec<&dyn Array> = columns.iter().map(|c| c.values.array()).collect();
        let joined = arrow_select::concat::concat(&arrays).expect("columns of one kind have one Arrow type");
        let values = Values::from_array(columns[0].kind(), joined.as_ref()).expect("concat keeps the array's type");
        if columns.iter().all(|c| c.absent.is_none()) {
            return Self::new(values);
        }
        let absent = columns.iter().flat_map(|c| (0..c.len()).map(|slot| c.is_absent(slot))).collect();
        Self::with_absent(values, absent)
    }

    /// A column woven from this one (0) and `other` (1): each pick names the column and the slot in it.
    ///
    /// # Panics
    /// When the kinds differ or an index is out of range.
    pub fn interleave(&self, other: &Self, picks: &[(usize, usize)]) -> Self {
        let woven = arrow_select::interleave::interleave(&[self.values.array(), other.values.array()], picks)
            .expect("two columns of one kind have one Arrow type");
        let values = Values::from_array(self.kind(), woven.as_ref()).expect("interleave keeps the array's type");
        if self.absent.is_none() && other.absent.is_none() {
            return Self::new(values);
        }
        let absent = picks.iter().map(|&(column, slot)| [self, other][column].is_absent(slot)).collect();
        Self::with_absent(values, absent)
    }

    /// `len` slots from `offset`, sharing the buffers.
    pub fn slice(&self, offset: usize, len: usize) -> Self {
        let sliced: ArrayRef = self.values.array().slice(offset, len);
        let values = Values::from_array(self.kind(), sliced.as_ref()).expect("slice keeps the array's type");
        match &self.absent {
            Some(absent) => Self::with_absent(values, absent.slice(offset, len)),
            None => Self::new(values),
        }
    }

    /// The same buffers read as another kind of the same layout (text as native, say). `None` when the layouts differ.
    pub fn reinterpret(&self, kind: Kind) -> Option<Self> {
        let values = Values::from_array(kind, self.values.array())?;
        Some(Self { values, absent: self.absent.clone() })
    }

    /// The array shared with Arrow consumers; no copy.
    pub fn to_array(&self) -> ArrayRef {
        match &self.values {
            Values::Bool(a) => Arc::new(a.clone()),
            Values::I64(a) => Arc::new(a.clone()),
            Values::U64(a) => Arc::new(a.clone()),
            Values::F32(a) => Arc::new(a.clone()),
            Values::F64(a) => Arc::new(a.clone()),
            Values::Decimal(a) | Values::Text(a) | Values::Json(a) | Values::Native(a) => Arc::new(a.clone()),
            Values::Bytes(a) => Arc::new(a.clone()),
            Values::Date(a) => Arc::new(a.clone()),
            Values::Time(a) => Arc::new(a.clone()),
            Values::Timestamp(a) | Values::TimestampTz(a) => Arc::new(a.clone()),
            Values::Interval(a) | Values::Uuid(a) => Arc::new(a.clone()),
        }
    }

    /// Memory the slots take, in bytes: what byte-bounded channels count.
    pub fn size_bytes(&self) -> usize {
        self.values.array().get_buffer_memory_size() + self.absent.as_ref().map_or(0, |a| a.len() / 8)
    }
}

fn as_sixteen(bytes: &[u8]) -> &[u8; 16] {
    bytes.try_into().expect("intervals and UUIDs are checked to be 16 bytes wide when the column is made")
}
