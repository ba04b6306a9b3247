//! `faucet run CONFIG`.

use faucet_core::config::{Plan, Purpose};
use faucet_core::delivery::Mechanism;
use faucet_core::error::Result;
use faucet_core::observe::Phase;
use faucet_core::pipeline::ack::Keeper;
use faucet_core::pipeline::{self, Ended, Repeatable, Terms};
use faucet_core::ports::WriteMode;
use faucet_core::state::StateKey;

use crate::args::{ConfigArgs, Global};
use crate::display::Failure;
use crate::load;
use crate::recipe::{Planned, belongs, claiming};
use crate::session::Session;

/// Runs a pipeline until its source ends.
pub fn execute(global: &Global, args: &ConfigArgs) -> Result<(), Failure> {
    let loaded = load::plan(&args.config, Purpose::Run, global.quiet)?;
    Session::new(global, loaded.plan).execute(run)
}

async fn run(session: &Session) -> Result<Ended> {
    let plan = &session.plan;
    let store = session.store().await?;
    let key = StateKey::row(&plan.name, "default");
    let keeper = store.map(|store| Keeper { store, key });
    if let Some(keeper) = &keeper {
        let begun = keeper.load().await?.is_some();
        belongs(plan).check(keeper.store.as_ref(), &plan.name, begun).await?;
    }
    let changes = plan.source.kind.capabilities(&plan.source.config).is_ok_and(|c| c.changes);
    let repeatable = repeatable(plan, keeper.is_some());
    let terms = Terms {
        keeper,
        tokens: plan.mechanism == Mechanism::Watermark,
        claiming: claiming(plan),
        phase: if changes { Phase::Streaming } else { Phase::Copying },
        page_failpoint: "mid_stream",
        meter: session.meter.clone(),
        limits: session.limits(),
    };
    pipeline::run(&Planned::pipeline(plan), &terms, repeatable, session.retry(), &session.stop).await
}

fn repeatable(plan: &Plan, keeps_state: bool) -> Repeatable {
    let resumes = plan.source.kind.capabilities(&plan.source.config).is_ok_and(|c| c.replayable);
    let mode = plan.sink.kind.capabilities(&plan.sink.config).map(|c| c.write_mode).unwrap_or_default();
    Repeatable { resumes: resumes && keeps_state, absorbs: mode != WriteMode::Append }
}
