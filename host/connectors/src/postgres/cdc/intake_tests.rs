#![allow(clippy::unwrap_used)]

use super::super::decode::Value;
use super::super::sample::Bytes;
use super::*;
use faucet_core::model::{Field, Kind, Op, Schema, TableId, ValueRef};
use proptest::prelude::*;
use std::sync::Arc;

const TABLE: u32 = 16_384;
const OTHER: u32 = 16_390;

fn at(lsn: u64) -> Place {
    Place { lsn: Lsn(lsn), system: "7".into(), timeline: 1 }
}

/// A table with columns `id` (its key) and `note`.
fn table(name: &str, root: Option<u32>) -> Resolved {
    let fields = vec![Field::new("id", Kind::I64), Field::new("note", Kind::Text)];
    let schema = Schema::new(TableId::new("public", name), fields).with_key(vec![0]);
    Resolved { schema: Arc::new(schema), place: vec![0, 1], key: vec![true, false], root }
}

fn intake(start: u64, batch_rows: usize) -> Intake {
    let mut intake = Intake::new(at(start), batch_rows);
    intake.resolved(TABLE, table("t", None));
    intake.resolved(OTHER, table("o", None));
    intake
}

fn begin(commit: u64) -> Vec<u8> {
    Bytes::kind(b'B').u64(commit).u64(commit * 10).u32(1).0
}

fn commit(commit: u64) -> Vec<u8> {
    Bytes::kind(b'C').u8(0).u64(commit).u64(commit + 8).u64(commit * 10).0
}

fn insert(table: u32, id: &str) -> Vec<u8> {
    Bytes::kind(b'I').u32(table).tuple(b'N', &[Value::Text(id.as_bytes()), Value::Text(b"x")]).0
}

fn truncate(tables: &[u32]) -> Vec<u8> {
    let counted = Bytes::kind(b'T').u32(tables.len() as u32).u8(0);
    tables.iter().fold(counted, |bytes, table| bytes.u32(*table)).0
}

fn bookmark(batch: &Batch) -> u64 {
    match &batch.boundary {
        Boundary::Commit(Some(bookmark)) => Place::from_bookmark(bookmark).unwrap().lsn.0,
        other => panic!("{other:?}"),
    }
}

fn ids(batch: &Batch) -> Vec<i64> {
    let id = |value| match value {
        ValueRef::I64(id) => id,
        other => panic!("{other:?}"),
    };
    batch.pages.iter().flat_map(|p| (0..p.rows()).map(move |r| id(p.row(r).get(0)))).collect()
}

#[test]
fn a_bookmark_is_the_end_of_the_last_commit() {
    let mut intake = intake(0, 100);
    assert_eq!(intake.take(&begin(100)).unwrap(), Step::Go);
    assert_eq!(intake.take(&insert(TABLE, "1")).unwrap(), Step::Go);
    assert!(intake.is_inside() && !intake.has_moved());
    assert_eq!(intake.take(&commit(100)).unwrap(), Step::Ended);
    assert!(intake.has_moved());
    let batch = intake.finish();
    assert_eq!((bookmark(&batch), ids(&batch)), (108, vec![1]));
    let change = batch.pages[0].change().unwrap();
    assert_eq!((change.ops[0], change.committed_at[0]), (Op::Insert, 1000 + 946_684_800_000_000));
    assert!(!intake.has_moved() && intake.is_empty());
}

#[test]
fn whole_transactions_before_the_start_are_skipped_and_nothing_else() {
    let mut intake = intake(108, 100);
    for (lsn, id) in [(90, "1"), (100, "2"), (108, "3")] {
        intake.take(&begin(lsn)).unwrap();
        intake.take(&insert(TABLE, id)).unwrap();
        intake.take(&insert(TABLE, id)).unwrap();
        intake.take(&commit(lsn)).unwrap();
    }
    let batch = intake.finish();
    assert_eq!((bookmark(&batch), ids(&batch)), (116, vec![3, 3]));
    let positions = &batch.pages[0].change().unwrap().positions;
    assert_eq!(positions.get(1), [108_u64.to_be_bytes(), 1_u64.to_be_bytes()].concat());
}

#[test]
fn a_keepalive_moves_the_position_only_between_transactions() {
    let mut intake = intake(50, 100);
    intake.take(&begin(100)).unwrap();
    intake.keepalive(Lsn(500));
    assert_eq!(intake.position(), Lsn(50));
    intake.take(&commit(100)).unwrap();
    assert_eq!(intake.position(), Lsn(108));
    intake.keepalive(Lsn(500));
    intake.keepalive(Lsn(400));
    let batch = intake.finish();
    assert_eq!((bookmark(&batch), batch.rows()), (500, 0));
    // A message outside a transaction stands in the log like a commit; one inside belongs to its transaction.
    let message = |flags| Bytes::kind(b'M').u8(flags).u64(900).text("p").u32(0).0;
    intake.take(&begin(600)).unwrap();
    intake.take(&message(1)).unwrap();
    intake.take(&message(0)).unwrap();
    assert_eq!(intake.position(), Lsn(500));
    intake.take(&commit(600)).unwrap();
    intake.take(&message(0)).unwrap();
    assert_eq!(intake.position(), Lsn(900));
}

#[test]
fn a_large_transaction_is_cut_and_the_next_end_ends_a_batch() {
    let mut intake = intake(0, 3);
    intake.take(&begin(100)).unwrap();
    intake.take(&insert(TABLE, "1")).unwrap();
    intake.take(&insert(TABLE, "2")).unwrap();
    assert_eq!(intake.take(&insert(TABLE, "3")).unwrap(), Step::Full);
    let first = intake.finish();
    assert_eq!((ids(&first), first.boundary), (vec![1, 2, 3], Boundary::Inside));
    assert_eq!(intake.take(&insert(TABLE, "4")).unwrap(), Step::Go);
    assert_eq!(intake.take(&commit(100)).unwrap(), Step::Ended);
    assert!(intake.is_due());
    let second = intake.finish();
    assert_eq!((ids(&second), bookmark(&second)), (vec![4], 108));
    let positions = &second.pages[0].change().unwrap().positions;
    assert_eq!(positions.get(0)[15], 3);
    assert!(!intake.is_due());
}

#[test]
fn a_small_transaction_is_never_cut_for_what_came_before_it() {
    let mut intake = intake(0, 4);
    for lsn in [100, 200, 300] {
        intake.take(&begin(lsn)).unwrap();
        for _ in 0..3 {
            assert_eq!(intake.take(&insert(TABLE, "1")).unwrap(), Step::Go);
        }
        intake.take(&commit(lsn)).unwrap();
        if intake.is_due() {
            assert_eq!(bookmark(&intake.finish()), lsn + 8);
        }
    }
    assert!(!intake.is_empty());
}

#[test]
fn pages_are_one_per_table_and_no_longer_than_asked() {
    let mut intake = intake(0, 4);
    intake.take(&begin(100)).unwrap();
    for (table, id) in [(OTHER, "1"), (TABLE, "2"), (OTHER, "3")] {
        intake.take(&insert(table, id)).unwrap();
    }
    intake.take(&commit(100)).unwrap();
    intake.take(&begin(200)).unwrap();
    for id in ["4", "5", "6"] {
        intake.take(&insert(OTHER, id)).unwrap();
    }
    intake.take(&commit(200)).unwrap();
    let batch = intake.finish();
    let shape: Vec<_> = batch.pages.iter().map(|p| (p.schema().table.name.to_string(), p.rows())).collect();
    assert_eq!(shape, [("o".to_owned(), 4), ("o".to_owned(), 1), ("t".to_owned(), 1)]);
    assert_eq!(ids(&batch), [1, 3, 4, 5, 6, 2]);
}

#[test]
fn a_changed_schema_ends_the_page_and_an_equal_one_does_not() {
    let mut intake = intake(0, 100);
    intake.take(&begin(100)).unwrap();
    intake.take(&insert(TABLE, "1")).unwrap();
    intake.resolved(TABLE, table("t", None));
    intake.take(&insert(TABLE, "2")).unwrap();
    let mut wider = table("t", None);
    let mut schema = (*wider.schema).clone();
    schema.fields.push(Field::new("more", Kind::I64));
    wider.schema = Arc::new(schema);
    wider.place = vec![0, 1, 2];
    wider.key = vec![true, false, false];
    intake.resolved(TABLE, wider);
    let row = [Value::Text(b"3"), Value::Null, Value::Text(b"7")];
    intake.take(&Bytes::kind(b'I').u32(TABLE).tuple(b'N', &row).0).unwrap();
    intake.take(&commit(100)).unwrap();
    let batch = intake.finish();
    assert_eq!(batch.pages.iter().map(|p| p.rows()).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn a_partitioned_table_is_truncated_only_when_all_its_partitions_are() {
    let (first, second, root) = (1, 2, 9);
    let mut intake = intake(0, 100);
    intake.resolved(first, table("p", Some(root)));
    intake.resolved(second, table("p", Some(root)));
    let leaves = HashMap::from([(root, vec![first, second])]);
    let mut emptied = |tables: &[u32]| {
        intake.take(&begin(100)).unwrap();
        assert_eq!(intake.take(&truncate(tables)).unwrap(), Step::Ask);
        assert_eq!(intake.question(), Some(&Question::Truncate(tables.to_vec())));
        assert_eq!(intake.roots(tables), [root]);
        intake.truncated(tables, &leaves).unwrap();
        intake.take(&commit(100)).unwrap();
        intake.finish().rows()
    };
    assert_eq!(emptied(&[first, second]), 1);
    assert_eq!(emptied(&[first]), 0);
    assert_eq!(emptied(&[second, TABLE, first]), 2);
}

#[test]
fn messages_out_of_turn_are_corrupt() {
    let code = |messages: &[Vec<u8>]| {
        let mut intake = intake(0, 100);
        let mut results = messages.iter().map(|m| intake.take(m));
        results.find_map(Result::err).unwrap().code().id
    };
    let corrupt = "postgres.stream_corrupt";
    assert_eq!(code(&[insert(TABLE, "1")]), corrupt);
    assert_eq!(code(&[commit(100)]), corrupt);
    assert_eq!(code(&[begin(100), begin(200)]), corrupt);
    assert_eq!(code(&[begin(100), commit(200)]), corrupt);
    assert_eq!(code(&[begin(100), insert(77, "1")]), corrupt);
    let narrow = Bytes::kind(b'I').u32(TABLE).tuple(b'N', &[Value::Null]).0;
    assert_eq!(code(&[begin(100), narrow]), corrupt);
    let malformed = insert(TABLE, "seven");
    assert_eq!(code(&[begin(100), malformed]), "postgres.value_malformed");
}

#[test]
fn a_relation_waits_for_its_answer() {
    let mut intake = intake(0, 100);
    intake.take(&Bytes::kind(b'Y').u32(20_000).text("shop").text("mood").0).unwrap();
    let relation = Bytes::kind(b'R').u32(5).text("public").text("n").u8(b'd').u16(1);
    let step = intake.take(&relation.u8(1).text("m").u32(20_000).u32(u32::MAX).0).unwrap();
    assert_eq!(step, Step::Ask);
    let Some(Question::Relation(described)) = intake.question() else { panic!("no question") };
    assert_eq!(described.columns[0].type_name.as_deref(), Some("shop.mood"));
    intake.resolved(5, table("n", None));
    assert_eq!(intake.question(), None);
}

proptest! {
    /// Whatever the sizes: every change once, in order, and never more than two thirds of a batch too many.
    #[test]
    fn nothing_is_lost_between_batches(sizes in prop::collection::vec(1usize..12, 1..40), batch_rows in 1usize..6) {
        let mut intake = intake(0, batch_rows);
        let mut batches = Vec::new();
        let mut next = 0_i64;
        for (index, size) in sizes.iter().enumerate() {
            let lsn = 100 * (index as u64 + 1);
            intake.take(&begin(lsn)).unwrap();
            for _ in 0..*size {
                if intake.take(&insert(TABLE, &next.to_string())).unwrap() == Step::Full {
                    batches.push(intake.finish());
                }
                next += 1;
            }
            if intake.take(&commit(lsn)).unwrap() == Step::Ended && intake.is_due() {
                batches.push(intake.finish());
            }
        }
        batches.push(intake.finish());
        let all: Vec<i64> = batches.iter().flat_map(ids).collect();
        prop_assert_eq!(all, (0..next).collect::<Vec<_>>());
        for pair in batches.windows(2) {
            prop_assert!(pair[0].rows() < 2 * batch_rows + 1);
            // S3: what follows a cut is at most one transaction's rest.
            if pair[0].boundary == Boundary::Inside && pair[1].boundary != Boundary::Inside {
                prop_assert!(pair[1].rows() <= batch_rows);
            }
        }
        prop_assert_eq!(bookmark(batches.last().unwrap()), 100 * sizes.len() as u64 + 8);
    }
}
