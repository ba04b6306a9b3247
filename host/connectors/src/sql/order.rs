//! A page cut into what can be applied change by change, and what only a fold can tell.
//!
//! Most changes mean the same one after the other as they do folded. Three kinds don't: keys swapped in one statement (the
//! second delete means the row that was there before, see [`super::fold`]), the two halves of a changed key with rows
//! between them, and rows that are made with the columns' defaults.

use faucet_core::model::Page;
use std::collections::HashMap;
use std::ops::Range;

use super::aside::ties;
use super::fold::is_partial;
use super::{Keying, RowOp};

/// Rows of a page without a gap; those of one stretch are done before those of the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stretch {
    /// To be applied one after the other.
    Changes(Range<usize>),
    /// To be folded.
    Together(Range<usize>),
    /// The table is emptied.
    Empty,
}

/// One change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Puts a whole row.
    Put,
    /// Replaces a whole row, which is there as a rule.
    Replace,
    /// Changes the columns it has in the row that is there.
    Patch,
    /// Deletes a row.
    Delete,
    /// Has the key that the row of the next change had before.
    Origin,
    /// Puts a whole row that had another key before.
    MovedWhole,
    /// The same with some of its columns.
    MovedPatch,
}

/// The stretches of `page`, whose rows do what `ops` says. `moves` says whether a key can be changed where it is.
pub fn stretches(page: &Page, keying: Keying<'_>, ops: Option<&[RowOp]>, moves: bool) -> Vec<Stretch> {
    let mut together = groups(page, keying.key, moves);
    let makes = |row: usize| ops.is_none_or(|ops| ops[row] == RowOp::Upsert);
    let made = (0..page.rows()).filter(|&row| makes(row) && is_partial(page, keying.marker, row));
    together.extend(made.map(|row| row..row + 1));
    together.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let (mut out, mut at) = (Vec::new(), 0);
    for range in together {
        if range.start < at {
            continue;
        }
        changes(&mut out, at..range.start, ops);
        at = range.end;
        out.push(Stretch::Together(range));
    }
    changes(&mut out, at..page.rows(), ops);
    out
}

/// What each row of `page` in `range` is; `None` for one that does nothing.
pub fn each_change(
    page: &Page,
    marker: Option<usize>,
    ops: Option<&[RowOp]>,
    range: Range<usize>,
) -> Vec<(usize, Change)> {
    let halves: HashMap<usize, usize> = page.moves().iter().map(|m| (m.to as usize, m.from as usize)).collect();
    let change = |row: usize| {
        let partial = is_partial(page, marker, row);
        match ops.map_or(RowOp::Upsert, |ops| ops[row]) {
            RowOp::Upsert | RowOp::Update if halves.contains_key(&row) => {
                Some(if partial { Change::MovedPatch } else { Change::MovedWhole })
            }
            RowOp::Update if partial => Some(Change::Patch),
            RowOp::Update => Some(Change::Replace),
            RowOp::Upsert => Some(Change::Put),
            RowOp::Delete if halves.get(&(row + 1)) == Some(&row) => Some(Change::Origin),
            RowOp::Delete => Some(Change::Delete),
            RowOp::Truncate | RowOp::Skip => None,
        }
    };
    range.filter_map(|row| Some((row, change(row)?))).collect()
}

/// Adds the rows of `range`, cut where the table is emptied.
fn changes(out: &mut Vec<Stretch>, range: Range<usize>, ops: Option<&[RowOp]>) {
    let mut at = range.start;
    for row in range.clone().filter(|&row| ops.is_some_and(|ops| ops[row] == RowOp::Truncate)) {
        out.extend((at < row).then_some(Stretch::Changes(at..row)));
        out.push(Stretch::Empty);
        at = row + 1;
    }
    out.extend((at < range.end).then_some(Stretch::Changes(at..range.end)));
}

/// The rows that stay together; with `moves` not those that are but the two halves of one changed key, one after the other.
fn groups(page: &Page, key: &[usize], moves: bool) -> Vec<Range<usize>> {
    let mut ties = ties(page, key);
    ties.sort_unstable();
    let mut groups: Vec<(Range<usize>, usize)> = Vec::new();
    for (from, to) in ties {
        match groups.last_mut() {
            Some((range, number)) if from < range.end => {
                range.end = range.end.max(to + 1);
                *number += 1;
            }
            _ => groups.push((from..to + 1, 1)),
        }
    }
    let stays = |group: &(Range<usize>, usize)| !moves || group.1 > 1 || group.0.len() > 2;
    groups.into_iter().filter(stays).map(|(range, _)| range).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use faucet_core::model::{Field, Kind, Move, PageBuilder, Schema, TableId, ValueRef};
    use std::sync::Arc;

    /// Rows of (id, v), and what they do.
    fn page(rows: &[(i64, ValueRef<'_>)], moves: &[(u32, u32)]) -> Page {
        let fields = vec![Field::new("id", Kind::I64), Field::new("v", Kind::Text)];
        let mut page = PageBuilder::rows(Arc::new(Schema::new(TableId::bare("t"), fields)));
        for (id, v) in rows {
            page.columns()[0].push_i64(*id);
            page.columns()[1].push(*v);
            page.end_row();
        }
        page.finish().with_moves(moves.iter().map(|&(from, to)| Move { from, to }).collect())
    }

    const KEYING: Keying<'_> = Keying { key: &[0], marker: None };

    #[test]
    fn a_truncate_and_rows_with_defaults_cut_a_page() {
        use RowOp::{Delete, Truncate, Update, Upsert};
        use ValueRef::{Absent, Text};
        let page = page(&[(1, Text("a")), (1, Absent), (0, Absent), (2, Absent), (2, Absent), (3, Text("c"))], &[]);
        let ops = [Upsert, Delete, Truncate, Upsert, Update, Upsert];
        let found = stretches(&page, KEYING, Some(&ops), true);
        use Stretch::{Changes, Empty, Together};
        assert_eq!(found, [Changes(0..2), Empty, Together(3..4), Changes(4..6)]);
        let changes = each_change(&page, None, Some(&ops), 4..6);
        assert_eq!(changes, [(4, Change::Patch), (5, Change::Put)]);
    }

    #[test]
    fn swapped_keys_stay_together_and_one_that_changed_alone_does_not() {
        use RowOp::{Delete, Update};
        let v = ValueRef::Text("a");
        // 7 becomes 8; 1 and 2 are swapped.
        let page = page(&[(7, v), (8, v), (1, v), (2, v), (2, v), (1, v)], &[(0, 1), (2, 3), (4, 5)]);
        let ops = [Delete, Update, Delete, Update, Delete, Update];
        let found = stretches(&page, KEYING, Some(&ops), true);
        assert_eq!(found, [Stretch::Changes(0..2), Stretch::Together(2..6)]);
        assert_eq!(stretches(&page, KEYING, Some(&ops), false)[0], Stretch::Together(0..2));
        let changes = each_change(&page, None, Some(&ops), 0..2);
        assert_eq!(changes, [(0, Change::Origin), (1, Change::MovedWhole)]);
    }
}
