//! `faucet record CONFIG FILE`: what a source delivers and each transform makes of it, into a file.

use faucet_core::error::Result;
use faucet_core::model::Page;
use faucet_core::recording::{Entry, Origin, Recorder};
use serde_json::json;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{Global, Output, RecordArgs};
use crate::display::Failure;
use crate::look::{self, Look, counted};
use crate::session;

/// Makes the recording.
pub fn execute(global: &Global, args: &RecordArgs) -> Result<(), Failure> {
    let (pages, rows) = session::block_on(record(global, args))??;
    match (global.output, global.quiet) {
        (Output::Json, _) => {
            println!("{}", json!({ "pages": pages, "rows": rows, "file": args.file.display().to_string() }))
        }
        (Output::Text, false) => {
            println!("{}: {} in {}", args.file.display(), counted(rows, "row"), counted(pages, "page"));
        }
        (Output::Text, true) => {}
    }
    Ok(())
}

async fn record(global: &Global, args: &RecordArgs) -> Result<(u64, u64), Failure> {
    let mut look = Look::open(global, &args.config, &args.beginning).await?;
    let mut source = look.source(&args.beginning).await?;
    let mut recorder = Recorder::create(&args.file, &origin(&look, &args.config))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(session::no_signals)?;
    let (mut pages, mut rows) = (0, 0);
    loop {
        let batch = tokio::select! {
            batch = source.next() => batch?,
            _ = interrupt.recv() => break,
        };
        let Some(batch) = batch else { break };
        let boundary = batch.boundary.clone();
        for page in look::pages(batch) {
            pages += 1;
            rows += page.rows() as u64;
            one(&mut look, &mut recorder, page).await?;
        }
        recorder.push(&Entry::Ended(boundary))?;
        if args.rows.is_some_and(|most| rows >= most) {
            break;
        }
    }
    recorder.finish()?;
    source.close().await?;
    Ok((pages, rows))
}

/// A page of the source, and what each step makes of it (R1).
async fn one(look: &mut Look, recorder: &mut Recorder, page: Page) -> Result<()> {
    recorder.push(&Entry::Delivered(page.clone()))?;
    let mut pages = vec![page];
    for at in 0..look.plan.transforms.len() {
        for page in std::mem::take(&mut pages) {
            let applied = look.apply(at, page).await?;
            let entry =
                Entry::Applied { step: at as u32 + 1, pages: applied.pages.clone(), rejected: applied.rejected };
            recorder.push(&entry)?;
            pages.extend(applied.pages);
        }
    }
    Ok(())
}

fn origin(look: &Look, config: &Path) -> Origin {
    let file = (config != Path::new("-")).then(|| std::path::absolute(config).ok()).flatten();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Origin {
        faucet: env!("CARGO_PKG_VERSION").to_owned(),
        pipeline: look.plan.name.clone(),
        config: file.map(|file| file.display().to_string()),
        source: look.plan.source.kind.name().to_owned(),
        steps: look.steps(),
        began: i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
    }
}
