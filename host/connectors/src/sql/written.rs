//! [`Written`]: which table a pipeline wrote and how it left it, kept beside its tokens.
//!
//! A later run compares it with the table it finds, so that a table that was dropped, replaced, renamed or emptied in
//! between is not taken for the one that holds the rows from before.

use faucet_core::error::Error;
use faucet_core::ports::{Claim, EMPTIED, REPLACED};
use serde::{Deserialize, Serialize};

/// A table as a run left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Its name.
    pub table: String,
    /// The server and database, where they have names that never repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// The table's number there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Whether it had no row; unknown while a run goes on, and where the role can't tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<bool>,
    /// The last token at that moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

impl Written {
    /// As it is stored.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("text, numbers and booleans are JSON")
    }

    /// Reads what is stored; `None` when it is something else.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Why `now`, the table found today, is not this one any more.
    pub fn changed(&self, now: Option<&Self>, claim: &Claim) -> Option<Error> {
        let kept = format!("what was written is kept in _faucet_commit_token under \"{}\"", claim.table_scope());
        let Some(now) = now else {
            return Some(Error::new(&REPLACED, format!("{} is not there any more ({kept})", self.table)));
        };
        let is_same = match (&self.database, &now.database) {
            (Some(before), Some(now_in)) if before == now_in => self.number == now.number,
            // Another server or database: a copy of this one, whose numbers are its own.
            _ => self.table.eq_ignore_ascii_case(&now.table),
        };
        if !is_same {
            let what = match self.table == now.table {
                true => format!("{} is another table of that name than the one written before ({kept})", now.table),
                false => format!("the rows so far were written to {}, not to {} ({kept})", self.table, now.table),
            };
            return Some(Error::new(&REPLACED, what));
        }
        let emptied = self.empty == Some(false) && now.empty == Some(true) && self.token == now.token;
        emptied.then(|| Error::new(&EMPTIED, format!("{} had rows and has none now ({kept})", now.table)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn written() -> Written {
        Written {
            table: "\"public\".\"t\"".into(),
            database: Some("1:5".into()),
            number: Some(7),
            empty: Some(false),
            token: Some("3".into()),
        }
    }

    fn changed(before: &Written, now: Option<&Written>) -> Option<&'static str> {
        let claim = Claim { scope: "m::cdc".into(), writer: "w".into() };
        before.changed(now, &claim).map(|error| error.code().id)
    }

    #[test]
    fn a_table_is_known_by_its_number_and_elsewhere_by_its_name() {
        let before = written();
        assert_eq!(Written::parse(&before.to_text()), Some(before.clone()));
        assert_eq!(changed(&before, None), Some("sink.replaced"));
        let renamed = Written { table: "u".into(), ..written() };
        assert_eq!(changed(&before, Some(&renamed)), None, "the same table under another name");
        let replaced = Written { number: Some(8), ..written() };
        assert_eq!(changed(&before, Some(&replaced)), Some("sink.replaced"));
        let restored = Written { database: Some("2:5".into()), number: Some(8), ..written() };
        assert_eq!(changed(&before, Some(&restored)), None, "a copy of the database on another server");
        assert_eq!(changed(&before, Some(&Written { table: "u".into(), ..restored })), Some("sink.replaced"));
    }

    #[test]
    fn emptiness_says_something_only_while_nothing_was_committed_since() {
        let empty = Written { empty: Some(true), ..written() };
        assert_eq!(changed(&written(), Some(&empty)), Some("sink.emptied"));
        assert_eq!(changed(&written(), Some(&Written { token: Some("4".into()), ..empty.clone() })), None);
        assert_eq!(changed(&Written { empty: None, ..written() }, Some(&empty)), None);
        assert_eq!(changed(&empty, Some(&empty)), None);
    }
}
