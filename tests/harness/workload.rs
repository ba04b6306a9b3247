//! A seeded writer: interleaved transactions that insert, update, delete, change keys and roll back.
//!
//! Several connections hold transactions open at the same time, and one thread steps them in an order the seed
//! decides, so that transactions commit in another order than they began in, and a run can be repeated. A row is
//! touched by one open transaction at a time: nothing ever waits for a lock.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::database::Client;

/// What to write, and how much.
#[derive(Debug, Clone)]
pub struct Workload {
    /// Table to write to, made by [`Workload::create_table`].
    pub table: String,
    /// The same seed gives the same transactions.
    pub seed: u64,
    /// Transactions to run, rolled-back ones included.
    pub transactions: u64,
    /// Connections, and so the most transactions open at once.
    pub connections: usize,
    /// Most changes in one transaction (at least 1).
    pub max_changes: u32,
    /// Pause after each statement.
    pub pause: Duration,
    /// Whether updates may change the primary key.
    pub change_keys: bool,
}

impl Default for Workload {
    fn default() -> Self {
        Self {
            table: "orders".to_owned(),
            seed: 1,
            transactions: 200,
            connections: 4,
            max_changes: 8,
            pause: Duration::ZERO,
            change_keys: true,
        }
    }
}

/// What a workload did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkloadStats {
    /// Transactions that committed.
    pub committed: u64,
    /// Transactions that rolled back.
    pub rolled_back: u64,
    /// Rows inserted, updated, deleted or given another key by committed transactions.
    pub changes: u64,
}

impl Workload {
    /// Makes the table and fills it with `rows` rows. Its columns: `id` (key), `name`, `qty`, `price`, `note` (now and
    /// then too large to be stored in line, so that updates leave it out of the log), `updated_at`.
    pub fn create_table(&self, client: &Client, rows: u32) {
        let table = &self.table;
        client.execute(&format!(
            "CREATE TABLE {table} (id bigint PRIMARY KEY, name text NOT NULL, qty int NOT NULL, \
             price numeric(12,2), note text, updated_at timestamptz NOT NULL);
             ALTER TABLE {table} ALTER COLUMN note SET STORAGE EXTERNAL;
             INSERT INTO {table} SELECT g, 'name ' || g, g % 50, g / 7.0, {}, now() FROM generate_series(1, {rows}) g",
            note("g"),
        ));
    }

    /// Runs it to its end on this thread.
    pub fn run(&self, url: &str) -> WorkloadStats {
        Session::open(self, url).run(&AtomicBool::new(false), &AtomicU64::new(0))
    }

    /// Runs it in the background. With `transactions: u64::MAX` it goes on until [`Writer::stop`].
    pub fn start(&self, url: &str) -> Writer {
        let mut session = Session::open(self, url);
        let stop = Arc::new(AtomicBool::new(false));
        let changes = Arc::new(AtomicU64::new(0));
        let (flag, count) = (stop.clone(), changes.clone());
        let thread = std::thread::spawn(move || session.run(&flag, &count));
        Writer { stop, changes, thread: Some(thread) }
    }
}

/// A workload that runs in the background. Stopped on drop.
#[derive(Debug)]
pub struct Writer {
    stop: Arc<AtomicBool>,
    changes: Arc<AtomicU64>,
    thread: Option<JoinHandle<WorkloadStats>>,
}

impl Writer {
    /// Changes committed so far.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Ends open transactions and returns what was done.
    pub fn stop(mut self) -> WorkloadStats {
        self.stop.store(true, Ordering::Relaxed);
        self.join()
    }

    /// Waits until all its transactions ran.
    pub fn join(&mut self) -> WorkloadStats {
        let thread = self.thread.take().expect("a writer is joined once");
        thread.join().expect("the writer ran without a panic")
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// SQL for the `note` of row `id`: null, short, or 3-30 kB.
fn note(id: &str) -> String {
    format!(
        "CASE WHEN ({id}) % 5 = 0 THEN NULL WHEN ({id}) % 7 = 0 THEN repeat(md5(({id})::text), 100 + ({id} % 900)::int) \
         ELSE 'note ' || ({id}) END"
    )
}

/// A connection and the transaction open on it.
struct Lane {
    client: Client,
    open: Option<Transaction>,
}

#[derive(Default)]
struct Transaction {
    changes_left: u32,
    changes: u64,
    /// Keys to add to the live ones if it commits, and to put back if it doesn't.
    born: Vec<i64>,
    taken: Vec<i64>,
    died: BTreeSet<i64>,
}

struct Session {
    workload: Workload,
    rng: StdRng,
    lanes: Vec<Lane>,
    /// Keys that exist and that no open transaction touches.
    free: Vec<i64>,
    next_id: i64,
    begun: u64,
    stats: WorkloadStats,
}

impl Session {
    fn open(workload: &Workload, url: &str) -> Self {
        let lanes: Vec<Lane> =
            (0..workload.connections.max(1)).map(|_| Lane { client: Client::connect(url), open: None }).collect();
        let ids = lanes[0].client.rows(&format!("SELECT id FROM {} ORDER BY id", workload.table));
        let free: Vec<i64> = ids.into_iter().filter_map(|row| row[0].as_ref()?.parse().ok()).collect();
        Self {
            rng: StdRng::seed_from_u64(workload.seed),
            next_id: free.last().map_or(1, |last| last + 1),
            workload: workload.clone(),
            lanes,
            free,
            begun: 0,
            stats: WorkloadStats::default(),
        }
    }

    fn run(&mut self, stop: &AtomicBool, changes: &AtomicU64) -> WorkloadStats {
        loop {
            let stopping = stop.load(Ordering::Relaxed) || self.begun >= self.workload.transactions;
            let lane = self.rng.random_range(0..self.lanes.len());
            if self.lanes[lane].open.is_some() {
                self.step(lane, stopping);
                changes.store(self.stats.changes, Ordering::Relaxed);
            } else if !stopping {
                self.begin(lane);
            } else if self.lanes.iter().all(|l| l.open.is_none()) {
                return self.stats;
            }
            if !self.workload.pause.is_zero() {
                std::thread::sleep(self.workload.pause);
            }
        }
    }

    fn begin(&mut self, lane: usize) {
        let changes_left = self.rng.random_range(1..=self.workload.max_changes.max(1));
        self.lanes[lane].client.execute("BEGIN");
        self.lanes[lane].open = Some(Transaction { changes_left, ..Transaction::default() });
        self.begun += 1;
    }

    fn step(&mut self, lane: usize, stopping: bool) {
        let mut open = self.lanes[lane].open.take().expect("only lanes with a transaction are stepped");
        if open.changes_left == 0 || stopping && open.changes > 0 {
            return self.end(lane, open);
        }
        open.changes_left -= 1;
        let sql = self.change(&mut open);
        self.lanes[lane].client.execute(&sql);
        self.lanes[lane].open = Some(open);
    }

    /// Decides on a change and notes which keys it takes and gives.
    fn change(&mut self, open: &mut Transaction) -> String {
        open.changes += 1;
        let table = self.workload.table.clone();
        let kind = self.rng.random_range(0..100);
        let Some(id) = (kind >= 30).then(|| self.pick(open)).flatten() else {
            let id = self.new_id(open);
            let text = note(&id.to_string());
            return format!("INSERT INTO {table} VALUES ({id}, 'new {id}', {}, {id} / 3.0, {text}, now())", id % 90);
        };
        match kind {
            30..=49 => {
                open.died.insert(id);
                format!("DELETE FROM {table} WHERE id = {id}")
            }
            50..=59 if self.workload.change_keys => {
                open.died.insert(id);
                let new = self.new_id(open);
                format!("UPDATE {table} SET id = {new}, name = name || '>' WHERE id = {id}")
            }
            60..=69 => {
                let text = note(&format!("{}", id + self.rng.random_range(0..7)));
                format!("UPDATE {table} SET note = {text}, updated_at = now() WHERE id = {id}")
            }
            _ => format!("UPDATE {table} SET qty = qty + 1, price = price * 1.01, updated_at = now() WHERE id = {id}"),
        }
    }

    fn new_id(&mut self, open: &mut Transaction) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        open.born.push(id);
        id
    }

    /// A key this transaction may touch: one nobody holds, or now and then one it touched or made itself.
    fn pick(&mut self, open: &mut Transaction) -> Option<i64> {
        let own: Vec<i64> = open.born.iter().chain(&open.taken).copied().filter(|id| !open.died.contains(id)).collect();
        if !own.is_empty() && (self.free.is_empty() || self.rng.random_ratio(1, 4)) {
            return Some(own[self.rng.random_range(0..own.len())]);
        }
        if self.free.is_empty() {
            return None;
        }
        let id = self.free.swap_remove(self.rng.random_range(0..self.free.len()));
        open.taken.push(id);
        Some(id)
    }

    fn end(&mut self, lane: usize, open: Transaction) {
        let commits = !self.rng.random_ratio(1, 8);
        self.lanes[lane].client.execute(if commits { "COMMIT" } else { "ROLLBACK" });
        if commits {
            self.stats.committed += 1;
            self.stats.changes += open.changes;
            self.free.extend(open.born.into_iter().chain(open.taken).filter(|id| !open.died.contains(id)));
        } else {
            self.stats.rolled_back += 1;
            self.free.extend(open.taken);
        }
    }
}
