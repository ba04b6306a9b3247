//! A page on its way out of a source. As with every answer of a guest, nothing in it is trusted.

use super::bind::exports::faucet::connector::sources as wire;
use super::bind::faucet::connector::types::{ColumnResult, PageResult, TableIdResult};
use super::decode::{Lie, new_column};
use super::schema;
use super::schemas::Schemas;
use crate::log::cut;
use arrow_buffer::BooleanBuffer;
use faucet_core::model::{Before, Change, Column, Field, Op, Page, Positions, Schema, TableId};

/// Reads the pages of one source.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    schemas: Schemas,
    /// The position of the last change.
    reached: Vec<u8>,
}

impl Reader {
    /// The page that a guest handed over. `changes` is whether the source says that it delivers changes.
    pub(crate) fn page(&mut self, given: wire::SourcePage, changes: bool) -> Result<Page, Lie> {
        let PageResult { table, rows, key, columns } = given.page;
        let rows = rows as usize;
        let table = table_id(table)?;
        let (fields, columns) = read_columns(columns, rows)?;
        if columns.is_empty() && rows > 0 {
            // Nothing else would bound their number.
            return Err(Lie::new(format!("it has {rows} rows and no column")));
        }
        schema::check_names(&fields)?;
        let key = key_columns(&fields, key)?;
        let change = match (given.change, changes) {
            (None, false) => None,
            (Some(change), true) => Some(read_change(change, &fields, rows)?),
            (None, true) => return Err(Lie::new("a source of changes does not say what they did")),
            (Some(_), false) => return Err(Lie::new("it says what changes did, and claims to deliver plain rows")),
        };
        if let Some(change) = &change {
            self.follow(&change.positions)?;
        }
        let schema = self.schemas.share(Schema::new(table, fields).with_key(key));
        Ok(match change {
            None => Page::new(schema, rows, columns),
            Some(change) => Page::of_changes(schema, rows, columns, change),
        })
    }

    /// The stream goes on from page to page as it does inside of one.
    fn follow(&mut self, positions: &Positions) -> Result<(), Lie> {
        let Some(last) = positions.len().checked_sub(1) else { return Ok(()) };
        if positions.get(0) < self.reached.as_slice() {
            return Err(Lie::new("its positions fall from one page to the next"));
        }
        self.reached = positions.get(last).to_vec();
        Ok(())
    }
}

fn table_id(table: TableIdResult) -> Result<TableId, Lie> {
    if table.name.is_empty() {
        return Err(Lie::new("its table has no name"));
    }
    Ok(TableId { schema: table.schema.map(Into::into), name: table.name.into() })
}

fn read_columns(given: Vec<ColumnResult>, rows: usize) -> Result<(Vec<Field>, Vec<Column>), Lie> {
    given
        .into_iter()
        .map(|column| new_column(column, rows))
        .collect::<Result<Vec<_>, _>>()
        .map(|all| all.into_iter().unzip())
}

fn key_columns(fields: &[Field], key: Vec<String>) -> Result<Vec<usize>, Lie> {
    let index = |name: String| {
        let at = fields.iter().position(|field| *field.name == *name);
        at.ok_or_else(|| Lie::new(format!("the key names column '{}', which is not there", cut(&name))))
    };
    let key: Vec<usize> = key.into_iter().map(index).collect::<Result<_, _>>()?;
    match key.iter().enumerate().find(|(at, column)| key[..*at].contains(column)) {
        Some((_, twice)) => Err(Lie::new(format!("the key names column '{}' twice", cut(&fields[*twice].name)))),
        None => Ok(key),
    }
}

fn read_change(given: wire::Change, fields: &[Field], rows: usize) -> Result<Change, Lie> {
    let ops = given.ops.iter().map(|letter| op(*letter)).collect::<Result<Vec<_>, _>>()?;
    let counted = |what: &str, has: usize| {
        if has == rows { Ok(()) } else { Err(Lie::new(format!("{has} {what} for {rows} rows"))) }
    };
    counted("ops", ops.len())?;
    let unordered = || Lie::new("its positions are cut short, or fall from one row to the next");
    let positions = Positions::from_raw(given.position_width as usize, given.positions).ok_or_else(unordered)?;
    counted("positions", positions.len())?;
    if !given.committed_at.len().is_multiple_of(8) {
        return Err(Lie::new("the time of a commit is cut short"));
    }
    let moment = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().expect("chunks of 8 bytes"));
    let committed_at: Vec<i64> = given.committed_at.chunks_exact(8).map(moment).collect();
    counted("times of a commit", committed_at.len())?;
    let before = given.before.map(|before| read_before(before, fields, rows)).transpose()?;
    Ok(Change { ops, positions, committed_at, before })
}

fn read_before(given: wire::Before, fields: &[Field], rows: usize) -> Result<Before, Lie> {
    if given.present.len() != rows.div_ceil(8) {
        let has = given.present.len();
        return Err(Lie::new(format!("the bitmap of before-images has {has} bytes for {rows} rows")));
    }
    let (images, columns) = read_columns(given.columns, rows)?;
    let same = images.len() == fields.len() && images.iter().zip(fields).all(|(image, field)| image.kind == field.kind);
    if !same {
        return Err(Lie::new("the before-images do not have the columns of the page"));
    }
    let present = BooleanBuffer::new(given.present.into(), 0, rows);
    Ok(Before { present, columns })
}

fn op(letter: u8) -> Result<Op, Lie> {
    Ok(match letter {
        b'r' => Op::Read,
        b'c' => Op::Insert,
        b'u' => Op::Update,
        b'd' => Op::Delete,
        b't' => Op::Truncate,
        other => return Err(Lie::new(format!("there is no op {other}"))),
    })
}
