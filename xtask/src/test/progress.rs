//! One line per step: what runs now on a terminal, and how it ended, everywhere.

use std::io::{IsTerminal, Write};
use std::time::Instant;

/// The line of a step that is running.
pub struct Line {
    name: String,
    start: Instant,
    live: bool,
}

impl Line {
    /// Announces a step.
    pub fn start(name: &str) -> Self {
        let live = std::io::stdout().is_terminal();
        if live {
            print!("...   {name}");
            let _ = std::io::stdout().flush();
        }
        Self { name: name.to_owned(), start: Instant::now(), live }
    }

    /// It went well.
    pub fn passed(self, note: &str) {
        self.end("ok", note);
    }

    /// It did not.
    pub fn failed(self, note: &str) {
        self.end("FAIL", note);
    }

    fn end(self, word: &str, note: &str) {
        if self.live {
            print!("\r\x1b[2K");
        }
        let seconds = self.start.elapsed().as_secs_f32();
        println!("{word:<5} {:<14} {seconds:>6.1} s  {note}", self.name);
    }
}
