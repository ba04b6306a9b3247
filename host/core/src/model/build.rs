//! Builders: a reader pushes values column by column, row by row, and gets a page.

use arrow_array::{
    BinaryArray, BooleanArray, Date32Array, FixedSizeBinaryArray, Float32Array, Float64Array, Int64Array, StringArray,
    Time64MicrosecondArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use std::sync::Arc;

use super::page::{Before, Change};
use super::{Column, Interval, Kind, Op, Page, Positions, Schema, ValueRef, Values};

/// Fills one column. Each `push_*` adds one slot.
///
/// # Panics
/// A `push_*` that does not belong to the column's kind panics: it is a bug of the reader, never of its input.
#[derive(Debug)]
pub struct ColumnBuilder {
    kind: Kind,
    data: Data,
    validity: NullBufferBuilder,
    /// Made when the first absent slot comes.
    absent: Option<BooleanBufferBuilder>,
    len: usize,
}

#[derive(Debug)]
enum Data {
    Bits(BooleanBufferBuilder),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Sixteen(Vec<u8>),
    Variable { offsets: Vec<i32>, bytes: Vec<u8> },
}

impl ColumnBuilder {
    /// An empty column of `kind`.
    pub fn new(kind: Kind) -> Self {
        let data = match kind {
            Kind::Bool => Data::Bits(BooleanBufferBuilder::new(0)),
            Kind::Date => Data::I32(Vec::new()),
            Kind::I64 | Kind::Time | Kind::Timestamp | Kind::TimestampTz => Data::I64(Vec::new()),
            Kind::U64 => Data::U64(Vec::new()),
            Kind::F32 => Data::F32(Vec::new()),
            Kind::F64 => Data::F64(Vec::new()),
            Kind::Interval | Kind::Uuid => Data::Sixteen(Vec::new()),
            Kind::Decimal | Kind::Text | Kind::Bytes | Kind::Json | Kind::Native => {
                Data::Variable { offsets: vec![0], bytes: Vec::new() }
            }
        };
        Self { kind, data, validity: NullBufferBuilder::new(0), absent: None, len: 0 }
    }

    /// The kind being built.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Slots so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no slot was pushed yet.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a null.
    pub fn push_null(&mut self) {
        self.push_filler();
        self.validity.append_null();
        self.sent();
    }

    /// Adds a slot the source did not send (M2).
    pub fn push_absent(&mut self) {
        self.push_filler();
        self.validity.append_null();
        let before = self.len;
        self.absent
            .get_or_insert_with(|| {
                let mut bits = BooleanBufferBuilder::new(before + 1);
                bits.append_n(before, false);
                bits
            })
            .append(true);
        self.len += 1;
    }

    /// Adds a boolean.
    pub fn push_bool(&mut self, value: bool) {
        match &mut self.data {
            Data::Bits(bits) => bits.append(value),
            _ => wrong(self.kind, "bool"),
        }
        self.valid();
    }

    /// Adds days since 1970-01-01 to a date column.
    #[inline]
    pub fn push_i32(&mut self, value: i32) {
        match &mut self.data {
            Data::I32(v) => v.push(value),
            _ => wrong(self.kind, "i32"),
        }
        self.valid();
    }

    /// Adds an integer, or the microseconds of a time or timestamp column.
    #[inline]
    pub fn push_i64(&mut self, value: i64) {
        match &mut self.data {
            Data::I64(v) => v.push(value),
            _ => wrong(self.kind, "i64"),
        }
        self.valid();
    }

    /// Adds an unsigned integer.
    pub fn push_u64(&mut self, value: u64) {
        match &mut self.data {
            Data::U64(v) => v.push(value),
            _ => wrong(self.kind, "u64"),
        }
        self.valid();
    }

    /// Adds a 32-bit float, bits kept.
    pub fn push_f32(&mut self, value: f32) {
        match &mut self.data {
            Data::F32(v) => v.push(value),
            _ => wrong(self.kind, "f32"),
        }
        self.valid();
    }

    /// Adds a 64-bit float, bits kept.
    pub fn push_f64(&mut self, value: f64) {
        match &mut self.data {
            Data::F64(v) => v.push(value),
            _ => wrong(self.kind, "f64"),
        }
        self.valid();
    }

    /// Adds an interval.
    pub fn push_interval(&mut self, value: Interval) {
        if self.kind != Kind::Interval {
            wrong(self.kind, "interval");
        }
        self.push_sixteen(value.to_bytes());
    }

    /// Adds a UUID.
    pub fn push_uuid(&mut self, value: [u8; 16]) {
        if self.kind != Kind::Uuid {
            wrong(self.kind, "uuid");
        }
        self.push_sixteen(value);
    }

    /// Adds text to a decimal, text, JSON or native column.
    #[inline]
    pub fn push_str(&mut self, value: &str) {
        if self.kind == Kind::Bytes {
            wrong(self.kind, "text");
        }
        self.push_variable(value.as_bytes());
    }

    /// Adds bytes to a bytes column.
    pub fn push_bytes(&mut self, value: &[u8]) {
        if self.kind != Kind::Bytes {
            wrong(self.kind, "bytes");
        }
        self.push_variable(value);
    }

    /// Adds any value whose kind is this column's, null or absent.
    pub fn push(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Absent => self.push_absent(),
            ValueRef::Null => self.push_null(),
            ValueRef::Bool(v) => self.push_bool(v),
            ValueRef::I64(v) | ValueRef::Time(v) | ValueRef::Timestamp(v) | ValueRef::TimestampTz(v) => {
                self.push_i64(v)
            }
            ValueRef::U64(v) => self.push_u64(v),
            ValueRef::F32(v) => self.push_f32(v),
            ValueRef::F64(v) => self.push_f64(v),
            ValueRef::Date(v) => self.push_i32(v),
            ValueRef::Interval(v) => self.push_interval(v),
            ValueRef::Uuid(v) => self.push_uuid(*v),
            ValueRef::Bytes(v) => self.push_bytes(v),
            ValueRef::Decimal(v) | ValueRef::Text(v) | ValueRef::Json(v) | ValueRef::Native(v) => self.push_str(v),
        }
    }

    /// Bytes held so far: what a reader compares with its page limit.
    pub fn size_bytes(&self) -> usize {
        match &self.data {
            Data::Bits(bits) => bits.len() / 8,
            Data::I32(v) => v.len() * 4,
            Data::I64(v) => v.len() * 8,
            Data::U64(v) => v.len() * 8,
            Data::F32(v) => v.len() * 4,
            Data::F64(v) => v.len() * 8,
            Data::Sixteen(v) => v.len(),
            Data::Variable { offsets, bytes } => offsets.len() * 4 + bytes.len(),
        }
    }

    /// The finished column; the builder is empty afterwards and keeps no buffer.
    pub fn finish(&mut self) -> Column {
        let built = std::mem::replace(self, Self::new(self.kind));
        let Self { kind, data, mut validity, absent, .. } = built;
        let values = assemble(kind, data, validity.finish());
        match absent {
            Some(mut bits) => Column::with_absent(values, bits.finish()),
            None => Column::new(values),
        }
    }

    fn push_sixteen(&mut self, value: [u8; 16]) {
        match &mut self.data {
            Data::Sixteen(v) => v.extend_from_slice(&value),
            _ => wrong(self.kind, "16 bytes"),
        }
        self.valid();
    }

    #[inline]
    fn push_variable(&mut self, value: &[u8]) {
        let Data::Variable { offsets, bytes } = &mut self.data else { wrong(self.kind, "text or bytes") };
        bytes.extend_from_slice(value);
        offsets.push(offset(bytes.len()));
        self.valid();
    }

    fn push_filler(&mut self) {
        match &mut self.data {
            Data::Bits(bits) => bits.append(false),
            Data::I32(v) => v.push(0),
            Data::I64(v) => v.push(0),
            Data::U64(v) => v.push(0),
            Data::F32(v) => v.push(0.0),
            Data::F64(v) => v.push(0.0),
            Data::Sixteen(v) => v.extend_from_slice(&[0; 16]),
            Data::Variable { offsets, bytes } => offsets.push(offset(bytes.len())),
        }
    }

    #[inline]
    fn valid(&mut self) {
        self.validity.append_non_null();
        self.sent();
    }

    #[inline]
    fn sent(&mut self) {
        if let Some(bits) = &mut self.absent {
            bits.append(false);
        }
        self.len += 1;
    }
}

#[cold]
fn wrong(kind: Kind, pushed: &str) -> ! {
    panic!("bug: {pushed} pushed into a column of kind {kind}")
}

#[inline]
fn offset(len: usize) -> i32 {
    i32::try_from(len).expect("readers cut pages by bytes long before a column holds 2 GiB")
}

fn assemble(kind: Kind, data: Data, nulls: Option<NullBuffer>) -> Values {
    match data {
        Data::Bits(mut bits) => Values::Bool(BooleanArray::new(bits.finish(), nulls)),
        Data::I32(v) => Values::Date(Date32Array::new(v.into(), nulls)),
        Data::U64(v) => Values::U64(UInt64Array::new(v.into(), nulls)),
        Data::F32(v) => Values::F32(Float32Array::new(v.into(), nulls)),
        Data::F64(v) => Values::F64(Float64Array::new(v.into(), nulls)),
        Data::I64(v) => assemble_i64(kind, v.into(), nulls),
        Data::Sixteen(v) => {
            let array = FixedSizeBinaryArray::new(16, Buffer::from_vec(v), nulls);
            if kind == Kind::Uuid { Values::Uuid(array) } else { Values::Interval(array) }
        }
        Data::Variable { offsets, bytes } => {
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            assemble_variable(kind, offsets, Buffer::from_vec(bytes), nulls)
        }
    }
}

fn assemble_i64(kind: Kind, values: ScalarBuffer<i64>, nulls: Option<NullBuffer>) -> Values {
    match kind {
        Kind::Time => Values::Time(Time64MicrosecondArray::new(values, nulls)),
        Kind::Timestamp => Values::Timestamp(TimestampMicrosecondArray::new(values, nulls)),
        Kind::TimestampTz => Values::TimestampTz(TimestampMicrosecondArray::new(values, nulls).with_timezone("UTC")),
        _ => Values::I64(Int64Array::new(values, nulls)),
    }
}

fn assemble_variable(kind: Kind, offsets: OffsetBuffer<i32>, bytes: Buffer, nulls: Option<NullBuffer>) -> Values {
    if kind == Kind::Bytes {
        return Values::Bytes(BinaryArray::new(offsets, bytes, nulls));
    }
    let text = StringArray::try_new(offsets, bytes, nulls).expect("only &str was pushed");
    match kind {
        Kind::Decimal => Values::Decimal(text),
        Kind::Json => Values::Json(text),
        Kind::Native => Values::Native(text),
        _ => Values::Text(text),
    }
}

/// Fills a page of rows, or of changes.
///
/// ```
/// use faucet_core::model::{Field, Kind, PageBuilder, Schema, TableId, ValueRef};
/// use std::sync::Arc;
/// let schema = Schema::new(TableId::bare("t"), vec![Field::new("id", Kind::I64), Field::new("note", Kind::Text)]);
/// let mut page = PageBuilder::rows(Arc::new(schema));
/// page.columns()[0].push_i64(1);
/// page.columns()[1].push_null();
/// page.end_row();
/// let page = page.finish();
/// assert_eq!(page.row(0).get(1), ValueRef::Null);
/// ```
#[derive(Debug)]
pub struct PageBuilder {
    schema: Arc<Schema>,
    columns: Vec<ColumnBuilder>,
    rows: usize,
    change: Option<ChangeBuilder>,
}

#[derive(Debug)]
struct ChangeBuilder {
    ops: Vec<Op>,
    positions: Positions,
    committed_at: Vec<i64>,
    /// Made when the first before-image comes.
    before: Option<(BooleanBufferBuilder, Vec<ColumnBuilder>)>,
}

impl PageBuilder {
    /// A page of plain rows.
    pub fn rows(schema: Arc<Schema>) -> Self {
        let columns = column_builders(&schema);
        Self { schema, columns, rows: 0, change: None }
    }

    /// A page of changes whose positions are made by [`Positions::push_commit`].
    pub fn changes(schema: Arc<Schema>) -> Self {
        let columns = column_builders(&schema);
        let change =
            ChangeBuilder { ops: Vec::new(), positions: Positions::new(16), committed_at: Vec::new(), before: None };
        Self { schema, columns, rows: 0, change: Some(change) }
    }

    /// The schema rows are pushed under.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The columns of the row, or of the change's after-image: push exactly one slot into each, then end the row.
    #[inline]
    pub fn columns(&mut self) -> &mut [ColumnBuilder] {
        &mut self.columns
    }

    /// The columns of the change's before-image. When this is called for a change, push one slot into each.
    ///
    /// # Panics
    /// On a page of plain rows.
    pub fn before(&mut self) -> &mut [ColumnBuilder] {
        let rows = self.rows;
        let change = self.change.as_mut().expect("before-images exist only on pages of changes");
        let (present, columns) = change.before.get_or_insert_with(|| {
            let mut columns = column_builders(&self.schema);
            columns.iter_mut().for_each(|c| (0..rows).for_each(|_| c.push_absent()));
            let mut present = BooleanBufferBuilder::new(rows + 1);
            present.append_n(rows, false);
            (present, columns)
        });
        if present.len() == rows {
            present.append(true);
        }
        columns
    }

    /// Ends a plain row.
    #[inline]
    pub fn end_row(&mut self) {
        debug_assert!(self.change.is_none());
        self.rows += 1;
        debug_assert!(self.columns.iter().all(|c| c.len() == self.rows), "M1: a column missed a push");
    }

    /// Ends a change: what it was, where it stands (commit position and ordinal inside the commit) and when it was
    /// committed (microseconds since the Unix epoch).
    ///
    /// # Panics
    /// On a page of plain rows.
    pub fn end_change(&mut self, op: Op, commit: u64, ordinal: u64, committed_at: i64) {
        let change = self.change.as_mut().expect("changes end only on pages of changes");
        change.ops.push(op);
        change.positions.push_commit(commit, ordinal);
        change.committed_at.push(committed_at);
        if let Some((present, columns)) = &mut change.before
            && present.len() == self.rows
        {
            present.append(false);
            columns.iter_mut().for_each(ColumnBuilder::push_absent);
        }
        self.rows += 1;
        debug_assert!(self.columns.iter().all(|c| c.len() == self.rows), "M1: a column missed a push");
    }

    /// Rows ended so far.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether no row was ended yet.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Bytes held so far.
    pub fn size_bytes(&self) -> usize {
        let before =
            self.change.as_ref().and_then(|c| c.before.as_ref()).map_or(0, |(_, columns)| size_of_all(columns));
        size_of_all(&self.columns) + before
    }

    /// The page of the rows ended so far; the builder goes on empty with the same schema.
    pub fn finish(&mut self) -> Page {
        let rows = std::mem::take(&mut self.rows);
        let columns = self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        let change = self.change.as_mut().map(|change| {
            let before = change.before.take().map(|(mut present, mut columns)| Before {
                present: present.finish(),
                columns: columns.iter_mut().map(ColumnBuilder::finish).collect(),
            });
            Change {
                ops: std::mem::take(&mut change.ops),
                positions: std::mem::replace(&mut change.positions, Positions::new(16)),
                committed_at: std::mem::take(&mut change.committed_at),
                before,
            }
        });
        Page::assemble(self.schema.clone(), rows, columns, change)
    }
}

fn column_builders(schema: &Schema) -> Vec<ColumnBuilder> {
    schema.fields.iter().map(|f| ColumnBuilder::new(f.kind)).collect()
}

fn size_of_all(columns: &[ColumnBuilder]) -> usize {
    columns.iter().map(ColumnBuilder::size_bytes).sum()
}
