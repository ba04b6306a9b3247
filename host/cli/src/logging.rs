//! Log messages on standard error, without secrets.

use faucet_core::config::Redactor;
use faucet_core::config::document::{LogFormat as ConfigFormat, LogLevel as ConfigLevel, Observability};
use std::io::{self, Write};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::args::{Global, LogFormat, LogLevel};
use crate::screen::Screen;

/// Starts logging. Options of the command line win over `observability`; `--quiet` leaves errors.
pub fn start(global: &Global, config: &Observability, redactor: Redactor, screen: Screen) {
    let level = match (global.quiet, global.log_level) {
        (_, Some(level)) => from_argument(level),
        (true, None) => LevelFilter::ERROR,
        (false, None) => from_config(config.log_level),
    };
    // Drivers log at `info` what matters to nobody who runs a pipeline.
    let filter = format!("warn,faucet_core={level},faucet_connectors={level},faucet_wasm={level},faucet={level}");
    let filter = if level < LevelFilter::WARN { level.to_string() } else { filter };
    let json = global.log_format.map_or(config.log_format == ConfigFormat::Json, |f| f == LogFormat::Json);
    let writer = Redacting { redactor, screen };
    let builder =
        tracing_subscriber::fmt().with_env_filter(EnvFilter::new(filter)).with_writer(writer).with_target(false);
    // A second start in one process keeps the first; only tests do that.
    let _ = if json { builder.json().flatten_event(true).try_init() } else { builder.with_ansi(false).try_init() };
}

fn from_argument(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}

fn from_config(level: ConfigLevel) -> LevelFilter {
    match level {
        ConfigLevel::Error => LevelFilter::ERROR,
        ConfigLevel::Warn => LevelFilter::WARN,
        ConfigLevel::Info => LevelFilter::INFO,
        ConfigLevel::Debug => LevelFilter::DEBUG,
        ConfigLevel::Trace => LevelFilter::TRACE,
    }
}

/// Writes whole messages above the progress line, with secrets replaced.
#[derive(Clone)]
struct Redacting {
    redactor: Redactor,
    screen: Screen,
}

impl Write for Redacting {
    fn write(&mut self, message: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(message);
        self.screen.line(&self.redactor.redact(&text));
        Ok(message.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Redacting {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
