//! `filter`: keeps the rows whose field meets a condition.
//!
//! On rows of a change-data source the destination must end up with exactly the rows that meet the condition. So
//! deletes and truncates always pass, and an update whose new row no longer meets it becomes a delete: the row may have
//! met it before, and would otherwise stay at the destination for ever.

mod condition;
mod config;
mod operand;

use condition::Test;
pub use config::{Absent, Comparison, Config, Missing};
use faucet_sdk::{Column, ColumnBuilder, OP_COLUMN, Op, Output, Page, PageOut, Result, Transform, Value, transform};

/// The transform: which field must meet what.
#[derive(Debug)]
pub struct Filter {
    field: String,
    test: Test,
    on_absent: Absent,
    on_missing: Missing,
}

/// What becomes of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Keep,
    Drop,
    Delete,
    Reject(&'static str),
}

#[transform(name = "filter")]
impl Transform for Filter {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        let test = Test::new(config.op, config.value)?;
        Ok(Self { field: config.field, test, on_absent: config.on_absent, on_missing: config.on_missing })
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let column = match self.on_missing {
            Missing::Error => page.column(&self.field)?,
            Missing::Pass => match page.find(&self.field)? {
                Some(column) => column,
                None => return Ok(page.pass().into()),
            },
        };
        let ops = page.ops()?;
        self.output(page, &self.verdicts(&column, ops.as_deref())?)
    }
}

impl Filter {
    fn verdicts(&self, column: &Column<'_>, ops: Option<&[Op]>) -> Result<Vec<Verdict>> {
        let test = self.test.bind(column)?;
        let verdict = |(row, value): (usize, Value<'_>)| {
            let op = ops.map(|ops| ops[row]);
            if op.is_some_and(Op::removes) {
                return Verdict::Keep;
            }
            if matches!(value, Value::Absent) {
                return self.absent();
            }
            match test.holds(value) {
                Ok(true) => Verdict::Keep,
                Ok(false) if op == Some(Op::Update) => Verdict::Delete,
                Ok(false) => Verdict::Drop,
                Err(reason) => Verdict::Reject(reason),
            }
        };
        Ok(column.values().enumerate().map(verdict).collect())
    }

    fn absent(&self) -> Verdict {
        match self.on_absent {
            Absent::Pass => Verdict::Keep,
            Absent::Drop => Verdict::Drop,
            Absent::Reject => Verdict::Reject(
                "the filtered field was not sent with this change; set REPLICA IDENTITY FULL on the table, or on_absent",
            ),
        }
    }

    fn output<'a>(&self, page: Page<'a>, verdicts: &[Verdict]) -> Result<Output<'a>> {
        let mut out = page.pass();
        if verdicts.contains(&Verdict::Delete) {
            delete_rows(&page, verdicts, &mut out)?;
        }
        out.retain(|row| verdicts[row] != Verdict::Drop);
        let mut out = Output::from(out);
        for (row, verdict) in verdicts.iter().enumerate() {
            match verdict {
                Verdict::Reject(reason) => out.reject(row, format!("filter on '{}': {reason}", self.field)),
                Verdict::Keep | Verdict::Drop | Verdict::Delete => {}
            }
        }
        Ok(out)
    }
}

/// Makes deletes of the rows that left the filter: `__op` is `d`, and only the key keeps its values. A table without
/// a key has nothing else to find the row by, so there all columns do.
fn delete_rows(page: &Page<'_>, verdicts: &[Verdict], out: &mut PageOut<'_>) -> Result<()> {
    for column in page.columns() {
        let column = column?;
        let marker = if column.name() == OP_COLUMN {
            Value::Text(Op::Delete.as_str())
        } else if page.key().is_empty() || page.is_key(column.name()) {
            continue;
        } else {
            Value::Absent
        };
        let mut changed = ColumnBuilder::like(&column);
        for (value, verdict) in column.values().zip(verdicts) {
            changed.push(if *verdict == Verdict::Delete { marker } else { value })?;
        }
        out.set(changed)?;
    }
    Ok(())
}
