//! The changes of a page one after the other, as the source made them: staged by one COPY, applied by one loop that the
//! server runs.

use faucet_core::error::Result;
use faucet_core::model::Page;
use tokio_postgres::Client;

use super::copy::copy;
use super::merge::{EXTRA, Merge};
use super::merge_sql::{DELETE, MOVED_PARTIAL, MOVED_WHOLE, ORIGIN, PARTIAL, REPLACE, SKIPPED, WHOLE};
use super::plan::Plan;
use super::rows::{Fields, Slots};
use crate::postgres::error::from_driver;
use crate::sql::{Change, Folded};

impl Merge {
    /// Whether a row's key can be changed where it is.
    pub fn can_move(&self) -> bool {
        self.sql.can_move()
    }

    /// Applies `changes` of `page`, rows and what they do. Returns how many partial ones found no row.
    ///
    /// # Errors
    /// What can't be written or the server refuses.
    pub async fn apply_in_order(
        &mut self,
        client: &Client,
        plan: &Plan,
        page: &Page,
        changes: &[(usize, Change)],
    ) -> Result<u64> {
        self.clear(client).await?;
        let (mut slots, mut mask) = (Slots::new(plan, page), Vec::new());
        let mut lines = (0..).zip(changes);
        copy(client, &self.copy_any, plan, |fields| match lines.next() {
            Some((number, &(row, change))) => {
                push(fields, &mut slots, &mut mask, number, (row, change))?;
                Ok(true)
            }
            None => Ok(false),
        })
        .await?;
        client.batch_execute(&self.sql.in_order()).await.map_err(|e| from_driver(&e))?;
        let skipped = format!("SELECT pg_catalog.current_setting('{SKIPPED}')::pg_catalog.int8");
        let skipped = client.query_one(&skipped, &[]).await.map_err(|e| from_driver(&e))?;
        Ok(skipped.get::<_, i64>(0).unsigned_abs())
    }
}

/// Writes a row of the stage.
fn push(
    fields: &mut Fields,
    slots: &mut Slots<'_>,
    mask: &mut Vec<u8>,
    number: i32,
    (row, change): (usize, Change),
) -> Result<()> {
    fields.begin(EXTRA + slots.len());
    fields.small(match change {
        Change::Put => WHOLE,
        Change::Replace => REPLACE,
        Change::Patch => PARTIAL,
        Change::Delete => DELETE,
        Change::Origin => ORIGIN,
        Change::MovedWhole => MOVED_WHOLE,
        Change::MovedPatch => MOVED_PARTIAL,
    });
    fields.integer(number);
    if matches!(change, Change::Patch | Change::MovedPatch) {
        slots.absent_mask(mask, |_| row);
        fields.bytes(mask);
    } else {
        fields.null();
    }
    let key_only = matches!(change, Change::Delete | Change::Origin);
    slots.push_folded(fields, &Folded::nothing(), row as u32, key_only)?;
    fields.end();
    Ok(())
}
