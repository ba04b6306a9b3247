//! The page model: rows stored in columns, read in rows.
//!
//! A [`Page`] is one table's worth of rows under one [`Schema`], held as Arrow buffers. Native code, Arrow consumers and
//! WebAssembly guests see the same buffers; nothing owns a row.
//!
//! Invariants, cited where they are kept:
//!
//! * **M1** Every column of a page has exactly `page.rows()` slots.
//! * **M2** *Absent is not null.* A slot marked absent was not sent by the source (an unchanged TOAST value, a field a
//!   document lacks); its validity says null, and a sink leaves the stored value alone.
//! * **M3** A value is never changed on its way: what has no [`Kind`] of its own travels as its exact text
//!   ([`Kind::Native`]) beside its native type name.
//! * **M4** Positions compare as bytes (memcmp), and rise strictly from row to row in a stream.
//!
//! This module imports nothing else of ours but the error type.

mod arrow;
mod build;
mod column;
mod envelope;
mod fill;
pub mod json;
mod page;
mod parse;
mod position;
mod raw;
mod schema;
mod text;
mod value;

pub use arrow::UnsupportedType;
pub use build::{ColumnBuilder, PageBuilder};
pub use column::{Column, Values};
pub use envelope::Envelope;
pub use fill::Fill;
pub use json::JsonRows;
pub use page::{Before, Change, Move, Op, Page, RowView};
pub use parse::{
    NotOfKind, parse_bool, parse_bytes_hex, parse_date, parse_interval, parse_time, parse_timestamp, parse_timestamptz,
    parse_uuid,
};
pub use position::{Position, Positions};
pub use raw::{RawColumn, RawError, RawParts};
pub use schema::{CODES, Field, Kind, Schema, TableId};
pub use text::{push_bytes_hex, push_date, push_interval, push_text, push_time, push_timestamp, push_uuid};
pub use value::{Interval, ValueRef};
