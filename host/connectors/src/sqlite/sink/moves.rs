//! Changed keys of one page.

use faucet_core::model::{Page, ValueRef};
use rusqlite::types::Value;
use std::collections::HashMap;

use crate::sql::RowKey;

/// What has to be remembered between the two halves of a changed key.
pub(super) struct Moves<'a> {
    page: &'a Page,
    key: &'a [usize],
    marker: Option<usize>,
    /// Per second half: what its absent slots held under the old key, once that is known.
    rests: HashMap<usize, Option<Vec<Value>>>,
    /// Per first half, the second.
    destinations: HashMap<usize, usize>,
    /// Keys that rows moved to, with the row of the page that stands there now.
    arrived: HashMap<RowKey<'a>, usize>,
}

impl<'a> Moves<'a> {
    pub(super) fn new(page: &'a Page, key: &'a [usize], marker: Option<usize>) -> Self {
        let moves = || page.moves().iter().map(|m| (m.from as usize, m.to as usize));
        Self {
            page,
            key,
            marker,
            rests: moves().map(|(_, to)| (to, None)).collect(),
            destinations: moves().collect(),
            arrived: HashMap::new(),
        }
    }

    /// The row that `row` becomes, when it is the first half of a changed key.
    pub(super) fn destination(&self, row: usize) -> Option<usize> {
        self.destinations.get(&row).copied()
    }

    /// Remembers what the absent slots of `to` held; `None` when there was no row.
    pub(super) fn carry(&mut self, to: usize, rest: Option<Vec<Value>>) {
        self.rests.insert(to, rest);
    }

    /// A row is put. When it is the second half of a changed key: what was carried for it.
    #[inline]
    pub(super) fn arrive(&mut self, row: usize) -> Option<Option<Vec<Value>>> {
        if self.rests.is_empty() {
            return None;
        }
        let rest = self.rests.get_mut(&row).map(Option::take);
        let key = RowKey::new(self.page, self.key, row);
        if rest.is_some() || self.arrived.contains_key(&key) {
            self.arrived.insert(key, row);
        }
        rest
    }

    /// Whether a delete means the row that is there now.
    ///
    /// Two keys swapped in one statement, under a deferred constraint, come as delete(1), put(2), delete(2), put(1). The
    /// second delete means the row that was at 2 before, which is overwritten already. It is known by its old image
    /// (deferred keys need a full one), which contradicts the row that has just arrived.
    #[inline]
    pub(super) fn deletes_what_is_there(&mut self, row: usize) -> bool {
        if self.arrived.is_empty() {
            return true;
        }
        match self.arrived.remove(&RowKey::new(self.page, self.key, row)) {
            Some(present) => !self.contradicts(row, present),
            None => true,
        }
    }

    /// The table was emptied: nothing is carried, and nobody stands anywhere.
    pub(super) fn forget(&mut self) {
        self.rests.values_mut().for_each(|rest| *rest = None);
        self.arrived.clear();
    }

    fn contradicts(&self, deleted: usize, present: usize) -> bool {
        let columns = self.page.columns().iter().enumerate().filter(|(index, _)| Some(*index) != self.marker);
        columns.into_iter().any(|(_, column)| {
            let (old, new) = (column.value(deleted), column.value(present));
            // A missing value may only mean that it was not sent.
            !old.is_missing() && new != ValueRef::Absent && !old.same(&new)
        })
    }
}
