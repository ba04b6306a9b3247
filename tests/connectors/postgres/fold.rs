//! The sink against a model that applies rows one by one.

use faucet_core::model::{Kind, Page, ValueRef};
use faucet_tests::fresh_database;
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use std::collections::BTreeMap;

use super::support::{TestSink, page, shown, with_moves};

/// One row of a page, or the two of a changed key.
#[derive(Debug, Clone)]
enum Step {
    Put { id: i64, big: Option<Option<String>>, n: Option<i64> },
    Delete { id: i64 },
    Move { from: i64, to: i64, big: Option<Option<String>>, n: i64 },
    Truncate,
}

type Model = BTreeMap<i64, (Option<String>, Option<i64>)>;

fn big() -> impl Strategy<Value = Option<Option<String>>> {
    prop_oneof![2 => Just(None), 1 => Just(Some(None)), 3 => "[a-z\\\\\t'\"]{0,6}".prop_map(|s| Some(Some(s)))]
}

fn step() -> impl Strategy<Value = Step> {
    let id = || 1..7_i64;
    prop_oneof![
        8 => (id(), big(), prop::option::weighted(0.8, 0..100_i64)).prop_map(|(id, big, n)| Step::Put { id, big, n }),
        3 => id().prop_map(|id| Step::Delete { id }),
        4 => (id(), id(), big(), 0..100_i64).prop_map(|(from, to, big, n)| Step::Move { from, to, big, n }),
        1 => any::<bool>().prop_map(|_| Step::Truncate),
    ]
}

/// Applies a step to the model. A move whose old key is not there, or whose new key is, can't come from a source; such
/// steps are left out.
fn apply(model: &mut Model, step: &Step) -> bool {
    match step {
        Step::Put { id, big, n } => match model.get_mut(id) {
            Some(row) => {
                row.0 = big.clone().unwrap_or(row.0.clone());
                row.1 = n.or(row.1);
            }
            None => {
                if let (Some(big), Some(n)) = (big, n) {
                    model.insert(*id, (big.clone(), Some(*n)));
                }
            }
        },
        Step::Delete { id } => _ = model.remove(id),
        Step::Move { from, to, .. } if from == to || !model.contains_key(from) || model.contains_key(to) => {
            return false;
        }
        Step::Move { from, to, big, n } => {
            let old = model.remove(from).unwrap();
            model.insert(*to, (big.clone().unwrap_or(old.0), Some(*n)));
        }
        Step::Truncate => model.clear(),
    }
    true
}

fn text(big: &Option<Option<String>>) -> ValueRef<'_> {
    match big {
        None => ValueRef::Absent,
        Some(None) => ValueRef::Null,
        Some(Some(text)) => ValueRef::Text(text),
    }
}

fn to_page(steps: &[Step]) -> Page {
    use ValueRef::{Absent, I64, Text};
    let (mut rows, mut moves) = (Vec::new(), Vec::new());
    for step in steps {
        match step {
            Step::Put { id, big, n } => rows.push(vec![I64(*id), text(big), n.map_or(Absent, I64), Text("u")]),
            Step::Delete { id } => rows.push(vec![I64(*id), Absent, Absent, Text("d")]),
            Step::Move { from, to, big, n } => {
                moves.push((rows.len() as u32, rows.len() as u32 + 1));
                rows.push(vec![I64(*from), Absent, Absent, Text("d")]);
                rows.push(vec![I64(*to), text(big), I64(*n), Text("u")]);
            }
            Step::Truncate => rows.push(vec![Absent, Absent, Absent, Text("t")]),
        }
    }
    let columns = [("id", Kind::I64), ("big", Kind::Text), ("n", Kind::I64), ("__op", Kind::Text)];
    with_moves(page(&columns, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>()), &moves)
}

#[test]
fn any_page_ends_as_its_rows_applied_one_by_one() {
    let db = fresh_database();
    db.client().execute("CREATE TABLE t (id int PRIMARY KEY, big text, n int)");
    let config = json!({
        "table_name": "t", "write_mode": "upsert", "key": ["id"], "delete_marker": { "field": "__op", "values": ["d"] }
    });
    let mut sink = TestSink::open(&db, config);
    let (mut runner, mut model) = (TestRunner::new(Config::default()), Model::new());
    for round in 0..300 {
        let steps = prop::collection::vec(step(), 1..30).new_tree(&mut runner).unwrap().current();
        let steps: Vec<Step> = steps.into_iter().filter(|step| apply(&mut model, step)).collect();
        if steps.is_empty() {
            continue;
        }
        sink.write(&to_page(&steps)).unwrap();
        if round % 3 != 0 {
            continue;
        }
        sink.commit().unwrap();
        let null = || "NULL".to_owned();
        let row = |(id, (big, n)): (&i64, &(Option<String>, Option<i64>))| {
            format!("{id}|{}|{}", big.clone().unwrap_or_else(null), n.map_or_else(null, |n| n.to_string()))
        };
        let expected: Vec<String> = model.iter().map(row).collect();
        assert_eq!(shown(&db, "SELECT * FROM t ORDER BY id"), expected, "after {steps:?}");
    }
}
