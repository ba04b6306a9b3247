use super::*;
use crate::model::{Op, PageBuilder, TableId, ValueRef};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// `id`, `note` (what TOAST would leave out), `n`.
fn schema(key: Vec<usize>) -> Arc<Schema> {
    let fields = vec![Field::new("id", Kind::I64), Field::new("note", Kind::Text), Field::new("n", Kind::I64)];
    Arc::new(Schema::new(TableId::new("public", "t"), fields).with_key(key))
}

type Row = (i64, String, i64);

/// What the source does.
#[derive(Debug, Clone)]
enum Act {
    Put {
        id: i64,
        note: String,
        n: i64,
    },
    /// Changes `n`, and the id when the new one is free; the note is not sent.
    Touch {
        id: i64,
        to: i64,
        n: i64,
    },
    Delete {
        id: i64,
    },
    Truncate,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let id = 0..6_i64;
    let act = prop_oneof![
        5 => (id.clone(), "[a-c]{0,3}", any::<i64>()).prop_map(|(id, note, n)| Act::Put { id, note, n }),
        5 => (id.clone(), id.clone(), any::<i64>()).prop_map(|(id, to, n)| Act::Touch { id, to, n }),
        2 => id.prop_map(|id| Act::Delete { id }),
        1 => Just(Act::Truncate),
    ];
    prop::collection::vec(act, 1..40)
}

/// A source: its rows, and the changes it sends.
struct Source {
    rows: BTreeMap<i64, (String, i64)>,
    full: bool,
    page: PageBuilder,
    ordinal: u64,
}

impl Source {
    fn new(full: bool) -> Self {
        Self { rows: BTreeMap::new(), full, page: PageBuilder::changes(schema(vec![0])), ordinal: 0 }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Put { id, note, n } => {
                let old = self.rows.insert(id, (note.clone(), n));
                let op = if old.is_some() { Op::Update } else { Op::Insert };
                if let (true, Some((note, n))) = (self.full, old) {
                    self.before((id, note, n));
                }
                self.after(id, Some(&note), n);
                self.end(op);
            }
            Act::Touch { id, to, n } => {
                let to = if self.rows.contains_key(&to) { id } else { to };
                let Some((note, old_n)) = self.rows.remove(&id) else { return };
                if self.full || to != id {
                    self.before((id, note.clone(), old_n));
                }
                self.rows.insert(to, (note, n));
                self.after(to, None, n);
                self.end(Op::Update);
            }
            Act::Delete { id } => {
                let Some((note, n)) = self.rows.remove(&id) else { return };
                self.before((id, note, n));
                self.nothing_after();
                self.end(Op::Delete);
            }
            Act::Truncate => {
                self.rows.clear();
                self.nothing_after();
                self.end(Op::Truncate);
            }
        }
    }

    fn before(&mut self, (id, note, n): Row) {
        let full = self.full;
        let columns = self.page.before();
        columns[0].push_i64(id);
        columns[1].push(if full { ValueRef::Text(&note) } else { ValueRef::Absent });
        columns[2].push(if full { ValueRef::I64(n) } else { ValueRef::Absent });
    }

    fn after(&mut self, id: i64, note: Option<&str>, n: i64) {
        let columns = self.page.columns();
        columns[0].push_i64(id);
        columns[1].push(note.map_or(ValueRef::Absent, ValueRef::Text));
        columns[2].push_i64(n);
    }

    fn nothing_after(&mut self) {
        self.page.columns().iter_mut().for_each(|c| c.push_absent());
    }

    fn end(&mut self, op: Op) {
        self.page.end_change(op, 1, self.ordinal, 0);
        self.ordinal += 1;
    }
}

/// A destination that knows nothing but rows with an `__op`, and what a page's moves mean.
fn apply(rows: &mut BTreeMap<i64, (Option<String>, i64)>, page: &Page) {
    let mut moved = BTreeMap::new();
    for row in 0..page.rows() {
        let view = page.row(row);
        let ValueRef::Text(op) = view.by_name(OP_COLUMN).unwrap() else { panic!("no __op in row {row}") };
        if op == "t" {
            assert!(view.values().take(3).all(|v| v == ValueRef::Absent));
            rows.clear();
            continue;
        }
        let ValueRef::I64(id) = view.get(0) else { panic!("row {row} has no key") };
        if op == "d" {
            let old = rows.remove(&id);
            if let Some(pair) = page.moves().iter().find(|m| m.from as usize == row) {
                moved.insert(pair.to as usize, old.expect("a moved row is there"));
            }
            continue;
        }
        let there = moved.remove(&row).or_else(|| rows.get(&id).cloned());
        let note = match view.get(1) {
            ValueRef::Text(note) => Some(note.to_owned()),
            ValueRef::Absent => there.unwrap_or_else(|| panic!("row {row} has no note and is not there")).0,
            other => panic!("{other:?}"),
        };
        let ValueRef::I64(n) = view.get(2) else { panic!("row {row} has no n") };
        rows.insert(id, (note, n));
    }
    assert!(moved.is_empty());
}

proptest! {
    /// U1, with pages cut anywhere.
    #[test]
    fn a_destination_ends_as_the_source(acts in acts(), full in any::<bool>(), cut in 1_usize..8) {
        let mut source = Source::new(full);
        let mut unwrap = Unwrap::default();
        let mut destination = BTreeMap::new();
        for (index, act) in acts.into_iter().enumerate() {
            source.act(act);
            if index % cut == 0 {
                apply(&mut destination, &unwrap.unwrap(source.page.finish()).unwrap());
            }
        }
        apply(&mut destination, &unwrap.unwrap(source.page.finish()).unwrap());
        let expected: BTreeMap<_, _> = source.rows.into_iter().map(|(id, (note, n))| (id, (Some(note), n))).collect();
        prop_assert_eq!(destination, expected);
    }
}

fn letters(page: &Page) -> String {
    let letter = |row| match page.row(row).by_name(OP_COLUMN) {
        Some(ValueRef::Text(letter)) => letter.to_owned(),
        other => panic!("{other:?}"),
    };
    (0..page.rows()).map(letter).collect()
}

#[test]
fn rows_without_before_images_keep_their_buffers() {
    let mut source = Source::new(false);
    source.act(Act::Put { id: 1, note: "a".into(), n: 1 });
    source.act(Act::Put { id: 1, note: "b".into(), n: 2 });
    let changes = source.page.finish();
    let pointer = |page: &Page| page.columns()[1].to_raw().data.as_ptr();
    let expected = pointer(&changes);
    let page = Unwrap::default().unwrap(changes).unwrap();
    assert_eq!(pointer(&page), expected, "the text was copied");
    assert_eq!(letters(&page), "cu");
    assert!(page.change().is_none() && page.schema().key == [0]);
    assert_eq!(&*page.schema().fields[3].name, OP_COLUMN);
}

#[test]
fn a_changed_key_is_a_delete_and_an_upsert_in_one_page() {
    let mut source = Source::new(false);
    source.act(Act::Put { id: 1, note: "a".into(), n: 1 });
    source.act(Act::Touch { id: 1, to: 2, n: 5 });
    let page = Unwrap::default().unwrap(source.page.finish()).unwrap();
    assert_eq!(letters(&page), "cdu");
    assert_eq!(page.moves(), [crate::model::Move { from: 1, to: 2 }]);
    assert_eq!(page.row(1).values().collect::<Vec<_>>()[..3], [ValueRef::I64(1), ValueRef::Absent, ValueRef::Absent]);
    assert_eq!(page.row(2).values().collect::<Vec<_>>()[..3], [ValueRef::I64(2), ValueRef::Absent, ValueRef::I64(5)]);
}

#[test]
fn a_full_old_row_fills_what_the_new_one_leaves_out() {
    let mut source = Source::new(true);
    source.act(Act::Put { id: 1, note: "a".into(), n: 1 });
    source.act(Act::Touch { id: 1, to: 1, n: 5 });
    let page = Unwrap::default().unwrap(source.page.finish()).unwrap();
    assert_eq!(page.row(1).get(1), ValueRef::Text("a"));
    assert!(page.columns()[1].absent().is_none());
}

#[test]
fn plain_rows_go_through_as_they_are() {
    let mut page = PageBuilder::rows(schema(vec![0]));
    page.columns()[0].push_i64(1);
    page.columns()[1].push_null();
    page.columns()[2].push_absent();
    page.end_row();
    let page = page.finish();
    assert_eq!(Unwrap::default().unwrap(page.clone()).unwrap(), page);
}

/// The key that is asked for decides what a key change is, not the table's own.
#[test]
fn the_configured_key_decides() {
    let mut source = Source::new(true);
    source.act(Act::Put { id: 1, note: "a".into(), n: 1 });
    source.act(Act::Touch { id: 1, to: 2, n: 1 });
    source.act(Act::Put { id: 2, note: "a".into(), n: 7 });
    let config = UnwrapConfig { key: vec!["n".into()] };
    let page = Unwrap::new(config).unwrap(source.page.finish()).unwrap();
    assert_eq!(letters(&page), "cudu", "the id may change, n may not");
    assert_eq!(page.schema().key, [2]);
}

#[test]
fn a_key_that_old_rows_lack_is_refused_and_said_how_to_mend() {
    let by_n = || Unwrap::new(UnwrapConfig { key: vec!["id".into(), "n".into()] });
    let refused = |acts: Vec<Act>| {
        let mut source = Source::new(false);
        source.act(Act::Put { id: 1, note: "a".into(), n: 1 });
        acts.into_iter().for_each(|act| source.act(act));
        by_n().unwrap(source.page.finish()).unwrap_err()
    };
    let cases = [
        ("an update", vec![Act::Put { id: 1, note: "b".into(), n: 2 }]),
        ("an update", vec![Act::Touch { id: 1, to: 2, n: 2 }]),
        ("a delete", vec![Act::Delete { id: 1 }]),
    ];
    for (what, acts) in cases {
        let error = refused(acts);
        assert_eq!(error.code().id, "cdc.key_not_in_old_image");
        assert_eq!(error.to_string(), format!("{what} in public.t does not say the old value of key column \"n\""));
        assert!(error.hint_text().unwrap().contains("ALTER TABLE public.t REPLICA IDENTITY FULL"));
    }
    let mut source = Source::new(false);
    source.act(Act::Put { id: 1, note: "a".into(), n: 1 });
    assert_eq!(letters(&by_n().unwrap(source.page.finish()).unwrap()), "c", "an insert needs no old row");
}

#[test]
fn a_table_without_a_key_still_logs_its_changes() {
    let mut page = PageBuilder::changes(schema(vec![]));
    for op in [Op::Insert, Op::Delete] {
        page.columns().iter_mut().for_each(|c| c.push_absent());
        page.end_change(op, 1, 0, 0);
    }
    assert_eq!(letters(&Unwrap::default().unwrap(page.finish()).unwrap()), "cd");
}

#[test]
fn what_cannot_work_is_said() {
    let mut source = Source::new(false);
    source.act(Act::Truncate);
    let unknown = Unwrap::new(UnwrapConfig { key: vec!["email".into()] }).unwrap(source.page.finish()).unwrap_err();
    assert_eq!(unknown.code().id, "cdc.key_unknown");
    assert_eq!(unknown.hint_text(), Some("its columns are: id, note, n"));
    let schema = Schema::new(TableId::bare("t"), vec![Field::new(OP_COLUMN, Kind::Text)]);
    let schema = Arc::new(schema);
    let pages = [PageBuilder::changes(schema.clone()).finish(), PageBuilder::rows(schema).finish()];
    for page in pages {
        assert_eq!(Unwrap::default().unwrap(page).unwrap_err().code().id, "cdc.op_column_taken");
    }
}

#[test]
fn the_configuration_is_strict() {
    let parse = |json: &str| serde_json::from_str::<UnwrapConfig>(json);
    assert_eq!(parse("{}").unwrap(), UnwrapConfig::default());
    assert!(parse(r#"{"keys":["id"]}"#).is_err());
    let problems = parse(r#"{"key":["id","","id"]}"#).unwrap().validate();
    assert_eq!(problems.iter().map(|p| p.path.as_str()).collect::<Vec<_>>(), ["key[1]", "key[2]"]);
    assert_eq!(UnwrapConfig::schema()["additionalProperties"], Value::Bool(false));
}
