use super::*;
use faucet_core::model::{Field, Kind, Move, PageBuilder, Schema, TableId};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// `note` and `n`; the key stands beside them.
type Row = (String, i64);
type Table = BTreeMap<i64, Row>;

/// What a new row has where nothing was sent.
const DEFAULT: (&str, i64) = ("default", -1);

/// What a source did, as the rows that `cdc_unwrap` makes of it: (op, id, note, n), `None` for what is not sent.
#[derive(Default)]
struct Log {
    rows: Vec<(RowOp, i64, Option<String>, Option<i64>)>,
    moves: Vec<Move>,
}

impl Log {
    fn row(&mut self, op: RowOp, id: i64, note: Option<&str>, n: Option<i64>) -> u32 {
        self.rows.push((op, id, note.map(str::to_owned), n));
        self.rows.len() as u32 - 1
    }

    /// Columns `id`, `note`, `n` and a marker that a fold must not look at.
    fn page(&self) -> (Page, Vec<RowOp>) {
        let kinds = [("id", Kind::I64), ("note", Kind::Text), ("n", Kind::I64), ("op", Kind::I64)];
        let fields = kinds.into_iter().map(|(name, kind)| Field::new(name, kind)).collect();
        let mut page = PageBuilder::rows(Arc::new(Schema::new(TableId::bare("t"), fields)));
        for (op, id, note, n) in &self.rows {
            let columns = page.columns();
            columns[0].push_i64(*id);
            columns[1].push(note.as_deref().map_or(ValueRef::Absent, ValueRef::Text));
            columns[2].push(n.map_or(ValueRef::Absent, ValueRef::I64));
            columns[3].push_i64(*op as i64);
            page.end_row();
        }
        let ops = self.rows.iter().map(|row| row.0).collect();
        (page.finish().with_moves(self.moves.clone()), ops)
    }
}

fn folded(log: &Log) -> (Page, Folded) {
    let (page, ops) = log.page();
    let folded = fold(&page, &[0], Some(3), Some(&ops));
    (page, folded)
}

/// What a set-based sink does with a fold: fill from the destination as it was, delete, put. Returns what it skipped.
fn apply(table: &mut Table, page: &Page, folded: &Folded) -> u64 {
    let mut skipped = folded.skipped;
    if folded.truncate {
        table.clear();
    }
    let was = table.clone();
    let id = |row: u32| match page.columns()[0].value(row as usize) {
        ValueRef::I64(id) => id,
        _ => unreachable!("the key is always there"),
    };
    for row in &folded.deletes {
        table.remove(&id(*row));
    }
    for upsert in &folded.upserts {
        let own = was.get(&id(upsert.row));
        let under = match upsert.rest {
            Rest::Complete | Rest::Defaults => None,
            Rest::Own | Rest::OwnOrDefaults => own,
            Rest::Moved { from, own_first: true } => own.or(was.get(&id(from))),
            Rest::Moved { from, own_first: false } => was.get(&id(from)).or(own),
        };
        if matches!(upsert.rest, Rest::Own | Rest::Moved { .. }) && under.is_none() {
            skipped += 1;
            continue;
        }
        let slot = |column: usize| page.columns()[column].value(folded.source(page, column, upsert.row) as usize);
        let note = match slot(1) {
            ValueRef::Text(note) => note.to_owned(),
            _ => under.map_or_else(|| DEFAULT.0.to_owned(), |row| row.0.clone()),
        };
        let n = match slot(2) {
            ValueRef::I64(n) => n,
            _ => under.map_or(DEFAULT.1, |row| row.1),
        };
        table.insert(id(upsert.row), (note, n));
    }
    skipped
}

/// What a source does to its rows.
#[derive(Debug, Clone)]
enum Act {
    Insert(i64, String, i64),
    /// Changes `n`; the note is sent or not.
    Update(i64, i64, bool),
    /// Changes the key and `n`; the note is sent or not.
    Move(i64, i64, i64, bool),
    Delete(i64),
    Truncate,
    /// Three moves over a free key.
    SwapByHand(i64, i64),
    /// One statement under a deferred constraint, which sends old rows whole.
    SwapDeferred(i64, i64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let id = || 1..6_i64;
    prop::collection::vec(
        prop_oneof![
            4 => (id(), "[a-c]{0,2}", 0..9_i64).prop_map(|(id, note, n)| Act::Insert(id, note, n)),
            4 => (id(), 0..9_i64, any::<bool>()).prop_map(|(id, n, sent)| Act::Update(id, n, sent)),
            4 => (id(), id(), 0..9_i64, any::<bool>()).prop_map(|(from, to, n, sent)| Act::Move(from, to, n, sent)),
            2 => id().prop_map(Act::Delete),
            1 => Just(Act::Truncate),
            1 => (id(), id()).prop_map(|(a, b)| Act::SwapByHand(a, b)),
            2 => (id(), id()).prop_map(|(a, b)| Act::SwapDeferred(a, b)),
        ],
        1..25,
    )
}

/// Does what the source would do, and logs what it would send. Acts that its constraints forbid are left out.
fn run(table: &mut Table, log: &mut Log, act: &Act, full: bool) {
    match act {
        Act::Insert(id, note, n) if !table.contains_key(id) => {
            table.insert(*id, (note.clone(), *n));
            log.row(RowOp::Upsert, *id, Some(note), Some(*n));
        }
        Act::Update(id, n, sent) => {
            let Some(row) = table.get_mut(id) else { return };
            row.1 = *n;
            let note = (*sent || full).then_some(row.0.as_str());
            log.row(RowOp::Update, *id, note, Some(*n));
        }
        Act::Move(from, to, n, sent) if !table.contains_key(to) => {
            let Some(old) = table.remove(from) else { return };
            let half = log.row(RowOp::Delete, *from, full.then_some(&old.0), full.then_some(old.1));
            let note = (*sent || full).then_some(old.0.as_str());
            let to_half = log.row(RowOp::Update, *to, note, Some(*n));
            log.moves.push(Move { from: half, to: to_half });
            table.insert(*to, (old.0, *n));
        }
        Act::Delete(id) => {
            let Some(old) = table.remove(id) else { return };
            log.row(RowOp::Delete, *id, full.then_some(&old.0), full.then_some(old.1));
        }
        Act::Truncate => {
            table.clear();
            log.row(RowOp::Truncate, 0, None, None);
        }
        Act::SwapByHand(a, b) if a != b && table.contains_key(a) && table.contains_key(b) => {
            let (n_a, n_b) = (table[a].1, table[b].1);
            for (from, to, n) in [(*a, 99, n_a), (*b, *a, n_b), (99, *b, n_a)] {
                run(table, log, &Act::Move(from, to, n, false), full);
            }
        }
        Act::SwapDeferred(a, b)
            if full && table.get(a) != table.get(b) && table.contains_key(a) && table.contains_key(b) =>
        {
            let (old_a, old_b) = (table[a].clone(), table[b].clone());
            for (from, to, row) in [(a, b, &old_a), (b, a, &old_b)] {
                let half = log.row(RowOp::Delete, *from, Some(&row.0), Some(row.1));
                let to_half = log.row(RowOp::Update, *to, Some(&row.0), Some(row.1));
                log.moves.push(Move { from: half, to: to_half });
            }
            table.insert(*a, old_b);
            table.insert(*b, old_a);
        }
        Act::Insert(..) | Act::Move(..) | Act::SwapByHand(..) | Act::SwapDeferred(..) => {}
    }
}

fn start() -> Table {
    (1..4).map(|id| (id, (format!("start{id}"), 100 + id))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_destination_ends_as_the_source_did(acts in acts(), full: bool, cut in 0..25_usize) {
        let (mut source, mut destination) = (start(), start());
        // Two pages, so that a page meets rows it does not know.
        for part in [&acts[..cut.min(acts.len())], &acts[cut.min(acts.len())..]] {
            let mut log = Log::default();
            part.iter().for_each(|act| run(&mut source, &mut log, act, full));
            let (page, folded) = folded(&log);
            apply(&mut destination, &page, &folded);
        }
        prop_assert_eq!(source, destination);
    }

    #[test]
    fn a_replayed_page_changes_nothing(acts in acts()) {
        let (mut source, mut destination, mut log) = (start(), start(), Log::default());
        acts.iter().for_each(|act| run(&mut source, &mut log, act, true));
        let (page, folded) = folded(&log);
        apply(&mut destination, &page, &folded);
        apply(&mut destination, &page, &folded);
        prop_assert_eq!(source, destination);
    }

    #[test]
    fn rows_without_moves_fold_as_if_applied_one_by_one(
        rows in prop::collection::vec(
            (prop_oneof![4 => Just(RowOp::Upsert), 4 => Just(RowOp::Update), 2 => Just(RowOp::Delete), 1 => Just(RowOp::Truncate), 1 => Just(RowOp::Skip)],
             1..6_i64, prop::option::of("[a-c]"), prop::option::of(0..9_i64)), 1..25)
    ) {
        let (mut one_by_one, mut at_once, mut skipped) = (start(), start(), 0);
        // A partial put after an update that found no row is left out: it takes that update's values (F3).
        let mut lost = std::collections::BTreeSet::new();
        let mut done = Vec::new();
        for (op, id, note, n) in rows {
            let partial = note.is_none() || n.is_none();
            if op == RowOp::Upsert && partial && lost.contains(&id) {
                continue;
            }
            if matches!(op, RowOp::Delete | RowOp::Truncate) || (op != RowOp::Skip && !partial) {
                lost.retain(|other| op != RowOp::Truncate && *other != id);
            }
            match (op, one_by_one.get_mut(&id)) {
                (RowOp::Upsert | RowOp::Update, Some(row)) => {
                    *row = (note.clone().unwrap_or(row.0.clone()), n.unwrap_or(row.1));
                }
                (RowOp::Update, None) if partial => {
                    skipped += 1;
                    lost.insert(id);
                }
                (RowOp::Upsert | RowOp::Update, None) => {
                    let note = note.clone().unwrap_or(DEFAULT.0.to_owned());
                    one_by_one.insert(id, (note, n.unwrap_or(DEFAULT.1)));
                }
                (RowOp::Delete, _) => {
                    one_by_one.remove(&id);
                }
                (RowOp::Truncate, _) => one_by_one.clear(),
                (RowOp::Skip, _) => {}
            }
            done.push((op, id, note, n));
        }
        let log = Log { rows: done, moves: Vec::new() };
        let (page, folded) = folded(&log);
        let also_skipped = apply(&mut at_once, &page, &folded);
        prop_assert_eq!(one_by_one, at_once);
        // Several partial puts of one row that is nowhere count once; those that a delete follows don't count.
        prop_assert!(also_skipped <= skipped);
    }
}

fn note(page: &Page, folded: &Folded, upsert: usize) -> String {
    let row = folded.source(page, 1, folded.upserts[upsert].row);
    match page.columns()[1].value(row as usize) {
        ValueRef::Text(note) => note.to_owned(),
        _ => String::new(),
    }
}

#[test]
fn an_absent_slot_takes_the_value_of_the_row_it_continues() {
    let mut log = Log::default();
    log.row(RowOp::Upsert, 1, Some("first"), Some(1));
    log.row(RowOp::Update, 1, None, Some(2));
    log.row(RowOp::Update, 1, None, Some(3));
    let (page, folded) = folded(&log);
    assert_eq!(folded.upserts, [Upsert { row: 2, rest: Rest::Complete }]);
    assert_eq!(note(&page, &folded, 0), "first");
}

#[test]
fn a_moved_row_brings_its_rest_along() {
    let mut log = Log::default();
    let from = log.row(RowOp::Delete, 1, None, None);
    let to = log.row(RowOp::Update, 2, None, Some(5));
    log.moves.push(Move { from, to });
    let (_, folded) = folded(&log);
    assert_eq!(folded.upserts, [Upsert { row: 1, rest: Rest::Moved { from: 0, own_first: true } }]);
    assert_eq!(folded.deletes, [0]);
}

#[test]
fn a_partial_put_makes_a_row_and_says_that_the_old_one_goes() {
    let mut log = Log::default();
    log.row(RowOp::Upsert, 7, None, Some(1));
    log.row(RowOp::Delete, 1, None, None);
    log.row(RowOp::Upsert, 1, None, Some(5));
    let (_, folded) = folded(&log);
    let expected = [Upsert { row: 0, rest: Rest::OwnOrDefaults }, Upsert { row: 2, rest: Rest::Defaults }];
    assert_eq!((folded.skipped, folded.deletes, folded.upserts), (0, vec![1], expected.to_vec()));
}

#[test]
fn an_update_that_nothing_lies_under_is_skipped() {
    let mut log = Log::default();
    log.row(RowOp::Delete, 1, None, None);
    log.row(RowOp::Update, 1, None, Some(5));
    let (_, folded) = folded(&log);
    assert_eq!((folded.skipped, folded.deletes, folded.upserts), (1, vec![0], vec![]));
}

#[test]
fn rising_keys_are_taken_as_they_are() {
    let mut log = Log::default();
    (0..5).for_each(|id| _ = log.row(RowOp::Upsert, id, Some("x"), Some(1)));
    let (page, _) = log.page();
    let quick = fold(&page, &[0], Some(3), None);
    let (_, slow) = folded(&log);
    assert_eq!(quick.upserts, slow.upserts);
}
