//! The publication covers the table all the time, or the mirror says so.

use super::{mirrored, refused, refused_until_made_anew};
use faucet_tests::TableMirror;

fn publication(m: &TableMirror) -> String {
    format!("{}_pub", m.database.name())
}

#[test]
fn a_publication_that_was_made_again_is_another_one() {
    let m = mirrored("");
    let name = publication(&m);
    m.sql(&format!("DROP PUBLICATION {name}; INSERT INTO t VALUES (3, 'c')"));
    refused(&m, "mirror.source_changed", "was dropped");
    m.sql(&format!("CREATE PUBLICATION {name} FOR TABLE t; INSERT INTO t VALUES (4, 'd')"));
    refused_until_made_anew(&m, "was dropped and made again");
}

#[test]
fn a_table_that_was_out_of_the_publication_for_a_while_is_refused() {
    let m = mirrored("");
    let name = publication(&m);
    m.sql("CREATE TABLE other (id int PRIMARY KEY)");
    m.sql(&format!(
        "ALTER PUBLICATION {name} ADD TABLE other; ALTER PUBLICATION {name} DROP TABLE t; INSERT INTO t VALUES (3, 'c')"
    ));
    refused(&m, "mirror.source_changed", "doesn't cover public.t any more");
    m.sql(&format!("DELETE FROM t WHERE id = 1; ALTER PUBLICATION {name} ADD TABLE t"));
    refused_until_made_anew(&m, "taken out of the publication and put back");
    m.sql(&format!("ALTER PUBLICATION {name} SET TABLE t WHERE (id > 1)"));
    refused(&m, "mirror.source_changed", "row filter");
}

#[test]
fn schemas_cover_like_tables() {
    let m = mirrored("FOR TABLES IN SCHEMA public");
    let name = publication(&m);
    m.sql(&format!("ALTER PUBLICATION {name} DROP TABLES IN SCHEMA public; INSERT INTO t VALUES (3, 'c')"));
    m.sql(&format!("ALTER PUBLICATION {name} ADD TABLES IN SCHEMA public"));
    refused_until_made_anew(&m, "taken out of the publication and put back");
    // Covered twice, and still once.
    m.sql(&format!("ALTER PUBLICATION {name} ADD TABLE t; INSERT INTO t VALUES (5, 'e')"));
    m.run();
    m.sql(&format!("ALTER PUBLICATION {name} DROP TABLE t; INSERT INTO t VALUES (6, 'f')"));
    m.run();
    m.settles();
}

#[test]
fn kinds_of_change_that_were_left_out_are_a_reason_to_mirror_anew() {
    let m = mirrored("");
    let name = publication(&m);
    m.sql(&format!("ALTER PUBLICATION {name} SET (publish = 'insert'); UPDATE t SET v = 'lost'"));
    let told = m.run();
    assert!(told.stderr.contains("stopped publishing update, delete, truncate"), "{}", told.stderr);
    let m = mirrored("");
    let name = publication(&m);
    m.sql(&format!("ALTER PUBLICATION {name} SET (publish = 'insert'); DELETE FROM t"));
    m.sql(&format!("ALTER PUBLICATION {name} SET (publish = 'insert, update, delete, truncate')"));
    let told = m.run();
    assert!(told.stderr.contains("was altered") && told.stderr.contains("mirror --replace"), "{}", told.stderr);
    assert!(m.marker()["resync_required"].as_array().is_some_and(|reasons| reasons.len() == 1), "{}", m.marker());
    super::made_anew(&m);
    assert_eq!(m.marker()["resync_required"], serde_json::Value::Null);
}

#[test]
fn another_owner_and_other_tables_of_a_publication_are_no_reason() {
    let m = mirrored("");
    let name = publication(&m);
    m.sql("CREATE TABLE other (id int PRIMARY KEY)");
    m.sql(&format!("ALTER PUBLICATION {name} ADD TABLE other; ALTER PUBLICATION {name} OWNER TO pg_monitor"));
    m.sql("INSERT INTO t VALUES (3, 'c'); INSERT INTO other VALUES (1)");
    m.run();
    m.settles();
    assert_eq!(m.marker()["resync_required"], serde_json::Value::Null);
    m.sql(&format!("ALTER PUBLICATION {name} OWNER TO CURRENT_USER; ALTER PUBLICATION {name} DROP TABLE other"));
    m.run();
    assert_eq!(m.marker()["resync_required"], serde_json::Value::Null);
}

/// A row that the filter lets pass after an update comes as an insert, without the values that were not touched.
#[test]
fn an_update_that_the_filter_turns_into_an_insert_is_whole() {
    let ddl = "CREATE TABLE t (id int PRIMARY KEY, published bool NOT NULL, body text, note text);
               ALTER TABLE t ALTER body SET STORAGE EXTERNAL, ALTER note SET STORAGE EXTERNAL;
               CREATE UNIQUE INDEX ux ON t (id, published); ALTER TABLE t REPLICA IDENTITY USING INDEX ux;
               INSERT INTO t SELECT g, false, repeat(g::text || 'x', 9000), NULL FROM generate_series(1, 5) g;
               CREATE TABLE copy (LIKE t INCLUDING ALL)";
    let m = super::mirrored_as_filtered(ddl, "FOR TABLE t WHERE (published)");
    m.sql("UPDATE t SET published = true");
    // Changed again, taken out again, and deleted, before the stream gets there.
    m.sql("UPDATE t SET note = repeat('n', 9000) WHERE id = 2; UPDATE t SET published = false WHERE id = 3; DELETE FROM t WHERE id = 4");
    m.run();
    let client = m.database.client();
    let published = "SELECT string_agg(md5(x::text), ' ' ORDER BY id) FROM t x WHERE published";
    let copied = "SELECT string_agg(md5(x::text), ' ' ORDER BY id) FROM copy x";
    assert_eq!(client.one(copied), client.one(published));
    assert_eq!(client.one("SELECT count(*) FROM copy"), "3");
}
