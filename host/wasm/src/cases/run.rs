//! Runs a case.

use super::{Case, page_from_json, page_to_json};
use crate::plugin::Plugin;
use crate::v0_1::Role;
use faucet_core::config::Part;
use faucet_core::error::Error;
use faucet_core::ports::{SinkContext, SourceContext};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Reads of a source in one case; more mean that it does not end.
const READS: usize = 1000;

/// What a case showed.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// What it should.
    Passed,
    /// Something else: what was wanted and what came.
    Differs {
        /// What the case says.
        wanted: Value,
        /// What the plugin did.
        got: Value,
    },
    /// The case itself can't be read.
    Unreadable(String),
}

/// Runs a case against a plugin. `folders` is where the folders that a sink asks for are: `/out` at `out`.
pub async fn run(plugin: &Plugin, case: &Case, folders: &Path) -> Verdict {
    let got = match plugin.role() {
        Role::Transform => transform(plugin, case).await,
        Role::Source => source(plugin, case).await,
        Role::Sink => sink(plugin, case, folders).await,
    };
    match (got, &case.error) {
        (Err(Stop::Unreadable(why)), _) => Verdict::Unreadable(why),
        (Err(Stop::Failed(error)), Some(part)) if error.to_string().contains(part.as_str()) => Verdict::Passed,
        (Err(Stop::Failed(error)), _) => Verdict::Differs { wanted: wanted(plugin, case), got: failure(&error) },
        (Ok(got), _) => {
            let wanted = wanted(plugin, case);
            if got == wanted { Verdict::Passed } else { Verdict::Differs { wanted, got } }
        }
    }
}

/// Why a case has no outcome.
enum Stop {
    Unreadable(String),
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

fn failure(error: &Error) -> Value {
    json!({ "error": error.to_string(), "code": error.code().id })
}

fn wanted(plugin: &Plugin, case: &Case) -> Value {
    if let Some(part) = &case.error {
        return json!({ "error": part });
    }
    match plugin.role() {
        Role::Transform => json!({ "pages": case.pages, "rejected": case.rejected }),
        Role::Source => json!({ "pages": case.pages }),
        Role::Sink => json!({ "rejected": case.rejected, "files": case.files }),
    }
}

fn page(json: &Value) -> Result<faucet_core::model::Page, Stop> {
    page_from_json(json).map_err(Stop::Unreadable)
}

async fn transform(plugin: &Plugin, case: &Case) -> Result<Value, Stop> {
    let page = page(case.page.as_ref().ok_or_else(|| Stop::Unreadable("a case of a transform has a `page`".into()))?)?;
    let mut transform = plugin.open(case.config.clone())?;
    let output = transform.apply(page).await?;
    let pages: Vec<Value> = output.pages.iter().map(page_to_json).collect();
    let rejected = output.rejected.iter().map(|r| json!({ "row": r.row, "reason": r.reason }));
    Ok(json!({ "pages": pages, "rejected": rejected.collect::<Vec<_>>() }))
}

async fn source(plugin: &Plugin, case: &Case) -> Result<Value, Stop> {
    let Part::Source(source) = Part::from(plugin.clone()) else { unreachable!("it is a source") };
    let mut source = source.open(&case.config, SourceContext::default()).await?;
    let mut pages = Vec::new();
    for _ in 0..READS {
        match source.next().await? {
            Some(batch) => pages.extend(batch.pages.iter().map(page_to_json)),
            None => return Ok(json!({ "pages": pages })),
        }
    }
    Err(Stop::Unreadable(format!("the source did not end within {READS} reads")))
}

async fn sink(plugin: &Plugin, case: &Case, folders: &Path) -> Result<Value, Stop> {
    let Part::Sink(sink) = Part::from(plugin.clone()) else { unreachable!("it is a sink") };
    let context = SinkContext { pipeline: "case".to_owned(), sets_aside: true, ..SinkContext::default() };
    let mut sink = sink.open(&case.config, context).await?;
    let mut rejected = Vec::new();
    for json in &case.write {
        sink.write(page(json)?).await?;
        rejected.extend(sink.set_aside().iter().map(|aside| json!({ "reason": aside.error.to_string() })));
    }
    sink.commit(None).await?;
    sink.finish().await?;
    sink.close().await?;
    let files = files(folders, folders).map_err(|error| Stop::Unreadable(error.to_string()))?;
    Ok(json!({ "rejected": rejected, "files": files }))
}

/// The text of every file under `folder`, by its path from `root`.
fn files(root: &Path, folder: &Path) -> std::io::Result<Map<String, Value>> {
    let mut found = Map::new();
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            found.extend(files(root, &path)?);
        } else if let Ok(inside) = path.strip_prefix(root) {
            let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
            found.insert(format!("/{}", inside.display()), text.into());
        }
    }
    Ok(found)
}
