//! Standard error, shared by log messages and the progress line.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// A place for lines and, on a terminal, one live line below them. Clones share it.
#[derive(Clone)]
pub struct Screen {
    live: Option<ProgressBar>,
}

impl Screen {
    /// Standard error; the live line exists on a terminal unless `quiet`.
    pub fn new(quiet: bool) -> Self {
        let terminal = io::stderr().is_terminal() && !quiet;
        let live = terminal.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is well-formed"));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { live }
    }

    /// Whether there is a live line.
    pub fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Replaces the live line.
    pub fn show(&self, text: String) {
        if let Some(bar) = &self.live {
            bar.set_message(text);
        }
    }

    /// Removes the live line.
    pub fn clear(&self) {
        if let Some(bar) = &self.live {
            bar.finish_and_clear();
        }
    }

    /// Writes text above the live line. A standard error that is gone is no reason to stop.
    pub fn line(&self, text: &str) {
        let write = || {
            let _ = io::stderr().lock().write_all(text.as_bytes());
        };
        match &self.live {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}
