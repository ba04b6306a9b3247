//! What a replay showed.

use faucet_core::model::Page;
use faucet_core::pipeline::Difference;
use faucet_core::ports::Output as Made;
use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::look::counted;
use crate::trace;

/// What a replay showed so far.
pub struct Compared {
    /// Pages that were replayed, and their rows.
    pub pages: usize,
    rows: usize,
    /// Pages of which something else was made.
    pub differing: usize,
    /// Rows with other values, by column.
    columns: BTreeMap<String, usize>,
    /// Other differences, and how often each was seen.
    others: BTreeMap<String, usize>,
    /// Rows shown: before and after.
    shown: Vec<[String; 2]>,
    most: usize,
}

impl Compared {
    /// Nothing yet; at most `most` rows will be shown.
    pub fn new(most: usize) -> Self {
        Self {
            pages: 0,
            rows: 0,
            differing: 0,
            columns: BTreeMap::new(),
            others: BTreeMap::new(),
            shown: Vec::new(),
            most,
        }
    }

    /// What was made of a page, and what is made of it now.
    pub fn add(&mut self, page: &Page, before: &Result<Made, String>, after: &Result<Made, String>) {
        self.pages += 1;
        self.rows += page.rows();
        let other = match (before, after) {
            (Ok(before), Ok(after)) => match Difference::of(before, after) {
                None => return,
                Some(Difference::Values(columns)) => {
                    self.differing += 1;
                    columns.iter().for_each(|values| {
                        *self.columns.entry(values.column.to_string()).or_default() += values.rows.len();
                    });
                    let rows = columns.iter().flat_map(|values| values.rows.iter().map(|row| (values.page, *row)));
                    return self.show(rows.collect(), before, after);
                }
                Some(difference) => difference.to_string(),
            },
            (Err(before), Err(after)) if before == after => return,
            (_, Err(error)) => format!("it fails: {error}"),
            (Err(_), Ok(_)) => "it does not fail any more".to_owned(),
        };
        self.differing += 1;
        *self.others.entry(other).or_default() += 1;
    }

    /// Shows rows (page and number) while there is room.
    fn show(&mut self, mut rows: Vec<(usize, usize)>, before: &Made, after: &Made) {
        rows.sort_unstable();
        rows.dedup();
        let room = self.most.saturating_sub(self.shown.len());
        for (page, row) in rows.into_iter().take(room) {
            let text = |made: &Made| trace::rows(&made.pages[page].slice(row, 1)).first().map(ToString::to_string);
            self.shown.push([text(before).unwrap_or_default(), text(after).unwrap_or_default()]);
        }
    }

    /// For people.
    pub fn text(&self, step: &str) -> String {
        let (pages, rows) = (counted(self.pages as u64, "page"), counted(self.rows as u64, "row"));
        let mut out = format!("{pages}, {rows} into '{step}'");
        if self.differing == 0 {
            out.push_str(": the same comes out\n");
            return out;
        }
        out.push_str(&format!(": something else comes out of {}\n", counted(self.differing as u64, "page")));
        let columns = self
            .columns
            .iter()
            .map(|(column, rows)| format!("  column '{column}': other values in {}\n", counted(*rows as u64, "row")));
        let others = self.others.iter().map(|(what, pages)| format!("  {what} ({})\n", counted(*pages as u64, "page")));
        out.extend(columns.chain(others));
        out.extend(self.shown.iter().map(|[before, after]| format!("  - {before}\n  + {after}\n")));
        out
    }

    /// For programs.
    pub fn json(&self, step: &str) -> Value {
        let shown: Vec<Value> =
            self.shown.iter().map(|[before, after]| json!({ "before": before, "after": after })).collect();
        json!({
            "step": step,
            "pages": self.pages,
            "rows": self.rows,
            "differing_pages": self.differing,
            "columns": self.columns,
            "others": self.others,
            "shown": shown,
        })
    }
}
