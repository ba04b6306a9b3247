//! `schema: { on_drift: .. }`: what a change of the source's columns does to the table.
//!
//! * **D1** A column is added with the source's type, always nullable; a type is changed only where every value of the
//!   old one is a value of the new one. Nothing is dropped or renamed.
//!   Rows that are there already get what the source's have (`Field::fill`), without being touched, as at the source.
//! * **D2** The change is part of the transaction of the rows that need it. An older schema that is replayed after a
//!   restart finds more than it needs, and changes nothing back.

use faucet_core::error::Result;
use faucet_core::model::{Field, Schema};
use faucet_core::ports::{OnDrift, OnIncompatible, SchemaPolicy};
use tokio_postgres::Client;

use super::SinkConfig;
use super::create::{column_type, written};
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
        let has = &*column.column_type.name;
        let was = before.and_then(|b| b.index_of(&field.name).map(|at| &b.fields[at]));
        let changed = was.is_some_and(|was| was.native != field.native);
        match verdict(policy, has, is, changed) {
            Verdict::Fits => {}
            Verdict::Widen => alterations.widen(&field.name, is),
            Verdict::Stop { hint } => {
                return Err(sql::incompatible(&target.sql(), &field.name, has, is).hint(hint));
            }
        }
    }
    Ok(alterations)
}

/// What becomes of a column.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Fits,
    Widen,
    Stop { hint: &'static str },
}

/// What becomes of a column of type `has` whose values are of type `is` now; `changed` says that they were of another
/// type before.
fn verdict(policy: SchemaPolicy, has: &str, is: &str, changed: bool) -> Verdict {
    if has == is || widens(is, has) {
        return Verdict::Fits;
    }
    match (policy.on_drift, policy.on_incompatible, widens(has, is)) {
        (OnDrift::Evolve, _, true) => Verdict::Widen,
        (OnDrift::Fail, _, true) if changed => {
            Verdict::Stop { hint: "set schema: { on_drift: evolve }, or alter the destination's column" }
        }
        (OnDrift::Fail | OnDrift::Evolve | OnDrift::Quarantine, OnIncompatible::Fail, false) if changed => {
            Verdict::Stop {
                hint: "alter the destination's column, or set schema: { on_incompatible: keep } to write what fits",
            }
        }
        _ => Verdict::Fits,
    }
}

/// Whether every value of the type `from` is one of `to`, both spelled as `format_type` does.
fn widens(from: &str, to: &str) -> bool {
    if let (Some(from), Some(to)) = (integer_digits(from), integer_digits(to)) {
        return from < to;
    }
    match (split(from), split(to)) {
        (("real", _), ("double precision", _)) => true,
        ((_, _), ("numeric", numbers)) if integer_digits(from).is_some() => {
            let digits = integer_digits(from).unwrap_or(i64::MAX);
            // A scale below zero rounds whole numbers.
            numbers.is_none_or(|(precision, scale)| scale >= 0 && precision - scale >= digits)
        }
        (("numeric", Some(_)), ("numeric", None)) => true,
        (("numeric", Some((p, s))), ("numeric", Some((precision, scale)))) => scale >= s && precision - scale >= p - s,
        (("character varying", _), ("text", _)) => true,
        (("character varying", Some(_)), ("character varying", None)) => true,
        (("character varying", Some((from, _))), ("character varying", Some((to, _)))) => to > from,
        (("bit varying", Some(_)), ("bit varying", None)) => true,
        (("bit varying", Some((from, _))), ("bit varying", Some((to, _)))) => to > from,
        _ => false,
    }
}

/// Decimal digits that hold every value of an integer type.
fn integer_digits(name: &str) -> Option<i64> {
    match name {
        "smallint" => Some(5),
        "integer" => Some(10),
        "bigint" => Some(19),
        _ => None,
    }
}

/// A type's name and its modifier: `numeric(12,2)` is `numeric` with 12 and 2.
fn split(name: &str) -> (&str, Option<(i64, i64)>) {
    let modifier = name.strip_suffix(')').and_then(|text| text.rsplit_once('('));
    let Some((base, numbers)) = modifier else { return (name, None) };
    let (first, second) = numbers.split_once(',').unwrap_or((numbers, "0"));
    (base, first.parse().ok().zip(second.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_policy_has_its_verdict() {
        let stops = |on_drift, on_incompatible, has, is, changed| {
            let policy = SchemaPolicy { on_drift, on_incompatible };
            matches!(verdict(policy, has, is, changed), Verdict::Stop { .. })
        };
        let evolve = SchemaPolicy { on_drift: OnDrift::Evolve, ..SchemaPolicy::default() };
        for on_incompatible in [OnIncompatible::Fail, OnIncompatible::Keep] {
            let failing = on_incompatible == OnIncompatible::Fail;
            assert!(stops(OnDrift::Fail, on_incompatible, "integer", "bigint", true), "wider");
            assert_eq!(stops(OnDrift::Fail, on_incompatible, "integer", "text", true), failing);
            assert_eq!(stops(OnDrift::Evolve, on_incompatible, "integer", "text", true), failing);
            for on_drift in [OnDrift::Warn, OnDrift::Ignore] {
                assert!(!stops(on_drift, on_incompatible, "integer", "text", true));
                assert!(!stops(on_drift, on_incompatible, "integer", "bigint", true));
            }
            assert!(
                !stops(OnDrift::Quarantine, on_incompatible, "integer", "bigint", true),
                "values that fit are written"
            );
            assert_eq!(stops(OnDrift::Quarantine, on_incompatible, "integer", "text", true), failing);
            for on_drift in [OnDrift::Fail, OnDrift::Evolve] {
                assert!(!stops(on_drift, on_incompatible, "bigint", "integer", true), "what became narrower fits");
                assert!(!stops(on_drift, on_incompatible, "integer", "text", false), "it was made so on purpose");
            }
        }
        assert_eq!(verdict(evolve, "integer", "bigint", false), Verdict::Widen);
        assert_eq!(verdict(evolve, "bigint", "integer", true), Verdict::Fits);
    }

    #[test]
    fn a_type_is_widened_only_where_no_value_is_lost() {
        for (from, to) in [
            ("smallint", "integer"),
            ("integer", "bigint"),
            ("bigint", "numeric"),
            ("bigint", "numeric(19,0)"),
            ("integer", "numeric(12,2)"),
            ("real", "double precision"),
            ("numeric(10,2)", "numeric(12,2)"),
            ("numeric(10,2)", "numeric(12,4)"),
            ("numeric(10,2)", "numeric"),
            ("character varying(10)", "character varying(20)"),
            ("character varying(10)", "character varying"),
            ("character varying(10)", "text"),
            ("character varying", "text"),
            ("bit varying(3)", "bit varying(9)"),
        ] {
            assert!(widens(from, to), "{from} to {to}");
            assert!(!widens(to, from), "{to} to {from}");
        }
        for (from, to) in [
            ("bigint", "numeric(18,0)"),
            ("bigint", "numeric(30,-2)"),
            ("integer", "real"),
            ("bigint", "double precision"),
            ("numeric(10,2)", "numeric(11,4)"),
            ("text", "integer"),
            ("integer", "text"),
            ("character(10)", "text"),
            ("json", "jsonb"),
            ("timestamp without time zone", "timestamp with time zone"),
            ("date", "timestamp without time zone"),
        ] {
            assert!(!widens(from, to), "{from} to {to}");
        }
    }
}
