//! `faucet plugin bench`: what a transform costs.

use std::time::{Duration, Instant};

use faucet_core::model::Page;
use faucet_core::ports::Transform;
use faucet_wasm::cases::{self, Case, page_from_json};
use faucet_wasm::{Plugin, Role};
use serde_json::{Value, json};

use super::subject;
use crate::args::{Global, Output, VerifyArgs};
use crate::display::Failure;
use crate::plugins::Loader;
use crate::session;

/// Rows of a page, as a pipeline has them.
const ROWS: usize = 1000;

/// Instances that are opened to see how much memory each takes.
const INSTANCES: u32 = 16;

/// How long is measured.
const LONG: Duration = Duration::from_secs(1);

/// Measures it and prints the figures.
pub fn execute(global: &Global, args: &VerifyArgs) -> Result<(), Failure> {
    let loader = Loader::new()?;
    let spec = subject::spec(&args.component)?;
    // The first time it may have to be compiled; from then on it is in the cache.
    loader.component(&spec)?;
    let loaded = Instant::now();
    let plugin = loader.component(&spec)?;
    let load = loaded.elapsed();
    if plugin.role() != Role::Transform {
        return Err(Failure::Usage("only a transform can be measured by itself".to_owned()));
    }
    let path =
        args.cases.clone().ok_or_else(|| Failure::Usage("name the cases to measure with: --cases PATH".into()))?;
    let (case, page) = first_page(&cases::read(&path).map_err(Failure::Usage)?)?;
    let (make, open) = starts(&plugin, &case)?;
    let (cost, native, memory) = session::runtime()?.block_on(measure(&plugin, &case, &page))?;
    let figures = Figures { load, make, open, cost, native, memory };
    match global.output {
        Output::Json => println!("{}", figures.json(&case, &page)),
        Output::Text => figures.print(&case, &page),
    }
    Ok(())
}

/// What was measured.
struct Figures {
    load: Duration,
    /// To make an instance, and to open one that is made.
    make: Duration,
    open: Duration,
    /// Of a page: through the plugin, and through a native step.
    cost: Duration,
    native: Duration,
    /// KiB of each further instance, where the system tells.
    memory: Option<f64>,
}

impl Figures {
    fn json(&self, case: &Case, page: &Page) -> Value {
        let (cost, native) = (per_row(self.cost, page), per_row(self.native, page));
        json!({"case": case.case, "rows": page.rows(), "columns": page.columns().len(),
               "ns_per_row": cost, "ns_per_row_native": native, "rows_per_second": 1e9 / cost,
               "load_ms": milliseconds(self.load), "make_ms": milliseconds(self.make),
               "open_ms": milliseconds(self.open), "instance_kib": self.memory})
    }

    fn print(&self, case: &Case, page: &Page) {
        let (cost, native) = (per_row(self.cost, page), per_row(self.native, page));
        println!("{} rows of {} columns, of the case \"{}\"", page.rows(), page.columns().len(), case.case);
        println!("  {cost:.0} ns a row, {:.0} rows a second", 1e9 / cost);
        println!("  {native:.1} ns a row for a native step that copies the page and does nothing else");
        println!("  {:.1} ms to load from the cache", milliseconds(self.load));
        println!("  {:.2} ms to make an instance, ahead of its need", milliseconds(self.make));
        println!("  {:.2} ms to open one that is made", milliseconds(self.open));
        if let Some(memory) = self.memory {
            println!("  {memory:.0} KiB of memory for each further instance");
        }
    }
}

/// Nanoseconds of each row.
fn per_row(cost: Duration, page: &Page) -> f64 {
    cost.as_secs_f64() * 1e9 / page.rows() as f64
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The first case that passes a page, and its page, repeated to a usual size.
fn first_page(cases: &[Case]) -> Result<(Case, Page), Failure> {
    let readable = cases.iter().filter(|case| case.error.is_none()).find_map(|case| {
        let page = page_from_json(case.page.as_ref()?).ok().filter(|page| !page.is_empty())?;
        Some((case.clone(), page))
    });
    let (case, page) = readable.ok_or_else(|| Failure::Usage("no case has a page that can be read".to_owned()))?;
    let times = ROWS.div_ceil(page.rows());
    Ok((case, Page::concat(vec![page; times]).slice(0, ROWS)))
}

/// The usual times to make an instance and to open one that is made. Without a runtime nothing is made behind its back.
fn starts(plugin: &Plugin, case: &Case) -> Result<(Duration, Duration), Failure> {
    // What is done once for all instances is not counted.
    plugin.open(case.config.clone())?;
    let (mut made, mut opened) = (Vec::new(), Vec::new());
    for _ in 0..INSTANCES {
        let start = Instant::now();
        plugin.prepare();
        made.push(start.elapsed());
        let start = Instant::now();
        let transform = plugin.open(case.config.clone())?;
        opened.push(start.elapsed());
        drop(transform);
    }
    Ok((middle(made), middle(opened)))
}

/// The median.
fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// What a page costs through the plugin and through a native step, and the memory of a further instance.
async fn measure(tried: &Plugin, case: &Case, page: &Page) -> Result<(Duration, Duration, Option<f64>), Failure> {
    let mut transform = tried.open(case.config.clone())?;
    // The first page is not like the others: code is warmed, memory grows.
    transform.apply(page.clone()).await?;
    let plugin = median(transform.as_mut(), page).await?;
    let (mut times, start) = (Vec::new(), Instant::now());
    while start.elapsed() < LONG / 10 {
        let one = Instant::now();
        std::hint::black_box(page.take(&(0..page.rows() as u32).collect::<Vec<_>>().into()));
        times.push(one.elapsed());
    }
    let memory = memory(tried, case, page).await?;
    Ok((plugin, middle(times), memory))
}

/// How much the process grows with each further instance that has seen a page, in KiB.
async fn memory(plugin: &Plugin, case: &Case, page: &Page) -> Result<Option<f64>, Failure> {
    let before = resident();
    let mut instances = Vec::new();
    for _ in 0..INSTANCES {
        let mut transform = plugin.open(case.config.clone())?;
        transform.apply(page.clone()).await?;
        instances.push(transform);
    }
    let grown = before.zip(resident()).map(|(before, after)| after.saturating_sub(before));
    Ok(grown.map(|grown| grown as f64 / f64::from(INSTANCES)))
}

/// What the process keeps in memory, in KiB (`VmRSS` of proc_pid_status(5)).
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

async fn median(transform: &mut dyn Transform, page: &Page) -> Result<Duration, Failure> {
    let (mut times, start) = (Vec::new(), Instant::now());
    while start.elapsed() < LONG {
        let one = Instant::now();
        std::hint::black_box(transform.apply(page.clone()).await?);
        times.push(one.elapsed());
    }
    Ok(middle(times))
}
