//! What is written is what is read, and nothing that is damaged passes for a recording.

use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::model::{Before, Change, Field, Kind, Move, Op, PageBuilder, Positions, Schema, TableId};
use crate::ports::Bookmark;

fn origin() -> Origin {
    let step = |name: &str| Step { name: name.to_owned(), digest: None, config: "0123456789abcdef".to_owned() };
    Origin {
        faucet: "0.1.0".to_owned(),
        pipeline: "orders".to_owned(),
        config: Some("orders.yaml".to_owned()),
        source: "postgres-cdc".to_owned(),
        steps: vec![step("cdc_unwrap"), step("mask")],
        began: 1_790_000_000_000_000,
    }
}

fn rows() -> Page {
    let fields = vec![
        Field::new("id", Kind::I64).not_null(),
        Field::new("price", Kind::Decimal).native("postgres:numeric(12,2)"),
        Field::new("gone", Kind::Bytes),
        Field::new("ok", Kind::Bool),
    ];
    let schema = Schema::new(TableId::new("public", "a.b"), fields).with_key(vec![0]);
    let mut page = PageBuilder::rows(Arc::new(schema));
    for row in 0..11 {
        let columns = page.columns();
        columns[0].push_i64(i64::MIN + row);
        columns[1].push_str("12.50");
        columns[2].push_absent();
        match row % 3 {
            0 => columns[3].push_null(),
            _ => columns[3].push_bool(row % 2 == 0),
        }
        page.end_row();
    }
    page.finish()
}

fn changes() -> Page {
    let plain = rows();
    let count = plain.rows();
    let mut positions = Positions::new(16);
    (0..count as u64).for_each(|ordinal| positions.push_commit(77, ordinal));
    let before = Before { present: (0..count).map(|row| row % 2 == 1).collect(), columns: plain.columns().to_vec() };
    let ops = [Op::Insert, Op::Update, Op::Delete, Op::Truncate, Op::Read].into_iter().cycle().take(count).collect();
    let change = Change { ops, positions, committed_at: vec![-1; count], before: Some(before) };
    Page::of_changes(plain.schema().clone(), count, plain.columns().to_vec(), change)
}

fn entries() -> Vec<Entry> {
    let moved = rows().with_moves(vec![Move { from: 2, to: 5 }]);
    let rejected = vec![Rejected { row: 3, reason: "not a number".to_owned() }];
    vec![
        Entry::Delivered(changes()),
        Entry::Applied { step: 1, pages: vec![moved, rows().slice(3, 5)], rejected: Vec::new() },
        Entry::Applied { step: 2, pages: vec![rows()], rejected },
        Entry::Applied { step: 2, pages: Vec::new(), rejected: Vec::new() },
        Entry::Ended(Boundary::Inside),
        Entry::Ended(Boundary::Commit(None)),
        Entry::Ended(Boundary::Commit(Some(Bookmark(serde_json::json!({ "lsn": "16/B374D848" }))))),
        Entry::Ended(Boundary::Commit(Some(Bookmark(serde_json::Value::Null)))),
    ]
}

fn recorded() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pages.fpg");
    let mut recorder = Recorder::create(&path, &origin()).unwrap();
    entries().iter().for_each(|entry| recorder.push(entry).unwrap());
    recorder.finish().unwrap();
    std::fs::read(&path).unwrap()
}

fn read(bytes: &[u8]) -> Result<Vec<Entry>, crate::error::Error> {
    Recording::read(Path::new("pages.fpg"), bytes)?.collect()
}

#[test]
fn what_is_recorded_is_read_back() {
    let bytes = recorded();
    assert_eq!(Recording::read(Path::new("pages.fpg"), &bytes[..]).unwrap().origin(), &origin());
    assert!(read(&bytes).unwrap() == entries());
}

#[test]
fn only_its_owner_may_read_it_and_no_file_is_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pages.fpg");
    Recorder::create(&path, &origin()).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let again = Recorder::create(&path, &origin()).err().unwrap();
    assert_eq!(again.code().id, "recording.file");
    assert!(again.hint_text().unwrap().contains("another"));
}

#[test]
fn a_recording_that_was_cut_gives_what_is_whole_and_then_says_so() {
    let bytes = recorded();
    let whole = entries();
    for length in 0..bytes.len() {
        let Ok(recording) = Recording::read(Path::new("pages.fpg"), &bytes[..length]) else { continue };
        let found: Vec<_> = recording.collect();
        let good = found.iter().take_while(|entry| entry.is_ok()).count();
        assert!(found[..good].iter().zip(&whole).all(|(found, whole)| found.as_ref().unwrap() == whole));
        if let Some(Err(error)) = found.get(good) {
            assert_eq!((error.code().id, found.len()), ("recording.damaged", good + 1));
        } else {
            // A cut between two frames can't be told from an end.
            assert_eq!(found.len(), good);
        }
    }
}

#[test]
fn what_is_no_recording_is_told_from_a_damaged_one() {
    let code = |bytes: &[u8]| read(bytes).unwrap_err().code().id;
    assert_eq!(code(b""), "recording.not_one");
    assert_eq!(code(b"faucet pages 2\n"), "recording.not_one");
    assert_eq!(code(b"faucet pages 1\n"), "recording.damaged");
    let mut huge = b"faucet pages 1\n".to_vec();
    huge.extend([0xff; 12]);
    assert_eq!(code(&huge), "recording.damaged");
}

proptest! {
    /// Any flipped byte after the first line is found.
    #[test]
    fn a_flipped_byte_is_found(at in any::<prop::sample::Index>(), flip in 1_u8..) {
        let mut bytes = recorded();
        let at = 15 + at.index(bytes.len() - 15);
        bytes[at] ^= flip;
        prop_assert_eq!(read(&bytes).unwrap_err().code().id, "recording.damaged");
    }

    /// With a checksum that fits, whatever a frame says is read or refused.
    #[test]
    fn a_lie_with_a_good_checksum_is_refused_or_read(at in any::<prop::sample::Index>(), by in any::<u8>()) {
        let page = changes();
        let mut body = Vec::new();
        let head = serde_json::to_string(&super::page::encode(&page, &mut body)).unwrap();
        let mut head = head.into_bytes();
        let at = at.index(head.len() + body.len());
        match at.checked_sub(head.len()) {
            Some(at) => body[at] = by,
            None => head[at] = by,
        }
        if let Ok(head) = serde_json::from_slice(&head) && let Ok(page) = super::page::decode(head, &body) {
            for (row, column) in (0..page.rows()).flat_map(|row| page.columns().iter().map(move |column| (row, column))) {
                std::hint::black_box(column.value(row));
            }
        }
    }
}
