//! Progress: a live line on a terminal, a plain line every few seconds elsewhere, or JSON.

use faucet_core::error::Result;
use faucet_core::observe::{Meter, Phase, Reading, SnapshotReading};
use faucet_core::pipeline::Ended;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::args::{Global, Output};
use crate::display;
use crate::screen::Screen;

const LIVE_INTERVAL: Duration = Duration::from_millis(250);

/// Reports one run. Clones share it.
#[derive(Clone)]
pub struct Reporter {
    meter: Arc<Meter>,
    screen: Screen,
    name: String,
    started: Instant,
    interval: Duration,
    output: Output,
    quiet: bool,
}

impl Reporter {
    /// Reports `meter` of the pipeline `name` every `interval` where there is no terminal.
    pub fn new(global: &Global, meter: Arc<Meter>, screen: Screen, name: String, interval: Duration) -> Self {
        let interval = if screen.is_live() && global.output == Output::Text { LIVE_INTERVAL } else { interval };
        Self { meter, screen, name, started: Instant::now(), interval, output: global.output, quiet: global.quiet }
    }

    /// Reports until dropped.
    pub async fn report(self) {
        if self.quiet || self.interval.is_zero() {
            return;
        }
        let mut ticks = tokio::time::interval(self.interval);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        ticks.tick().await;
        let mut last = (Instant::now(), self.meter.reading());
        loop {
            ticks.tick().await;
            let now = (Instant::now(), self.meter.reading());
            let rate = rate(now.1.rows_written - last.1.rows_written, now.0 - last.0);
            self.tell(&now.1, rate);
            last = now;
        }
    }

    fn tell(&self, reading: &Reading, rate: f64) {
        match self.output {
            Output::Json => println!("{}", self.event("progress", reading, rate)),
            Output::Text if self.screen.is_live() => self.screen.show(line(&self.name, reading, rate)),
            Output::Text => self.screen.line(&format!("{}\n", line(&self.name, reading, rate))),
        }
    }

    fn event(&self, event: &str, reading: &Reading, rate: f64) -> Value {
        let mut value = json!(reading);
        value["event"] = event.into();
        value["pipeline"] = self.name.as_str().into();
        value["rows_per_second"] = (rate.round() as u64).into();
        value["elapsed_seconds"] = self.started.elapsed().as_secs_f64().into();
        value
    }

    /// The last word about a run. Failures are printed by the caller.
    pub fn finish(&self, outcome: &Result<Ended>) {
        self.screen.clear();
        let reading = self.meter.reading();
        let rate = rate(reading.rows_written, self.started.elapsed());
        if self.output == Output::Json {
            let mut event = self.event("finished", &reading, rate);
            match outcome {
                Ok(Ended::Exhausted) => event["outcome"] = "done".into(),
                Ok(Ended::Stopped) => event["outcome"] = "stopped".into(),
                Err(error) => {
                    event["outcome"] = "failed".into();
                    event["failure"] = display::error_json(error);
                }
            }
            println!("{event}");
            return;
        }
        if self.quiet {
            return;
        }
        let word = match outcome {
            Ok(Ended::Exhausted) => "done",
            Ok(Ended::Stopped) => "stopped",
            Err(_) => "failed",
        };
        let seconds = self.started.elapsed().as_secs_f64();
        let rows = grouped(reading.rows_written);
        let bytes = bytes(reading.bytes_read);
        self.screen.line(&format!(
            "{}: {word}: {rows} rows, {bytes} in {seconds:.1} s ({} rows/s){}\n",
            self.name,
            grouped(rate as u64),
            match reading.rows_set_aside {
                0 => String::new(),
                rows => format!("; {} rows were set aside in the dlq", grouped(rows)),
            }
        ));
    }
}

fn rate(rows: u64, elapsed: Duration) -> f64 {
    rows as f64 / elapsed.as_secs_f64().max(1e-3)
}

fn line(name: &str, reading: &Reading, rate: f64) -> String {
    let mut line = format!(
        "{name}: {}, {} rows, {} rows/s, {}",
        reading.phase.word(),
        grouped(reading.rows_written),
        grouped(rate as u64),
        bytes(reading.bytes_read),
    );
    if let (Some(snapshot), Phase::Snapshot) = (&reading.snapshot, reading.phase) {
        line.push_str(&snapshot_text(snapshot, rate));
    }
    if let (Some(lag), Phase::Streaming) = (reading.lag_seconds, reading.phase) {
        line.push_str(&format!(", lag {}", lag_text(lag)));
    }
    if reading.resync_required {
        line.push_str(", RESYNC REQUIRED");
    }
    if reading.retries > 0 {
        line.push_str(&format!(", {} retries", reading.retries));
    }
    if reading.rows_set_aside > 0 {
        line.push_str(&format!(", {} set aside", grouped(reading.rows_set_aside)));
    }
    line
}

/// How far a snapshot is, and for how long it goes on unless it stands still.
fn snapshot_text(snapshot: &SnapshotReading, rate: f64) -> String {
    let mut text = snapshot.snapshot_percent.map(|percent| format!(", {percent} %")).unwrap_or_default();
    if snapshot.snapshot_parts_total > 1 {
        let (done, total) = (snapshot.snapshot_parts_done, snapshot.snapshot_parts_total);
        text.push_str(&format!(", {done} of {total} ranges"));
    }
    if let Some(left) = snapshot.snapshot_seconds_left.filter(|_| rate > 0.0) {
        text.push_str(&format!(", {} left", left_text(left)));
    }
    text
}

fn left_text(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{:.0} s", s.max(1.0)),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

fn lag_text(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && i % 3 == first {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn bytes(bytes: u64) -> String {
    match bytes {
        b if b < 1 << 20 => format!("{:.1} KiB", b as f64 / 1024.0),
        b if b < 1 << 30 => format!("{:.1} MiB", b as f64 / f64::from(1 << 20)),
        b => format!("{:.2} GiB", b as f64 / f64::from(1 << 30)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_says_how_far_it_is() {
        let meter = Meter::default();
        meter.enter(Phase::Snapshot);
        meter.snapshot_begins(Some(1000), 1, 8);
        let mut reading = meter.reading();
        assert_eq!(line("m", &reading, 0.0), "m: snapshot, 0 rows, 0 rows/s, 0.0 KiB, 12 %, 1 of 8 ranges");
        let snapshot = reading.snapshot.as_mut().expect("a snapshot runs");
        (snapshot.snapshot_percent, snapshot.snapshot_seconds_left) = (Some(62), Some(185.0));
        assert!(line("m", &reading, 5.0).ends_with(", 62 %, 1 of 8 ranges, 3 min left"));
        assert!(line("m", &reading, 0.0).ends_with(" ranges"), "no time left without a rate");
        let json = json!(reading);
        assert_eq!((&json["snapshot_rows_estimated"], &json["snapshot_parts_total"]), (&json!(1000), &json!(8)));
        assert_eq!([left_text(0.2), left_text(59.0), left_text(9000.0)], ["1 s", "59 s", "2.5 h"]);
        meter.snapshot_ends();
        assert!(json!(meter.reading()).get("snapshot_percent").is_none());
    }

    #[test]
    fn lines_read_well() {
        let meter = Meter::default();
        meter.enter(Phase::Streaming);
        meter.read(1_234_567, 5 << 20, None);
        meter.committed(1_234_567, None);
        meter.committed(0, None);
        meter.resync_required(true);
        assert!(line("orders", &meter.reading(), 1.0).ends_with(", lag 0 ms, RESYNC REQUIRED"));
        meter.resync_required(false);
        let reading = meter.reading();
        assert_eq!(
            line("orders", &reading, 1234.4),
            "orders: streaming, 1,234,567 rows, 1,234 rows/s, 5.0 MiB, lag 0 ms"
        );
        assert_eq!([grouped(0), grouped(999), grouped(1000), grouped(1_000_000)], ["0", "999", "1,000", "1,000,000"]);
        assert_eq!([lag_text(0.25), lag_text(3.0), lag_text(600.0)], ["250 ms", "3.0 s", "10 min"]);
    }
}
