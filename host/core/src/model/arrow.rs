//! Arrow in and out: the same buffers under an Arrow schema, no copies.
//!
//! Field metadata `faucet:kind` and `faucet:native` keep what Arrow's types can't say. An absent bitmap travels as a
//! boolean column whose metadata `faucet:absent_of` names the column it belongs to.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field as ArrowField, Schema as ArrowSchema, TimeUnit};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::{Column, Field, Kind, Page, Schema, TableId, Values};

const KIND: &str = "faucet:kind";
const NATIVE: &str = "faucet:native";
const ABSENT_OF: &str = "faucet:absent_of";

/// An Arrow column that is of no kind of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedType {
    /// The column.
    pub column: String,
    /// Its Arrow type.
    pub data_type: DataType,
}

impl fmt::Display for UnsupportedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "column \"{}\" has the Arrow type {}, which no kind of faucet represents",
            self.column, self.data_type
        )
    }
}

impl std::error::Error for UnsupportedType {}

impl Page {
    /// The page's columns as an Arrow record batch over the same buffers. What makes a page one of changes is left out.
    pub fn to_record_batch(&self) -> RecordBatch {
        let mut fields = Vec::with_capacity(self.columns().len());
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns().len());
        for (field, column) in self.schema().fields.iter().zip(self.columns()) {
            fields.push(arrow_field(field));
            arrays.push(column.to_array());
        }
        for (field, column) in self.schema().fields.iter().zip(self.columns()) {
            if let Some(absent) = column.absent() {
                let metadata = HashMap::from([(ABSENT_OF.to_owned(), field.name.to_string())]);
                let name = format!("{}:absent", field.name);
                fields.push(ArrowField::new(name, DataType::Boolean, false).with_metadata(metadata));
                arrays.push(Arc::new(BooleanArray::new(absent.clone(), None)));
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows()));
        RecordBatch::try_new_with_options(Arc::new(ArrowSchema::new(fields)), arrays, &options)
            .expect("M1: every column has the page's rows, and fields are nullable")
    }

    /// A page of plain rows over a record batch's buffers; kinds come from the metadata, else from the Arrow types.
    ///
    /// # Errors
    /// The first column whose Arrow type no kind represents.
    pub fn from_record_batch(table: TableId, batch: &RecordBatch) -> Result<Self, UnsupportedType> {
        let mut fields = Vec::new();
        let mut columns = Vec::new();
        for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
            if field.metadata().contains_key(ABSENT_OF) {
                continue;
            }
            let (our_field, values) = read_column(field, array.as_ref())?;
            columns.push(match absent_of(batch, field.name()) {
                Some(absent) => Column::with_absent(values, absent.values().clone()),
                None => Column::new(values),
            });
            fields.push(our_field);
        }
        Ok(Page::new(Arc::new(Schema::new(table, fields)), batch.num_rows(), columns))
    }
}

fn absent_of<'a>(batch: &'a RecordBatch, name: &str) -> Option<&'a BooleanArray> {
    let schema = batch.schema_ref();
    let index = schema.fields().iter().position(|f| f.metadata().get(ABSENT_OF).is_some_and(|of| of == name))?;
    batch.column(index).as_boolean_opt()
}

fn arrow_field(field: &Field) -> ArrowField {
    let mut metadata = HashMap::from([(KIND.to_owned(), field.kind.name().to_owned())]);
    if let Some(native) = &field.native {
        metadata.insert(NATIVE.to_owned(), native.to_string());
    }
    ArrowField::new(field.name.to_string(), arrow_type(field.kind), true).with_metadata(metadata)
}

fn arrow_type(kind: Kind) -> DataType {
    match kind {
        Kind::Bool => DataType::Boolean,
        Kind::I64 => DataType::Int64,
        Kind::U64 => DataType::UInt64,
        Kind::F32 => DataType::Float32,
        Kind::F64 => DataType::Float64,
        Kind::Decimal | Kind::Text | Kind::Json | Kind::Native => DataType::Utf8,
        Kind::Bytes => DataType::Binary,
        Kind::Date => DataType::Date32,
        Kind::Time => DataType::Time64(TimeUnit::Microsecond),
        Kind::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        Kind::TimestampTz => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Kind::Interval | Kind::Uuid => DataType::FixedSizeBinary(16),
    }
}

fn read_column(field: &ArrowField, array: &dyn Array) -> Result<(Field, Values), UnsupportedType> {
    let unsupported = || UnsupportedType { column: field.name().clone(), data_type: field.data_type().clone() };
    let named = field.metadata().get(KIND).and_then(|name| Kind::ALL.into_iter().find(|k| k.name() == name));
    let kind = named.or_else(|| natural_kind(field.data_type())).ok_or_else(unsupported)?;
    let values = Values::from_array(kind, array).ok_or_else(unsupported)?;
    let mut ours = Field::new(field.name().as_str(), kind);
    ours.native = field.metadata().get(NATIVE).map(|n| n.as_str().into());
    Ok((ours, values))
}

fn natural_kind(data_type: &DataType) -> Option<Kind> {
    Some(match data_type {
        DataType::Boolean => Kind::Bool,
        DataType::Int64 => Kind::I64,
        DataType::UInt64 => Kind::U64,
        DataType::Float32 => Kind::F32,
        DataType::Float64 => Kind::F64,
        DataType::Utf8 => Kind::Text,
        DataType::Binary => Kind::Bytes,
        DataType::Date32 => Kind::Date,
        DataType::Time64(TimeUnit::Microsecond) => Kind::Time,
        DataType::Timestamp(TimeUnit::Microsecond, None) => Kind::Timestamp,
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => Kind::TimestampTz,
        _ => return None,
    })
}
