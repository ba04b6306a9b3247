//! The host's `log` import, with a cap: a component that floods the log is cut off, and says so once per call.

use tracing::{debug, error, info, warn};

/// Bytes per line.
const WIDTH: usize = 2048;

/// Severity of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

/// Where a component's lines go.
#[derive(Debug)]
pub(crate) struct GuestLog {
    plugin: String,
    lines: u32,
    most: u32,
}

impl GuestLog {
    /// At most `most` lines in a call.
    pub(crate) fn new(plugin: &str, most: u32) -> Self {
        Self { plugin: plugin.to_owned(), lines: 0, most }
    }

    /// A new call: its lines are counted afresh.
    pub(crate) fn next_call(&mut self) {
        self.lines = 0;
    }

    pub(crate) fn line(&mut self, level: Level, message: &str) {
        self.lines = self.lines.saturating_add(1);
        let plugin = self.plugin.as_str();
        let most = self.most;
        if self.lines > most {
            if self.lines == most.saturating_add(1) {
                warn!(plugin, "the plugin logs more than {most} lines a call (limits.log_lines); the rest is dropped");
            }
            return;
        }
        let message = cut(message);
        match level {
            Level::Debug => debug!(plugin, "{message}"),
            Level::Info => info!(plugin, "{message}"),
            Level::Warn => warn!(plugin, "{message}"),
            Level::Error => error!(plugin, "{message}"),
        }
    }
}

/// One line of bounded length, without control characters.
pub(crate) fn cut(message: &str) -> String {
    let end = message.floor_char_boundary(WIDTH);
    let line = message[..end].chars().map(|c| if c.is_control() { ' ' } else { c });
    if end < message.len() { line.chain("...".chars()).collect() } else { line.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut_at_a_character() {
        assert_eq!(cut("a\nb"), "a b");
        let cut = cut(&"é".repeat(WIDTH));
        assert!(cut.len() <= WIDTH + 3 && cut.ends_with("é..."), "{}", cut.len());
    }
}
