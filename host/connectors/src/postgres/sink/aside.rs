//! Writing what can be written of a page, and setting the rest aside.

use faucet_core::error::Result;
use faucet_core::model::Page;
use faucet_core::ports::OnDrift;

use super::writer::PostgresSink;
use super::{LABEL_MISSING, VALUE_WOULD_CHANGE};
use crate::postgres::encode::{NOT_A_NUMBER, VALUE_TOO_LARGE};
use crate::postgres::error::{CHARACTER_REFUSED, CONSTRAINT_VIOLATED, RAISED, VALUE_REFUSED};
use crate::sql::{self, KEY_NULL, OfRows, Parts, QUARANTINED};

static OF_ROWS: OfRows = OfRows(&[
    &VALUE_REFUSED,
    &CHARACTER_REFUSED,
    &VALUE_WOULD_CHANGE,
    &LABEL_MISSING,
    &CONSTRAINT_VIOLATED,
    &RAISED,
    &VALUE_TOO_LARGE,
    &NOT_A_NUMBER,
    &KEY_NULL,
    &QUARANTINED,
]);

impl PostgresSink {
    /// Writes the rows of `page` that can be written, and sets the others aside.
    pub(super) async fn write_what_fits(&mut self, page: Page) -> Result<()> {
        self.begin().await?;
        self.prepare(page.schema()).await?;
        let mut parts = Parts::new(page, &self.config.key, OF_ROWS);
        while let Some(part) = parts.next_part() {
            let written = self.write_part(&part.rows).await;
            parts.end(part, written)?;
        }
        self.aside.extend(parts.into_aside());
        Ok(())
    }

    /// Writes a part whole, or leaves nothing of it.
    async fn write_part(&mut self, part: &Page) -> Result<()> {
        if self.schema.on_drift == OnDrift::Quarantine {
            let (left_out, table) = self.without_place();
            sql::check_left_out(part, self.ops(part)?.as_deref(), left_out, &table)?;
        }
        let folded = self.fold(part)?;
        self.run("SAVEPOINT faucet_part").await?;
        let applied = self.apply(part, folded).await;
        match &applied {
            Ok(()) => self.run("RELEASE SAVEPOINT faucet_part").await?,
            Err(error) if OF_ROWS.include(error) => {
                self.run("ROLLBACK TO SAVEPOINT faucet_part; RELEASE SAVEPOINT faucet_part").await?;
            }
            Err(_) => {}
        }
        applied
    }
}
