//! `faucet doctor CONFIG`.

use faucet_core::config::{Plan, Purpose};
use faucet_core::error::{Blame, Code, Error, Result, Retry};
use faucet_core::mirror::{self, Marker, Rows};
use faucet_core::ports::{Bookmark, Capture, Covered, Finding, Grade, Survey};
use serde_json::json;

use crate::args::{ConfigArgs, Global, Output};
use crate::display::Failure;
use crate::load;
use crate::recipe::Planned;
use crate::session;

/// Something was found that keeps the stream from working.
pub static UNWELL: Code = Code {
    id: "doctor.unwell",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "something keeps the mirror from working",
    help: "`faucet doctor` printed what, and what to do about it, one line each, marked FAIL. Mend the first one and run \
           it again: what follows from it may be gone then.",
};

/// The source has nothing to examine.
pub static NOTHING_TO_EXAMINE: Code = Code {
    id: "doctor.nothing_to_examine",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "the source keeps no place upstream",
    help: "`faucet doctor` and `faucet mirror drop` are about sources that stream changes and keep a place for it, such as \
           `postgres-cdc` with its replication slot. A query or a file has nothing of that kind.",
};

/// Prints what was found; an error if something failed.
pub fn execute(global: &Global, args: &ConfigArgs) -> Result<(), Failure> {
    let plan = load::plan(&args.config, Purpose::Validate, global.quiet)?.plan;
    let findings = session::block_on(examine(&plan)).and_then(|found| found)?;
    let shown = findings.iter().filter(|f| !global.quiet || f.grade != Grade::Fine);
    match global.output {
        Output::Json => shown.for_each(|finding| println!("{}", as_json(finding))),
        Output::Text => print!("{}", as_text(&shown.collect::<Vec<_>>())),
    }
    let count = |grade| findings.iter().filter(|f| f.grade == grade).count();
    match (count(Grade::Failure), count(Grade::Warning)) {
        (0, 0) => Ok(()),
        (0, warnings) => {
            if global.output == Output::Text && !global.quiet {
                println!("\n{warnings} to keep an eye on; nothing keeps the mirror from working");
            }
            Ok(())
        }
        (failures, _) => Err(Failure::Error(Error::new(&UNWELL, format!("{failures} of {} failed", findings.len())))),
    }
}

async fn examine(plan: &Plan) -> Result<Vec<Finding>> {
    let mut capture = capture(plan)?;
    let (stored, mut findings) = match stored(plan).await {
        Ok(found) => found,
        Err(error) => (None, vec![Finding::error("state", &error)]),
    };
    let (marker, bookmark) = stored.unzip();
    match capture.examine(bookmark.as_ref()).await {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(Finding::error("source", &error)),
    }
    match plan.sink.kind.examine(&plan.sink.config, "doctor").await {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(Finding::error("destination", &error)),
    }
    if let (Some(mut survey), Some(block)) = (capture.survey(), &plan.mirror) {
        let rows = Planned::pipeline(plan).snapshot(&block.snapshot);
        findings.extend(same(survey.as_mut(), &rows, marker.and_then(|marker| marker.covered)).await);
    }
    Ok(findings)
}

/// Whether the source is what was mirrored, and the snapshot reads it.
async fn same(survey: &mut dyn Survey, rows: &dyn Rows, known: Option<Covered>) -> Vec<Finding> {
    let reads = match rows.split() {
        Some(mut split) => split.reads().await,
        None => Ok(None),
    };
    let looked = match reads {
        Ok(reads) => survey.look(known.as_ref(), reads.as_ref()).await,
        Err(error) => Err(error),
    };
    match looked {
        Ok(look) => look.findings.iter().map(|found| found.finding(mirror::RESYNC)).collect(),
        Err(error) => vec![Finding::error("what is mirrored", &error)],
    }
}

/// The ability that the source needs for this.
pub fn capture(plan: &Plan) -> Result<Box<dyn Capture>> {
    let name = plan.source.kind.name();
    plan.source.kind.capture(&plan.source.config).ok_or_else(|| {
        Error::new(&NOTHING_TO_EXAMINE, format!("the source `{name}` keeps no place upstream"))
            .hint("this is for sources of changes, such as `postgres-cdc`")
    })
}

async fn stored(plan: &Plan) -> Result<(Option<(Marker, Bookmark)>, Vec<Finding>)> {
    let Some(stage) = &plan.store else {
        return Ok((None, Vec::new()));
    };
    let store = stage.kind.open(&stage.config).await?;
    Ok(match mirror::stored(&store, &plan.name).await? {
        None => (None, vec![Finding::fine("state", "the mirror has not begun")]),
        Some((marker, bookmark)) => {
            let what = match (marker.stage, &marker.snapshot) {
                (mirror::Stage::Snapshot, None) => "the snapshot is not done".to_owned(),
                (mirror::Stage::Snapshot, Some(parts)) => {
                    format!("the snapshot is not done; {} of its {} ranges are", parts.finished.len(), parts.total)
                }
                (mirror::Stage::Cdc, _) => "the snapshot is done, the stream goes on from the bookmark".to_owned(),
            };
            let reasons = marker.resync_required.iter();
            let missed = reasons.map(|why| Finding::warning("resync required", why.as_str(), mirror::RESYNC));
            let findings = std::iter::once(Finding::fine("state", what)).chain(missed).collect();
            (Some((marker, bookmark)), findings)
        }
    })
}

fn as_json(finding: &Finding) -> serde_json::Value {
    json!({"subject": finding.subject, "grade": word(finding.grade), "what": finding.what, "hint": finding.hint})
}

fn word(grade: Grade) -> &'static str {
    match grade {
        Grade::Fine => "ok",
        Grade::Warning => "warn",
        Grade::Failure => "FAIL",
    }
}

fn as_text(findings: &[&Finding]) -> String {
    let width = findings.iter().map(|f| f.subject.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for finding in findings {
        out.push_str(&format!("{:<4}  {:<width$}  {}\n", word(finding.grade), finding.subject, finding.what));
        if let Some(hint) = &finding.hint {
            out.push_str(&format!("{:6}{:<width$}  -> {hint}\n", "", ""));
        }
    }
    out
}
