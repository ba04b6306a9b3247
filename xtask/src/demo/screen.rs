//! What the demo shows: steps, and one line that keeps changing on a terminal.

use std::cell::Cell;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::failure::{Failure, Result};

/// Without a terminal, a line this often instead of one that changes.
const QUIET: Duration = Duration::from_secs(3);

/// The terminal, or whatever takes its place.
pub struct Screen {
    terminal: bool,
    live: Cell<bool>,
    last: Cell<Option<Instant>>,
}

impl Screen {
    /// Looks at standard output.
    pub fn new() -> Self {
        Self { terminal: std::io::stdout().is_terminal(), live: Cell::new(false), last: Cell::new(None) }
    }

    /// A line that stays.
    pub fn say(&self, line: &str) {
        self.end_live();
        println!("- {line}");
    }

    /// Names a step that was done, or fails with the reason.
    pub fn step<T, E: Display>(&self, line: &str, outcome: std::result::Result<T, E>) -> Result<T> {
        self.say(line);
        outcome.map_err(|e| Failure::new(e.to_string()))
    }

    /// A line that the next one replaces.
    pub fn live(&self, line: &str) {
        if self.terminal {
            print!("\r\x1b[2K  {line}");
            let _ = std::io::stdout().flush();
            self.live.set(true);
        } else if self.last.get().is_none_or(|last| last.elapsed() >= QUIET) {
            println!("  {line}");
            self.last.set(Some(Instant::now()));
        }
    }

    /// Keeps the last live line and goes on below it.
    pub fn end_live(&self) {
        if self.live.replace(false) {
            println!();
        }
    }
}
