//! Finds the rows of a page that can't be written, by halves, so that the others can.
//!
//! A sink writes a part; when rows of it are refused, it undoes the part and both halves of it are written in turn, until
//! single rows are left. Parts come in the order of the page, so rows of one key keep theirs. The two rows of a changed
//! key stay together: without its first half the second could not be completed.

use faucet_core::error::{Blame, Code, Error, Result, Retry};
use faucet_core::model::Page;
use faucet_core::ports::SetAside;

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

/// The parts of a page that are still to be written.
#[derive(Debug)]
pub struct Parts {
    /// In reverse order.
    open: Vec<Page>,
    aside: Vec<SetAside>,
}

impl Parts {
    /// All of `page`.
    pub fn new(page: Page) -> Self {
        Self { open: vec![page], aside: Vec::new() }
    }

    /// The next part to write.
    pub fn next_part(&mut self) -> Option<Page> {
        self.open.pop()
    }

    /// Rows of `part` were refused, and nothing of it is written.
    pub fn refused(&mut self, part: Page, error: Error) {
        match cut(&part) {
            Some(at) => {
                self.open.push(part.slice(at, part.rows() - at));
                self.open.push(part.slice(0, at));
            }
            None => self.aside.push(SetAside { rows: part, error }),
        }
    }

    /// The rows that can't be written.
    pub fn into_aside(self) -> Vec<SetAside> {
        self.aside
    }
}

/// Where to cut a part in two: as near to its middle as the pairs of changed keys allow.
fn cut(part: &Page) -> Option<usize> {
    let middle = part.rows() / 2;
    let parts_pair = |at: usize| part.moves().iter().any(|m| (m.from as usize) < at && at <= m.to as usize);
    let places = (0..=middle).flat_map(|distance| [middle - distance, middle + distance]);
    places.into_iter().find(|&at| at > 0 && at < part.rows() && !parts_pair(at))
}

/// Refuses a page with a value in one of the columns at `left_out`, which have no place in `table`.
///
/// # Errors
/// `sink.quarantined`.
pub fn check_left_out(page: &Page, left_out: &[usize], table: &str) -> Result<()> {
    let has_value = |column: &&usize| page.columns()[**column].values().array().null_count() < page.rows();
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
            let (mut parts, mut written) = (Parts::new(page(rows, moves.clone())), Vec::new());
            while let Some(part) = parts.next_part() {
                match ids(&part).iter().any(|id| bad.contains(id)) {
                    true => parts.refused(part, Error::new(&QUARANTINED, "no")),
                    false => written.extend(ids(&part)),
                }
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
