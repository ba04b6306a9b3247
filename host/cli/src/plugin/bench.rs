//! `faucet plugin bench`: what a transform costs.

use std::time::{Duration, Instant};

use faucet_core::model::Page;
use faucet_core::ports::Transform;
use faucet_wasm::cases::{self, Case, page_from_json};
use faucet_wasm::{Plugin, Role};
use serde_json::json;

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
    let figures = session::runtime()?.block_on(measure(&plugin, &case, &page))?;
    let Figures { plugin: cost, native, memory } = figures;
    let per_row = |cost: Duration| cost.as_secs_f64() * 1e9 / page.rows() as f64;
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    match global.output {
        Output::Json => println!(
            "{}",
            json!({"case": case.case, "rows": page.rows(), "columns": page.columns().len(),
                   "ns_per_row": per_row(cost), "ns_per_row_native": per_row(native), "rows_per_second": 1e9 / per_row(cost),
                   "load_ms": milliseconds(load), "make_ms": milliseconds(make), "open_ms": milliseconds(open),
                   "instance_kib": memory})
        ),
        Output::Text => {
            println!("{} rows of {} columns, of the case \"{}\"", page.rows(), page.columns().len(), case.case);
            println!("  {:.0} ns a row, {:.0} rows a second", per_row(cost), 1e9 / per_row(cost));
            println!("  {:.1} ns a row for a native step that copies the page and does nothing else", per_row(native));
            println!("  {:.1} ms to load from the cache", milliseconds(load));
            println!("  {:.2} ms to make an instance, ahead of its need", milliseconds(make));
            println!("  {:.2} ms to open one that is made", milliseconds(open));
            if let Some(memory) = memory {
                println!("  {memory:.0} KiB of memory for each further instance");
            }
        }
    }
    Ok(())
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

struct Figures {
    plugin: Duration,
    native: Duration,
    /// KiB of each further instance, where the system tells.
    memory: Option<f64>,
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

async fn measure(tried: &Plugin, case: &Case, page: &Page) -> Result<Figures, Failure> {
    // What is done once for all instances is not counted.
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
    Ok(Figures { plugin, native: middle(times), memory })
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
