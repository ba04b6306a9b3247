//! `schema: { on_drift: .. }`: what a change of the source's columns does to the table.
//!
//! * **D1** A column is added with the source's type, always nullable; a type is changed only where every value of the
//!   old one is a value of the new one. Nothing is dropped or renamed.
//!   Rows that are there already get what the source's have (`Field::fill`), without being touched, as at the source.
//! * **D2** The change is part of the transaction of the rows that need it. An older schema that is replayed after a
//!   restart finds more than it needs, and changes nothing back. The one exception is an enum's label (`labels.rs`).
//! * **D3** Types are compared with the destination's own as its catalog has them, not with those of earlier pages. What
//!   a type doesn't hold is never written in silence: where the policy lets such a column pass, each value is proven
//!   (`proof.rs`).

use faucet_core::error::Result;
use faucet_core::model::{Field, Schema};
use faucet_core::ports::{OnDrift, OnIncompatible, SchemaPolicy};
use tokio_postgres::Client;

use super::SinkConfig;
use super::create::{column_type, written};
use super::fit::{Fit, fit, widens};
use super::target::Target;
use crate::postgres::name::{literal, quoted};
use crate::sql;

/// What makes rows fit a table.
#[derive(Debug, Default)]
pub struct Alterations(Vec<Alteration>);

/// A clause of an ALTER TABLE.
#[derive(Debug)]
struct Alteration {
    clause: String,
    /// The name of an added column, and the constant that the rows which are there get in it.
    fill: Option<(String, String)>,
}

impl Alterations {
    /// Whether there is nothing to be done.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What happens, for people: no value is in it.
    pub fn what(&self) -> String {
        self.0.iter().map(|alteration| alteration.clause.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The statements for a table, given as SQL. A value may be in them: a default is there for as long as it takes to add
    /// the column, and so fills the rows that are there.
    pub fn statements(&self, table: &str) -> Vec<String> {
        let first = self.0.iter().map(|Alteration { clause, fill }| match fill {
            Some((_, constant)) => format!("{clause} DEFAULT {constant}"),
            None => clause.clone(),
        });
        let filled = self.0.iter().filter_map(|alteration| alteration.fill.as_ref());
        let then = filled.map(|(name, _)| format!("ALTER COLUMN {name} DROP DEFAULT"));
        let clauses: [Vec<String>; 2] = [first.collect(), then.collect()];
        let alter = |clauses: Vec<String>| format!("ALTER TABLE {table} {}", clauses.join(", "));
        clauses.into_iter().filter(|clauses| !clauses.is_empty()).map(alter).collect()
    }

    /// A column with the source's type.
    async fn add(&mut self, client: &Client, field: &Field) -> Result<()> {
        let (name, column_type) = (quoted(&field.name), column_type(client, field).await?);
        let clause = format!("ADD COLUMN {name} {column_type}");
        let fill = field.fill.as_ref().map(|fill| (name, literal(&fill.text)));
        self.0.push(Alteration { clause, fill });
        Ok(())
    }

    fn widen(&mut self, column: &str, to: &str) {
        self.0.push(Alteration { clause: format!("ALTER COLUMN {} TYPE {to}", quoted(column)), fill: None });
    }
}

/// What has to be altered so that rows of `schema` fit `target`; `before` is the schema of earlier pages.
///
/// # Errors
/// `sink.type_incompatible`, and what looking up a type fails with.
pub async fn alterations(
    client: &Client,
    config: &SinkConfig,
    policy: SchemaPolicy,
    (target, before, schema): (&Target, Option<&Schema>, &Schema),
) -> Result<Alterations> {
    let mut alterations = Alterations::default();
    for field in written(config, schema)? {
        let Some(column) = target.column(&field.name) else {
            if policy.on_drift == OnDrift::Evolve {
                alterations.add(client, field).await?;
            }
            continue;
        };
        // What the server computes is not written, and a type of another system says nothing about this one.
        let Some(is) = field.native_of("postgres").filter(|_| !column.generated) else { continue };
        let has = &*column.column_type.under;
        let was = before.and_then(|b| b.index_of(&field.name).map(|at| &b.fields[at]));
        let changed = was.is_some_and(|was| was.native != field.native);
        let fit = fit(field, &column.column_type);
        match verdict(policy, fit, widens(has, is), changed) {
            Verdict::Fits => {}
            Verdict::Widen => alterations.widen(&field.name, is),
            Verdict::Stop => {
                let remedy = remedy(&target.sql(), &field.name, (has, is));
                let error = sql::incompatible(&target.sql(), &field.name, (has, is), what(fit));
                return Err(error.hint(match widens(has, is) {
                    true => format!("set schema: {{ on_drift: evolve }}, or {remedy}"),
                    false => format!(
                        "{remedy}; or set schema: {{ on_incompatible: keep }} to write what fits and stop at what doesn't"
                    ),
                }));
            }
        }
    }
    Ok(alterations)
}

/// What the destination's column does to values that it doesn't hold.
fn what(fit: Fit) -> &'static str {
    match fit {
        Fit::Lossy(_, what) => what,
        Fit::Exact | Fit::Checked | Fit::Labels | Fit::Proven(_) => "refuses some of its values",
    }
}

/// How a column that is `has` comes to hold the source's values, which are `is`.
pub fn remedy(table: &str, column: &str, (has, is): (&str, &str)) -> String {
    let name = quoted(column);
    let using = match (has, is) {
        (has, is) if widens(has, is) => String::new(),
        // Local times were written in UTC.
        (has, is) if has.starts_with("timestamp") && is.starts_with("timestamp") => {
            format!(" USING {name} AT TIME ZONE 'UTC'")
        }
        // What a type of the source's own is called here, nobody knows.
        (_, is) if is.contains('.') => return format!("alter the destination's column {name} so that it holds {is}"),
        (_, is) => format!(" USING {name}::text::{is}"),
    };
    format!("run at the destination: ALTER TABLE {table} ALTER COLUMN {name} TYPE {is}{using}")
}

/// What becomes of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Rows are written, each value exactly or not at all.
    Fits,
    Widen,
    Stop,
}

/// What becomes of a column whose values fit as `fit` says; `widens` says that it can be widened to hold them all, `changed`
/// that they were of another type before.
fn verdict(policy: SchemaPolicy, fit: Fit, widens: bool, changed: bool) -> Verdict {
    let loses = matches!(fit, Fit::Lossy(..));
    match (policy.on_drift, policy.on_incompatible) {
        _ if fit == Fit::Exact => Verdict::Fits,
        (OnDrift::Evolve, _) if widens => Verdict::Widen,
        // Which values fit is found one by one.
        (OnDrift::Quarantine, _) if widens => Verdict::Fits,
        (OnDrift::Fail, _) if widens && !loses && changed => Verdict::Stop,
        (OnDrift::Fail | OnDrift::Evolve | OnDrift::Quarantine, OnIncompatible::Fail) if loses => Verdict::Stop,
        _ => Verdict::Fits,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fit::Same;
    use super::*;

    #[test]
    fn each_policy_has_its_verdict() {
        let narrow = Fit::Lossy(Same::Number, "rounds");
        for on_incompatible in [OnIncompatible::Fail, OnIncompatible::Keep] {
            let of = |on_drift, fit, widens, changed| {
                verdict(SchemaPolicy { on_drift, on_incompatible }, fit, widens, changed)
            };
            let unless_kept = if on_incompatible == OnIncompatible::Fail { Verdict::Stop } else { Verdict::Fits };
            for changed in [false, true] {
                assert_eq!(of(OnDrift::Fail, narrow, true, changed), unless_kept, "it could be widened");
                assert_eq!(of(OnDrift::Evolve, narrow, true, changed), Verdict::Widen);
                assert_eq!(of(OnDrift::Evolve, Fit::Checked, true, changed), Verdict::Widen);
                assert_eq!(of(OnDrift::Quarantine, narrow, true, changed), Verdict::Fits);
                for on_drift in [OnDrift::Fail, OnDrift::Evolve, OnDrift::Quarantine] {
                    assert_eq!(of(on_drift, narrow, false, changed), unless_kept);
                    assert_eq!(of(on_drift, Fit::Exact, true, changed), Verdict::Fits, "what became narrower fits");
                    assert_eq!(of(on_drift, Fit::Proven(Same::Text), false, changed), Verdict::Fits);
                }
                for on_drift in [OnDrift::Warn, OnDrift::Ignore] {
                    assert_eq!(of(on_drift, narrow, true, changed), Verdict::Fits, "each value is looked at");
                }
            }
            assert_eq!(of(OnDrift::Fail, Fit::Checked, true, true), Verdict::Stop, "it was widened at the source");
            assert_eq!(of(OnDrift::Fail, Fit::Checked, true, false), Verdict::Fits, "it was made so on purpose");
        }
    }
}
