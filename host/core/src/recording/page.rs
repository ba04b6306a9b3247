//! Pages as a head and a body: what they are in JSON, and their buffers one after the other.

use arrow_buffer::BooleanBuffer;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::model::{Before, Change, Column, Field, Kind, Move, Op, Page, Positions, RawParts, Schema, TableId};

/// What a page is, without its buffers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PageHead {
    schema: Option<String>,
    table: String,
    rows: u32,
    columns: Vec<ColumnHead>,
    key: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<ChangeHead>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    moves: Vec<[u32; 2]>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnHead {
    name: String,
    kind: String,
    native: Option<String>,
    nullable: bool,
    lengths: Lengths,
}

/// Bytes of a column's buffers: validity, absent, offsets, data.
type Lengths = [u32; 4];

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeHead {
    /// A letter for each change.
    ops: String,
    /// Bytes of a position.
    width: u32,
    /// The before-images' columns, if there are any.
    before: Option<Vec<Lengths>>,
}

/// The page's head; its buffers are appended to `body`.
pub(super) fn encode(page: &Page, body: &mut Vec<u8>) -> PageHead {
    let schema = page.schema();
    let columns = schema.fields.iter().zip(page.columns()).map(|(field, column)| ColumnHead {
        name: field.name.to_string(),
        kind: field.kind.name().to_owned(),
        native: field.native.as_deref().map(str::to_owned),
        nullable: field.nullable,
        lengths: push_column(body, column),
    });
    PageHead {
        schema: schema.table.schema.as_deref().map(str::to_owned),
        table: schema.table.name.to_string(),
        rows: page.rows() as u32,
        columns: columns.collect(),
        key: schema.key.iter().map(|at| *at as u32).collect(),
        change: page.change().map(|change| push_change(body, change)),
        moves: page.moves().iter().map(|m| [m.from, m.to]).collect(),
    }
}

fn push_column(body: &mut Vec<u8>, column: &Column) -> Lengths {
    let raw = column.to_raw();
    [&raw.validity, &raw.absent, &raw.offsets, &raw.data].map(|buffer| {
        body.extend_from_slice(buffer);
        buffer.len() as u32
    })
}

fn push_change(body: &mut Vec<u8>, change: &Change) -> ChangeHead {
    body.extend_from_slice(change.positions.as_bytes());
    change.committed_at.iter().for_each(|at| body.extend_from_slice(&at.to_le_bytes()));
    let before = change.before.as_ref().map(|before| {
        body.extend(before.present.iter().map(u8::from));
        before.columns.iter().map(|column| push_column(body, column)).collect()
    });
    let ops = change.ops.iter().map(|op| op.letter()).collect();
    ChangeHead { ops, width: change.positions.width() as u32, before }
}

/// The page that a head and a body are.
///
/// # Errors
/// What is wrong with them (R2).
pub(super) fn decode(head: PageHead, body: &[u8]) -> Result<Page, String> {
    let mut body = Body(body);
    let rows = head.rows as usize;
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for column in head.columns {
        let field = field(&column)?;
        columns.push(body.column(&field, rows, column.lengths)?);
        fields.push(field);
    }
    let key: Vec<usize> = head.key.iter().map(|at| *at as usize).collect();
    if key.iter().any(|at| *at >= fields.len()) {
        return Err("the key names a column that is not there".to_owned());
    }
    let change = head.change.map(|change| body.change(change, &fields, rows)).transpose()?;
    if !body.0.is_empty() {
        return Err(format!("{} bytes belong to no buffer", body.0.len()));
    }
    let table = TableId { schema: head.schema.map(Into::into), name: head.table.into() };
    let schema = Arc::new(Schema::new(table, fields).with_key(key));
    let page = match change {
        Some(change) => Page::of_changes(schema, rows, columns, change),
        None => Page::new(schema, rows, columns),
    };
    let moves: Vec<Move> = head.moves.iter().map(|[from, to]| Move { from: *from, to: *to }).collect();
    match moves.iter().all(|m| m.from < m.to && m.to < head.rows) {
        true => Ok(page.with_moves(moves)),
        false => Err("a changed key names rows that are not there".to_owned()),
    }
}

fn field(column: &ColumnHead) -> Result<Field, String> {
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == column.kind);
    let kind = kind.ok_or_else(|| format!("column \"{}\" is of an unknown kind", column.name))?;
    let mut field = Field::new(column.name.as_str(), kind);
    field.native = column.native.as_deref().map(Into::into);
    field.nullable = column.nullable;
    Ok(field)
}

/// What is left of a body.
struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or("a buffer is cut short")?;
        self.0 = rest;
        Ok(taken)
    }

    fn column(&mut self, field: &Field, rows: usize, lengths: Lengths) -> Result<Column, String> {
        let [validity, absent, offsets, data] = lengths.map(|length| length as usize);
        let raw = RawParts {
            validity: self.take(validity)?.to_vec(),
            absent: self.take(absent)?.to_vec(),
            offsets: self.take(offsets)?.to_vec(),
            data: self.take(data)?.to_vec(),
        };
        Column::from_raw(field.kind, rows, raw).map_err(|error| format!("column \"{}\": {error}", field.name))
    }

    fn change(&mut self, head: ChangeHead, fields: &[Field], rows: usize) -> Result<Change, String> {
        let ops = head.ops.chars().map(op).collect::<Option<Vec<_>>>().ok_or("an unknown kind of change")?;
        if ops.len() != rows {
            return Err(format!("{} changes in {rows} rows", ops.len()));
        }
        let width = head.width as usize;
        let length = rows.checked_mul(width).ok_or("positions are too long")?;
        let positions = self.take(length)?.to_vec();
        let positions = match rows {
            0 => Positions::new(width),
            _ => Positions::from_raw(width, positions).ok_or("positions go back")?,
        };
        let times = self.take(rows.checked_mul(8).ok_or("times are too long")?)?;
        let time = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().expect("chunks of eight bytes"));
        let committed_at = times.chunks_exact(8).map(time).collect();
        let before = head.before.map(|lengths| self.before(&lengths, fields, rows)).transpose()?;
        Ok(Change { ops, positions, committed_at, before })
    }

    fn before(&mut self, lengths: &[Lengths], fields: &[Field], rows: usize) -> Result<Before, String> {
        if lengths.len() != fields.len() {
            return Err("before-images have other columns than rows".to_owned());
        }
        let present: BooleanBuffer = self.take(rows)?.iter().map(|byte| *byte != 0).collect();
        let columns = fields.iter().zip(lengths).map(|(field, lengths)| self.column(field, rows, *lengths));
        Ok(Before { present, columns: columns.collect::<Result<_, _>>()? })
    }
}

fn op(letter: char) -> Option<Op> {
    let ops = [Op::Read, Op::Insert, Op::Update, Op::Delete, Op::Truncate];
    ops.into_iter().find(|op| op.letter().starts_with(letter))
}
