//! Columns are known by their numbers.

use super::{mirrored_as, refused, refused_until_made_anew};
use faucet_tests::Shape;
use std::time::Duration;

const DDL: &str = "CREATE TABLE t (id int PRIMARY KEY, v text, a int); INSERT INTO t VALUES (1, 'x', 10), (2, 'y', 20)";

#[test]
fn a_column_that_was_dropped_and_made_again_is_another_one() {
    let m = mirrored_as(Shape { ddl: DDL, ..Shape::default() });
    m.sql("ALTER TABLE t DROP COLUMN a; ALTER TABLE t ADD COLUMN a int; UPDATE t SET v = 'z' WHERE id = 1");
    refused_until_made_anew(&m, "column \\\"a\\\" of public.t was dropped and made again");
    // Two columns that swapped their names.
    m.sql("ALTER TABLE t ADD COLUMN b int; UPDATE t SET b = id");
    super::made_anew_with(&m, "DROP TABLE copy; CREATE TABLE copy (LIKE t INCLUDING ALL)");
    m.sql("BEGIN; ALTER TABLE t RENAME a TO c; ALTER TABLE t RENAME b TO a; ALTER TABLE t RENAME c TO b; COMMIT");
    refused(&m, "mirror.source_changed", "was dropped and made again");
}

#[test]
fn a_renamed_column_is_told_of_and_renamed_at_the_destination() {
    let m = mirrored_as(Shape { ddl: DDL, ..Shape::default() });
    m.sql("ALTER TABLE t RENAME a TO b");
    let told = m.run();
    assert!(told.stderr.contains("is called \\\"b\\\" now"), "{}", told.stderr);
    m.sql("ALTER TABLE copy RENAME a TO b; UPDATE t SET b = 11 WHERE id = 1");
    m.run();
    m.settles();
}

#[test]
fn it_is_noticed_while_the_stream_runs() {
    let m = mirrored_as(Shape { ddl: DDL, ..Shape::default() });
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    m.faucet.set_config(&config.replace("continuous: false", "continuous: true"));
    let running = m.faucet.spawn("mirror");
    m.sql("INSERT INTO t VALUES (3, 'before', 30)");
    m.settles();
    m.sql("ALTER TABLE t DROP COLUMN a; ALTER TABLE t ADD COLUMN a int; INSERT INTO t VALUES (4, 'after', 40)");
    let finished = running.wait_timeout(Duration::from_secs(30));
    assert!(finished.stderr.contains("mirror.source_changed"), "{}", finished.stderr);
    assert_eq!(m.database.client().one("SELECT count(*) FROM copy WHERE id = 4"), "0");
}
