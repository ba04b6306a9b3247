//! `faucet trace CONFIG --key .. | --position ..`: single records on their way.

mod show;
mod wanted;

pub use show::rows;
pub use wanted::NO_SUCH_COLUMN;

use faucet_core::error::Result;
use faucet_core::model::Page;
use faucet_core::recording::{Entry, Recording};

use self::show::{Part, Shown};
use self::wanted::Wanted;
use crate::args::{Global, TraceArgs};
use crate::display::Failure;
use crate::look::{self, Look};
use crate::session;

/// Prints the records that are wanted; fails if there is none.
pub fn execute(global: &Global, args: &TraceArgs) -> Result<(), Failure> {
    let wanted = Wanted::parse(args).map_err(Failure::Usage)?;
    let shown = session::block_on(trace(global, args, &wanted))??;
    match shown {
        0 => Err(Failure::Usage(missing(args))),
        _ => Ok(()),
    }
}

fn missing(args: &TraceArgs) -> String {
    let read = if args.pages.is_some() { "the recording" } else { "the source" };
    let hint = match (args.pages.is_some(), args.beginning.from_start) {
        (false, false) => "; it was read from where the next run would begin: see --from-start and --snapshot",
        _ => "",
    };
    format!("{read} ended without such a record{hint}")
}

/// Follows every record that is wanted, and says how many there were.
async fn trace(global: &Global, args: &TraceArgs, wanted: &Wanted) -> Result<u64, Failure> {
    let mut tracer = Tracer { look: Look::open(global, &args.config, &args.beginning).await?, global, shown: 0 };
    match &args.pages {
        Some(path) => {
            for entry in Recording::open(path)? {
                let Entry::Delivered(page) = entry? else { continue };
                if tracer.follow(&page, wanted, args.limit).await? {
                    break;
                }
            }
        }
        None => {
            let mut source = tracer.look.source(&args.beginning).await?;
            'reading: while let Some(batch) = source.next().await? {
                for page in look::pages(batch) {
                    if tracer.follow(&page, wanted, args.limit).await? {
                        break 'reading;
                    }
                }
            }
            source.close().await?;
        }
    }
    Ok(tracer.shown)
}

struct Tracer<'a> {
    look: Look,
    global: &'a Global,
    shown: u64,
}

impl Tracer<'_> {
    /// Follows the records of a page; whether enough were shown.
    async fn follow(&mut self, page: &Page, wanted: &Wanted, limit: u64) -> Result<bool> {
        for row in wanted.rows(page)? {
            if self.shown >= limit {
                break;
            }
            self.shown += 1;
            let record = self.record(page.slice(row, 1)).await?;
            record.print(self.shown, self.global.output);
        }
        Ok(self.shown >= limit)
    }

    /// One record through every step and to the sink.
    async fn record(&mut self, page: Page) -> Result<Shown> {
        let part = |name: &str| Part { r#type: name.to_owned(), digest: self.look.digest(name) };
        let (source, sink) = (part(self.look.plan.source.kind.name()), part(self.look.plan.sink.kind.name()));
        let mut shown = Shown::new(source, sink, &page);
        let mut pages = vec![page];
        for (at, step) in self.look.steps().into_iter().enumerate() {
            let (mut made, mut rejected) = (Vec::new(), Vec::new());
            for page in pages {
                let applied = self.look.apply(at, page).await?;
                made.extend(applied.pages.into_iter().filter(|page| !page.is_empty()));
                rejected.extend(applied.rejected.into_iter().map(|row| row.reason));
            }
            shown.step(step, &made, rejected);
            pages = made;
        }
        for page in pages {
            let rows = self.look.rows(page)?;
            shown.sink(self.look.planned.explain(rows.clone()).await?, &rows);
        }
        Ok(shown)
    }
}
