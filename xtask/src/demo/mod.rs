//! `cargo xtask demo`: the main job on a throwaway database, in under a minute after the build.
//!
//! A private PostgreSQL holds a shop. Two `faucet mirror` processes copy `orders` and `customers` into SQLite, the
//! customers' e-mail addresses masked by a WebAssembly component on the way, while a writer keeps changing the shop.
//! When it settles, both sides are compared row by row: the result is checked, not assumed.

mod mirrors;
mod screen;
mod shop;
mod verdict;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use faucet_tests::{Client, Postgres, PostgresOptions};

use self::mirrors::Mirror;
use self::screen::Screen;
use crate::failure::{Failure, Result};
use crate::{setup, workspace};

/// How long, and where.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Seconds of writing while the mirrors run
    #[arg(long, default_value_t = 10, value_name = "N")]
    seconds: u64,
}

/// How long the mirrors may take to catch up once the writer stopped.
const SETTLE: Duration = Duration::from_secs(30);

/// Runs the demo. An error means that something broke or that the sides differ.
pub fn run(arguments: &Arguments) -> Result<()> {
    let start = Instant::now();
    let screen = Screen::new();
    let faucet = build(&screen)?;

    let server = screen.step("starting a private PostgreSQL", Postgres::try_start(&PostgresOptions::default()))?;
    let url = server.url("postgres");
    let client = screen.step("filling the shop", shop::create(&url))?;

    let folder = clean_folder()?;
    let mut mirrors = [Mirror::orders(&folder, &url), Mirror::customers(&folder, &url)];
    for mirror in &mut mirrors {
        mirror.start(&faucet)?;
    }
    screen.say("mirroring orders and customers into SQLite, addresses masked, while the shop goes on");
    let outcome = follow(&screen, &client, &url, &mut mirrors, Duration::from_secs(arguments.seconds));
    // Before the verdict, so that what is compared is what a finished mirror leaves behind.
    let stopped = mirrors.iter_mut().try_for_each(Mirror::stop);
    let result = outcome.and(stopped).and_then(|()| verdict::compare(&client, &mirrors));
    report(&screen, result, &folder, start)
}

/// The binary, which carries the mask component.
fn build(screen: &Screen) -> Result<PathBuf> {
    setup::postgres::ensure()?;
    screen.say("building faucet and its components (the first time takes a few minutes)");
    workspace::build_faucet(&["--bin", "faucet"])
}

/// `TARGET/xtask/demo`, without what an earlier demo left.
fn clean_folder() -> Result<PathBuf> {
    let folder = workspace::scratch("demo")?;
    std::fs::remove_dir_all(&folder)?;
    workspace::scratch("demo")
}

/// Writes for `time`, showing progress; then waits until the mirrors have caught up.
fn follow(screen: &Screen, client: &Client, url: &str, mirrors: &mut [Mirror], time: Duration) -> Result<()> {
    let writer = shop::Writer::start(url)?;
    let start = Instant::now();
    while start.elapsed() < time {
        tick(screen, client, writer.changes(), mirrors)?;
    }
    let changes = writer.stop()?;
    let start = Instant::now();
    loop {
        tick(screen, client, changes, mirrors)?;
        let verdict = verdict::compare(client, mirrors);
        match verdict {
            Ok(()) => break,
            Err(difference) if start.elapsed() > SETTLE => return Err(difference),
            Err(_) => {}
        }
    }
    screen.end_live();
    let settled = start.elapsed().as_secs_f32();
    screen.say(&format!("the writer stopped after {changes} changes; the mirrors settled {settled:.1} s later"));
    Ok(())
}

/// Shows where both sides are, and makes sure that the mirrors still run.
fn tick(screen: &Screen, client: &Client, changes: u64, mirrors: &mut [Mirror]) -> Result<()> {
    let mut parts = vec![format!("{changes} changes")];
    for mirror in mirrors {
        mirror.check()?;
        let source = client.try_rows(&format!("SELECT count(*) FROM {}", mirror.table))?;
        let source = source.first().and_then(|row| row[0].clone()).unwrap_or_default();
        parts.push(format!("{} {source} -> {}", mirror.table, mirror.rows()));
    }
    screen.live(&parts.join("   "));
    std::thread::sleep(Duration::from_millis(200));
    Ok(())
}

fn report(screen: &Screen, result: Result<()>, folder: &Path, start: Instant) -> Result<()> {
    screen.end_live();
    let place = format!("configurations, logs and both databases are in {}", folder.display());
    match result {
        Ok(()) => {
            screen.say("every row is equal on both sides, every address is masked, none is in clear");
            println!("\nPASS  in {:.0} s", start.elapsed().as_secs_f32());
            println!("{place}\n  sqlite3 {} 'SELECT * FROM customers LIMIT 5'", folder.join("customers.db").display());
            Ok(())
        }
        Err(failure) => Err(Failure::new(format!("FAIL  {failure}\n{place}"))),
    }
}
