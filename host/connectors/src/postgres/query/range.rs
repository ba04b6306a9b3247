//! Ranges of a table: how it is cut, and the condition that holds for the rows of each range.
//!
//! Bounds are texts in the order of the key. Range `n` reaches from bound `n - 1`, which belongs to it, to bound `n`,
//! which doesn't; the first is open below and the last above, so no key is outside however extreme. Rows whose key is
//! null belong to the last.

use serde::{Deserialize, Serialize};

use crate::postgres::name::{literal, quoted};

/// How a table is cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cuts {
    /// By the values of a key.
    Key {
        /// The key's columns, all compared as one row.
        columns: Vec<KeyColumn>,
        /// Whether a key may be null; it then has one column.
        nullable: bool,
        /// The bounds, each with one value for each column.
        bounds: Vec<Vec<String>>,
    },
    /// By where rows lie: the first block of each range but the first.
    Blocks {
        /// Block numbers.
        bounds: Vec<u32>,
    },
}

/// A column of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyColumn {
    /// Its name.
    pub name: String,
    /// Its type, as SQL spells it.
    #[serde(rename = "type")]
    pub type_name: String,
}

impl Cuts {
    /// How many ranges there are.
    pub fn ranges(&self) -> usize {
        1 + match self {
            Cuts::Key { bounds, .. } => bounds.len(),
            Cuts::Blocks { bounds } => bounds.len(),
        }
    }

    /// The condition for rows of range `number`; `None` when it is the only one.
    pub fn condition(&self, number: usize) -> Option<String> {
        let range = Range::of(number, self.ranges() - 1);
        match self {
            Cuts::Key { columns, nullable, bounds } => {
                let key = row(columns.iter().map(|c| quoted(&c.name)));
                let value = |bound: usize| {
                    row(columns
                        .iter()
                        .zip(&bounds[bound])
                        .map(|(c, text)| format!("{}::{}", literal(text), c.type_name)))
                };
                range.condition(&key, value, *nullable)
            }
            Cuts::Blocks { bounds } => {
                range.condition("ctid", |bound| format!("'({},0)'::pg_catalog.tid", bounds[bound]), false)
            }
        }
    }

    /// Whether `self` cuts by the same thing as `other`, wherever.
    pub fn alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Cuts::Key { columns, nullable, .. }, Cuts::Key { columns: theirs, nullable: also, .. }) => {
                columns == theirs && nullable == also
            }
            (Cuts::Blocks { .. }, Cuts::Blocks { .. }) => true,
            _ => false,
        }
    }

    /// Whether each bound has a value for each column.
    pub fn is_sound(&self) -> bool {
        match self {
            Cuts::Key { columns, nullable, bounds } => {
                let most = if *nullable { 1 } else { usize::MAX };
                (1..=most).contains(&columns.len()) && bounds.iter().all(|bound| bound.len() == columns.len())
            }
            Cuts::Blocks { bounds } => bounds.is_sorted(),
        }
    }
}

/// One range between bounds, which are given by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    from: Option<usize>,
    to: Option<usize>,
}

impl Range {
    /// Range `number` of those that `bounds` bounds make.
    fn of(number: usize, bounds: usize) -> Self {
        Self { from: number.checked_sub(1), to: (number < bounds).then_some(number) }
    }

    fn is_last(self) -> bool {
        self.to.is_none()
    }

    fn condition(self, key: &str, value: impl Fn(usize) -> String, nullable: bool) -> Option<String> {
        let from = self.from.map(|bound| format!("{key} >= {}", value(bound)));
        let to = self.to.map(|bound| format!("{key} < {}", value(bound)));
        let parts: Vec<String> = from.into_iter().chain(to).collect();
        if parts.is_empty() {
            return None;
        }
        let within = parts.join(" AND ");
        Some(if nullable && self.is_last() { format!("{within} OR {key} IS NULL") } else { within })
    }
}

/// A row of values, or the one value.
fn row(values: impl Iterator<Item = String>) -> String {
    let values: Vec<String> = values.collect();
    if values.len() == 1 { values.concat() } else { format!("({})", values.join(", ")) }
}

/// The first blocks of `shards` ranges of a table of `blocks` blocks, but for the first range.
pub fn blocks(blocks: u64, shards: u32) -> Vec<u32> {
    let cut = |n: u32| u32::try_from(u128::from(blocks) * u128::from(n) / u128::from(shards)).unwrap_or(u32::MAX);
    let mut bounds: Vec<u32> = (1..shards).map(cut).filter(|block| *block > 0).collect();
    bounds.dedup();
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(names: &[&str], nullable: bool, bounds: &[&[&str]]) -> Cuts {
        let column = |name: &&str| KeyColumn { name: (*name).to_owned(), type_name: "text".to_owned() };
        let bound = |values: &&[&str]| values.iter().map(|v| (*v).to_owned()).collect();
        let columns = names.iter().map(column).collect();
        Cuts::Key { columns, nullable, bounds: bounds.iter().map(bound).collect() }
    }

    fn conditions(cuts: &Cuts) -> Vec<String> {
        (0..cuts.ranges()).map(|n| cuts.condition(n).unwrap_or_default()).collect()
    }

    #[test]
    fn conditions_of_each_range() {
        let two = key(&["a", "B"], false, &[&["it's", "1"], &["b\\", "2"]]);
        assert_eq!(
            conditions(&two),
            [
                r#"("a", "B") < ('it''s'::text, '1'::text)"#,
                r#"("a", "B") >= ('it''s'::text, '1'::text) AND ("a", "B") < (E'b\\'::text, '2'::text)"#,
                r#"("a", "B") >= (E'b\\'::text, '2'::text)"#,
            ]
        );
        let nullable = key(&["a"], true, &[&["x"]]);
        assert_eq!(conditions(&nullable), [r#""a" < 'x'::text"#, r#""a" >= 'x'::text OR "a" IS NULL"#]);
        assert_eq!(conditions(&key(&["a"], true, &[])), [""]);
        let blocks = Cuts::Blocks { bounds: vec![7] };
        assert_eq!(conditions(&blocks), ["ctid < '(7,0)'::pg_catalog.tid", "ctid >= '(7,0)'::pg_catalog.tid"]);
    }

    #[test]
    fn a_stored_plan_that_was_damaged_is_noticed() {
        assert!(key(&["a", "b"], false, &[&["1", "2"]]).is_sound());
        assert!(!key(&["a", "b"], false, &[&["1"]]).is_sound());
        assert!(!key(&[], false, &[]).is_sound());
        assert!(!Cuts::Blocks { bounds: vec![2, 1] }.is_sound());
    }

    #[test]
    fn blocks_are_cut_evenly() {
        assert_eq!(blocks(8, 4), [2, 4, 6]);
        assert_eq!(blocks(2, 8), [1]);
        assert_eq!(blocks(0, 8), Vec::<u32>::new());
        assert_eq!(blocks(u64::from(u32::MAX), 2), [u32::MAX / 2]);
    }

    proptest! {
        /// The condition's meaning, over bounds in order; equal bounds make empty ranges.
        #[test]
        fn every_key_is_in_exactly_one_range(mut bounds: Vec<i64>, key: Option<i64>, near: prop::sample::Index) {
            bounds.sort_unstable();
            // Keys at a bound are where mistakes would be.
            let at_bound = (!bounds.is_empty()).then(|| bounds[near.index(bounds.len())]);
            for key in [key, at_bound, Some(i64::MIN), Some(i64::MAX), None] {
                let holds = |number: &usize| {
                    let range = Range::of(*number, bounds.len());
                    match key {
                        None => range.is_last(),
                        Some(key) => range.from.is_none_or(|b| key >= bounds[b]) && range.to.is_none_or(|b| key < bounds[b]),
                    }
                };
                prop_assert_eq!((0..=bounds.len()).filter(holds).count(), 1);
            }
        }

        #[test]
        fn every_block_is_in_exactly_one_range(total in 0_u64..100_000, shards in 1_u32..300, block in 0_u32..200_000) {
            let bounds = blocks(total, shards);
            prop_assert!(bounds.len() < shards as usize && bounds.is_sorted());
            let holds = |number: &usize| {
                let range = Range::of(*number, bounds.len());
                range.from.is_none_or(|b| block >= bounds[b]) && range.to.is_none_or(|b| block < bounds[b])
            };
            prop_assert_eq!((0..=bounds.len()).filter(holds).count(), 1);
        }
    }
}
