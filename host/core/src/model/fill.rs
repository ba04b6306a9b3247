//! What a column that was added later holds in the rows that were there before.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::Column;

/// The value that rows have in a column which was added with a default, until they are written again. The source does not
/// touch them for it (PostgreSQL: `pg_attribute.attmissingval`), so no change tells of it: a destination that adds the
/// column has to fill it.
#[derive(Debug, Clone)]
pub struct Fill {
    /// The value as the source spells it, in the field's native type.
    pub text: Arc<str>,
    /// The same as one slot of the field's kind.
    pub value: Arc<Column>,
}

// The spelling says it all, and a column of floats can't be compared.
impl PartialEq for Fill {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Fill {}

impl Hash for Fill {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}
