//! The high-water mark of an incremental read.
//!
//! A bookmark is the greatest value of the replication key that was delivered, with a fingerprint of every record that was
//! delivered at that value. The next run reads from that value on, the value included, and leaves out just those records:
//! a record that came late with the same value is delivered, and so is one that was changed without a new value.

use crate::config::OnMissing;
use crate::cursor::Cursor;
use crate::fingerprint;
use crate::json::{Raw, document};
use crate::key::Key;
use faucet_sdk::serde::{Deserialize, Serialize};
use faucet_sdk::{Bookmark, Error, Level, Result};
use serde_json::value::RawValue;
use std::cmp::Ordering;
use std::collections::HashMap;

/// Fingerprints that are kept. With more records at one value, the next run delivers them all again.
const FINGERPRINTS: usize = 10_000;

/// What decides which records are new.
#[derive(Debug)]
pub(crate) struct HighWater {
    key: Key,
    on_missing: OnMissing,
    /// Records below are left out.
    floor: Option<Cursor>,
    /// Records at the floor that were delivered before, and how many of each.
    written: HashMap<String, usize>,
    /// The greatest value so far.
    high: Option<Cursor>,
    /// Fingerprints of the records at it; none if there were too many.
    boundary: Option<Vec<String>>,
    /// Whether a missing key was mentioned.
    warned: bool,
}

/// What a bookmark holds.
#[derive(Serialize, Deserialize)]
#[serde(crate = "faucet_sdk::serde", deny_unknown_fields)]
struct State {
    value: Box<RawValue>,
    boundary: Vec<String>,
}

impl HighWater {
    /// Starts at a bookmark, or else at the least value to read.
    pub(crate) fn new(
        key: Key,
        on_missing: OnMissing,
        start: Option<Cursor>,
        bookmark: Option<&Bookmark>,
    ) -> Result<Self> {
        let mut water = Self {
            key,
            on_missing,
            floor: start,
            written: HashMap::new(),
            high: None,
            boundary: Some(Vec::new()),
            warned: false,
        };
        if let Some(bookmark) = bookmark {
            let state: State = bookmark.read_json()?;
            let value = Cursor::new(document(state.value.get())?)?;
            for print in &state.boundary {
                *water.written.entry(print.clone()).or_default() += 1;
            }
            (water.high, water.floor) = (value.clone(), value);
            water.boundary = Some(state.boundary);
        }
        Ok(water)
    }

    /// The value that requests should start at.
    pub(crate) fn floor(&self) -> Option<&Cursor> {
        self.floor.as_ref()
    }

    /// Whether a record is new.
    pub(crate) fn admit(&mut self, record: &Raw) -> Result<bool> {
        let value = match self.key.find(record)? {
            Some(raw) => Cursor::new(raw)?,
            None => None,
        };
        let Some(value) = value else { return self.admit_without_key() };
        let above_floor = self.floor.as_ref().map_or(Ordering::Greater, |floor| value.order(floor));
        if above_floor == Ordering::Less {
            return Ok(false);
        }
        let above_high = self.high.as_ref().map_or(Ordering::Greater, |high| value.order(high));
        if above_floor != Ordering::Equal && above_high == Ordering::Less {
            return Ok(true);
        }
        let print = fingerprint::of(record)?;
        if above_floor == Ordering::Equal && self.was_written(&print) {
            return Ok(false);
        }
        match above_high {
            Ordering::Greater => (self.high, self.boundary) = (Some(value), Some(vec![print])),
            Ordering::Equal => self.remember(print),
            Ordering::Less => {}
        }
        Ok(true)
    }

    /// Whether one more record like this was delivered before.
    fn was_written(&mut self, print: &str) -> bool {
        match self.written.get_mut(print) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }

    fn remember(&mut self, print: String) {
        match &mut self.boundary {
            Some(boundary) if boundary.len() < FINGERPRINTS => boundary.push(print),
            _ => self.boundary = None,
        }
    }

    fn admit_without_key(&mut self) -> Result<bool> {
        faucet_sdk::count("replication_key_missing", 1);
        if self.on_missing == OnMissing::Fail {
            return Err(Error::new("a record has no value at `replication_key` (`on_missing_key: fail`)"));
        }
        if !std::mem::replace(&mut self.warned, true) {
            faucet_sdk::log(Level::Warn, "a record has no value at `replication_key`; further ones are only counted");
        }
        Ok(self.on_missing == OnMissing::Keep)
    }

    /// Where the next run should start; none if no value was seen yet.
    pub(crate) fn bookmark(&self) -> Result<Option<Bookmark>> {
        let Some(high) = &self.high else { return Ok(None) };
        let value = RawValue::from_string(high.json().to_owned());
        let value = value.map_err(|_| Error::new("the bookmark is no JSON"))?;
        let boundary = self.boundary.clone().unwrap_or_default();
        Bookmark::json(Vec::new(), &State { value, boundary }).map(Some)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn water(start: Option<&str>, bookmark: Option<&Bookmark>, on_missing: OnMissing) -> HighWater {
        let start = start.map(|json| Cursor::new(document(json).unwrap()).unwrap().unwrap());
        HighWater::new(Key::parse("at").unwrap(), on_missing, start, bookmark).unwrap()
    }

    fn admitted(water: &mut HighWater, records: &[&str]) -> Vec<bool> {
        records.iter().map(|record| water.admit(document(record).unwrap()).unwrap()).collect()
    }

    fn state(water: &HighWater) -> (String, usize) {
        let state: State = water.bookmark().unwrap().unwrap().read_json().unwrap();
        (state.value.get().to_owned(), state.boundary.len())
    }

    #[test]
    fn ties_are_never_skipped() {
        let (a, b, c) = (r#"{"id":1,"at":5}"#, r#"{"id":2,"at":7}"#, r#"{"id":3,"at":7}"#);
        let mut first = water(None, None, OnMissing::Keep);
        assert_eq!(admitted(&mut first, &[b, a, c]), [true; 3], "records need no order");
        assert_eq!(state(&first), ("7".to_owned(), 2));
        let bookmark = first.bookmark().unwrap();
        let mut second = water(None, bookmark.as_ref(), OnMissing::Keep);
        let (late, changed) = (r#"{"id":4,"at":7.0}"#, r#"{"id":3,"at":7,"x":1}"#);
        assert_eq!(admitted(&mut second, &[a, b, changed, late, c]), [false, false, true, true, false]);
        assert_eq!(state(&second), ("7".to_owned(), 4));
        let mut third = water(None, second.bookmark().unwrap().as_ref(), OnMissing::Keep);
        assert_eq!(
            admitted(&mut third, &[b, changed, late, c, r#"{"id":5,"at":8}"#]),
            [false, false, false, false, true]
        );
        assert_eq!(state(&third), ("8".to_owned(), 1));
    }

    #[test]
    fn equal_records_are_counted() {
        let twin = r#"{"at":1}"#;
        let mut first = water(None, None, OnMissing::Keep);
        admitted(&mut first, &[twin, twin]);
        let mut second = water(None, first.bookmark().unwrap().as_ref(), OnMissing::Keep);
        assert_eq!(admitted(&mut second, &[twin, twin, twin]), [false, false, true]);
    }

    #[test]
    fn too_many_ties_are_read_again() {
        let mut first = water(None, None, OnMissing::Keep);
        for id in 0..=FINGERPRINTS {
            admitted(&mut first, &[&format!(r#"{{"id":{id},"at":1}}"#)]);
        }
        assert_eq!(state(&first), ("1".to_owned(), 0));
        let mut second = water(None, first.bookmark().unwrap().as_ref(), OnMissing::Keep);
        assert_eq!(admitted(&mut second, &[r#"{"id":0,"at":1}"#]), [true], "twice rather than never");
    }

    #[test]
    fn the_first_value_is_part_of_the_first_run() {
        let mut first = water(Some(r#""2024-06-01T00:00:00Z""#), None, OnMissing::Keep);
        let records = [r#"{"at":"2024-06-01T01:59:59+02:00"}"#, r#"{"at":"2024-06-01T02:00:00+02:00"}"#];
        assert_eq!(admitted(&mut first, &records), [false, true]);
        assert!(water(Some("1"), None, OnMissing::Keep).bookmark().unwrap().is_none(), "nothing was read");
    }

    #[test]
    fn a_missing_key_is_kept_dropped_or_fails() {
        let records = ["{}", r#"{"at":null}"#];
        for (on_missing, wanted) in [(OnMissing::Keep, true), (OnMissing::Drop, false)] {
            let mut water = water(None, None, on_missing);
            assert_eq!(admitted(&mut water, &records), [wanted; 2]);
            assert!(water.bookmark().unwrap().is_none(), "it does not advance");
        }
        assert!(water(None, None, OnMissing::Fail).admit(document("{}").unwrap()).is_err());
        assert!(water(None, None, OnMissing::Keep).admit(document(r#"{"at":[1]}"#).unwrap()).is_err());
    }
}
