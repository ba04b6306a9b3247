//! Finds the rows of a page that can't be written, by halves, so that the others can.
//!
//! A sink writes a part; when rows of it are refused, it undoes the part and both halves of it are written in turn, until
//! single rows are left. Parts come in the order of the page, so rows of one key keep theirs.
//!
//! Some rows stay together: the two of a changed key, because without the first the second could not be completed; and
//! all from a row that moves to a key up to the one that leaves this key (keys swapped under a deferred constraint),
//! because the second deletes what was there before the first, which only a fold over both can tell.

use faucet_core::error::{Blame, Code, Error, Result, Retry};
use faucet_core::model::Page;
use faucet_core::ports::SetAside;
use std::collections::HashMap;

use super::{RowKey, RowOp};

/// A row has a value in a column that the destination lacks.
pub static QUARANTINED: Code = Code {
    id: "sink.quarantined",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "a row has a value in a column that the destination lacks",
    help: "Under `schema: { on_drift: quarantine }` such rows are set aside in the `dlq`, and rows without a value there \
           are written. Add the column to the destination, or set `on_drift: evolve`, and write the rows again from the \
           queue.",
};

/// The failures that are about the rows themselves: other rows may be written.
#[derive(Debug, Clone, Copy)]
pub struct OfRows(pub &'static [&'static Code]);

impl OfRows {
    /// Whether a failure is one of them.
    pub fn include(self, error: &Error) -> bool {
        self.0.iter().any(|code| code.id == error.code().id)
    }
}

/// A part of a page: some of its rows, without a gap.
#[derive(Debug)]
pub struct PartOf {
    /// The rows.
    pub rows: Page,
    /// The first of them in the whole page.
    first: usize,
}

/// The parts of a page that are still to be written.
#[derive(Debug)]
pub struct Parts {
    /// In reverse order.
    open: Vec<PartOf>,
    /// First and last row of those that stay together.
    ties: Vec<(usize, usize)>,
    aside: Vec<SetAside>,
    of_rows: OfRows,
}

impl Parts {
    /// All of `page`, whose rows are told apart by the columns `key`, if it has them all.
    pub fn new(page: Page, key: &[String], of_rows: OfRows) -> Self {
        let key: Option<Vec<usize>> = key.iter().map(|name| page.schema().index_of(name)).collect();
        let ties = ties(&page, &key.unwrap_or_default());
        Self { ties, open: vec![PartOf { rows: page, first: 0 }], aside: Vec::new(), of_rows }
    }

    /// The next part to write.
    pub fn next_part(&mut self) -> Option<PartOf> {
        self.open.pop()
    }

    /// What became of a part: all of it was written, or nothing.
    ///
    /// # Errors
    /// The part's own, if that is not about its rows.
    pub fn end(&mut self, part: PartOf, written: Result<()>) -> Result<()> {
        match written {
            Err(error) if self.of_rows.include(&error) => {
                self.refused(part, error);
                Ok(())
            }
            written => written,
        }
    }

    fn refused(&mut self, part: PartOf, error: Error) {
        let PartOf { rows, first } = part;
        match self.cut(rows.rows(), first) {
            Some(at) => {
                self.open.push(PartOf { rows: rows.slice(at, rows.rows() - at), first: first + at });
                self.open.push(PartOf { rows: rows.slice(0, at), first });
            }
            None => self.aside.push(SetAside { rows, error }),
        }
    }

    /// Where to cut `rows` rows from `first` on in two: as near to the middle as the ties allow.
    fn cut(&self, rows: usize, first: usize) -> Option<usize> {
        let middle = rows / 2;
        let tied = |at: usize| self.ties.iter().any(|&(from, to)| from < first + at && first + at <= to);
        let places = (0..=middle).flat_map(|distance| [middle - distance, middle + distance]);
        places.into_iter().find(|&at| at > 0 && at < rows && !tied(at))
    }

    /// The rows that can't be written.
    pub fn into_aside(self) -> Vec<SetAside> {
        self.aside
    }
}

/// First and last of the rows of `page` that stay together.
pub(super) fn ties(page: &Page, key: &[usize]) -> Vec<(usize, usize)> {
    let mut ties = Vec::with_capacity(page.moves().len());
    let mut arrived = HashMap::new();
    for m in page.moves() {
        let (from, to) = (m.from as usize, m.to as usize);
        if !key.is_empty() {
            if let Some(&before) = arrived.get(&RowKey::new(page, key, from)) {
                ties.push((before, to));
            }
            arrived.insert(RowKey::new(page, key, to), from);
        }
        ties.push((from, to));
    }
    ties
}

/// Refuses a page with a row that puts a value into one of the columns at `left_out`, which have no place in `table`. What
/// a delete tells of the row that it removes is not written.
///
/// # Errors
/// `sink.quarantined`.
pub fn check_left_out(page: &Page, ops: Option<&[RowOp]>, left_out: &[usize], table: &str) -> Result<()> {
    let puts = |row: &usize| ops.is_none_or(|ops| matches!(ops[*row], RowOp::Upsert | RowOp::Update));
    let has_value = |column: &&usize| {
        let values = &page.columns()[**column];
        (0..page.rows()).filter(puts).any(|row| !values.is_null(row))
    };
    match left_out.iter().find(has_value) {
        None => Ok(()),
        Some(&column) => {
            let name = &page.schema().fields[column].name;
            Err(Error::new(&QUARANTINED, format!("the row has a value in column \"{name}\", which {table} lacks")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faucet_core::model::{Field, Kind, Move, PageBuilder, Schema, TableId, ValueRef};
    use proptest::prelude::{Strategy, prop, prop_assert, prop_assert_eq, proptest};
    use std::collections::BTreeSet;
    use std::sync::Arc;

    const QUARANTINE: OfRows = OfRows(&[&QUARANTINED]);

    fn key() -> [String; 1] {
        ["id".to_owned()]
    }

    fn refusal() -> Result<()> {
        Err(Error::new(&QUARANTINED, "no"))
    }

    #[test]
    fn other_failures_are_the_callers() {
        let mut parts = Parts::new(page(4, Vec::new()), &key(), OfRows(&[]));
        let part = parts.next_part().expect("there is all of it");
        parts.end(part, refusal()).expect_err("it is not about the rows");
        assert!(parts.next_part().is_none() && parts.into_aside().is_empty());
    }

    fn page(rows: usize, moves: Vec<Move>) -> Page {
        let schema = Arc::new(Schema::new(TableId::bare("t"), vec![Field::new("id", Kind::I64)]));
        let mut page = PageBuilder::rows(schema);
        for id in 0..rows {
            page.columns()[0].push_i64(id as i64);
            page.end_row();
        }
        page.finish().with_moves(moves)
    }

    fn ids(page: &Page) -> Vec<usize> {
        let id = |row| match page.row(row).get(0) {
            ValueRef::I64(id) => id as usize,
            other => panic!("{other:?}"),
        };
        (0..page.rows()).map(id).collect()
    }

    #[test]
    fn swapped_keys_are_written_by_one_fold() {
        // del 1, put 2, (another row), del 2, put 1, and rows before and after.
        let schema = Arc::new(Schema::new(TableId::bare("t"), vec![Field::new("id", Kind::I64)]));
        let mut page = PageBuilder::rows(schema);
        for id in [7, 1, 2, 8, 2, 1, 9] {
            page.columns()[0].push_i64(id);
            page.end_row();
        }
        let page = page.finish().with_moves(vec![Move { from: 1, to: 2 }, Move { from: 4, to: 5 }]);
        let mut parts = Parts::new(page, &key(), QUARANTINE);
        let mut sizes = Vec::new();
        while let Some(part) = parts.next_part() {
            sizes.push((part.first, part.rows.rows()));
            parts.end(part, refusal()).expect("it is about the rows");
        }
        let aside: Vec<_> = parts.into_aside().iter().map(|aside| ids(&aside.rows)).collect();
        assert_eq!(aside, [vec![7], vec![1, 2, 8, 2, 1], vec![9]], "{sizes:?}");
    }

    /// Rows, bad ones among them, and pairs that don't overlap.
    fn pages() -> impl Strategy<Value = (usize, BTreeSet<usize>, Vec<Move>)> {
        (1_usize..40).prop_flat_map(|rows| {
            let bad = prop::collection::btree_set(0..rows, 0..5);
            let pairs = prop::collection::btree_set(0..rows, 0..6).prop_map(|ends| {
                let ends: Vec<usize> = ends.into_iter().collect();
                ends.chunks_exact(2).map(|p| Move { from: p[0] as u32, to: p[1] as u32 }).collect()
            });
            (prop::strategy::Just(rows), bad, pairs)
        })
    }

    proptest! {
        #[test]
        fn all_but_the_refused_rows_are_written_in_their_order((rows, bad, moves) in pages()) {
            let (mut parts, mut written) = (Parts::new(page(rows, moves.clone()), &key(), QUARANTINE), Vec::new());
            while let Some(part) = parts.next_part() {
                let refused = ids(&part.rows).iter().any(|id| bad.contains(id));
                if !refused {
                    written.extend(ids(&part.rows));
                }
                parts.end(part, if refused { refusal() } else { Ok(()) }).expect("it is about the rows");
            }
            let aside: Vec<Vec<usize>> = parts.into_aside().iter().map(|aside| ids(&aside.rows)).collect();
            prop_assert!(written.windows(2).all(|pair| pair[0] < pair[1]));
            let mut all: Vec<usize> = written.iter().chain(aside.iter().flatten()).copied().collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..rows).collect::<Vec<_>>());
            for group in aside {
                prop_assert!(group.iter().any(|id| bad.contains(id)));
                // Only what a pair holds together is set aside together.
                prop_assert!(group.len() == 1 || moves.iter().any(|m| m.from as usize == group[0]));
            }
            for Move { from, to } in moves {
                prop_assert_eq!(written.contains(&(from as usize)), written.contains(&(to as usize)));
            }
        }
    }
}
