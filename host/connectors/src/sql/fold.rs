//! What a page comes down to: at most one put or delete per key, all of which can be applied in any order.
//!
//! A set-based merge can touch each row once, so the rows of a page that share a key are folded to the last state first.
//!
//! * **F1** Applying the fold equals applying the page's rows one by one.
//! * **F2** An absent slot takes the value of the earlier row it stands for, if the page has that row; else the value at
//!   the destination, under the key that row had there ([`Rest`]).
//! * **F3** An update with absent slots whose row exists nowhere makes none: a later delete follows it, or it is replayed
//!   after one. It is counted as skipped. Any other put makes a row, whose absent slots take the columns' defaults
//!   (or what such an update of the same page had for them, which no source sends).
//!
//! **Changed keys.** A [`faucet_core::model::Move`] names the delete of the old key and the put of the new one. The put continues the row
//! that the delete removed, so that is where its absent slots come from. Two keys may be swapped in one statement under a
//! deferred constraint: then the page says put(2), delete(2), where the delete means the row that was at 2 *before*. It
//! is known by its old image, which contradicts the row that has just arrived (deferred keys need a full old image).
//!
//! **Replays.** A page may be applied again over its own result. Then the old key is gone and the new one is there, and
//! what is under the new key is the row that the absent slots mean.

use faucet_core::model::{Page, ValueRef, Values};
use std::collections::HashMap;

use super::key::index_order;
use super::{RowKey, RowOp};

/// No row.
const NONE: u32 = u32::MAX;

/// A folded page.
#[derive(Debug, PartialEq, Eq)]
pub struct Folded {
    /// The destination is emptied before anything else.
    pub truncate: bool,
    /// Rows to put, in the order in which their keys were first put.
    pub upserts: Vec<Upsert>,
    /// Rows whose keys are deleted.
    pub deletes: Vec<u32>,
    /// Puts that no row was found for (F3), as far as the page shows it.
    pub skipped: u64,
    /// Per row, the earlier row of the page that it continues. Empty when no slot of the page is absent.
    continues: Vec<u32>,
}

/// The last state of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upsert {
    /// The row of the page that has its key and its last values.
    pub row: u32,
    /// What the page does not have of it.
    pub rest: Rest,
}

/// What has to be at the destination for an upsert, and gives the slots that the page does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// Nothing: the page has the whole row.
    Complete,
    /// The destination's row under the same key. Without one there is no row (F3), even if the page has every slot:
    /// partial updates never make a row.
    Own,
    /// The destination's row under the same key; without one, the columns' defaults.
    OwnOrDefaults,
    /// The columns' defaults: a row under the same key was deleted before, and its key is among the deletes.
    Defaults,
    /// The destination's row under the key of this row of the page, which is the key it had before.
    Moved {
        /// A row with the key it had.
        from: u32,
        /// Whether a row under the new key is the one meant, if there is one (a replay). Otherwise it counts only when
        /// there is none under the old key.
        own_first: bool,
    },
}

/// Where a page has what tells its rows apart.
#[derive(Debug, Clone, Copy)]
pub struct Keying<'a> {
    /// The key's columns.
    pub key: &'a [usize],
    /// The column that says what a row does, which is no part of it.
    pub marker: Option<usize>,
}

impl Folded {
    /// Nothing, of a page each of whose rows stands for itself.
    pub fn nothing() -> Self {
        Self { truncate: false, upserts: Vec::new(), deletes: Vec::new(), skipped: 0, continues: Vec::new() }
    }

    /// Whether it is a page of `rows` rows as it was: each puts a whole row under a key of its own.
    pub fn is_plain(&self, rows: usize) -> bool {
        let whole = self.upserts.len() == rows && self.upserts.iter().all(|upsert| upsert.rest == Rest::Complete);
        whole && self.deletes.is_empty() && !self.truncate
    }

    /// The row of the page that has the slot of `row` in `column`: itself, or the nearest earlier one that does (F2).
    #[inline]
    pub fn source(&self, page: &Page, column: usize, row: u32) -> u32 {
        source(page, &self.continues, column, row)
    }

    /// Puts the upserts in about the order of an index on the columns `key`, which any order may do (F1).
    pub fn sort(&mut self, page: &Page, key: &[usize]) {
        self.upserts.sort_by(|a, b| index_order(page, key, a.row, b.row));
    }
}

/// Folds `page`, whose rows do what `ops` says (all of them put rows without), by the columns `key`. `marker` is the
/// column that said so, which is no part of a row.
///
/// Every row that puts or deletes has a value in each column of the key.
pub fn fold(page: &Page, key: &[usize], marker: Option<usize>, ops: Option<&[RowOp]>) -> Folded {
    let absents = page.columns().iter().any(|c| c.absent().is_some());
    let is_put = |op: &RowOp| matches!(op, RowOp::Upsert | RowOp::Update);
    if ops.is_none_or(|ops| ops.iter().all(is_put)) && !absents && page.moves().is_empty() && is_ascending(page, key) {
        let upserts = (0..page.rows() as u32).map(|row| Upsert { row, rest: Rest::Complete }).collect();
        return Folded { truncate: false, upserts, deletes: Vec::new(), skipped: 0, continues: Vec::new() };
    }
    let mut folding = Folding::new(page, key, marker, absents);
    for row in 0..page.rows() {
        match ops.map_or(RowOp::Upsert, |ops| ops[row]) {
            RowOp::Upsert => folding.put(row as u32, true),
            RowOp::Update => folding.put(row as u32, false),
            RowOp::Delete => folding.delete(row as u32),
            RowOp::Truncate => folding.truncate(),
            RowOp::Skip => {}
        }
    }
    folding.finish()
}

/// Whether the key is one integer that rises from row to row, as in most snapshots: nothing to fold then.
fn is_ascending(page: &Page, key: &[usize]) -> bool {
    let &[column] = key else { return false };
    match page.columns()[column].values() {
        Values::I64(a) => a.values().windows(2).all(|pair| pair[0] < pair[1]),
        _ => false,
    }
}

/// What is known about a key.
#[derive(Debug)]
struct Slot {
    state: State,
    /// What was here when another row moved in.
    beneath: Option<State>,
    /// A row of the page with this key.
    row: u32,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Whatever the destination has.
    Untouched,
    /// A row of the page.
    Here(Image),
    /// No row.
    Gone,
}

/// A row's state: its latest row in the page, if the page has one, and where the rest of it is.
#[derive(Debug, Clone, Copy)]
struct Image {
    row: u32,
    /// [`Rest::Complete`] when nothing at the destination lies under it.
    rest: Rest,
}

struct Folding<'a> {
    page: &'a Page,
    key: &'a [usize],
    marker: Option<usize>,
    absents: bool,
    places: HashMap<RowKey<'a>, usize>,
    slots: Vec<Slot>,
    /// Per second half of a move, the first one.
    arrivals: HashMap<u32, u32>,
    /// What the first halves of moves took away; `None` for those that took nothing.
    taken: HashMap<u32, Option<Image>>,
    /// After a truncate nothing is untouched.
    emptied: bool,
    skipped: u64,
    continues: Vec<u32>,
}

impl<'a> Folding<'a> {
    fn new(page: &'a Page, key: &'a [usize], marker: Option<usize>, absents: bool) -> Self {
        let rows = page.rows();
        Self {
            page,
            key,
            marker,
            absents,
            places: HashMap::with_capacity(rows),
            slots: Vec::with_capacity(rows),
            arrivals: page.moves().iter().map(|m| (m.to, m.from)).collect(),
            taken: page.moves().iter().map(|m| (m.from, None)).collect(),
            emptied: false,
            skipped: 0,
            continues: if absents { vec![NONE; rows] } else { Vec::new() },
        }
    }

    fn slot(&mut self, row: u32) -> usize {
        let (slots, emptied) = (&mut self.slots, self.emptied);
        *self.places.entry(RowKey::new(self.page, self.key, row as usize)).or_insert_with(|| {
            let state = if emptied { State::Gone } else { State::Untouched };
            slots.push(Slot { state, beneath: None, row });
            slots.len() - 1
        })
    }

    /// Puts a row; `makes` says whether it becomes one even if it has absent slots and nothing lies under it (F3).
    fn put(&mut self, row: u32, makes: bool) {
        let slot = self.slot(row);
        let before = self.slots[slot].state;
        let arrived = self.arrivals.get(&row).and_then(|from| self.taken.get(from).copied().flatten());
        let (earlier, rest) = match (arrived, before) {
            (Some(image), _) => (image.row, arriving(image.rest, before)),
            (None, State::Here(image)) => (image.row, image.rest),
            (None, State::Untouched) => (NONE, Rest::Own),
            (None, State::Gone) => (NONE, Rest::Complete),
        };
        let partial = self.absents && is_partial(self.page, self.marker, row as usize);
        let rest = match (partial && makes, rest) {
            (true, Rest::Own) => Rest::OwnOrDefaults,
            (true, Rest::Complete) if earlier == NONE => Rest::Defaults,
            (_, rest) => rest,
        };
        if partial && rest == Rest::Complete && earlier == NONE {
            self.skipped += 1;
            return;
        }
        if partial {
            self.continues[row as usize] = earlier;
        }
        let rest = if partial { rest } else { Rest::Complete };
        let slot = &mut self.slots[slot];
        if arrived.is_some() {
            slot.beneath = (!matches!(before, State::Gone)).then_some(before);
        }
        slot.state = State::Here(Image { row, rest });
    }

    fn delete(&mut self, row: u32) {
        let index = self.slot(row);
        let slot = &self.slots[index];
        let removed = match (slot.beneath, slot.state) {
            (Some(beneath), State::Here(image)) if self.contradicts(row, image.row) => {
                self.slots[index].beneath = None;
                beneath
            }
            (_, state) => {
                self.slots[index].beneath = None;
                self.slots[index].state = State::Gone;
                state
            }
        };
        if let Some(taken) = self.taken.get_mut(&row) {
            *taken = leaving(removed, row);
        }
    }

    fn truncate(&mut self) {
        self.places.clear();
        self.slots.clear();
        self.taken.values_mut().for_each(|taken| *taken = None);
        self.emptied = true;
    }

    fn finish(self) -> Folded {
        let mut folded = Folded {
            truncate: self.emptied,
            upserts: Vec::with_capacity(self.slots.len()),
            deletes: Vec::new(),
            skipped: self.skipped,
            continues: Vec::new(),
        };
        for slot in &self.slots {
            match slot.state {
                State::Here(image) => {
                    if image.rest == Rest::Defaults && !self.emptied {
                        folded.deletes.push(slot.row);
                    }
                    folded.upserts.push(Upsert { row: image.row, rest: image.rest });
                }
                State::Gone if !self.emptied => folded.deletes.push(slot.row),
                State::Gone | State::Untouched => {}
            }
        }
        folded.continues = self.continues;
        folded
    }

    /// Whether the old image in `deleted` is not that of the page's row `present`.
    fn contradicts(&self, deleted: u32, present: u32) -> bool {
        self.page.columns().iter().enumerate().filter(|(index, _)| Some(*index) != self.marker).any(
            |(index, column)| {
                let old = column.value(deleted as usize);
                let new = column.value(source(self.page, &self.continues, index, present) as usize);
                // A missing value may only mean that it was not sent.
                !old.is_missing() && new != ValueRef::Absent && !old.same(&new)
            },
        )
    }
}

/// Whether the row itself leaves a column out.
pub(super) fn is_partial(page: &Page, marker: Option<usize>, row: usize) -> bool {
    let data = page.columns().iter().enumerate().filter(|(index, _)| Some(*index) != marker);
    data.into_iter().any(|(_, column)| column.is_absent(row))
}

/// Where the rest of a row is once it has moved to a key whose state was `before`.
fn arriving(rest: Rest, before: State) -> Rest {
    match rest {
        Rest::Moved { from, .. } => Rest::Moved { from, own_first: matches!(before, State::Untouched) },
        Rest::Own | Rest::OwnOrDefaults | Rest::Defaults | Rest::Complete => rest,
    }
}

/// What leaves a key whose state is `removed`; `row` has that key.
fn leaving(removed: State, row: u32) -> Option<Image> {
    let moved = Rest::Moved { from: row, own_first: false };
    match removed {
        State::Untouched => Some(Image { row: NONE, rest: moved }),
        State::Here(image) => {
            let own = matches!(image.rest, Rest::Own | Rest::OwnOrDefaults);
            Some(Image { row: image.row, rest: if own { moved } else { image.rest } })
        }
        State::Gone => None,
    }
}

/// See [`Folded::source`].
#[inline]
fn source(page: &Page, continues: &[u32], column: usize, row: u32) -> u32 {
    let column = &page.columns()[column];
    let mut at = row;
    while column.is_absent(at as usize) && continues.get(at as usize).is_some_and(|earlier| *earlier != NONE) {
        at = continues[at as usize];
    }
    at
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
