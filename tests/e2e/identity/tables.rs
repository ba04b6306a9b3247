//! The table is known by its number, not by its name.

use super::{T, mirrored, mirrored_as, refused, refused_until_made_anew};
use faucet_tests::Shape;

#[test]
fn changes_of_another_table_never_reach_the_copy() {
    let m = mirrored("FOR ALL TABLES");
    m.sql("CREATE TABLE u (LIKE t INCLUDING ALL); INSERT INTO u VALUES (1, 'other'), (99, 'other'); DELETE FROM u WHERE id = 1");
    let told = m.run();
    m.settles();
    assert!(told.stderr.contains("another table") && told.stderr.contains("public.u"), "{}", told.stderr);
    // The other table alone, and both in one transaction.
    m.sql("INSERT INTO u VALUES (3, 'c')");
    m.run();
    m.sql("BEGIN; INSERT INTO u VALUES (4, 'd'); INSERT INTO t VALUES (4, 'mine'); TRUNCATE u; COMMIT");
    m.run();
    m.settles();
}

#[test]
fn a_table_that_was_swapped_by_renaming_is_another_table() {
    for publish in ["", "FOR ALL TABLES"] {
        let m = mirrored(publish);
        m.sql(
            "CREATE TABLE t_new (LIKE t INCLUDING ALL); INSERT INTO t_new VALUES (7, 'new');
             BEGIN; ALTER TABLE t RENAME TO t_old; ALTER TABLE t_new RENAME TO t; INSERT INTO t VALUES (8, 'x'); COMMIT;
             UPDATE t_old SET v = 'changed'",
        );
        refused(&m, "mirror.source_changed", "is another table");
        if publish.is_empty() {
            // The publication follows the table that it was made for.
            m.sql(&format!("ALTER PUBLICATION {}_pub SET TABLE t", m.database.name()));
        }
        refused_until_made_anew(&m, "is another table");
    }
}

#[test]
fn a_table_that_was_dropped_and_made_again_is_another_table() {
    let m = mirrored("FOR ALL TABLES");
    m.sql("BEGIN; DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (3, 'c'); COMMIT");
    refused_until_made_anew(&m, "dropped and made again");
    let m = mirrored("");
    m.sql("DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (3, 'c')");
    // Nothing it says leads to adding the table to the publication and going on.
    let told = refused(&m, "mirror.source_changed", "dropped and made again");
    assert!(!told.stderr.contains("ADD TABLE"), "{}", told.stderr);
    m.sql(&format!("ALTER PUBLICATION {}_pub ADD TABLE t", m.database.name()));
    refused_until_made_anew(&m, "dropped and made again");
    let m = mirrored("");
    m.sql("DROP TABLE t");
    refused(&m, "mirror.source_changed", "was dropped");
}

#[test]
fn a_table_with_another_name_is_still_the_table() {
    for rename in ["ALTER TABLE t RENAME TO other", "CREATE SCHEMA s; ALTER TABLE t SET SCHEMA s"] {
        let mut m = mirrored("");
        m.sql(&format!("INSERT INTO t VALUES (3, 'c'); {rename}"));
        m.source = if rename.contains("SCHEMA") { "s.t".to_owned() } else { "other".to_owned() };
        let table = m.source.clone();
        m.sql(&format!("UPDATE {table} SET v = 'z' WHERE id = 1; DELETE FROM {table} WHERE id = 2"));
        let told = m.run();
        assert!(told.stderr.contains("is called"), "{}", told.stderr);
        m.settles();
        // Another table takes its old name: a query of that would read the wrong one.
        m.sql("CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (9, 'wrong')");
        refused(&m, "mirror.query_differs", "the snapshot reads public.t");
        let config = std::fs::read_to_string(m.faucet.config()).unwrap();
        m.faucet.set_config(&config.replace("SELECT * FROM t", &format!("SELECT * FROM {table}")));
        m.sql(&format!("INSERT INTO {table} VALUES (10, 'right')"));
        m.run();
        m.settles();
    }
}

#[test]
fn a_table_whose_changes_are_not_logged_is_refused() {
    let m = mirrored("FOR ALL TABLES");
    m.sql("ALTER TABLE t SET UNLOGGED; INSERT INTO t VALUES (3, 'unlogged')");
    refused(&m, "mirror.query_differs", "UNLOGGED");
    m.sql("ALTER TABLE t SET LOGGED; INSERT INTO t VALUES (4, 'logged')");
    let told = m.run();
    assert!(told.stderr.contains("UNLOGGED meanwhile"), "{}", told.stderr);
}

#[test]
fn tables_that_inherit_are_told_apart() {
    let heir = format!("{T}; CREATE TABLE heir (extra int) INHERITS (t); INSERT INTO heir VALUES (5, 'h', 1)");
    let both = faucet_tests::TableMirror::new(faucet_tests::fresh_database(), Shape { ddl: &heir, ..Shape::default() });
    let told = refused(&both, "mirror.query_differs", "public.heir inherits from public.t");
    assert!(told.stderr.contains("ONLY"), "{}", told.stderr);
    let mut m = mirrored_as_only(&heir);
    m.sql("INSERT INTO heir VALUES (6, 'h', 1); UPDATE ONLY t SET v = 'z'; DELETE FROM heir");
    m.run();
    m.source = "ONLY t".to_owned();
    m.settles();
    // One that comes later is read by a query without ONLY, and not published.
    let m = mirrored("");
    m.sql("CREATE TABLE heir (extra int) INHERITS (t); INSERT INTO heir VALUES (5, 'h', 1)");
    refused(&m, "mirror.query_differs", "inherits from");
}

fn mirrored_as_only(ddl: &str) -> faucet_tests::TableMirror {
    let query = "SELECT * FROM ONLY t";
    let shape = Shape { ddl, query, publish: "FOR TABLE ONLY t", source: "t", ..Shape::default() };
    let m = faucet_tests::TableMirror::new(faucet_tests::fresh_database(), shape);
    m.run();
    let same = mirrored_as(Shape { ddl: T, query, ..Shape::default() });
    same.run();
    m
}
