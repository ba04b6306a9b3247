//! Whatever a page holds, it crosses into a component and back bit for bit.

use crate::built::{apply, plugin};
use faucet_core::model::{ColumnBuilder, Field, Interval, Kind, Page, Schema, TableId, ValueRef};
use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::prop_assert_eq;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;
use std::cell::RefCell;
use std::sync::Arc;

/// A page with a column of every kind, nulls and absent values in some of them.
fn random_page(random: &mut StdRng) -> Page {
    let rows = random.random_range(0..150);
    let field = |(at, kind): (usize, &Kind)| Field::new(format!("c{at}"), *kind).native(format!("test:{at}"));
    let fields = Kind::ALL.iter().enumerate().map(field).collect();
    let schema = Schema::new(TableId::new("s", "t"), fields).with_key(vec![1, 6]);
    let columns = Kind::ALL.map(|kind| {
        let gaps = random.random_range(0..3);
        let mut column = ColumnBuilder::new(kind);
        for _ in 0..rows {
            match random.random_range(0..4) {
                0 if gaps > 0 => column.push_null(),
                1 if gaps > 1 => column.push_absent(),
                _ => push_random(&mut column, kind, random),
            }
        }
        column.finish()
    });
    Page::new(Arc::new(schema), rows, columns.into())
}

fn push_random(column: &mut ColumnBuilder, kind: Kind, random: &mut StdRng) {
    let text: String = (0..random.random_range(0..12)).map(|_| random.random::<char>()).collect();
    let bytes: [u8; 16] = random.random();
    let long = if random.random_bool(0.1) { i64::MAX } else { random.random() };
    let interval = Interval { months: random.random(), days: random.random(), microseconds: long };
    let decimal = format!("{}.{:05}", random.random::<i32>(), random.random_range(0..100_000));
    column.push(match kind {
        Kind::Bool => ValueRef::Bool(random.random()),
        Kind::I64 => ValueRef::I64(long),
        Kind::U64 => ValueRef::U64(random.random()),
        Kind::F32 => ValueRef::F32(f32::from_bits(random.random())),
        Kind::F64 => ValueRef::F64(f64::from_bits(random.random())),
        Kind::Decimal => ValueRef::Decimal(&decimal),
        Kind::Text => ValueRef::Text(&text),
        Kind::Bytes => ValueRef::Bytes(&bytes[..random.random_range(0..16)]),
        Kind::Date => ValueRef::Date(random.random()),
        Kind::Time => ValueRef::Time(random.random_range(0..=86_400_000_000)),
        Kind::Timestamp => ValueRef::Timestamp(long),
        Kind::TimestampTz => ValueRef::TimestampTz(long),
        Kind::Interval => ValueRef::Interval(interval),
        Kind::Uuid => ValueRef::Uuid(&bytes),
        Kind::Json => ValueRef::Json(["null", "{}", "[1, 2.50]", "\"x\""][random.random_range(0..4)]),
        Kind::Native => ValueRef::Native(&text),
    });
}

fn assert_identical(page: &Page, out: &Page) {
    assert_eq!(page.schema(), out.schema());
    for (column, other) in page.columns().iter().zip(out.columns()) {
        assert_eq!(column.len(), other.len());
        for row in 0..column.len() {
            let (value, echoed) = (column.value(row), other.value(row));
            assert!(value.same(&echoed), "{value:?} {echoed:?}");
        }
    }
}

#[test]
fn a_page_comes_back_bit_for_bit() {
    let echo = plugin("tests/hostile/guests", "echo");
    let transforms = ["buffers", "pass"].map(|mode| RefCell::new(echo.open(json!(mode)).unwrap()));
    proptest!(ProptestConfig::with_cases(64), |(seed in any::<u64>())| {
        let mut random = StdRng::seed_from_u64(seed);
        let page = random_page(&mut random);
        let start = random.random_range(0..=page.rows());
        let part = page.slice(start, random.random_range(0..=page.rows() - start));
        for transform in &transforms {
            for page in [&page, &part] {
                let mut out = apply(&mut transform.borrow_mut(), page.clone()).unwrap();
                prop_assert_eq!(out.pages.len(), 1);
                assert_identical(page, &out.pages.remove(0));
            }
        }
    });
}

#[test]
fn what_is_passed_through_is_the_same_memory() {
    let mut pass = plugin("tests/hostile/guests", "echo").open(json!("pass")).unwrap();
    let page = random_page(&mut StdRng::seed_from_u64(5));
    let out = apply(&mut pass, page.clone()).unwrap().pages.remove(0);
    assert!(Arc::ptr_eq(page.schema(), out.schema()));
    for (column, other) in page.columns().iter().zip(out.columns()) {
        let (before, after) = (column.to_raw(), other.to_raw());
        assert_eq!(before.data.as_ptr(), after.data.as_ptr());
    }
}

#[test]
fn a_schema_that_repeats_is_shared() {
    let mut mask = plugin("guests", "mask").open(json!({ "columns": ["c15"], "on_missing": "ignore" })).unwrap();
    let page = random_page(&mut StdRng::seed_from_u64(5));
    let first = apply(&mut mask, page.clone()).unwrap().pages.remove(0);
    let second = apply(&mut mask, page).unwrap().pages.remove(0);
    assert!(Arc::ptr_eq(first.schema(), second.schema()));
    assert_eq!(first.schema().fields[15].kind, Kind::Text, "native becomes text");
}
