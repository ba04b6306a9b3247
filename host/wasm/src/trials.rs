//! What every component has to bear, whatever it is for: extremes, gaps, an empty page, a wide one, many in a row, and a
//! configuration that is none. It may say no in an orderly manner; it may not break.

use crate::cases::{Case, page_from_json};
use crate::plugin::Plugin;
use crate::v0_1::Role;
use faucet_core::config::Part;
use faucet_core::error::{Error, Severity};
use faucet_core::model::{Column, ColumnBuilder, Field, Kind, Page, Schema, ValueRef};
use faucet_core::ports::{Batch, Boundary, Source, SourceContext};
use serde_json::{Value, json};
use std::sync::Arc;

/// Pages of the soak.
const SOAK: usize = 200;

/// Columns that are added to make a page wide.
const WIDE: usize = 500;

/// Batches of a source that are read.
const READS: usize = 1000;

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// What it is.
    pub what: String,
    /// Why the component did not bear it.
    pub failure: Option<String>,
}

impl Trial {
    fn new(what: &str, outcome: Result<(), String>) -> Self {
        Self { what: what.to_owned(), failure: outcome.err() }
    }
}

/// Tries it all, with the configurations and pages of `cases`.
pub async fn run(plugin: &Plugin, cases: &[Case]) -> Vec<Trial> {
    let mut trials = vec![Trial::new("a configuration that is none is refused in words", bad_config(plugin))];
    let Some(case) = cases.iter().find(|case| case.error.is_none()) else { return trials };
    match plugin.role() {
        Role::Transform => trials.extend(transform(plugin, case).await),
        Role::Source => trials.extend(source(plugin, case).await),
        Role::Sink => {}
    }
    trials
}

/// No configuration of another shape may pass, and none may break the component.
fn bad_config(plugin: &Plugin) -> Result<(), String> {
    for config in [json!(7), json!({ "no_such_key_": 1 }), json!(null), json!([[]])] {
        let problems = plugin.check_config(&config);
        if !problems.iter().any(|problem| problem.severity == Severity::Error) {
            return Err(format!("{config} is accepted: describe a schema that refuses it"));
        }
        if let Some(problem) = problems.iter().find(|problem| problem.message.contains("crashed")) {
            return Err(format!("{config}: {}", problem.message));
        }
    }
    Ok(())
}

async fn transform(plugin: &Plugin, case: &Case) -> Vec<Trial> {
    let Some(page) = case.page.as_ref().and_then(|page| page_from_json(page).ok()) else { return Vec::new() };
    let mut trials = Vec::new();
    let pages = [
        ("an empty page", page.slice(0, 0)),
        ("a page without values", replaced(&page, |_| ValueRef::Null)),
        ("a page of which nothing was sent", replaced(&page, |_| ValueRef::Absent)),
        ("the least integers", replaced(&page, |kind| extreme(kind, i64::MIN))),
        ("the greatest integers", replaced(&page, |kind| extreme(kind, i64::MAX))),
        ("a page of 500 more columns", widened(&page)),
    ];
    for (what, page) in pages {
        trials.push(Trial::new(what, orderly(apply(plugin, &case.config, page).await)));
    }
    trials.push(Trial::new("200 pages in a row", soak(plugin, &case.config, &page).await));
    if plugin.describe().deterministic == Some(true) {
        trials
            .push(Trial::new("the same page gives the same output", deterministic(plugin, &case.config, &page).await));
    }
    trials
}

/// Breaking is not orderly; saying no is.
fn orderly<T>(outcome: Result<T, Error>) -> Result<(), String> {
    match outcome {
        Ok(_) => Ok(()),
        Err(error) if ["plugin.failed", "plugin.invalid_config", "plugin.unavailable"].contains(&error.code().id) => {
            Ok(())
        }
        Err(error) => Err(format!("[{}] {error}", error.code().id)),
    }
}

async fn apply(plugin: &Plugin, config: &Value, page: Page) -> Result<Vec<Page>, Error> {
    Ok(plugin.open(config.clone())?.apply(page).await?.pages)
}

async fn soak(plugin: &Plugin, config: &Value, page: &Page) -> Result<(), String> {
    let said = |error: Error| error.to_string();
    let mut transform = plugin.open(config.clone()).map_err(said)?;
    let first = transform.apply(page.clone()).await.map_err(said)?;
    for nth in 1..SOAK {
        let next = transform.apply(page.clone()).await.map_err(said)?;
        if plugin.describe().deterministic == Some(true) && next != first {
            return Err(format!("page {nth} came out differently from the first, which is the same page"));
        }
    }
    Ok(())
}

async fn deterministic(plugin: &Plugin, config: &Value, page: &Page) -> Result<(), String> {
    let said = |error: Error| error.to_string();
    let first = apply(plugin, config, page.clone()).await.map_err(said)?;
    let second = apply(plugin, config, page.clone()).await.map_err(said)?;
    if first == second { Ok(()) } else { Err("two instances gave two outputs".to_owned()) }
}

/// The page with every value outside `__op` and the key replaced by what `value` says for its kind.
fn replaced(page: &Page, value: impl Fn(Kind) -> ValueRef<'static>) -> Page {
    let schema = page.schema();
    let keeps = |at: usize| schema.key.contains(&at) || &*schema.fields[at].name == "__op";
    let column = |(at, (field, column)): (usize, (&Field, &Column))| {
        if keeps(at) && value(field.kind) != ValueRef::Null {
            return column.clone();
        }
        let mut builder = ColumnBuilder::new(field.kind);
        (0..page.rows()).for_each(|row| builder.push(if keeps(at) { column.value(row) } else { value(field.kind) }));
        builder.finish()
    };
    let columns = schema.fields.iter().zip(page.columns()).enumerate().map(column).collect();
    Page::new(schema.clone(), page.rows(), columns)
}

fn extreme(kind: Kind, number: i64) -> ValueRef<'static> {
    match kind {
        Kind::I64 => ValueRef::I64(number),
        Kind::U64 => ValueRef::U64(number as u64),
        Kind::Timestamp => ValueRef::Timestamp(number),
        Kind::TimestampTz => ValueRef::TimestampTz(number),
        Kind::F64 => ValueRef::F64(if number < 0 { f64::NEG_INFINITY } else { f64::NAN }),
        Kind::F32 => ValueRef::F32(if number < 0 { f32::NEG_INFINITY } else { f32::NAN }),
        Kind::Date => ValueRef::Date(if number < 0 { i32::MIN } else { i32::MAX }),
        Kind::Time => ValueRef::Time(if number < 0 { 0 } else { 86_400_000_000 }),
        Kind::Decimal => ValueRef::Decimal(if number < 0 { "-0.0000000000000000000000000000000000001" } else { "NaN" }),
        Kind::Text => ValueRef::Text(if number < 0 { "" } else { "\u{0}\u{10ffff}\"\\\n" }),
        Kind::Bool | Kind::Bytes | Kind::Interval | Kind::Uuid | Kind::Json | Kind::Native => ValueRef::Null,
    }
}

fn widened(page: &Page) -> Page {
    let schema = page.schema();
    let mut fields = schema.fields.clone();
    fields.extend((0..WIDE).map(|nth| Field::new(format!("wide_{nth}"), Kind::Text)));
    let mut text = ColumnBuilder::new(Kind::Text);
    (0..page.rows()).for_each(|_| text.push(ValueRef::Text("wide")));
    let text = text.finish();
    let columns = page.columns().iter().cloned().chain(std::iter::repeat_n(text, WIDE)).collect();
    let wide = Schema::new(schema.table.clone(), fields).with_key(schema.key.clone());
    Page::new(Arc::new(wide), page.rows(), columns)
}

async fn source(plugin: &Plugin, case: &Case) -> Vec<Trial> {
    let mut trials = Vec::new();
    let whole = read(plugin, &case.config, None).await;
    trials.push(Trial::new("it is read to its end", whole.as_ref().map(|_| ()).map_err(Clone::clone)));
    if let Ok(batches) = whole {
        trials.push(Trial::new("it resumes at each of its bookmarks", resumes(plugin, &case.config, &batches).await));
    }
    trials
}

async fn read(
    plugin: &Plugin,
    config: &Value,
    bookmark: Option<faucet_core::ports::Bookmark>,
) -> Result<Vec<Batch>, String> {
    let said = |error: Error| error.to_string();
    let Part::Source(source) = Part::from(plugin.clone()) else { unreachable!("it is a source") };
    let context = SourceContext { bookmark, ..SourceContext::default() };
    let mut source: Box<dyn Source> = source.open(config, context).await.map_err(said)?;
    let mut batches = Vec::new();
    while let Some(batch) = source.next().await.map_err(said)? {
        batches.push(batch);
        if batches.len() == READS {
            break;
        }
    }
    Ok(batches)
}

/// Opened at a bookmark, a source delivers what came after it.
async fn resumes(plugin: &Plugin, config: &Value, batches: &[Batch]) -> Result<(), String> {
    for (nth, batch) in batches.iter().enumerate() {
        let Boundary::Commit(Some(bookmark)) = &batch.boundary else { continue };
        let rest = read(plugin, config, Some(bookmark.clone())).await?;
        let rows = |batches: &[Batch]| batches.iter().map(Batch::rows).sum::<usize>();
        let (wanted, got) = (rows(&batches[nth + 1..]), rows(&rest));
        if wanted != got {
            return Err(format!("at the bookmark of batch {nth} it delivers {got} rows, and {wanted} came after it"));
        }
    }
    Ok(())
}
