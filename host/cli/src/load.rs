//! Reading a configuration file into something that can run.

use faucet_core::config::{Catalog, ConfigText, Loaded, PluginPlan, ProcessSurroundings, Purpose, load};
use std::path::Path;

use crate::catalog;
use crate::display::{self, Failure};

/// Loads the configuration at `path`; warnings are printed unless `quiet`.
pub fn plan(path: &Path, purpose: Purpose, quiet: bool) -> Result<Loaded, Failure> {
    let text = ConfigText::read(path)?;
    let catalog = catalog::bundled()?;
    let surroundings = ProcessSurroundings::new(text.folder.clone());
    match load(&text, purpose, &catalog, &surroundings) {
        Ok(loaded) => {
            if !quiet && !loaded.warnings.problems.is_empty() {
                eprint!("{}", display::report(&loaded.warnings, &text.text));
            }
            Ok(loaded)
        }
        Err(report) => Err(Failure::Config { report, text: text.text }),
    }
}

/// The plugins a configuration declares, loaded.
pub fn plugins(path: &Path, catalog: &Catalog) -> Result<Vec<PluginPlan>, Failure> {
    let text = ConfigText::read(path)?;
    let surroundings = ProcessSurroundings::new(text.folder.clone());
    match load(&text, Purpose::Validate, catalog, &surroundings) {
        Ok(loaded) => Ok(loaded.plan.plugins),
        Err(report) => Err(Failure::Config { report, text: text.text }),
    }
}
