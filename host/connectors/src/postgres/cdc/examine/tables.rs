//! The published tables: whether the server lets their rows change, and whether this role sees all of them.

use faucet_core::error::Result;
use faucet_core::ports::Finding;
use tokio_postgres::{Client, Row};

use crate::postgres::error::from_driver;
use crate::postgres::name::{qualified, quoted};

/// A deferrable primary key, or one whose index is not valid, tells no rows apart for the log.
const TABLES: &str = "\
SELECT DISTINCT n.nspname::text, c.relname::text, c.relreplident,
  EXISTS (SELECT FROM pg_catalog.pg_index i
    WHERE i.indrelid = c.oid AND i.indisprimary AND i.indimmediate AND i.indisvalid),
  EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisreplident AND i.indisvalid),
  pg_catalog.has_table_privilege(c.oid, 'SELECT'), pg_catalog.row_security_active(c.oid), current_user::text,
  ARRAY(SELECT pg_catalog.format('%I.%I', kn.nspname, k.relname) FROM pg_catalog.pg_inherits h
    JOIN pg_catalog.pg_class k ON k.oid = h.inhrelid JOIN pg_catalog.pg_namespace kn ON kn.oid = k.relnamespace
    WHERE h.inhparent = c.oid AND NOT k.relispartition ORDER BY 1)
FROM pg_catalog.pg_publication_tables p
JOIN pg_catalog.pg_namespace n ON n.nspname = p.schemaname
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = p.tablename
WHERE p.pubname = $1::text ORDER BY 1, 2";

/// Examines the tables of the publication.
pub(super) async fn examine(client: &Client, publication: &str) -> Result<Vec<Finding>> {
    let rows = client.query(TABLES, &[&publication]).await.map_err(|e| from_driver(&e))?;
    Ok(rows.iter().flat_map(table).collect())
}

fn table(row: &Row) -> Vec<Finding> {
    let name = qualified(Some(row.get(0)), row.get(1));
    let subject = format!("table {name}");
    let seen = [identity(row, &subject, &name), readable(row, &subject, &name), children(row, &subject, &name)];
    seen.into_iter().flatten().collect()
}

fn identity(row: &Row, subject: &str, name: &str) -> Option<Finding> {
    let (identity, has_key, has_index) = (row.get::<_, i8>(2) as u8, row.get::<_, bool>(3), row.get::<_, bool>(4));
    let refused = "the server refuses its updates and deletes while it is published";
    Some(match (identity, has_key, has_index) {
        (b'f', ..) => Finding::fine(subject, "replica identity full"),
        (b'i', _, true) => Finding::fine(subject, "replica identity is an index"),
        (b'd', true, _) => Finding::fine(subject, "replica identity is the primary key"),
        (b'i', true, false) => Finding::failure(
            subject,
            format!("its replica identity is an index that is gone: {refused}"),
            format!("run `ALTER TABLE {name} REPLICA IDENTITY DEFAULT`, which is the primary key"),
        ),
        (b'i', false, false) => Finding::failure(
            subject,
            format!("its replica identity is an index that is gone: {refused}"),
            format!(
                "run `ALTER TABLE {name} REPLICA IDENTITY USING INDEX name` with another unique index, or `.. FULL`"
            ),
        ),
        (b'n', true, _) => Finding::warning(
            subject,
            format!("has no replica identity: {refused}"),
            format!("run `ALTER TABLE {name} REPLICA IDENTITY DEFAULT`, which is the primary key"),
        ),
        _ => Finding::warning(
            subject,
            format!("has no replica identity: {refused}"),
            format!("add a primary key that is not deferrable, or run `ALTER TABLE {name} REPLICA IDENTITY FULL`"),
        ),
    })
}

fn readable(row: &Row, subject: &str, name: &str) -> Option<Finding> {
    let role = row.get::<_, &str>(7);
    let quoted = quoted(role);
    if !row.get::<_, bool>(5) {
        let what = "this role may not read it, so it can't be snapshotted";
        return Some(Finding::failure(subject, what, format!("run `GRANT SELECT ON {name} TO {quoted}`")));
    }
    row.get::<_, bool>(6).then(|| {
        let what =
            format!("row security hides rows from \"{role}\": the stream carries them, and a snapshot would not");
        Finding::failure(
            subject,
            what,
            format!("run `ALTER ROLE {quoted} BYPASSRLS` as superuser, or snapshot as the owner"),
        )
    })
}

/// Rows of a table that inherits are in the result of a query, and come as changes of another table.
fn children(row: &Row, subject: &str, name: &str) -> Option<Finding> {
    let children: Vec<String> = row.get(8);
    if children.is_empty() {
        return None;
    }
    let what = format!("{} inherit from it, and their changes are those of other tables", children.join(", "));
    let hint = format!(
        "to mirror it alone, make a publication of it: `CREATE PUBLICATION .. FOR TABLE ONLY {name}`, and write `FROM ONLY \
         {name}` in the snapshot's query"
    );
    Some(Finding::warning(subject, what, hint))
}
