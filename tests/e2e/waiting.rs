//! Waiting for somebody else's transaction: it is named, it ends at the first signal, and nothing is taken for lost.

use faucet_tests::mirror::Mirrored;
use faucet_tests::{Database, Postgres, PostgresOptions, eventually, fresh_database};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);

/// A server for one test: on a shared one, every slot that another test makes would wait as well.
fn server() -> Postgres {
    let settings = vec![("max_prepared_transactions".to_owned(), "5".to_owned())];
    Postgres::start(PostgresOptions { settings, ..PostgresOptions::default() })
}

fn slots(m: &Mirrored) -> String {
    m.client().one("SELECT count(*)::text FROM pg_replication_slots WHERE database = current_database()")
}

fn says(running: &faucet_tests::Running, part: &str) {
    eventually(PATIENCE, "the one who is waited for to be named", || {
        let said = running.stderr_so_far();
        if said.contains(part) { Ok(()) } else { Err(said) }
    });
}

#[test]
fn a_slot_that_waits_for_a_transaction_says_for_whose_and_ends_at_the_first_signal() {
    let server = server();
    let m = Mirrored::postgres(Database::create_on(&server), 10, "  continuous: false\n");
    m.client().execute("CREATE TABLE other (secret text)");
    let holder = m.database.connect();
    let pid = holder.one("SELECT pg_backend_pid()");
    holder.execute("BEGIN; INSERT INTO other VALUES ('s3cret')");
    let first = m.faucet.spawn("mirror");
    let named = format!("server process {pid} (role \"postgres\", application \"faucet-test\", idle in transaction");
    says(&first, &named);
    // While it is being made, nobody takes it for one that is lost.
    let doctor = m.faucet.run("doctor").expect_code(0);
    assert!(doctor.stdout.contains("is still being created, by server process"), "{}", doctor.stdout);
    assert!(doctor.stdout.contains(&named) && !doctor.stdout.contains("s3cret"), "{}", doctor.stdout);
    first.sigint();
    let stopped = first.wait_timeout(Duration::from_secs(10)).expect_code(0);
    assert!(!stopped.stderr.contains("s3cret"), "{}", stopped.stderr);
    // The server notices, and leaves nothing behind.
    eventually(PATIENCE, "the slot to be gone", || if slots(&m) == "0" { Ok(()) } else { Err(slots(&m)) });
    holder.execute("COMMIT");
    m.faucet.run("mirror").expect_code(0);
    m.settles();
}

#[test]
fn a_slot_whose_maker_was_killed_is_waited_for_and_made_anew() {
    let server = server();
    let m = Mirrored::postgres(Database::create_on(&server), 10, "  continuous: false\n");
    m.client().execute("CREATE TABLE other (id int)");
    let holder = m.database.connect();
    holder.execute("BEGIN; INSERT INTO other VALUES (1)");
    let first = m.faucet.spawn("mirror");
    eventually(PATIENCE, "the slot to be begun", || if slots(&m) == "1" { Ok(()) } else { Err(slots(&m)) });
    first.kill9();
    let second = m.faucet.spawn("mirror");
    says(&second, "application \"faucet-test\"");
    holder.execute("COMMIT");
    second.wait_timeout(PATIENCE).expect_code(0);
    m.settles();
}

/// Two that start at once: the later finds the slot of the earlier unfinished, and waits for it.
#[test]
fn a_slot_that_another_makes_is_waited_for() {
    let server = server();
    let m = Mirrored::postgres(Database::create_on(&server), 10, "  continuous: false\n");
    m.client().execute("CREATE TABLE other (id int)");
    let holder = m.database.connect();
    holder.execute("BEGIN; INSERT INTO other VALUES (1)");
    let name = m.database.name().to_owned();
    let maker = m.database.connect();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            maker.execute(&format!("SELECT pg_create_logical_replication_slot('{name}_slot', 'pgoutput')"));
        });
        eventually(PATIENCE, "the slot to be begun", || if slots(&m) == "1" { Ok(()) } else { Err(slots(&m)) });
        let running = m.faucet.spawn("mirror");
        says(&running, "the slot is being created by server process");
        holder.execute("COMMIT");
        running.wait_timeout(PATIENCE).expect_code(0);
    });
    m.settles();
}

#[test]
fn a_prepared_transaction_is_named() {
    let server = server();
    let m = Mirrored::postgres(Database::create_on(&server), 10, "  continuous: false\n");
    m.client()
        .execute("BEGIN; INSERT INTO orders VALUES (1000, 'p', 1, 1, 'n', now()); PREPARE TRANSACTION 'left ''behind'");
    let running = m.faucet.spawn("mirror");
    says(&running, "prepared transaction 'left ''behind' (role \"postgres\", open for");
    m.client().execute("COMMIT PREPARED 'left ''behind'");
    running.wait_timeout(PATIENCE).expect_code(0);
    m.settles();
}

/// `run` waits too, without a mirror around it.
#[test]
fn a_stream_that_waits_for_a_slot_ends_at_the_first_signal() {
    let server = server();
    let m = Mirrored::postgres(Database::create_on(&server), 10, "");
    m.client().execute("CREATE TABLE other (id int)");
    let holder = m.database.connect();
    holder.execute("BEGIN; INSERT INTO other VALUES (1)");
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    m.faucet.set_config(&config[..config.find("mirror:\n").unwrap()]);
    let running = m.faucet.spawn("run");
    says(&running, "creating the slot waits for");
    running.sigterm();
    running.wait_timeout(Duration::from_secs(10)).expect_code(0);
    holder.execute("ROLLBACK");
}

/// A transaction that was read and can't be written yet makes the lag grow, although all before it was written.
#[test]
fn lag_is_true_while_a_transaction_is_in_hand() {
    let m = Mirrored::postgres(fresh_database(), 10, "observability: { progress_interval: 50ms }\n");
    let m = Mirrored { faucet: m.faucet.global("--output").global("json"), ..m };
    let running = m.faucet.spawn("mirror");
    m.settles();
    let lag = || {
        let said = running.stdout_so_far();
        let mut events = said.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let last = events.rfind(|event| event["phase"] == "streaming");
        last.and_then(|event| event["lag_seconds"].as_f64())
    };
    // Something else is written, so that the stream has a position to say that it is idle at.
    m.client().execute("CREATE TABLE other (id int)");
    eventually(PATIENCE, "the stream to have caught up", || {
        if lag() == Some(0.0) { Ok(()) } else { Err(format!("{:?}", lag())) }
    });
    let holder = m.database.connect();
    holder.execute("BEGIN; LOCK TABLE orders_mirror IN SHARE MODE");
    m.client().execute("UPDATE orders SET qty = qty + 1");
    eventually(PATIENCE, "the lag to grow", || match lag() {
        Some(lag) if lag > 1.5 => Ok(()),
        other => Err(format!("{other:?}")),
    });
    holder.execute("ROLLBACK");
    m.settles();
    eventually(PATIENCE, "the stream to have caught up", || {
        if lag() == Some(0.0) { Ok(()) } else { Err(format!("{:?}", lag())) }
    });
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}
