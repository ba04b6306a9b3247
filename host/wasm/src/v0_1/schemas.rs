//! Schemas that repeat are shared, so that a sink which prepares something for a schema does so once.

use faucet_core::model::Schema;
use std::sync::Arc;

/// Schemas that are remembered. Of more tables than that, some share none.
const KEPT: usize = 64;

/// The schemas of the last pages.
#[derive(Debug, Default)]
pub(super) struct Schemas(Vec<Arc<Schema>>);

impl Schemas {
    /// The schema, shared with an earlier page if it is the same.
    pub(super) fn share(&mut self, schema: Schema) -> Arc<Schema> {
        if let Some(known) = self.0.iter().find(|known| ***known == schema) {
            return known.clone();
        }
        let schema = Arc::new(schema);
        if self.0.len() == KEPT {
            self.0.remove(0);
        }
        self.0.push(schema.clone());
        schema
    }
}
