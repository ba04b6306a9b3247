//! A pipeline opened to be looked at: nothing it does has an effect upstream, on the state or at the destination.

use faucet_core::config::{Plan, Purpose, Stage};
use faucet_core::error::Result;
use faucet_core::mirror::{self, Marker};
use faucet_core::model::Page;
use faucet_core::pipeline::ack::Keeper;
use faucet_core::pipeline::{Chain, Opening, Recipe};
use faucet_core::ports::{AnySource, AnyTransform, Batch, Rejected, Source};
use faucet_core::recording::Step;
use faucet_core::state::StateKey;
use std::path::Path;

use crate::args::{Beginning, Global};
use crate::bundled;
use crate::display::Failure;
use crate::load;
use crate::recipe::{Planned, short_digest};

/// A pipeline to look at.
pub struct Look {
    pub plan: Plan,
    pub planned: Planned,
    chain: Chain,
}

/// What a step made of a page.
pub struct Applied {
    pub pages: Vec<Page>,
    pub rejected: Vec<Rejected>,
}

impl Look {
    /// Loads the configuration at `path`; opens its transforms.
    pub async fn open(global: &Global, path: &Path, beginning: &Beginning) -> Result<Self, Failure> {
        let mut plan = load::plan(path, Purpose::Validate, global.quiet)?.plan;
        if beginning.snapshot {
            plan.source = snapshot(&plan)?;
        }
        let planned = Planned::looked_at(&plan);
        let chain = Chain::new(planned.transforms().await?, true);
        Ok(Self { plan, planned, chain })
    }

    /// The source, where the next run would begin or at its beginning.
    ///
    /// # Errors
    /// Of the state store and of the source.
    pub async fn source(&self, beginning: &Beginning) -> Result<Box<dyn Source>> {
        let opening = match beginning.from_start || beginning.snapshot {
            true => Opening::default(),
            false => self.opening().await?,
        };
        self.planned.source(opening).await
    }

    async fn opening(&self) -> Result<Opening> {
        let Some(stage) = &self.plan.store else { return Ok(Opening::default()) };
        let store = stage.kind.open(&stage.config).await?;
        if self.plan.mirror.is_some() {
            let stored = mirror::stored(&store, &self.plan.name).await?;
            let opening =
                |(marker, bookmark): (Marker, _)| Opening { bookmark: Some(bookmark), covered: marker.covered };
            return Ok(stored.map(opening).unwrap_or_default());
        }
        let keeper = Keeper { store, key: StateKey::row(&self.plan.name, "default") };
        Ok(Opening { bookmark: keeper.load().await?.map(|progress| progress.bookmark), covered: None })
    }

    /// The transforms, with the digests of those that are components.
    pub fn steps(&self) -> Vec<Step> {
        self.plan.transforms.iter().map(|stage| self.step_of(stage)).collect()
    }

    fn step_of(&self, stage: &Stage<dyn AnyTransform>) -> Step {
        let name = stage.kind.name();
        Step { name: name.to_owned(), digest: self.digest(name), config: config_digest(&stage.config) }
    }

    /// The digest of the component with this name; `None` for what is part of faucet.
    pub fn digest(&self, name: &str) -> Option<String> {
        let declared = self.plan.plugins.iter().find(|plugin| plugin.name == name);
        declared.map(|plugin| plugin.plugin.digest.clone()).or_else(|| bundled::digest(name))
    }

    /// Applies the step `at`, from 0, to a page.
    ///
    /// # Errors
    /// Of the step.
    pub async fn apply(&mut self, at: usize, page: Page) -> Result<Applied> {
        let (_, output) = self.chain.step(at, page).await?;
        Ok(Applied { pages: output.pages, rejected: output.rejected })
    }

    /// A page as the sink gets it.
    ///
    /// # Errors
    /// When a change can't be put into an envelope.
    pub fn rows(&mut self, page: Page) -> Result<Page> {
        self.chain.rows(page)
    }
}

fn snapshot(plan: &Plan) -> Result<Stage<dyn AnySource>, Failure> {
    let mirror = plan.mirror.as_ref();
    let missing = || Failure::Usage("there is no `mirror.snapshot` to read: leave out --snapshot".to_owned());
    mirror.map(|mirror| mirror.snapshot.clone()).ok_or_else(missing)
}

/// Enough of a digest to tell whether a configuration is the same, too little to tell what is in it.
pub fn config_digest(config: &serde_json::Value) -> String {
    short_digest(&config.to_string())
}

/// A number of things, in words: `1 page`, `2 pages`.
pub fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

/// The pages of a batch that have rows.
pub fn pages(batch: Batch) -> impl Iterator<Item = Page> {
    batch.pages.into_iter().filter(|page| !page.is_empty())
}
