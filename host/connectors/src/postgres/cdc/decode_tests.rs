#![allow(clippy::unwrap_used)]

use super::super::sample::Bytes;
use super::*;
use proptest::prelude::*;

const ROW: [Value<'static>; 3] = [Value::Text(b"7"), Value::Null, Value::Unchanged];

fn sample(which: usize) -> Vec<u8> {
    match which % 12 {
        0 => Bytes::kind(b'B').u64(0x0100).u64(5).u32(700),
        1 => Bytes::kind(b'C').u8(0).u64(0x0100).u64(0x0130).u64(5),
        2 => Bytes::kind(b'O').u64(9).text("elsewhere"),
        3 => relation_bytes(),
        4 => Bytes::kind(b'Y').u32(20_000).text("shop").text("mood"),
        5 => Bytes::kind(b'I').u32(16_384).tuple(b'N', &ROW),
        6 => Bytes::kind(b'U').u32(16_384).tuple(b'N', &ROW),
        7 => Bytes::kind(b'U').u32(16_384).tuple(b'K', &ROW).tuple(b'N', &ROW),
        8 => Bytes::kind(b'U').u32(16_384).tuple(b'O', &ROW).tuple(b'N', &ROW),
        9 => Bytes::kind(b'D').u32(16_384).tuple(b'O', &ROW),
        10 => Bytes::kind(b'T').u32(2).u8(1).u32(16_384).u32(16_390),
        _ => Bytes::kind(b'M').u8(1).u64(77).text("audit").u32(3).u8(1).u8(2).u8(3),
    }
    .0
}

fn relation_bytes() -> Bytes {
    let columns = Bytes::kind(b'R').u32(16_384).text("").text("orders").u8(b'd').u16(2);
    columns.u8(1).text("id").u32(23).u32(u32::MAX).u8(0).text("note").u32(25).u32(u32::MAX)
}

#[test]
fn transactions_are_read() {
    let begin = sample(0);
    let expected = Message::Begin { commit: Lsn(0x0100), committed_at: EPOCH_MICROS + 5 };
    assert_eq!(message(&begin), Ok(expected));
    assert_eq!(message(&sample(1)), Ok(Message::Commit { commit: Lsn(0x0100), end: Lsn(0x0130) }));
    assert_eq!(message(&sample(2)), Ok(Message::Origin));
    assert_eq!(message(&sample(11)), Ok(Message::Logical { transactional: true, lsn: Lsn(77) }));
}

#[test]
fn a_relation_lends_its_columns() {
    let bytes = relation_bytes().0;
    let Ok(Message::Relation(relation)) = message(&bytes) else { panic!("not a relation") };
    assert_eq!((relation.oid, relation.schema, relation.name), (16_384, "pg_catalog", "orders"));
    let columns: Vec<_> = relation.columns().collect();
    let id = RelationColumn { key: true, name: "id", oid: 23, modifier: -1 };
    assert_eq!(columns, [id, RelationColumn { key: false, name: "note", oid: 25, modifier: -1 }]);
}

#[test]
fn rows_lend_their_values() {
    for which in 5..9 {
        let bytes = sample(which);
        let (Message::Insert { new, .. } | Message::Update { new, .. }) = message(&bytes).unwrap() else {
            panic!("not a row")
        };
        assert_eq!(new.values().collect::<Vec<_>>(), ROW);
    }
    let bytes = sample(7);
    let Message::Update { old, .. } = message(&bytes).unwrap() else { panic!("not an update") };
    assert!(matches!(old, Some(Image::Key(tuple)) if tuple.values().eq(ROW)));
    let bytes = sample(9);
    let Message::Delete { old: Image::Full(row), relation } = message(&bytes).unwrap() else { panic!("not a delete") };
    assert_eq!((relation, row.len()), (16_384, 3));
    let bytes = sample(10);
    let Message::Truncate { relations } = message(&bytes).unwrap() else { panic!("not a truncate") };
    assert_eq!(relations.iter().collect::<Vec<_>>(), [16_384, 16_390]);
}

#[test]
fn what_was_not_asked_for_is_an_error_and_never_skipped() {
    for kind in [b'S', b'E', b'c', b'A', b'b', b'P', b'K', b'r', b'p', b'Z', 0] {
        let fault = message(&[kind, 0, 0, 0, 0]).unwrap_err();
        assert_eq!(fault, Fault::Unexpected(kind));
        assert_eq!(Error::from(fault).code().id, "postgres.stream_unexpected");
    }
    let binary = Bytes::kind(b'I').u32(1).u8(b'N').u16(1).u8(b'b').u32(0).0;
    assert_eq!(Error::from(message(&binary).unwrap_err()).code().id, "postgres.stream_corrupt");
}

#[test]
fn a_cut_or_stretched_message_is_corrupt() {
    for which in 0..12 {
        let whole = sample(which);
        for length in 0..whole.len() {
            assert!(matches!(message(&whole[..length]), Err(Fault::Corrupt(_))), "{which} cut at {length}");
        }
        let stretched = [whole.as_slice(), &[0]].concat();
        assert!(matches!(message(&stretched), Err(Fault::Corrupt(_))), "{which} stretched");
    }
}

/// Reads everything a message lends, which is where a lying length would show.
fn exhaust(bytes: &[u8]) {
    let tuple = |t: Tuple<'_>| assert_eq!(t.values().count(), t.len());
    let image = |i: Image<'_>| match i {
        Image::Key(t) | Image::Full(t) => tuple(t),
    };
    match message(bytes) {
        Ok(Message::Insert { new, .. }) => tuple(new),
        Ok(Message::Update { old, new, .. }) => {
            old.map(image);
            tuple(new);
        }
        Ok(Message::Delete { old, .. }) => image(old),
        Ok(Message::Relation(relation)) => assert_eq!(relation.columns().count(), relation.columns.count),
        Ok(Message::Truncate { relations }) => drop(relations.iter().collect::<Vec<_>>()),
        Ok(_) | Err(_) => {}
    }
}

proptest! {
    #[test]
    fn damaged_messages_never_panic(
        which: usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = sample(which);
        for (at, byte) in damage {
            let place = at.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        exhaust(&bytes);
    }

    #[test]
    fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exhaust(&bytes);
    }

    #[test]
    fn rows_of_any_values_are_read_back(
        values in prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..20)), 0..30),
    ) {
        let values: Vec<Value<'_>> =
            values.iter().map(|v| v.as_ref().map_or(Value::Null, |v| Value::Text(v))).collect();
        let bytes = Bytes::kind(b'I').u32(1).tuple(b'N', &values).0;
        let Ok(Message::Insert { new, .. }) = message(&bytes) else { panic!("not a row") };
        prop_assert_eq!(new.values().collect::<Vec<_>>(), values);
    }
}
