//! `faucet doctor` and `faucet mirror drop`, from the command line.

use faucet_tests::fresh_database;
use faucet_tests::mirror::Mirrored;

fn slots(m: &Mirrored) -> String {
    m.client().one("SELECT count(*)::text FROM pg_replication_slots WHERE database = current_database()")
}

#[test]
fn a_doctor_looks_before_and_after_and_changes_nothing() {
    let m = Mirrored::postgres(fresh_database(), 20, "  continuous: false\n");
    let before = m.faucet.run("doctor").expect_code(0);
    assert!(before.stdout.contains("the mirror has not begun"), "{}", before.stdout);
    assert!(before.stdout.contains("does not exist yet; the first run makes it"), "{}", before.stdout);
    assert_eq!(slots(&m), "0");
    m.faucet.run("mirror").expect_code(0);
    let after = m.faucet.run("doctor").expect_code(0);
    for part in ["the snapshot is done", "is in it", "restart_lsn", "wal_status"] {
        assert!(after.stdout.contains(part), "no {part}:\n{}", after.stdout);
    }
    m.client().execute(&format!("SELECT pg_drop_replication_slot('{}_slot')", m.database.name()));
    let gone = m.faucet.run("doctor").expect_code(1);
    assert!(gone.stdout.contains("FAIL  slot"), "{}", gone.stdout);
    assert!(gone.stdout.contains("mirror again") && gone.stderr.contains("doctor.unwell"), "{}", gone.stderr);
    let config = m.faucet.config().display().to_string();
    let lines = m.faucet.run_with(&["doctor", "--output", "json", &config]).expect_code(1);
    let failed = lines.stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    assert_eq!(failed.filter(|finding| finding["grade"] == "FAIL").count(), 1, "{}", lines.stdout);
}

#[test]
fn a_dropped_mirror_leaves_no_slot_and_starts_anew() {
    let m = Mirrored::postgres(fresh_database(), 30, "  continuous: false\n");
    m.faucet.run("mirror").expect_code(0);
    let config = m.faucet.config().display().to_string();
    let unasked = m.faucet.run_with(&["mirror", "drop", &config]).expect_code(2);
    assert!(unasked.stderr.contains("mirror.not_confirmed") && unasked.stderr.contains("--yes"), "{}", unasked.stderr);
    assert_eq!(slots(&m), "1");
    m.faucet.run_with(&["mirror", "drop", "--yes", &config]).expect_code(0);
    assert_eq!(slots(&m), "0");
    let again = m.faucet.run_with(&["mirror", "drop", "--yes", &config]).expect_code(0);
    assert!(again.stdout.contains("it had no place at the source"), "{}", again.stdout);
    // What happened meanwhile is in the snapshot of the next life.
    m.client().execute("DELETE FROM orders_mirror; UPDATE orders SET qty = 77");
    m.faucet.run("mirror").expect_code(0);
    m.settles();
}
