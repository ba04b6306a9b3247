//! The snapshot reads the rows and columns that the stream carries.

use super::{T, refused};
use faucet_tests::{Shape, TableMirror, fresh_database};

fn reading(query: &str) -> TableMirror {
    let ddl = format!(
        "{T}; CREATE TABLE t2 (id int PRIMARY KEY, v text); INSERT INTO t2 VALUES (9, 'z');
        CREATE VIEW w AS SELECT * FROM t2"
    );
    TableMirror::new(fresh_database(), Shape { ddl: &ddl, query, snapshot: "concurrency: 1", ..Shape::default() })
}

#[test]
fn a_query_of_other_rows_is_refused_before_anything_is_made() {
    for (query, part) in [
        ("SELECT * FROM public.t2", "the snapshot reads public.t2, and the publication covers public.t"),
        ("SELECT * FROM t2 ORDER BY id", "the snapshot reads public.t2"),
        ("SELECT * FROM t ORDER BY id LIMIT 1", "may not read every row"),
        ("SELECT * FROM t TABLESAMPLE SYSTEM (50)", "may not read every row"),
        ("SELECT DISTINCT * FROM t", "may not read every row"),
        ("SELECT t.* FROM t JOIN t2 USING (id)", "may not read every row"),
        ("SELECT id FROM t", "column \\\"v\\\""),
        ("SELECT id, upper(v) AS v FROM t", "column \\\"v\\\""),
        ("SELECT id, v AS w, v || '' AS v FROM t", "column \\\"v\\\""),
    ] {
        let m = reading(query);
        refused(&m, "mirror.query_differs", part);
        let slots =
            m.database.client().one("SELECT count(*) FROM pg_replication_slots WHERE database = current_database()");
        assert_eq!(slots, "0", "{query}");
    }
}

#[test]
fn a_condition_may_leave_out_only_what_is_not_there() {
    let m = reading("SELECT * FROM t WHERE id < 2");
    refused(&m, "mirror.query_differs", "leaves out rows of t");
    let m = reading("SELECT * FROM t WHERE id > 0");
    m.run();
    m.settles();
}

#[test]
fn another_database_is_refused() {
    let other = fresh_database();
    other.client().execute(T);
    let m = reading("SELECT * FROM t");
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    let (head, tail) = config.split_once("mirror:").unwrap();
    m.faucet.set_config(&format!("{head}mirror:{}", tail.replace(m.database.url(), other.url())));
    refused(&m, "mirror.query_differs", "the stream comes from another one");
}

#[test]
fn rows_that_a_policy_hides_fail_the_snapshot() {
    let m = reading("SELECT * FROM t");
    let (name, server) = (m.database.name(), faucet_tests::shared_postgres());
    let role = format!("hidden_{name}");
    server.create_role(&role, "pw", "REPLICATION");
    m.sql(&format!(
        "GRANT SELECT ON t TO {role}; GRANT ALL ON copy TO {role}; GRANT CREATE ON SCHEMA public TO {role};
         ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON t FOR SELECT TO {role} USING (id = 1)"
    ));
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    m.faucet.set_config(&config.replace(m.database.url(), &server.url_as(&role, "pw", name)));
    refused(&m, "postgres.rows_hidden", "BYPASSRLS");
    m.sql("DROP POLICY p ON t");
    refused(&m, "postgres.rows_hidden", "BYPASSRLS");
    // As the hint says.
    m.sql(&format!("ALTER ROLE {role} BYPASSRLS"));
    m.run();
    m.settles();
    m.sql(&format!("DROP OWNED BY {role}"));
}
