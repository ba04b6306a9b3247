//! Stopping, and faults on the wire, with a real server behind a proxy.

use faucet_tests::mirror::Mirrored;
use faucet_tests::{Database, Postgres, PostgresOptions, Proxy, Workload, eventually, fresh_database};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_continuous_mirror_rides_out_cut_and_refused_connections() {
    let server = Postgres::start(PostgresOptions::default());
    let proxy = Proxy::start(server.port());
    let m = Mirrored::postgres(
        Database::create_on(&server),
        500,
        "execution: { retry: { initial_backoff: 100ms, max_backoff: 500ms } }\n",
    );
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    m.faucet.set_config(&config.replace(m.database.url(), &proxy.through(m.database.url(), server.port())));
    let running = m.faucet.spawn("mirror");
    m.settles();
    for seed in 0..4 {
        let writer = Workload { seed, transactions: 40, pause: Duration::from_millis(1), ..m.workload.clone() }
            .start(m.database.url());
        if seed % 2 == 0 {
            proxy.refuse();
        }
        proxy.cut();
        std::thread::sleep(Duration::from_millis(300));
        proxy.resume();
        drop(writer);
    }
    m.settles();
    running.sigterm();
    let finished = running.wait_timeout(PATIENCE).expect_code(0);
    assert!(finished.stderr.contains("trying again"), "the faults were not noticed:\n{}", finished.stderr);
}

#[test]
fn a_commit_whose_reply_was_lost_is_not_doubled() {
    let server = Postgres::start(PostgresOptions::default());
    let proxy = Proxy::start(server.port());
    let options = "delivery: exactly_once\nexecution: { retry: { initial_backoff: 100ms, max_backoff: 500ms } }\n";
    let m = Mirrored::postgres(Database::create_on(&server), 50, options);
    let running = m.faucet.spawn("mirror");
    m.settles();
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);

    // An append log shows doubled pages that upserts would hide.
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    let sink = config.find("  sink:").unwrap();
    let behind = proxy.through(m.database.url(), server.port());
    let appending = config[sink..]
        .replace(m.database.url(), &behind)
        .replace("orders_mirror", "orders_log")
        .replace("upsert", "append")
        .replace("      key: [id]\n      delete_marker: { field: __op, values: [d] }\n", "");
    let appending =
        format!("{}{appending}", &config[..sink]).replace("name: m\n", "name: log\n").replace("_slot", "_log");
    m.client().execute("CREATE TABLE orders_log (LIKE orders); ALTER TABLE orders_log ADD __op text");
    m.client().execute(&format!("SELECT pg_create_logical_replication_slot('{}_log', 'pgoutput')", m.database.name()));
    m.faucet.set_config(&appending);
    let running = m.faucet.spawn("run");
    eventually(PATIENCE, "the stream to be followed", || {
        let sql =
            format!("SELECT active::text FROM pg_replication_slots WHERE slot_name = '{}_log'", m.database.name());
        if m.client().one(&sql) == "true" { Ok(()) } else { Err("not yet".to_owned()) }
    });
    proxy.lose_reply_to(b"COMMIT");
    m.client().execute("UPDATE orders SET qty = 777 WHERE id <= 20");
    eventually(
        PATIENCE,
        "the reply to be lost",
        || if proxy.reply_was_lost() { Ok(()) } else { Err("not yet".into()) },
    );
    m.client().execute("UPDATE orders SET qty = 888 WHERE id <= 20");
    eventually(PATIENCE, "both updates", || {
        let rows = m.client().one("SELECT count(*)::text FROM orders_log WHERE qty = 888");
        if rows == "20" { Ok(()) } else { Err(rows) }
    });
    assert_eq!(m.client().one("SELECT count(*)::text FROM orders_log WHERE qty = 777"), "20", "the page came twice");
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}

#[test]
fn a_second_signal_ends_at_once_although_a_page_is_in_hand() {
    let m = Mirrored::postgres(fresh_database(), 20, "");
    let running = m.faucet.spawn("mirror");
    m.settles();
    // Nobody may write to the destination, so that the page in hand can't be finished.
    let holder = m.database.connect();
    holder.execute("BEGIN; LOCK TABLE orders_mirror IN SHARE MODE");
    m.client().execute("UPDATE orders SET qty = 5");
    eventually(PATIENCE, "the sink waits for the lock", || {
        let waiting =
            m.client().one("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'orders_mirror'::regclass");
        if waiting == "1" { Ok(()) } else { Err(format!("{waiting} wait")) }
    });
    running.sigterm();
    eventually(PATIENCE, "the first signal is heard", || {
        let said = running.stderr_so_far();
        if said.contains("press Ctrl-C again") { Ok(()) } else { Err(said) }
    });
    running.sigint();
    let finished = running.wait_timeout(Duration::from_secs(20)).expect_code(3);
    assert!(finished.stderr.contains("run.stopped_early"), "{}", finished.stderr);
    holder.execute("ROLLBACK");
    let running = m.faucet.spawn("mirror");
    m.settles();
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}

#[test]
fn a_second_signal_ends_at_once_although_the_source_does_not_answer() {
    let server = Postgres::start(PostgresOptions::default());
    let proxy = Proxy::start(server.port());
    let m = Mirrored::postgres(Database::create_on(&server), 20, "");
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    m.faucet.set_config(&config.replace(m.database.url(), &proxy.through(m.database.url(), server.port())));
    let running = m.faucet.spawn("mirror");
    m.settles();
    // A change that arrived says that the stream is open, which a snapshot that is done does not.
    m.client().execute("UPDATE orders SET qty = 4");
    m.settles();
    // A half-open connection: nothing that draining waits for ever comes.
    proxy.half_open();
    m.client().execute("UPDATE orders SET qty = 5");
    running.sigterm();
    running.sigint();
    let finished = running.wait_timeout(Duration::from_secs(8)).expect_code(3);
    assert!(finished.stderr.contains("run.stopped_early"), "{}", finished.stderr);
    proxy.resume();
    let running = m.faucet.spawn("mirror");
    m.settles();
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}
