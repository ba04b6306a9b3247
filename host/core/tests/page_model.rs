//! The page model against a naive model of rows, and raw buffers against strangers.
#![allow(missing_docs, clippy::unwrap_used)]

use faucet_core::model::{
    Column, Field, Interval, Kind, Page, PageBuilder, RawColumn, RawParts, Schema, TableId, ValueRef,
};
use proptest::prelude::*;
use std::sync::Arc;

/// One owned value: the naive model.
#[derive(Debug, Clone)]
enum Cell {
    Absent,
    Null,
    Bool(bool),
    I64(i64),
    U64(u64),
    F32(u32),
    F64(u64),
    Text(String),
    Bytes(Vec<u8>),
    Date(i32),
    Interval(Interval),
    Uuid([u8; 16]),
}

impl Cell {
    fn lend(&self, kind: Kind) -> ValueRef<'_> {
        match (self, kind) {
            (Cell::Absent, _) => ValueRef::Absent,
            (Cell::Null, _) => ValueRef::Null,
            (Cell::Bool(v), _) => ValueRef::Bool(*v),
            (Cell::I64(v), Kind::Time) => ValueRef::Time(*v),
            (Cell::I64(v), Kind::Timestamp) => ValueRef::Timestamp(*v),
            (Cell::I64(v), Kind::TimestampTz) => ValueRef::TimestampTz(*v),
            (Cell::I64(v), _) => ValueRef::I64(*v),
            (Cell::U64(v), _) => ValueRef::U64(*v),
            (Cell::F32(v), _) => ValueRef::F32(f32::from_bits(*v)),
            (Cell::F64(v), _) => ValueRef::F64(f64::from_bits(*v)),
            (Cell::Text(v), Kind::Decimal) => ValueRef::Decimal(v),
            (Cell::Text(v), Kind::Json) => ValueRef::Json(v),
            (Cell::Text(v), Kind::Native) => ValueRef::Native(v),
            (Cell::Text(v), _) => ValueRef::Text(v),
            (Cell::Bytes(v), _) => ValueRef::Bytes(v),
            (Cell::Date(v), _) => ValueRef::Date(*v),
            (Cell::Interval(v), _) => ValueRef::Interval(*v),
            (Cell::Uuid(v), _) => ValueRef::Uuid(v),
        }
    }
}

fn value(kind: Kind) -> BoxedStrategy<Cell> {
    match kind {
        Kind::Bool => any::<bool>().prop_map(Cell::Bool).boxed(),
        Kind::I64 | Kind::Timestamp | Kind::TimestampTz => any::<i64>().prop_map(Cell::I64).boxed(),
        Kind::Time => (0..=86_400_000_000i64).prop_map(Cell::I64).boxed(),
        Kind::U64 => any::<u64>().prop_map(Cell::U64).boxed(),
        // Any bits: signalling NaNs, payloads and -0 have to survive.
        Kind::F32 => any::<u32>().prop_map(Cell::F32).boxed(),
        Kind::F64 => prop_oneof![any::<u64>(), Just((-0.0f64).to_bits()), Just(0x7ff8_dead_beef_0001)]
            .prop_map(Cell::F64)
            .boxed(),
        Kind::Decimal => "-?[0-9]{1,40}(\\.[0-9]{0,30})?|NaN|-?Infinity".prop_map(Cell::Text).boxed(),
        Kind::Text | Kind::Native => "\\PC{0,12}".prop_map(Cell::Text).boxed(),
        Kind::Bytes => any::<Vec<u8>>().prop_map(Cell::Bytes).boxed(),
        Kind::Date => any::<i32>().prop_map(Cell::Date).boxed(),
        Kind::Interval => any::<(i32, i32, i64)>()
            .prop_map(|(months, days, microseconds)| Cell::Interval(Interval { months, days, microseconds }))
            .boxed(),
        Kind::Uuid => any::<[u8; 16]>().prop_map(Cell::Uuid).boxed(),
        Kind::Json => prop_oneof![Just("null"), Just("{\"a\": 1.50}"), Just("\"x\""), Just("9007199254740993")]
            .prop_map(|s| Cell::Text(s.to_owned()))
            .boxed(),
    }
}

fn cell(kind: Kind) -> impl Strategy<Value = Cell> {
    prop_oneof![1 => Just(Cell::Absent), 2 => Just(Cell::Null), 5 => value(kind)]
}

type Rows = Vec<Vec<Cell>>;

fn table() -> impl Strategy<Value = (Vec<Kind>, Rows)> {
    prop::collection::vec(prop::sample::select(Kind::ALL.to_vec()), 1..6).prop_flat_map(|kinds| {
        let row = kinds.iter().map(|&k| cell(k).boxed()).collect::<Vec<_>>();
        (Just(kinds), prop::collection::vec(row, 0..40))
    })
}

fn schema(kinds: &[Kind]) -> Arc<Schema> {
    let fields = kinds.iter().enumerate().map(|(i, &k)| Field::new(format!("c{i}"), k)).collect();
    Arc::new(Schema::new(TableId::new("public", "t"), fields))
}

fn build(kinds: &[Kind], rows: &Rows) -> Page {
    let mut page = PageBuilder::rows(schema(kinds));
    for row in rows {
        for ((column, cell), &kind) in page.columns().iter_mut().zip(row).zip(kinds) {
            column.push(cell.lend(kind));
        }
        page.end_row();
    }
    page.finish()
}

fn assert_rows(page: &Page, kinds: &[Kind], rows: &Rows) {
    assert_eq!(page.rows(), rows.len());
    for (r, row) in rows.iter().enumerate() {
        for (c, (cell, &kind)) in row.iter().zip(kinds).enumerate() {
            let (found, expected) = (page.row(r).get(c), cell.lend(kind));
            assert!(found.same(&expected), "row {r} column {c}: {found:?} is not {expected:?}");
        }
    }
}

fn own(raw: RawColumn<'_>) -> RawParts {
    RawParts {
        validity: raw.validity.into_owned(),
        absent: raw.absent.into_owned(),
        offsets: raw.offsets.into_owned(),
        data: raw.data.into_owned(),
    }
}

fn through_raw(page: &Page) -> Page {
    let columns = page
        .columns()
        .iter()
        .map(|c| Column::from_raw(c.kind(), page.rows(), own(c.to_raw())).expect("our own buffers are sound"))
        .collect();
    Page::new(page.schema().clone(), page.rows(), columns)
}

proptest! {
    #[test]
    fn rows_survive_pages_and_raw_buffers((kinds, rows) in table()) {
        let page = build(&kinds, &rows);
        assert_rows(&page, &kinds, &rows);
        assert_rows(&through_raw(&page), &kinds, &rows);
    }

    #[test]
    fn slices_survive_raw_buffers((kinds, rows) in table(), from in 0usize..40, len in 0usize..40) {
        let from = from.min(rows.len());
        let len = len.min(rows.len() - from);
        let page = build(&kinds, &rows).slice(from, len);
        let expected = rows[from..from + len].to_vec();
        assert_rows(&page, &kinds, &expected);
        assert_rows(&through_raw(&page), &kinds, &expected);
    }

    #[test]
    fn taking_rows_keeps_their_values((kinds, rows) in table(), picks in prop::collection::vec(any::<prop::sample::Index>(), 0..30)) {
        prop_assume!(!rows.is_empty());
        let picks: Vec<u32> = picks.iter().map(|i| i.index(rows.len()) as u32).collect();
        let expected: Rows = picks.iter().map(|&i| rows[i as usize].clone()).collect();
        let page = build(&kinds, &rows).take(&picks.into());
        assert_rows(&page, &kinds, &expected);
    }

    #[test]
    fn pages_join_to_the_rows_of_all((kinds, rows) in table(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4)) {
        let page = build(&kinds, &rows);
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(rows.len() + 1)).chain([rows.len()]).collect();
        ends.sort_unstable();
        let mut start = 0;
        let parts = ends.iter().map(|&end| page.slice(start, end - std::mem::replace(&mut start, end)));
        assert_rows(&Page::concat(parts.collect()), &kinds, &rows);
    }

    #[test]
    fn rows_survive_arrow_without_a_copy((kinds, rows) in table()) {
        let page = build(&kinds, &rows);
        let batch = page.to_record_batch();
        let back = Page::from_record_batch(page.schema().table.clone(), &batch).unwrap();
        assert_rows(&back, &kinds, &rows);
        for (ours, theirs) in page.columns().iter().zip(back.columns()) {
            prop_assert_eq!(ours.to_raw().data.as_ptr(), theirs.to_raw().data.as_ptr());
        }
    }

    #[test]
    fn buffers_of_strangers_never_panic(
        kind in prop::sample::select(Kind::ALL.to_vec()),
        rows in 0usize..20,
        validity in prop::collection::vec(any::<u8>(), 0..4),
        absent in prop::collection::vec(any::<u8>(), 0..4),
        offsets in prop::collection::vec(-2i32..40, 0..24),
        data in prop::collection::vec(any::<u8>(), 0..170),
    ) {
        let offsets = offsets.iter().flat_map(|o| o.to_le_bytes()).collect();
        if let Ok(column) = Column::from_raw(kind, rows, RawParts { validity, absent, offsets, data }) {
            prop_assert_eq!(column.len(), rows);
            (0..rows).for_each(|r| { std::hint::black_box(column.value(r)); });
        }
    }

    #[test]
    fn broken_copies_of_sound_buffers_never_panic(
        (kinds, rows) in table(), which in 0usize..4, at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        let page = build(&kinds, &rows);
        let mut raw = own(page.columns()[0].to_raw());
        let buffer = [&mut raw.validity, &mut raw.absent, &mut raw.offsets, &mut raw.data].into_iter().nth(which).unwrap();
        if !buffer.is_empty() {
            let at = at.index(buffer.len());
            if cut { buffer.truncate(at) } else { buffer[at] = byte }
        }
        if let Ok(column) = Column::from_raw(kinds[0], rows.len(), raw) {
            (0..rows.len()).for_each(|r| { std::hint::black_box(column.value(r)); });
        }
    }
}

#[test]
fn each_lie_is_named() {
    let text = |offsets: &[i32], data: &[u8]| RawParts {
        offsets: offsets.iter().flat_map(|o| o.to_le_bytes()).collect(),
        data: data.to_vec(),
        ..RawParts::default()
    };
    let error = |kind, rows, raw| Column::from_raw(kind, rows, raw).unwrap_err().to_string();
    assert_eq!(
        error(Kind::Text, 2, text(&[0, 2, 1], b"ab")),
        "the offset of row 1 is negative, falls or leaves the data"
    );
    assert_eq!(error(Kind::Text, 1, text(&[0, 9], b"ab")), "the data buffer has 2 bytes where its rows need 9");
    assert_eq!(error(Kind::Text, 2, text(&[0, 1, 2], "é".as_bytes())), "the text in row 0 is not UTF-8");
    assert_eq!(error(Kind::Text, 1, text(&[0, 1], &[0xff])), "the text in row 0 is not UTF-8");
    assert_eq!(error(Kind::Decimal, 1, text(&[0, 2], b"1,")), "the value in row 0 is not a decimal number");
    assert_eq!(error(Kind::Json, 1, text(&[0, 1], b"{")), "the value in row 0 is not JSON");
    let time = RawParts { data: (-1i64).to_le_bytes().to_vec(), ..RawParts::default() };
    assert_eq!(error(Kind::Time, 1, time), "the value in row 0 is not a time between 0 and 86400000000 microseconds");
    let absent = RawParts { absent: vec![1], data: vec![0; 8], ..RawParts::default() };
    assert_eq!(error(Kind::I64, 1, absent), "row 0 is marked absent and has a value");
}

#[test]
fn the_halves_of_a_changed_key_stay_together_or_part_for_good() {
    use faucet_core::model::Move;
    let rows: Rows = (0..4).map(|i| vec![Cell::I64(i)]).collect();
    let page = build(&[Kind::I64], &rows).with_moves(vec![Move { from: 1, to: 2 }]);
    assert_eq!(page.take(&vec![1, 2, 3].into()).moves(), [Move { from: 0, to: 1 }]);
    assert_eq!(page.take(&vec![0, 2].into()).moves(), []);
    assert_eq!(page.take(&vec![2, 1].into()).moves(), [], "an upsert before its delete is not a move");
    assert_eq!(page.slice(1, 3).moves(), [Move { from: 0, to: 1 }]);
    assert_eq!(page.slice(2, 2).moves(), []);
}
