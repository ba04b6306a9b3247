//! What the stream doesn't say about a table and the catalog does: the key's order, the partitioned table above
//! a partition, the names of types that are not built in.
//!
//! The catalog is as of now, the stream of some time ago. Where the two disagree the stream is right, and what the
//! catalog no longer knows is done without.

use faucet_core::error::{Error, Result};
use faucet_core::mirror::RESYNC;
use faucet_core::model::{ColumnBuilder, Field, Fill, Schema, TableId};
use faucet_core::ports::SOURCE_CHANGED;
use std::collections::HashMap;
use std::sync::Arc;
use tokio_postgres::SimpleQueryMessage;

use super::decode::{Identity, Relation, RelationColumn};
use super::lsn::Lsn;
use super::survey::Record;
use crate::postgres::connect::Session;
use crate::postgres::decode::text;
use crate::postgres::endpoint::Endpoint;
use crate::postgres::error::from_driver;
use crate::postgres::name::{list, literal, quoted};
use crate::postgres::types::{Timestamps, Types};

/// A relation message, owned: what is kept while the catalog is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Described {
    pub(super) oid: u32,
    pub(super) table: TableId,
    pub(super) identity: Identity,
    pub(super) columns: Vec<DescribedColumn>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DescribedColumn {
    pub(super) key: bool,
    pub(super) name: String,
    pub(super) oid: u32,
    pub(super) modifier: i32,
    /// The name the stream gave for the type, if it isn't built in.
    pub(super) type_name: Option<String>,
}

impl Described {
    /// A copy of `relation`, with what the stream said about its types.
    pub(super) fn new(relation: Relation<'_>, type_names: &HashMap<u32, String>) -> Self {
        let column = |c: RelationColumn<'_>| DescribedColumn {
            key: c.key,
            name: c.name.to_owned(),
            oid: c.oid,
            modifier: c.modifier,
            type_name: type_names.get(&c.oid).cloned(),
        };
        Self {
            oid: relation.oid,
            table: TableId::new(relation.schema, relation.name),
            identity: relation.identity,
            columns: relation.columns().map(column).collect(),
        }
    }
}

/// A table ready to receive rows.
#[derive(Debug, Clone)]
pub(super) struct Resolved {
    /// The table rows belong to: the partitioned table for a partition.
    pub(super) schema: Arc<Schema>,
    /// Where the value of each of the message's columns goes in the schema.
    pub(super) place: Vec<usize>,
    /// Which of the message's columns are told in a key image.
    pub(super) key: Vec<bool>,
    /// The partitioned table's OID, if this is a partition.
    pub(super) root: Option<u32>,
}

/// An inserted row of which the stream didn't send every value.
///
/// A row that a filter left out before an update and lets pass after it comes as an insert, without the out-of-line values
/// that the update left as they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Missing {
    /// The relation of the insert.
    pub(super) relation: u32,
    /// The table to look in: the partitioned table for a partition.
    pub(super) table: u32,
    /// The key's columns and values.
    pub(super) key: Vec<(String, String)>,
    /// Places of the values that were not sent, and their columns.
    pub(super) wanted: Vec<(usize, String)>,
    /// The row as it was sent: a text, null, or nothing (`wanted`).
    pub(super) sent: Vec<Option<Vec<u8>>>,
    /// Bytes of the message.
    pub(super) bytes: usize,
}

/// What the catalog knows about a table.
#[derive(Debug, Default)]
struct Known {
    root: Option<u32>,
    table: Option<TableId>,
    /// Columns of the replica identity's index, or of the primary key, in the index's order.
    key: Vec<String>,
    /// Columns of the table rows belong to, in its order, and their numbers.
    order: Vec<String>,
    numbers: Vec<i16>,
    not_null: Vec<String>,
    /// What rows hold that were there before a column was, as text by the column's name.
    missing: HashMap<String, String>,
}

/// The catalog, over an ordinary session that is opened anew when it broke.
#[derive(Debug)]
pub(super) struct Catalog {
    session: OnDemand,
    types: Types,
    /// What was recorded of the source earlier.
    record: Option<Record>,
}

/// A session that is opened anew when it broke: days may lie between two questions.
#[derive(Debug)]
struct OnDemand {
    endpoint: Endpoint,
    pipeline: String,
    session: Option<Session>,
}

impl OnDemand {
    async fn get(&mut self) -> Result<&Session> {
        if self.session.as_ref().is_none_or(|s| s.is_closed()) {
            self.session = Some(self.endpoint.connect_source(&self.pipeline).await?);
        }
        Ok(self.session.as_ref().expect("it was opened above"))
    }
}

const TABLE: &str = "\
WITH r AS (
  SELECT c.oid, c.relreplident, COALESCE(pg_catalog.pg_partition_root(c.oid)::pg_catalog.oid, c.oid) AS root
  FROM pg_catalog.pg_class c WHERE c.oid = $1
)
SELECT r.root, n.nspname::text, t.relname::text,
  ARRAY(SELECT a.attname::text FROM pg_catalog.pg_index i
    CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::pg_catalog.int2[]) WITH ORDINALITY AS k (attnum, place)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
    WHERE i.indrelid = r.oid AND k.place <= i.indnkeyatts
      AND CASE WHEN r.relreplident = 'i' THEN i.indisreplident ELSE i.indisprimary END
    ORDER BY k.place),
  ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = r.root AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum),
  ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = r.oid AND a.attnum > 0 AND a.attnotnull AND NOT a.attisdropped),
  ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = r.oid AND a.atthasmissing AND NOT a.attisdropped ORDER BY a.attnum),
  ARRAY(SELECT pg_catalog.array_to_string(a.attmissingval, '') FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = r.oid AND a.atthasmissing AND NOT a.attisdropped ORDER BY a.attnum),
  ARRAY(SELECT a.attnum FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = r.root AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)
FROM r JOIN pg_catalog.pg_class t ON t.oid = r.root JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace";

impl Catalog {
    pub(super) fn new(
        endpoint: Endpoint,
        pipeline: String,
        session: Session,
        timestamps: Timestamps,
        record: Option<Record>,
    ) -> Self {
        let session = OnDemand { endpoint, pipeline, session: Some(session) };
        Self { session, types: Types::new(timestamps), record }
    }

    /// Makes a table ready to receive rows.
    ///
    /// # Errors
    /// `mirror.source_changed` for a column that took another one's name; failures of the connection.
    pub(super) async fn resolve(&mut self, described: &Described) -> Result<Resolved> {
        let known = self.known(described.oid).await?;
        self.check_numbers(described, &known)?;
        let pairs: Vec<_> = described.columns.iter().map(|c| (c.oid, c.modifier)).collect();
        self.types.load(self.session.get().await?, pairs).await?;
        let fields = described.columns.iter().map(|c| self.field(c, &known)).collect();
        Ok(combine(described, known, fields))
    }

    /// How many leaves a partitioned table has now.
    ///
    /// # Errors
    /// Failures of the connection.
    pub(super) async fn leaves(&mut self, root: u32) -> Result<Vec<u32>> {
        let sql = "SELECT relid::pg_catalog.oid FROM pg_catalog.pg_partition_tree($1::pg_catalog.oid) WHERE isleaf";
        let rows = self.session.get().await?.query(sql, &[&root]).await.map_err(|e| from_driver(&e))?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// The end of the log at this moment.
    ///
    /// # Errors
    /// Failures of the connection.
    pub(super) async fn log_end(&mut self) -> Result<Lsn> {
        let sql = "SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn() \
                   ELSE pg_catalog.pg_current_wal_flush_lsn() END::text";
        let row = self.session.get().await?.query_one(sql, &[]).await.map_err(|e| from_driver(&e))?;
        Ok(row.get::<_, Option<&str>>(0).and_then(|text| text.parse().ok()).unwrap_or_default())
    }

    /// A session that works.
    ///
    /// # Errors
    /// Failures of the connection.
    pub(super) async fn session(&mut self) -> Result<&Session> {
        self.session.get().await
    }

    /// Ends the session.
    pub(super) async fn close(&mut self) {
        if let Some(session) = self.session.session.take() {
            session.close().await;
        }
    }

    /// The values that the columns `wanted` of a row have now, as text; `None` when the row isn't there under its `key` any
    /// more.
    ///
    /// # Errors
    /// Failures of the connection.
    pub(super) async fn values(&mut self, missing: &Missing) -> Result<Option<Vec<Option<String>>>> {
        let name = "SELECT $1::pg_catalog.oid::pg_catalog.regclass::text, \
                    EXISTS (SELECT FROM pg_catalog.pg_class WHERE oid = $1)";
        let row = self.session.get().await?.query_one(name, &[&missing.table]).await.map_err(|e| from_driver(&e))?;
        let (table, exists): (String, bool) = (row.get(0), row.get(1));
        if !exists || missing.key.is_empty() {
            return Ok(None);
        }
        let key = missing.key.iter().map(|(name, value)| format!("{} = {}", quoted(name), literal(value)));
        let sql = format!(
            "SELECT {} FROM {table} WHERE {}",
            list(missing.wanted.iter().map(|(_, name)| name.as_str())),
            key.collect::<Vec<_>>().join(" AND ")
        );
        let found = self.session.get().await?.simple_query(&sql).await.map_err(|e| from_driver(&e))?;
        let row = found.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        Ok(row.map(|row| (0..row.len()).map(|at| row.get(at).map(str::to_owned)).collect()))
    }

    /// A column of the table that was recorded has the number it had. Under its name, another column's values would be
    /// taken for its own.
    fn check_numbers(&self, described: &Described, known: &Known) -> Result<()> {
        let Some(recorded) = self.record.as_ref().and_then(|record| record.table.as_ref()) else { return Ok(()) };
        if recorded.oid != known.root.unwrap_or(described.oid) {
            return Ok(());
        }
        let number = |name: &str| known.order.iter().position(|known| known == name).map(|at| known.numbers[at]);
        let is_another = |c: &&DescribedColumn| {
            let before = recorded.columns.iter().find(|(_, name)| **name == c.name).map(|(number, _)| *number);
            before.is_some_and(|before| number(&c.name).is_some_and(|now| now != before))
        };
        match described.columns.iter().find(is_another) {
            None => Ok(()),
            Some(column) => {
                let what = format!(
                    "column \"{}\" of {} was dropped and made again, and the destination has its old values",
                    column.name, described.table
                );
                Err(Error::new(&SOURCE_CHANGED, what).hint(RESYNC))
            }
        }
    }

    /// What the catalog knows of the table; of one that was a partition when the log was written, what it knows of the
    /// table above.
    async fn known(&mut self, oid: u32) -> Result<Known> {
        let found = self.read(oid).await?;
        match (found.root, self.record.as_ref().and_then(|record| record.once_above(oid))) {
            (None, Some(root)) => Ok(Known { root: Some(root), ..self.read(root).await? }),
            _ => Ok(found),
        }
    }

    async fn read(&mut self, oid: u32) -> Result<Known> {
        let row = self.session.get().await?.query_opt(TABLE, &[&oid]).await.map_err(|e| from_driver(&e))?;
        Ok(row.map_or_else(Known::default, |row| {
            let root: u32 = row.get(0);
            Known {
                root: (root != oid).then_some(root),
                table: Some(TableId::new(row.get::<_, String>(1), row.get::<_, String>(2))),
                key: row.get(3),
                order: row.get(4),
                not_null: row.get(5),
                missing: row.get::<_, Vec<String>>(6).into_iter().zip(row.get::<_, Vec<String>>(7)).collect(),
                numbers: row.get(8),
            }
        }))
    }

    fn field(&self, column: &DescribedColumn, known: &Known) -> Field {
        let found = self.types.get_or_text(column.oid, column.modifier).field(&column.name);
        // A type that is gone from the catalog still has the name the stream gave.
        let gone = self.types.get(column.oid, column.modifier).is_none();
        let field = match &column.type_name {
            Some(name) if gone => found.native(format!("postgres:{name}")),
            Some(_) | None => found,
        };
        let field = match known.missing.get(&column.name).and_then(|text| fill(&field, text)) {
            Some(fill) => field.fill(fill),
            None => field,
        };
        if known.not_null.contains(&column.name) { field.not_null() } else { field }
    }
}

/// The value that rows hold in a column that was added to them. The catalog is as of now: if the column has got another type
/// since, the text may not be of this one, and nothing is known.
fn fill(field: &Field, text: &str) -> Option<Fill> {
    let mut value = ColumnBuilder::new(field.kind);
    text::push(&mut value, text.as_bytes(), &mut Vec::new()).ok()?;
    Some(Fill { text: text.into(), value: Arc::new(value.finish()) })
}

/// Puts what the stream and the catalog say together. `fields` are the message's columns in its order.
fn combine(described: &Described, known: Known, fields: Vec<Field>) -> Resolved {
    let names: Vec<&str> = described.columns.iter().map(|c| c.name.as_str()).collect();
    let order = column_order(&names, &known.order);
    let mut place = vec![0; order.len()];
    for (at, &column) in order.iter().enumerate() {
        place[column] = at;
    }
    let key = key_columns(described, &known.key).into_iter().map(|column| place[column]).collect();
    // A dropped table is gone from the catalog, and its own name is all there is. A renamed one keeps the name it had
    // at the time of its changes.
    let table = match (known.root, known.table) {
        (Some(_), Some(root)) => root,
        (_, _) => described.table.clone(),
    };
    let fields = order.iter().map(|&column| fields[column].clone()).collect();
    let source_id = known.root.unwrap_or(described.oid).to_string();
    Resolved {
        schema: Arc::new(Schema::new(table, fields).with_key(key).identified(source_id)),
        place,
        key: described.columns.iter().map(|c| c.key).collect(),
        root: known.root,
    }
}

/// The message's columns in the order of the table rows belong to (partitions may have another of their own), or in
/// their own order when a name isn't there any more.
fn column_order(names: &[&str], table: &[String]) -> Vec<usize> {
    let ordered: Vec<usize> = table.iter().filter_map(|name| names.iter().position(|n| n == name)).collect();
    if ordered.len() == names.len() { ordered } else { (0..names.len()).collect() }
}

/// The key's columns, as indices into the message's, in the index's order where the catalog still knows it.
fn key_columns(described: &Described, catalog: &[String]) -> Vec<usize> {
    let told: Vec<usize> = (0..described.columns.len()).filter(|&i| described.columns[i].key).collect();
    let position = |name: &String| described.columns.iter().position(|c| c.name == *name);
    let ordered: Option<Vec<usize>> = catalog.iter().map(position).collect();
    match (described.identity, ordered) {
        // Every column is told; the key is the primary key, if there is one.
        (Identity::Full, ordered) => ordered.unwrap_or_default(),
        (Identity::Nothing, _) => Vec::new(),
        (Identity::Default | Identity::Index, Some(ordered)) => {
            let mut sorted = ordered.clone();
            sorted.sort_unstable();
            if sorted == told { ordered } else { told }
        }
        (Identity::Default | Identity::Index, None) => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faucet_core::model::Kind;

    fn described(identity: Identity, columns: &[(&str, bool)]) -> Described {
        let column = |(name, key): &(&str, bool)| DescribedColumn {
            key: *key,
            name: (*name).to_owned(),
            oid: 23,
            modifier: -1,
            type_name: None,
        };
        let columns = columns.iter().map(column).collect();
        Described { oid: 1, table: TableId::new("s", "t"), identity, columns }
    }

    fn fields(described: &Described) -> Vec<Field> {
        described.columns.iter().map(|c| Field::new(c.name.as_str(), Kind::I64)).collect()
    }

    fn names(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|t| (*t).to_owned()).collect()
    }

    fn resolve(identity: Identity, columns: &[(&str, bool)], known: Known) -> Resolved {
        let described = described(identity, columns);
        combine(&described, known, fields(&described))
    }

    #[test]
    fn a_composite_key_keeps_the_order_of_its_index() {
        let columns = [("a", true), ("b", true), ("c", false)];
        let known = Known { key: names(&["b", "a"]), order: names(&["a", "b", "c"]), ..Known::default() };
        assert_eq!(resolve(Identity::Default, &columns, known).schema.key, [1, 0]);
    }

    #[test]
    fn a_key_the_catalog_no_longer_has_is_the_one_the_stream_tells() {
        let columns = [("a", true), ("b", false)];
        let known = Known { key: names(&["b"]), order: names(&["a", "b"]), ..Known::default() };
        assert_eq!(resolve(Identity::Default, &columns, known).schema.key, [0]);
        assert_eq!(resolve(Identity::Default, &columns, Known::default()).schema.key, [0]);
    }

    #[test]
    fn under_full_identity_the_key_is_the_primary_key() {
        let columns = [("a", true), ("b", true)];
        let known = Known { key: names(&["b"]), order: names(&["a", "b"]), ..Known::default() };
        assert_eq!(resolve(Identity::Full, &columns, known).schema.key, [1]);
        assert!(resolve(Identity::Full, &columns, Known::default()).schema.key.is_empty());
        assert!(resolve(Identity::Nothing, &[("a", false)], Known::default()).schema.key.is_empty());
    }

    #[test]
    fn a_partition_takes_the_columns_order_and_name_of_its_root() {
        let columns = [("b", false), ("a", true)];
        let root = Known {
            root: Some(7),
            table: Some(TableId::new("s", "root")),
            key: names(&["a"]),
            order: names(&["a", "b"]),
            ..Known::default()
        };
        let resolved = resolve(Identity::Default, &columns, root);
        assert_eq!(resolved.schema.table, TableId::new("s", "root"));
        assert_eq!(resolved.schema.fields.iter().map(|f| &*f.name).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(
            (resolved.place, resolved.schema.key.clone(), resolved.key),
            (vec![1, 0], vec![0], vec![false, true])
        );
    }
}
