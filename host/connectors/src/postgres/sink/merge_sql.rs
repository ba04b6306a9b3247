//! The statements that merge a stage into its table. The stage's columns are explained in [`super::merge`].

use super::copy::is_set;
use super::plan::{Format, Origin, Plan, Write};
use super::target::Target;
use crate::postgres::name::{list, literal, quoted};
use crate::postgres::types::Wire;
use tokio_postgres::types::Type;

/// `_faucet_op` of a delete.
pub const DELETE: i16 = 1;
/// Of an update that leaves columns out.
pub const PARTIAL: i16 = 2;
/// Of the key a row had before it moved.
pub const ORIGIN: i16 = 3;
/// The same, where a row under the new key goes first.
pub const ORIGIN_IF_NONE: i16 = 4;
/// Of a put that leaves columns out.
pub const PUT: i16 = 5;

/// Of a whole row that is put, where changes are applied one by one.
pub const WHOLE: i16 = 6;
/// Of a whole row that replaces another.
pub const REPLACE: i16 = 7;
/// Of a whole row that had the key of the [`ORIGIN`] before it.
pub const MOVED_WHOLE: i16 = 8;
/// The same with some of its columns.
pub const MOVED_PARTIAL: i16 = 9;

/// The setting in which applying changes one by one leaves the number of those that found no row.
pub const SKIPPED: &str = "faucet.skipped";

/// The statements' texts.
#[derive(Debug)]
pub struct Sql {
    /// The stage, as SQL.
    stage: String,
    /// The destination, as SQL.
    target: String,
    writes: Vec<Write>,
    format: Format,
    key: Vec<String>,
    /// What the names of the stage's own columns begin with, and none of the table's.
    own: String,
    /// Keys can be equal and not the same: what is folded as two keys can be one row here.
    spellings: bool,
}

impl Sql {
    /// Over `stage`, for `target`, whose rows are found by `key`.
    pub fn new(stage: String, target: &Target, plan: &Plan, key: &[String]) -> Self {
        let (writes, key) = (plan.writes.clone(), key.to_vec());
        let (own, spellings) = (own_prefix(&writes), writes.iter().any(|w| w.key && has_spellings(w)));
        Self { stage, target: target.sql(), own, spellings, writes, format: plan.format, key }
    }

    /// Creates the stage.
    pub fn create(&self) -> String {
        let column = |w: &Write| format!(", {} {}", w.sql(), w.column.stage_type);
        let columns: String = self.writes.iter().map(column).collect();
        let (stage, own) = (&self.stage, &self.own);
        format!(
            "CREATE TEMPORARY TABLE {stage} ({own}op pg_catalog.int2, {own}row pg_catalog.int4, \
             {own}absent pg_catalog.bytea{columns}) ON COMMIT DELETE ROWS"
        )
    }

    /// Fills it: with complete rows, or with `any`.
    pub fn copy(&self, any: bool) -> String {
        let own = &self.own;
        let extra = if any { format!("{own}op, {own}row, {own}absent, ") } else { String::new() };
        let (names, format) = (self.names(), self.format.sql());
        format!("COPY {} ({extra}{names}) FROM STDIN ({format})", self.stage)
    }

    /// Puts the complete rows.
    pub fn insert(&self) -> String {
        let (target, names) = (&self.target, self.names());
        let sets: Vec<_> = self.set().map(|(_, w)| format!("{0} = EXCLUDED.{0}", w.sql())).collect();
        let action = if sets.is_empty() { "NOTHING".to_owned() } else { format!("UPDATE SET {}", sets.join(", ")) };
        format!(
            "INSERT INTO {target} ({names}) OVERRIDING SYSTEM VALUE \
             SELECT {names} FROM {} WHERE {}op IS NULL ON CONFLICT ({}) DO {action}",
            self.stage,
            self.own,
            list(self.key.iter().map(String::as_str))
        )
    }

    /// Puts the rows of group `$1` with the columns they have: all but those of `mask`.
    pub fn put(&self, mask: &[u8]) -> String {
        let has = |place: &usize| !is_set(mask, *place);
        let names = list((0..self.writes.len()).filter(has).map(|place| self.writes[place].column.name.as_str()));
        let own = &self.own;
        let sets: Vec<_> = self.set().filter(|(place, _)| has(place)).map(|(_, write)| put(write)).collect();
        let action = if sets.is_empty() { "NOTHING".to_owned() } else { format!("UPDATE SET {}", sets.join(", ")) };
        format!(
            "INSERT INTO {} AS t ({names}) OVERRIDING SYSTEM VALUE SELECT {names} FROM {} \
             WHERE {own}op = {PUT} AND {own}row = $1::pg_catalog.int4 ON CONFLICT ({}) DO {action}",
            self.target,
            self.stage,
            list(self.key.iter().map(String::as_str))
        )
    }

    /// Deletes the rows with the keys of deletes.
    pub fn delete(&self) -> String {
        let (target, stage, own, same) = (&self.target, &self.stage, &self.own, self.same_key("t", "s"));
        // The row that a partial one is the rest of stays, under whatever spelling its key is deleted.
        let kept = match self.spellings {
            true => format!(
                " AND NOT EXISTS (SELECT FROM {stage} AS p WHERE p.{own}op = {PARTIAL} AND {})",
                self.same_key("t", "p")
            ),
            false => String::new(),
        };
        format!("DELETE FROM {target} AS t USING {stage} AS s WHERE s.{own}op = {DELETE} AND {same}{kept}")
    }

    /// Changes the rows that partial updates mean.
    pub fn update(&self) -> String {
        let (target, stage, own, same) = (&self.target, &self.stage, &self.own, self.same_key("t", "s"));
        let sets = self.sets(false);
        format!("UPDATE {target} AS t SET {sets} FROM {stage} AS s WHERE s.{own}op = {PARTIAL} AND {same}")
    }

    /// Makes partial rows that moved complete, from the rows under their old keys.
    pub fn fill(&self) -> String {
        let (target, stage, own) = (&self.target, &self.stage, &self.own);
        let written = self.writes.iter().enumerate().filter(|(_, w)| !w.key);
        let sets: String = written.map(|set| format!("{}, ", self.merged(set))).collect();
        // A new spelling of the old key is no other row.
        let other = if self.spellings { format!(" AND NOT ({})", self.same_key("n", "o")) } else { String::new() };
        format!(
            "UPDATE {stage} AS s SET {sets}{own}op = NULL FROM {stage} AS o JOIN {target} AS t ON {} \
             WHERE s.{own}op = {PARTIAL} AND o.{own}row = s.{own}row AND (o.{own}op = {ORIGIN} \
             OR o.{own}op = {ORIGIN_IF_NONE} AND NOT EXISTS (SELECT FROM {target} AS n WHERE {}{other}))",
            self.same_key("t", "o"),
            self.same_key("n", "s")
        )
    }

    /// Applies the staged rows one after the other, each as a statement of its own. An [`ORIGIN`] comes right before the row
    /// that moved; when that row's key is there already (a replay), the row under it is the one meant.
    pub fn in_order(&self) -> String {
        let (stage, target, own) = (&self.stage, &self.target, &self.own);
        let (here, there) = (self.same_key("t", "s"), self.same_key("t", "o"));
        let (insert, replace, patch) = (self.insert_one(), self.sets(true), self.sets(false));
        let (moved_whole, moved_patch) = (self.sets_moved(true), self.sets_moved(false));
        let update = |sets: &str, at: &str| format!("UPDATE {target} AS t SET {sets} WHERE {at}");
        let body = format!(
            "#variable_conflict use_variable\n\
             DECLARE s record; o record; skipped bigint := 0;\n\
             BEGIN\n\
             FOR s IN SELECT * FROM {stage} AS q ORDER BY q.{own}row LOOP\n\
             IF s.{own}op = {DELETE} THEN DELETE FROM {target} AS t WHERE {here};\n\
             ELSIF s.{own}op = {WHOLE} THEN {insert};\n\
             ELSIF s.{own}op = {REPLACE} THEN {replace};\n  IF NOT FOUND THEN {insert}; END IF;\n\
             ELSIF s.{own}op = {PARTIAL} THEN {patch};\n  IF NOT FOUND THEN skipped := skipped + 1; END IF;\n\
             ELSIF s.{own}op = {ORIGIN} THEN o := s;\n\
             ELSIF NOT ({same}) AND EXISTS (SELECT FROM {target} AS t WHERE {here}) THEN\n  \
             DELETE FROM {target} AS t WHERE {there};\n  \
             IF s.{own}op = {MOVED_WHOLE} THEN {replace}; ELSE {patch}; END IF;\n\
             ELSIF s.{own}op = {MOVED_WHOLE} THEN {moved_whole};\n  IF NOT FOUND THEN {insert}; END IF;\n\
             ELSE {moved_patch};\n  IF NOT FOUND THEN skipped := skipped + 1; END IF;\n\
             END IF;\n\
             END LOOP;\n\
             PERFORM pg_catalog.set_config('{SKIPPED}', skipped::pg_catalog.text, true);\n\
             END",
            same = self.same_key("s", "o"),
            replace = update(&replace, &here),
            patch = update(&patch, &here),
            moved_whole = update(&moved_whole, &there),
            moved_patch = update(&moved_patch, &there),
        );
        format!("DO {}", literal(&body))
    }

    /// Whether a row's key can be changed where it is.
    pub fn can_move(&self) -> bool {
        !self.writes.iter().any(|w| w.key && w.column.identity_always)
    }

    /// Puts the whole row `s`.
    fn insert_one(&self) -> String {
        let (target, names) = (&self.target, self.names());
        let values: Vec<_> = self.writes.iter().map(|w| format!("s.{}", w.sql())).collect();
        let sets: Vec<_> = self.set().map(|(_, w)| format!("{0} = EXCLUDED.{0}", w.sql())).collect();
        let action = if sets.is_empty() { "NOTHING".to_owned() } else { format!("UPDATE SET {}", sets.join(", ")) };
        format!(
            "INSERT INTO {target} ({names}) OVERRIDING SYSTEM VALUE VALUES ({}) ON CONFLICT ({}) DO {action}",
            values.join(", "),
            list(self.key.iter().map(String::as_str))
        )
    }

    /// Sets the columns of the row `s`: all of them if it is `whole`.
    fn sets(&self, whole: bool) -> String {
        let sets: Vec<_> = self.set().map(|set| self.to_staged(set, whole)).collect();
        if sets.is_empty() {
            // Nothing can be absent then, but the statement has to be one.
            return self.key.iter().map(|k| format!("{0} = t.{0}", quoted(k))).collect::<Vec<_>>().join(", ");
        }
        sets.join(", ")
    }

    /// The same with its key.
    fn sets_moved(&self, whole: bool) -> String {
        let key = self.key.iter().map(|k| format!("{0} = s.{0}", quoted(k)));
        let rest = self.set().filter(|(_, w)| !w.key).map(|set| self.to_staged(set, whole));
        key.chain(rest).collect::<Vec<_>>().join(", ")
    }

    fn to_staged(&self, (place, write): (usize, &Write), whole: bool) -> String {
        if whole { format!("{0} = s.{0}", write.sql()) } else { self.merged((place, write)) }
    }

    /// Empties the stage.
    pub fn empty(&self) -> String {
        format!("TRUNCATE {}", self.stage)
    }

    /// Drops it.
    pub fn drop(&self) -> String {
        format!("DROP TABLE {}", self.stage)
    }

    fn names(&self) -> String {
        list(self.writes.iter().map(|w| w.column.name.as_str()))
    }

    /// The columns that an update sets (K4), with their places.
    fn set(&self) -> impl Iterator<Item = (usize, &Write)> {
        let is_set = |w: &Write| !w.column.identity_always && (!w.key || has_spellings(w));
        self.writes.iter().enumerate().filter(move |(_, w)| is_set(w))
    }

    fn same_key(&self, a: &str, b: &str) -> String {
        let same = |k: &String| format!("{a}.{0} = {b}.{0}", quoted(k));
        self.key.iter().map(same).collect::<Vec<_>>().join(" AND ")
    }

    /// Sets a column to the staged value, or keeps the one in `t` where the stage has none.
    fn merged(&self, (place, write): (usize, &Write)) -> String {
        let (name, own) = (write.sql(), &self.own);
        match write.source {
            Origin::Column(_) => {
                format!(
                    "{name} = CASE pg_catalog.get_bit(s.{own}absent, {place}) WHEN 1 THEN t.{name} ELSE s.{name} END"
                )
            }
            // Members that the row lacks stay.
            Origin::Row => format!("{name} = COALESCE(t.{name}, '{{}}') OPERATOR(pg_catalog.||) s.{name}"),
        }
    }
}

/// Whether values of the column's type can be equal and not the same, as `1.0` and `1.00` are: the row that has the key then
/// gets its new spelling.
fn has_spellings(write: &Write) -> bool {
    let is_text = |base| Type::from_oid(base).is_some();
    match write.column.column_type.wire {
        Some(Wire::Numeric | Wire::Float4 | Wire::Float8 | Wire::Interval | Wire::Jsonb) | None => true,
        // Such as citext.
        Some(Wire::Text) => write.column.nondeterministic || !is_text(write.column.column_type.base),
        Some(_) => false,
    }
}

/// A beginning that no written column's name has.
fn own_prefix(writes: &[Write]) -> String {
    let mut prefix = "_faucet_".to_owned();
    while writes.iter().any(|write| write.column.name.starts_with(&prefix)) {
        prefix.push('_');
    }
    prefix
}

/// Sets a column of a row that is there already to the value of the one that was to be inserted.
fn put(write: &Write) -> String {
    let name = write.sql();
    match write.source {
        Origin::Column(_) => format!("{name} = EXCLUDED.{name}"),
        // Members that the row lacks stay.
        Origin::Row => format!("{name} = COALESCE(t.{name}, '{{}}') OPERATOR(pg_catalog.||) EXCLUDED.{name}"),
    }
}
