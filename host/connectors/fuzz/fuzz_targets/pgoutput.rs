//! Any bytes as a message of the change stream: read or refused, never a panic, and what is lent can be read to its end.
#![no_main]

use faucet_connectors::postgres::cdc::decode::{Image, Message, Tuple, message};
use libfuzzer_sys::fuzz_target;

fn read(tuple: Tuple<'_>) {
    assert_eq!(tuple.values().count(), tuple.len());
}

fn read_image(image: Image<'_>) {
    match image {
        Image::Key(tuple) | Image::Full(tuple) => read(tuple),
    }
}

fuzz_target!(|bytes: &[u8]| {
    match message(bytes) {
        Ok(Message::Insert { new, .. }) => read(new),
        Ok(Message::Update { old, new, .. }) => {
            if let Some(old) = old {
                read_image(old);
            }
            read(new);
        }
        Ok(Message::Delete { old, .. }) => read_image(old),
        Ok(Message::Relation(relation)) => drop(relation.columns().collect::<Vec<_>>()),
        Ok(Message::Truncate { relations }) => drop(relations.iter().collect::<Vec<_>>()),
        Ok(_) | Err(_) => {}
    }
});
