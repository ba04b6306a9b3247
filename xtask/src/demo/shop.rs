//! The shop: customers, orders, and somebody who keeps changing them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use faucet_tests::Client;

use crate::failure::{Failure, Result};

/// Customers the shop opens with; orders have ids from 1 too.
pub const CUSTOMERS: u64 = 5_000;
/// Orders the shop opens with.
pub const ORDERS: u64 = 20_000;

/// Makes and fills the tables, and publishes each for its mirror.
pub fn create(url: &str) -> std::result::Result<Client, String> {
    let client = Client::try_connect(url)?;
    client.try_execute(&format!(
        "CREATE TABLE customers (
            id bigint PRIMARY KEY, name text NOT NULL, email text NOT NULL, city text, joined timestamptz NOT NULL);
         CREATE TABLE orders (
            id bigint PRIMARY KEY, customer_id bigint NOT NULL, item text NOT NULL, qty int NOT NULL,
            price numeric(10,2) NOT NULL, status text NOT NULL, note text);
         INSERT INTO customers SELECT g, 'Customer ' || g, 'customer' || g || '@example.com',
            (ARRAY['Lyon','Porto','Graz',NULL])[1 + g % 4], timestamptz '2024-01-01 00:00Z' + g * interval '7 minutes'
            FROM generate_series(1, {CUSTOMERS}) g;
         INSERT INTO orders SELECT g, 1 + g % {CUSTOMERS}, 'item ' || g % 300, 1 + g % 5, (g * 37 % 90000) / 100.0,
            'placed', CASE WHEN g % 3 = 0 THEN NULL ELSE 'leave it at door ' || g % 40 END
            FROM generate_series(1, {ORDERS}) g;
         CREATE PUBLICATION shop_orders FOR TABLE orders;
         CREATE PUBLICATION shop_customers FOR TABLE customers;"
    ))?;
    Ok(client)
}

/// Changes the shop until it is told to stop.
pub struct Writer {
    stop: Arc<AtomicBool>,
    changes: Arc<AtomicU64>,
    thread: JoinHandle<std::result::Result<(), String>>,
}

impl Writer {
    /// Starts writing on a connection of its own.
    pub fn start(url: &str) -> Result<Self> {
        let client = Client::try_connect(url)?;
        let (stop, changes) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, count) = (stop.clone(), changes.clone());
        let thread = std::thread::spawn(move || {
            let mut day = 0;
            while !stopped.load(Ordering::Relaxed) {
                client.try_execute(&transaction(day))?;
                count.fetch_add(CHANGES, Ordering::Relaxed);
                day += 1;
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            Ok(())
        });
        Ok(Self { stop, changes, thread })
    }

    /// Changes committed so far.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Stops and says how many changes were committed.
    pub fn stop(self) -> Result<u64> {
        self.stop.store(true, Ordering::Relaxed);
        let outcome = self.thread.join().map_err(|_| Failure::new("the writer panicked"))?;
        outcome?;
        Ok(self.changes.load(Ordering::Relaxed))
    }
}

/// Rows changed by one [`transaction`]. Each id it takes exists when it is taken.
const CHANGES: u64 = 6;

/// The `n`-th transaction: an order is placed, two move on, one is withdrawn, a customer joins, one changes address.
fn transaction(n: u64) -> String {
    let (order, customer) = (ORDERS + 1 + n, CUSTOMERS + 1 + n);
    // Withdrawn orders are taken from the start, those that move on from the end: they never meet.
    let (withdrawn, shipped, paid) = (1 + n, order, order.saturating_sub(3));
    let mover = 1 + n * 7919 % CUSTOMERS;
    format!(
        "BEGIN;
         INSERT INTO orders VALUES ({order}, {customer}, 'item {}', 1, 19.90, 'placed', NULL);
         UPDATE orders SET status = 'paid', qty = qty + 1 WHERE id = {paid};
         UPDATE orders SET status = 'shipped', note = 'sent ' || id WHERE id = {shipped};
         DELETE FROM orders WHERE id = {withdrawn};
         INSERT INTO customers VALUES ({customer}, 'Newcomer {customer}', 'new{customer}@example.org', 'Turin', now());
         UPDATE customers SET email = 'moved{n}.' || id || '@example.net' WHERE id = {mover};
         COMMIT;",
        order % 300
    )
}
