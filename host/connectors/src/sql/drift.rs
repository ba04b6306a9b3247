//! Columns that rows have and the destination lacks, by the pipeline's `schema` block.

use faucet_core::error::{Blame, Code, Error, Retry};
use faucet_core::ports::OnDrift;

/// A column changed its type into one that the destination's can't hold.
pub static TYPE_INCOMPATIBLE: Code = Code {
    id: "sink.type_incompatible",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "a column of the source changed its type, and the destination's doesn't hold every value of it",
    help: "`schema: { on_drift: evolve }` changes the type of a destination's column only where no value can be lost by \
           it, such as integer to bigint. For any other change, alter the destination's column by hand and start again, \
           or set `schema: { on_incompatible: keep }` to go on writing what fits.",
};

/// Says that columns are left out, once per schema, where that is wanted.
pub fn tell(policy: OnDrift, table: &str, left_out: &[&str]) {
    if policy == OnDrift::Warn && !left_out.is_empty() {
        let columns = left_out.join(", ");
        tracing::warn!(table, columns, "the destination lacks these columns: their values are left out");
    }
}

/// The error for a type that changed from `from` to `to`, which the column `column` of `table` doesn't fit.
pub fn incompatible(table: &str, column: &str, from: &str, to: &str) -> Error {
    Error::new(&TYPE_INCOMPATIBLE, format!("column \"{column}\" became {to} at the source, and is {from} in {table}"))
}
