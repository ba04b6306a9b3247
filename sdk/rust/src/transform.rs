//! What the author of a transform implements.

use crate::{Output, Page, Result, Wants};

/// A transform of pages. `#[faucet_sdk::transform]` on the `impl` exports it as a component.
pub trait Transform: About + Sized + 'static {
    /// The configuration. `#[faucet_sdk::config]` on a struct derives what it needs.
    type Config: serde::de::DeserializeOwned + schemars::JsonSchema;

    /// What it needs beyond its pages. Most transforms need nothing.
    fn wants() -> Wants {
        Wants::default()
    }

    /// Checks the configuration beyond its types and makes the transform.
    ///
    /// # Errors
    /// If the configuration can't be used: [`Error::config`](crate::Error::config).
    fn open(config: Self::Config) -> Result<Self>;

    /// Transforms one page. State kept between calls must be a cache, never a result: a page may be tried again on a
    /// fresh instance.
    ///
    /// # Errors
    /// If the page as a whole can't be processed. For single rows use [`Output::reject`].
    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>>;
}

/// What the component says about itself. `#[transform]`, `#[source]` and `#[sink]` write this from `Cargo.toml`.
pub trait About {
    /// Short name.
    const NAME: &'static str;
    /// Version of the component.
    const VERSION: &'static str;
    /// One sentence: what it does.
    const SUMMARY: &'static str;
    /// Whether the same page always gives the same output.
    const DETERMINISTIC: bool = true;
}
