//! Which input rows an output page is made of.

use super::decode::{Allowance, Lie};
use super::schema::OP;
use arrow_array::UInt32Array;
use faucet_core::model::{Column, Move, Page, Schema, ValueRef, Values};
use faucet_core::ports::Rejected;

/// Rows of the input page, in order.
#[derive(Debug)]
pub(super) enum Selection {
    /// Every row once.
    All,
    /// These rows; they never fall.
    Some {
        /// Indices into the input page.
        rows: UInt32Array,
        /// Whether an index comes more than once, so that the values taken may outgrow the input.
        repeats: bool,
    },
}

impl Selection {
    /// Checks what a guest sent: its length, that it never falls, that it stays inside the page, and that a row of a
    /// change-data source comes once at most.
    pub(super) fn read(input: &Page, bytes: Option<&[u8]>, rows: u32) -> Result<Self, Lie> {
        let Some(bytes) = bytes else {
            if rows as usize == input.rows() {
                return Ok(Self::All);
            }
            return Err(Lie::new(format!("it has {rows} rows, no selection, and the input has {}", input.rows())));
        };
        if bytes.len() as u64 != u64::from(rows) * 4 {
            let has = bytes.len();
            return Err(Lie::new(format!(
                "the selection has {has} bytes where {rows} rows need {}",
                u64::from(rows) * 4
            )));
        }
        let indices: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let repeats = check_order(&indices)?;
        match indices.last() {
            Some(last) if *last as usize >= input.rows() => {
                return Err(Lie::new(format!("the selection names row {last} of {}", input.rows())));
            }
            Some(_) | None => {}
        }
        if repeats && input.schema().index_of(OP).is_some() {
            return Err(Lie::new("the selection repeats a row of a change-data source"));
        }
        if !repeats && indices.len() == input.rows() {
            return Ok(Self::All);
        }
        Ok(Self::Some { rows: indices.into(), repeats })
    }

    /// Number of rows of the output page.
    pub(super) fn rows(&self, input: &Page) -> usize {
        match self {
            Self::All => input.rows(),
            Self::Some { rows, .. } => rows.values().len(),
        }
    }

    /// The values of an input column at these rows. Shared if that is all of them.
    pub(super) fn take(&self, column: &Column, left: &mut Allowance) -> Result<Column, Lie> {
        match self {
            Self::All => Ok(column.clone()),
            Self::Some { rows, repeats } => {
                if *repeats {
                    left.take_bytes(taken_bytes(column, rows.values()))?;
                }
                Ok(column.take(rows))
            }
        }
    }

    /// A rejected row must not be passed on too.
    pub(super) fn check_rejected(&self, input: &Page, rejected: &[Rejected]) -> Result<(), Lie> {
        let passed = |row: &Rejected| match self {
            Self::All => (row.row as usize) < input.rows(),
            Self::Some { rows, .. } => rows.values().binary_search(&row.row).is_ok(),
        };
        match rejected.iter().find(|row| passed(row)) {
            Some(both) => Err(Lie::new(format!("row {} is rejected and passed on", both.row))),
            None => Ok(()),
        }
    }

    /// The changed keys of the output page. A pair is one no more if a half is gone, or if the row that was to upsert
    /// the new key now deletes it.
    pub(super) fn moves(&self, input: &Page, schema: &Schema, columns: &[Column]) -> Vec<Move> {
        if input.moves().is_empty() {
            return Vec::new();
        }
        let moves = match self {
            Self::All => input.moves().to_vec(),
            Self::Some { rows, .. } => input.moves_after(rows.values()),
        };
        let Some(op) = schema.index_of(OP) else { return moves };
        let upserts = |m: &Move| !matches!(columns[op].value(m.to as usize), ValueRef::Text("d" | "t"));
        moves.into_iter().filter(upserts).collect()
    }
}

/// Whether an index repeats.
fn check_order(indices: &[u32]) -> Result<bool, Lie> {
    if let Some(at) = indices.windows(2).position(|pair| pair[1] < pair[0]) {
        return Err(Lie::new(format!("the selection falls after its entry {at}")));
    }
    Ok(indices.windows(2).any(|pair| pair[0] == pair[1]))
}

/// Bytes that the values of the column take at these rows.
fn taken_bytes(column: &Column, rows: &[u32]) -> usize {
    let sum = |length: &dyn Fn(usize) -> usize| rows.iter().map(|row| length(*row as usize)).sum();
    match column.values() {
        Values::Decimal(a) | Values::Text(a) | Values::Json(a) | Values::Native(a) => {
            sum(&|row| a.value_length(row) as usize + 4)
        }
        Values::Bytes(a) => sum(&|row| a.value_length(row) as usize + 4),
        Values::Bool(_) | Values::I64(_) | Values::U64(_) | Values::F32(_) | Values::F64(_) | Values::Date(_) => {
            rows.len() * 8
        }
        Values::Time(_) | Values::Timestamp(_) | Values::TimestampTz(_) => rows.len() * 8,
        Values::Interval(_) | Values::Uuid(_) => rows.len() * 16,
    }
}
