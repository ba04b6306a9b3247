//! Nothing is written by a process that has lost its place, and a destination that is not as it was left is noticed.

use faucet_tests::{
    Database, Faucet, Finished, Postgres, PostgresOptions, Proxy, Running, Scratch, eventually, fresh_database,
};
use faucet_tests::{Rows, shared_postgres, sqlite_rows};
use std::path::Path;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(90);

/// Where the rows go.
#[derive(Clone, Copy)]
enum To<'a> {
    Postgres(&'a str),
    Sqlite(&'a Path),
}

impl To<'_> {
    fn sink(self, options: &str) -> String {
        let (kind, place) = match self {
            Self::Postgres(url) => ("postgres", format!("connection_url: \"{url}\"")),
            Self::Sqlite(path) => ("sqlite", format!("path: {}", path.display())),
        };
        format!("    type: {kind}\n    config: {{ {place}, table_name: copy, {options} }}\n")
    }
}

const UPSERT: &str = "create_table: true, write_mode: upsert, key: [id], delete_marker: { field: __op, values: [d] }";

fn source(database: &Database, idle: &str) -> String {
    let (url, name) = (database.url(), database.name());
    format!(
        "    type: postgres-cdc\n    config: {{ connection_url: \"{url}\", slot_name: {name}_slot, \
         publication_name: {name}_pub, idle_timeout: {idle} }}\n"
    )
}

/// A mirror called `m` of the table `t`.
fn mirror(database: &Database, to: To<'_>, options: &str) -> String {
    format!(
        "version: 1\nname: m\npipeline:\n  source:\n{}  transforms: [{{ type: cdc_unwrap }}]\n  sink:\n{}\
         \x20 state: {{ type: file, config: {{ path: ./state }} }}\nmirror:\n  continuous: false\n  snapshot:\n    \
         shards: 1\n    source: {{ type: postgres, config: {{ connection_url: \"{}\", query: SELECT * FROM t, \
         batch_size: 20 }} }}\n{options}",
        source(database, "500ms"),
        to.sink(UPSERT),
        database.url(),
    )
}

/// A table `t` of so many rows, published; and a table `copy` like it.
fn filled(rows: u32) -> Database {
    let database = fresh_database();
    database.client().execute(&format!(
        "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t SELECT g, 'old' FROM generate_series(1, {rows}) g;
         CREATE PUBLICATION {}_pub FOR TABLE t; CREATE TABLE copy (LIKE t INCLUDING ALL)",
        database.name()
    ));
    database
}

fn rows_at(to: To<'_>, database: &Database, sql: &str) -> Vec<Vec<Option<String>>> {
    match to {
        To::Postgres(_) => database.client().text_rows(sql).unwrap_or_default(),
        To::Sqlite(path) => sqlite_rows(path, sql).unwrap_or_default(),
    }
}

fn count(to: To<'_>, database: &Database) -> u64 {
    let rows = rows_at(to, database, "SELECT CAST(count(*) AS text) FROM copy");
    rows.first().and_then(|row| row[0].as_deref()?.parse().ok()).unwrap_or(0)
}

#[track_caller]
fn assert_equal(to: To<'_>, database: &Database) {
    let left = database.client().rows("SELECT id::text, v FROM t ORDER BY t.id");
    let right = rows_at(to, database, "SELECT CAST(id AS text), v FROM copy ORDER BY copy.id");
    let extra = right.iter().filter(|row| left.binary_search(row).is_err() && !left.contains(row)).count();
    assert!(
        left == right,
        "{} rows at the source, {} at the destination, {extra} of them wrong",
        left.len(),
        right.len()
    );
}

fn changes(database: &Database) {
    database.client().execute("DELETE FROM t WHERE id % 1000 = 7; UPDATE t SET v = 'new' WHERE id % 100 = 8");
}

/// It ended with an error that says that another one has its place.
#[track_caller]
fn assert_overtaken(ended: &Finished) {
    let told = ["sink.fenced", "state.conflict"].iter().any(|code| ended.stderr.contains(code));
    assert!(ended.code() != Some(0) && told, "exit {:?}:\n{}", ended.code(), ended.stderr);
}

/// How many rows the mirrors of these tests copy: enough to be met in the middle.
const MANY: u32 = 20_000;

/// Stops a process where it is, but not while it holds a lock that others need: on its state or, as `is_free` says, on
/// its destination. Others would wait for it, and say so.
fn freeze_between_writes(running: &Running, faucet: &Faucet, is_free: impl Fn() -> bool) {
    let state_is_free = || {
        let lock = std::fs::File::open(faucet.dir().join("state/.lock")).unwrap();
        lock.try_lock().is_ok()
    };
    running.freeze();
    while !(state_is_free() && is_free()) {
        running.thaw();
        std::thread::sleep(Duration::from_millis(1));
        running.freeze();
    }
}

/// A mirror that reads the rows that exist through a network as slow as the test wants, so that it is met in the middle.
fn by_a_slow_network(database: &Database, to: To<'_>) -> (Proxy, Faucet) {
    let port = shared_postgres().port();
    let proxy = Proxy::start(port);
    let mut config = mirror(database, to, "");
    let (url, at) = (database.url(), config.rfind(database.url()).unwrap());
    config.replace_range(at..at + url.len(), &proxy.through(url, port));
    proxy.throttle(100_000);
    (proxy, Faucet::new(&config))
}

/// Starts a mirror and stops it where it is in the middle of its snapshot, with no lock on a SQLite file.
fn frozen_in_its_snapshot(faucet: &Faucet, to: To<'_>, database: &Database) -> Running {
    let mut running = faucet.spawn("mirror");
    while rows_at(to, database, "SELECT 1 FROM copy LIMIT 1").is_empty() {
        assert!(running.is_running(), "it ended before its copy began: {}", running.stderr_so_far());
        std::thread::sleep(Duration::from_millis(2));
    }
    freeze_between_writes(&running, faucet, || {
        let To::Sqlite(path) = to else { return true };
        rusqlite::Connection::open(path).unwrap().execute_batch("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE").is_ok()
    });
    let copied = count(to, database);
    assert!(copied < u64::from(MANY), "the snapshot had ended already");
    running
}

/// The run that claimed the destination of the mirror last.
fn writer(to: To<'_>, database: &Database) -> Option<String> {
    let rows = rows_at(to, database, "SELECT token FROM _faucet_commit_token WHERE scope = 'm::cdc::__writer__'");
    rows.first().and_then(|row| row[0].clone())
}

/// One copy of a mirror is frozen in its snapshot, another one does all the work, the first one wakes.
fn a_frozen_copy_wakes(to: To<'_>, database: &Database) {
    let (network, faucet) = by_a_slow_network(database, to);
    let frozen = frozen_in_its_snapshot(&faucet, to, database);
    network.resume();
    faucet.run("mirror").expect_code(0);
    changes(database);
    faucet.run("mirror").expect_code(0);
    assert_equal(to, database);
    frozen.thaw();
    assert_overtaken(&frozen.wait_timeout(PATIENCE));
    assert_equal(to, database);
    faucet.run("mirror").expect_code(0);
    assert_equal(to, database);
}

#[test]
fn a_frozen_copy_that_wakes_writes_nothing_to_postgres() {
    let database = filled(MANY);
    a_frozen_copy_wakes(To::Postgres(database.url()), &database);
}

#[test]
fn a_frozen_copy_that_wakes_writes_nothing_to_sqlite() {
    let (database, dir) = (filled(MANY), Scratch::new("copy"));
    a_frozen_copy_wakes(To::Sqlite(&dir.path().join("copy.db")), &database);
}

/// The second is started while the first copies.
fn started_twice(to: To<'_>, database: &Database) {
    let (network, faucet) = by_a_slow_network(database, to);
    let first = frozen_in_its_snapshot(&faucet, to, database);
    network.resume();
    let claimed = writer(to, database);
    let second = faucet.spawn("mirror");
    eventually(PATIENCE, "the second to claim", || {
        if writer(to, database) == claimed { Err(String::new()) } else { Ok(()) }
    });
    first.thaw();
    let (first, second) = (first.wait_timeout(PATIENCE), second.wait_timeout(PATIENCE));
    assert_overtaken(&first);
    changes(database);
    if second.code() != Some(0) {
        assert_overtaken(&second);
    }
    faucet.run("mirror").expect_code(0);
    assert_equal(to, database);
}

#[test]
fn of_two_starts_the_later_one_has_postgres() {
    let database = filled(MANY);
    started_twice(To::Postgres(database.url()), &database);
}

#[test]
fn of_two_starts_the_later_one_has_sqlite() {
    let (database, dir) = (filled(MANY), Scratch::new("copy"));
    started_twice(To::Sqlite(&dir.path().join("copy.db")), &database);
}

/// A pipeline called `p` that appends the changes of `t` to `copy`.
fn run_appending(database: &Database, to: To<'_>, idle: &str, options: &str) -> Faucet {
    Faucet::new(&format!(
        "version: 1\nname: p\npipeline:\n  source:\n{}  transforms: [{{ type: cdc_unwrap }}]\n  sink:\n{}  state: {{ type: file, config: {{ path: ./state }} }}\n{options}",
        source(database, idle),
        to.sink("write_mode: append"),
    ))
}

/// What was appended, without the keys that would tell of a row that came twice.
fn keyless(database: &Database) {
    database.client().execute("DROP TABLE copy; CREATE TABLE copy (id int, v text, __op text)");
}

fn ids(database: &Database) -> String {
    database.client().one("SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') FROM copy")
}

#[test]
fn a_frozen_run_that_wakes_appends_nothing() {
    let database = filled(0);
    keyless(&database);
    let to = To::Postgres(database.url());
    let faucet = run_appending(&database, to, "60s", "");
    let running = faucet.spawn("run");
    eventually(PATIENCE, "the stream", || {
        database.client().execute("INSERT INTO t SELECT count(*) + 1, 'a' FROM t");
        if count(to, &database) > 0 { Ok(()) } else { Err("no row".to_owned()) }
    });
    freeze_between_writes(&running, &faucet, || true);
    database.client().execute("INSERT INTO t SELECT g, 'b' FROM generate_series(1001, 1003) g");
    // The server ends the connection of a client that is gone after a minute; here and now it is told to.
    database.client().execute("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active AND database = current_database()");
    let other = Faucet::new(
        &std::fs::read_to_string(faucet.config())
            .unwrap()
            .replace("60s", "500ms")
            .replace("./state", &faucet.dir().join("state").display().to_string()),
    );
    other.run("run").expect_code(0);
    let appended = ids(&database);
    // What was there before the slot is not in the stream.
    let since = "SELECT string_agg(id::text, ' ' ORDER BY id) FROM t WHERE id >= (SELECT min(id) FROM copy)";
    assert_eq!(appended, database.client().one(since));
    running.thaw();
    assert_overtaken(&running.wait_timeout(PATIENCE));
    assert_eq!(ids(&database), appended);
}

/// A COMMIT waits for a standby that never answers, and outlives the process that sent it.
#[test]
fn a_commit_that_outlives_its_process_is_not_repeated() {
    let server = Postgres::start(PostgresOptions::default());
    let there = Database::create_on(&server);
    there.client().execute("CREATE TABLE copy (id int, v text, __op text)");
    let database = filled(0);
    let faucet = run_appending(&database, To::Postgres(there.url()), "1s", "delivery: exactly_once\n");
    faucet.run("run").expect_code(0);
    let reload = |names: &str| {
        there.client().execute(&format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'"));
        there.client().execute("SELECT pg_reload_conf()");
    };
    let waits = || {
        let waiting = "SELECT count(*)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        eventually(PATIENCE, "a commit to wait for the standby", || match there.client().one(waiting).as_str() {
            "0" => Err("none waits".to_owned()),
            _ => Ok(()),
        });
    };
    database.client().execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')");
    reload("nobody");
    let killed = faucet.spawn("run");
    // Both the claim and the rows have to wait here; the claim is let through.
    waits();
    reload("");
    eventually(PATIENCE, "the claim to be made", || {
        let waiting = there.client().one("SELECT count(*)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
        if waiting == "0" { Ok(()) } else { Err(waiting) }
    });
    killed.kill9();
    reload("nobody");
    let again = faucet.spawn("run");
    waits();
    eventually(PATIENCE, "a word on what is waited for", || match again.stderr_so_far().contains("SyncRep") {
        true => Ok(()),
        false => Err(again.stderr_so_far()),
    });
    again.sigterm();
    again.wait_timeout(PATIENCE).expect_code(0);
    reload("");
    faucet.run("run").expect_code(0);
    assert_eq!(ids(&there), "1 2");
    database.client().execute("INSERT INTO t VALUES (3, 'c')");
    faucet.run("run").expect_code(0);
    assert_eq!(ids(&there), "1 2 3");
}

/// The error of a run that has to be refused.
#[track_caller]
fn refused(faucet: &Faucet, command: &str, code: &str) -> String {
    let ended = faucet.run(command);
    assert!(ended.code() != Some(0) && ended.stderr.contains(code), "exit {:?}:\n{}", ended.code(), ended.stderr);
    ended.stderr
}

#[test]
fn commits_survive_a_role_that_makes_them_late() {
    let mut server = Postgres::start(PostgresOptions {
        settings: vec![("wal_writer_delay".into(), "10s".into())],
        ..PostgresOptions::default()
    });
    server.create_role("writer", "secret", "");
    let (database, there) = (filled(10), Database::create_on(&server));
    there.client().execute("GRANT ALL ON SCHEMA public TO writer; ALTER ROLE writer SET synchronous_commit = off");
    let url = server.url_as("writer", "secret", there.name());
    let faucet = Faucet::new(&mirror(&database, To::Postgres(&url), ""));
    faucet.run("mirror").expect_code(0);
    database.client().execute("INSERT INTO t SELECT g, 'late' FROM generate_series(11, 60) g");
    faucet.run("mirror").expect_code(0);
    server.kill9();
    server.restart();
    assert_eq!(there.connect().one("SELECT count(*)::text FROM copy"), "60");
}

/// A destination that is an older copy of itself.
#[test]
fn a_postgres_that_was_restored_from_a_backup_is_noticed() {
    let mut server = Postgres::start(PostgresOptions::default());
    let (database, there) = (filled(10), Database::create_on(&server));
    let faucet = Faucet::new(&mirror(&database, To::Postgres(there.url()), ""));
    faucet.run("mirror").expect_code(0);
    database.client().execute("INSERT INTO t VALUES (11, 'a')");
    faucet.run("mirror").expect_code(0);
    let backup = Scratch::new("backup");
    let copy = |from: &Path, to: &Path| {
        let _ = std::fs::remove_dir_all(to);
        let copied = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status();
        assert!(copied.is_ok_and(|status| status.success()), "the data folder can be copied");
    };
    server.stop();
    copy(&server.data_dir(), &backup.path().join("data"));
    server.restart();
    database.client().execute("INSERT INTO t VALUES (12, 'b')");
    faucet.run("mirror").expect_code(0);
    server.stop();
    copy(&backup.path().join("data"), &server.data_dir());
    server.restart();
    let said = refused(&faucet, "mirror", "pipeline.other_writer");
    assert!(said.contains("faucet mirror drop"), "{said}");
    refused(&faucet, "mirror", "pipeline.other_writer");
}

#[test]
fn a_sqlite_file_that_was_copied_back_is_noticed() {
    let (database, dir) = (filled(10), Scratch::new("copy"));
    let (file, kept) = (dir.path().join("copy.db"), dir.path().join("kept.db"));
    let faucet = Faucet::new(&mirror(&database, To::Sqlite(&file), ""));
    faucet.run("mirror").expect_code(0);
    std::fs::copy(&file, &kept).unwrap();
    database.client().execute("INSERT INTO t VALUES (12, 'b')");
    faucet.run("mirror").expect_code(0);
    std::fs::copy(&kept, &file).unwrap();
    let said = refused(&faucet, "mirror", "pipeline.other_writer");
    assert!(said.contains("faucet mirror drop"), "{said}");
    std::fs::remove_file(&file).unwrap();
    refused(&faucet, "mirror", "pipeline.other_writer");
}

/// Two mirrors named alike with other tables, slots and states write to one schema.
#[test]
fn another_pipeline_of_the_same_name_is_noticed() {
    let (one, two) = (filled(5), filled(5));
    let to = To::Postgres(one.url());
    let exactly = "delivery: exactly_once\n";
    let (first, second) = (Faucet::new(&mirror(&one, to, exactly)), Faucet::new(&mirror(&two, to, exactly)));
    first.run("mirror").expect_code(0);
    one.client().execute("DELETE FROM copy; INSERT INTO t SELECT g, 'mine' FROM generate_series(6, 15) g");
    second.run("mirror").expect_code(0);
    for id in 21..24 {
        two.client().execute(&format!("INSERT INTO t VALUES ({id}, 'theirs')"));
        second.run("mirror").expect_code(0);
    }
    let said = refused(&first, "mirror", "pipeline.other_writer");
    assert!(said.contains("names of their own"), "{said}");
    let slots = "SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name";
    let confirmed = format!("{slots} = '{}_slot'", one.name());
    let before = one.client().rows(&confirmed);
    refused(&first, "mirror", "pipeline.other_writer");
    assert_eq!(one.client().rows(&confirmed), before, "the slot keeps what was not copied");
}

/// The same with `run` and another state folder.
#[test]
fn a_run_with_another_state_folder_is_noticed() {
    let database = filled(0);
    keyless(&database);
    let to = To::Postgres(database.url());
    let exactly = "delivery: exactly_once\n";
    let first = run_appending(&database, to, "500ms", exactly);
    first.run("run").expect_code(0);
    database.client().execute("INSERT INTO t VALUES (1, 'a')");
    first.run("run").expect_code(0);
    let second = run_appending(&database, to, "500ms", exactly);
    refused(&second, "run", "pipeline.other_writer");
    assert_eq!(ids(&database), "1");
    database.client().execute("INSERT INTO t VALUES (2, 'b')");
    first.run("run").expect_code(0);
    assert_eq!(ids(&database), "1 2");
}

#[test]
fn a_table_that_is_not_as_it_was_left_is_noticed() {
    let replaced = "ALTER TABLE copy RENAME TO old; CREATE TABLE copy (LIKE old INCLUDING ALL)";
    let recreated = "DROP TABLE copy; CREATE TABLE copy (LIKE t INCLUDING ALL)";
    let cases = [
        ("DELETE FROM copy", "sink.emptied"),
        ("TRUNCATE copy", "sink.emptied"),
        (recreated, "sink.replaced"),
        (replaced, "sink.replaced"),
        ("DROP TABLE copy", "sink.replaced"),
    ];
    for (harm, code) in cases {
        let database = filled(5);
        let faucet = Faucet::new(&mirror(&database, To::Postgres(database.url()), ""));
        faucet.run("mirror").expect_code(0);
        database.client().execute(harm);
        database.client().execute("INSERT INTO t VALUES (6, 'a')");
        let said = refused(&faucet, "mirror", code);
        assert!(said.contains("faucet mirror drop") && said.contains("m::cdc::__table__"), "{harm}: {said}");
        refused(&faucet, "mirror", code);
    }
}

/// Rows that the pipeline itself removed are no reason.
#[test]
fn a_table_that_the_source_emptied_goes_on() {
    let database = filled(5);
    let faucet = Faucet::new(&mirror(&database, To::Postgres(database.url()), ""));
    faucet.run("mirror").expect_code(0);
    database.client().execute("DELETE FROM t");
    faucet.run("mirror").expect_code(0);
    database.client().execute("INSERT INTO t VALUES (7, 'b')");
    faucet.run("mirror").expect_code(0);
    assert_eq!(database.client().one("SELECT string_agg(id::text, ' ') FROM copy"), "7");
}

/// The table that the configuration names is another one now.
#[test]
fn a_changed_table_name_is_noticed() {
    let (database, dir) = (filled(5), Scratch::new("copy"));
    let file = dir.path().join("copy.db");
    for to in [To::Postgres(database.url()), To::Sqlite(&file)] {
        let faucet = Faucet::new(&mirror(&database, to, ""));
        faucet.run("mirror").expect_code(0);
        let text = std::fs::read_to_string(faucet.config()).unwrap();
        faucet.set_config(&text.replace("table_name: copy", "table_name: another"));
        refused(&faucet, "mirror", "sink.replaced");
        faucet.run_with(&["mirror", "drop", "--yes", "config.yaml"]).expect_code(0);
    }
}

#[test]
fn a_sqlite_table_that_is_not_as_it_was_left_is_noticed() {
    for (harm, code) in [("DELETE FROM copy", "sink.emptied"), ("DROP TABLE copy", "sink.replaced")] {
        let (database, dir) = (filled(5), Scratch::new("copy"));
        let file = dir.path().join("copy.db");
        let faucet = Faucet::new(&mirror(&database, To::Sqlite(&file), ""));
        faucet.run("mirror").expect_code(0);
        rusqlite::Connection::open(&file).unwrap().execute_batch(harm).unwrap();
        refused(&faucet, "mirror", code);
    }
}

/// A role that may write rows but make no table goes on, and says what it can't notice.
#[test]
fn a_role_that_may_make_no_table_goes_on_with_a_word() {
    let server = Postgres::start(PostgresOptions::default());
    server.create_role("writer", "secret", "");
    let (database, there) = (filled(5), Database::create_on(&server));
    there.client().execute(
        "CREATE TABLE copy (id int PRIMARY KEY, v text); REVOKE CREATE ON SCHEMA public FROM PUBLIC;
         GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON copy TO writer",
    );
    let url = server.url_as("writer", "secret", there.name());
    let config = mirror(&database, To::Postgres(&url), "");
    let faucet = Faucet::new(&config);
    for _ in 0..2 {
        let ended = faucet.run("mirror").expect_code(0);
        assert!(ended.stderr.contains("will not be noticed"), "{}", ended.stderr);
    }
    faucet.set_config(&format!("{config}delivery: exactly_once\n"));
    let said = refused(&faucet, "mirror", "postgres.permission_denied");
    assert!(said.contains("CREATE TABLE"), "{said}");
    let token = "_faucet_commit_token";
    there.client().execute(&format!("CREATE TABLE {token} (scope text PRIMARY KEY, token text NOT NULL)"));
    there.client().execute(&format!("GRANT SELECT, INSERT, UPDATE, DELETE ON {token} TO writer"));
    database.client().execute("INSERT INTO t VALUES (6, 'a')");
    faucet.run("mirror").expect_code(0);
    assert_eq!(there.client().one("SELECT count(*)::text FROM copy"), "6");
}

/// Triggers of the destination don't change what was copied, unless they are asked to or the role may not stop them.
#[test]
fn triggers_leave_copied_rows_alone() {
    let server = Postgres::start(PostgresOptions::default());
    server.create_role("writer", "secret", "");
    let (database, there) = (filled(3), Database::create_on(&server));
    there.client().execute(
        "CREATE TABLE copy (id int PRIMARY KEY, v text); GRANT ALL ON SCHEMA public TO writer;
         GRANT ALL ON copy TO writer;
         CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.v := 'spoiled'; RETURN NEW; END $$;
         CREATE TRIGGER spoils BEFORE INSERT OR UPDATE ON copy FOR EACH ROW EXECUTE FUNCTION spoil()",
    );
    let copied = || there.client().one("SELECT string_agg(DISTINCT v, ' ') FROM copy");
    let ended = Faucet::new(&mirror(&database, To::Postgres(there.url()), "")).run("mirror").expect_code(0);
    assert_eq!((copied().as_str(), ended.stderr.contains("spoils")), ("old", false), "{}", ended.stderr);
    let fresh = || {
        there
            .client()
            .execute("DELETE FROM copy; DELETE FROM _faucet_commit_token; GRANT ALL ON _faucet_commit_token TO writer");
        database.client().execute(&format!("SELECT pg_drop_replication_slot('{}_slot')", database.name()));
    };
    fresh();
    let url = server.url_as("writer", "secret", there.name());
    let config = mirror(&database, To::Postgres(&url), "");
    let ended = Faucet::new(&config).run("mirror").expect_code(0);
    assert_eq!(copied(), "spoiled");
    assert!(ended.stderr.contains("spoils on copy") && ended.stderr.contains("triggers: fire"), "{}", ended.stderr);
    fresh();
    let ended = Faucet::new(&config.replace("table_name:", "triggers: fire, table_name:")).run("mirror").expect_code(0);
    assert_eq!((copied().as_str(), ended.stderr.contains("spoils")), ("spoiled", false), "{}", ended.stderr);
    fresh();
    let replica = Faucet::new(&config.replace("table_name:", "triggers: replica, table_name:"));
    let said = refused(&replica, "mirror", "postgres.permission_denied");
    assert!(said.contains("GRANT SET ON PARAMETER session_replication_role"), "{said}");
    there.client().execute("GRANT SET ON PARAMETER session_replication_role TO writer");
    replica.run("mirror").expect_code(0);
    assert_eq!(copied(), "old");
}
