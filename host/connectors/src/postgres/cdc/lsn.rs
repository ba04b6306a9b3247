//! Log sequence numbers, and the bookmark made of one.

use faucet_core::error::{Error, Result};
use faucet_core::mirror::RESYNC;
use faucet_core::model::Position;
use faucet_core::ports::Bookmark;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use super::error::BOOKMARK_INVALID;

/// A byte position in the server's write-ahead log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lsn(pub u64);

/// `16/B374D848`: the two halves in hexadecimal.
impl fmt::Display for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:X}/{:X}", self.0 >> 32, self.0 & 0xffff_ffff)
    }
}

impl FromStr for Lsn {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let half = |part: &str| match part.len() {
            1..=8 if part.bytes().all(|b| b.is_ascii_hexdigit()) => u64::from_str_radix(part, 16).map_err(drop),
            _ => Err(()),
        };
        let (high, low) = text.split_once('/').ok_or(())?;
        Ok(Self(half(high)? << 32 | half(low)?))
    }
}

/// A place in one server's log.
///
/// The log of another cluster has other bytes at the same number, and so has another timeline of the same cluster after
/// the point where they parted: a position means something only together with both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Every transaction whose commit record ends here or before is behind it.
    pub lsn: Lsn,
    /// The cluster's identifier, in decimal, as the server writes it.
    pub system: String,
    /// The timeline the server was on.
    pub timeline: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    lsn: String,
    system: String,
    timeline: u32,
}

impl Place {
    /// The position of the last change before it. A change stands at the start of its commit record, and a bookmark is
    /// never inside a record: what starts before it is behind it.
    pub fn position(&self) -> Position {
        match self.lsn.0.checked_sub(1) {
            Some(last) => Position::from_commit(last, u64::MAX),
            None => Position::from_commit(0, 0),
        }
    }

    /// As a bookmark: `{"lsn": "0/16B3748", "system": "7301...", "timeline": 1}`.
    pub fn to_bookmark(&self) -> Bookmark {
        Bookmark(serde_json::json!({
            "lsn": self.lsn.to_string(),
            "system": self.system,
            "timeline": self.timeline,
        }))
    }

    /// From a bookmark made here.
    ///
    /// # Errors
    /// `postgres.bookmark_invalid` for anything else.
    pub fn from_bookmark(bookmark: &Bookmark) -> Result<Self> {
        let invalid = |what: &str| {
            Error::new(&BOOKMARK_INVALID, format!("the stored bookmark is not one of postgres-cdc: {what}"))
                .hint(format!("it is another source's, or was changed by hand; to start over {RESYNC}"))
        };
        let written = Written::deserialize(&bookmark.0).map_err(|_| invalid("it has other fields"))?;
        let lsn = written.lsn.parse().map_err(|()| invalid("its `lsn` is no log position"))?;
        Ok(Self { lsn, system: written.system, timeline: written.timeline })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn positions_read_as_the_server_writes_them() {
        for (text, number) in [("0/0", 0), ("16/B374D848", 0x16_B374_D848), ("FFFFFFFF/FFFFFFFF", u64::MAX)] {
            assert_eq!(text.parse(), Ok(Lsn(number)));
            assert_eq!(Lsn(number).to_string(), text);
        }
        for text in ["", "0", "/", "1/", "/1", "1/g", "123456789/0", "+1/0", "1/0/0"] {
            assert_eq!(text.parse::<Lsn>(), Err(()), "{text}");
        }
    }

    #[test]
    fn a_bookmark_stands_between_the_changes_around_it() {
        let place = Place { lsn: Lsn(0x130), system: "1".into(), timeline: 1 };
        assert!(place.position() > Position::from_commit(0x100, 99_999));
        assert!(place.position() < Position::from_commit(0x130, 0));
    }

    #[test]
    fn bookmarks_round_trip_and_strangers_are_refused() {
        let place = Place { lsn: Lsn(0x16_B374_D848), system: "7301".into(), timeline: 2 };
        let bookmark = place.to_bookmark();
        assert_eq!(bookmark.0, json!({"lsn": "16/B374D848", "system": "7301", "timeline": 2}));
        assert_eq!(Place::from_bookmark(&bookmark).unwrap(), place);
        for other in [json!(null), json!({"lsn": "x", "system": "1", "timeline": 1}), json!({"file": "binlog.1"})] {
            let error = Place::from_bookmark(&Bookmark(other)).unwrap_err();
            assert_eq!(error.code().id, "postgres.bookmark_invalid");
        }
    }
}
