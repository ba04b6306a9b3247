//! `faucet mirror CONFIG`.

use faucet_core::config::{MirrorPlan, Plan, Purpose};
use faucet_core::delivery::Mechanism;
use faucet_core::error::{Error, Result, UNCHECKED_CONFIG};
use faucet_core::mirror::{self, Existing, Mirror, Snapshot};
use faucet_core::pipeline::Ended;
use faucet_core::ports::WriteMode;
use std::path::Path;
use std::sync::Arc;

use crate::args::{Global, MirrorArgs};
use crate::display::Failure;
use crate::load;
use crate::recipe::{Planned, belongs, claiming};
use crate::session::Session;

/// Snapshots a table, then streams its changes.
pub fn execute(global: &Global, config: &Path, existing: Existing) -> Result<(), Failure> {
    let loaded = load::plan(config, Purpose::Mirror, global.quiet)?;
    Session::new(global, loaded.plan).execute(|session| run(session, existing))
}

/// What the flags say of rows that the destination has.
pub fn existing(args: &MirrorArgs) -> Existing {
    match (args.replace, args.keep) {
        (true, _) => Existing::Replace,
        (false, true) => Existing::Keep,
        (false, false) => Existing::Refuse,
    }
}

async fn run(session: &Session, existing: Existing) -> Result<Ended> {
    let plan = &session.plan;
    // The checks of `Purpose::Mirror` leave none of these out; a plan without them is a bug, reported as an error.
    let incomplete = |what| Error::new(&UNCHECKED_CONFIG, format!("a mirror needs {what}"));
    let block = plan.mirror.as_ref().ok_or_else(|| incomplete("a `mirror:` block"))?;
    let store = session.store().await?.ok_or_else(|| incomplete("a `state:` block"))?;
    let begun = mirror::stored(&store, &plan.name).await?.is_some();
    belongs(plan).check(store.as_ref(), &plan.name, begun).await?;
    let capture = plan.source.kind.capture(&plan.source.config);
    let stream = Planned::pipeline(plan);
    let mirror = Mirror {
        name: plan.name.clone(),
        capture: capture.ok_or_else(|| incomplete("a source that can capture its position"))?,
        snapshot: snapshot(plan, block, &stream),
        stream: Arc::new(stream),
        store,
        continuous: block.continuous,
        tokens: plan.mechanism == Mechanism::Watermark,
        claiming: claiming(plan),
        meter: session.meter.clone(),
        limits: session.limits(),
        existing,
        retry: session.retry(),
    };
    mirror::run(mirror, &session.stop).await
}

fn snapshot(plan: &Plan, block: &MirrorPlan, stream: &Planned) -> Snapshot {
    let mode = plan.sink.kind.capabilities(&plan.sink.config).map(|sink| sink.write_mode).unwrap_or_default();
    // What replaces the destination at its end has to be one run.
    let shards = if mode == WriteMode::Overwrite { Some(1) } else { block.shards };
    let rows = Arc::new(stream.snapshot(&block.snapshot));
    Snapshot { rows, destination: stream.destination(), shards, concurrency: block.concurrency }
}
