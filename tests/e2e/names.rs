//! Names that need quotes, or that are a word of ours, as schema, table, column, publication and destination: every kind
//! of change under each of them.

use crate::config;
use faucet_tests::compare::Row;
use faucet_tests::{Client, Database, Faucet, fresh_database, sqlite_rows};

/// The longest has as many bytes as PostgreSQL allows. `t` and `s` are aliases of the sink's statements.
const NAMES: [&str; 16] = [
    "MixedCase",
    "with space",
    "dot.ted",
    "quo\"te\"",
    "apo'strophe",
    "back\\slash\\",
    "ünïcødé 🚰",
    "select",
    "t",
    "s",
    "_faucet_op",
    "{braces} %s $1",
    "; --",
    " edges ",
    "line\nbreak",
    "éééééééééééééééééééééééééééééé123",
];

/// The columns of the key, in its order.
const KEY: [&str; 2] = [NAMES[1], NAMES[0]];

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// What is done to the source.
type Act = fn(&Round, &Client);

/// The source's names in one round: each name gets its turn in each place.
struct Round {
    schema: &'static str,
    table: &'static str,
    publication: &'static str,
    destination: &'static str,
}

impl Round {
    fn new(at: usize) -> Self {
        let name = |offset| NAMES[(at + offset) % NAMES.len()];
        Self { schema: name(0), table: name(1), publication: name(2), destination: name(3) }
    }

    fn source(&self) -> String {
        format!("{}.{}", quoted(self.schema), quoted(self.table))
    }

    /// A column of each name, of which the first two are the key, and a large one that is stored out of line.
    fn make(&self, client: &Client) {
        let columns: String = NAMES.iter().map(|name| format!("{} text, ", quoted(name))).collect();
        let (source, [a, b]) = (self.source(), [NAMES[0], NAMES[1]].map(quoted));
        client.execute(&format!(
            "CREATE SCHEMA {}; CREATE TABLE {source} ({columns} big text, PRIMARY KEY ({b}, {a}));
             ALTER TABLE {source} ALTER big SET STORAGE EXTERNAL; CREATE PUBLICATION {} FOR TABLE {source};",
            quoted(self.schema),
            quoted(self.publication),
        ));
        self.insert(client, 1, 6);
    }

    fn insert(&self, client: &Client, from: usize, to: usize) {
        let values: String = (0..NAMES.len()).map(|i| format!("'{i} ' || g, ")).collect();
        let source = self.source();
        client.execute(&format!(
            "INSERT INTO {source} SELECT {values} repeat(md5(g::text), 200) FROM generate_series({from}, {to}) g"
        ));
    }

    /// Inserts, updates (of which some leave the large value out), a changed key, a delete; in two transactions.
    fn change(&self, client: &Client) {
        let (source, [key, other, third]) = (self.source(), [NAMES[0], NAMES[1], NAMES[2]].map(quoted));
        self.insert(client, 7, 8);
        client.execute(&format!(
            "BEGIN; UPDATE {source} SET {third} = 'partial' WHERE {key} = '0 1';
             UPDATE {source} SET big = NULL, {third} = '' WHERE {key} = '0 2';
             UPDATE {source} SET {other} = 'moved' WHERE {key} = '0 3';
             UPDATE {source} SET {other} = 'moved too', {key} = 'both' WHERE {key} = '0 8';
             DELETE FROM {source} WHERE {key} = '0 4'; COMMIT"
        ));
    }

    /// New columns with names of the same sort, then everything emptied but for what comes after.
    fn drift(&self, client: &Client) {
        let source = self.source();
        let new = |name: &str| quoted(&format!("{}+", name.chars().take(20).collect::<String>()));
        let added: Vec<_> = NAMES.iter().map(|name| format!("ADD COLUMN {} int", new(name))).collect();
        client.execute(&format!("ALTER TABLE {source} {}", added.join(", ")));
        client.execute(&format!("UPDATE {source} SET {} = 1", new(self.table)));
    }

    fn truncate(&self, client: &Client) {
        client.execute(&format!("TRUNCATE {}", self.source()));
        self.insert(client, 20, 21);
    }

    fn faucet(&self, database: &Database, sink: &[String]) -> Faucet {
        let sink: Vec<&str> = sink.iter().map(String::as_str).collect();
        let query = format!("SELECT * FROM {}", self.source());
        let text = config::mirror(database, &query, &sink, "schema: { on_drift: evolve }\n");
        let publication = serde_json::json!(self.publication);
        let text = text.replace("publication_name: pub", &format!("publication_name: {publication}"));
        // A slot's name can't be odd, but as long as any.
        Faucet::new(&text.replace(&format!("{}_slot", database.name()), &format!("{:_<63}", database.name())))
    }

    /// Snapshot, changes, drift, truncate; `check` compares after each.
    fn run(&self, database: &Database, faucet: &Faucet, check: impl Fn(&str)) {
        let client = database.client();
        let steps: [(&str, Act); 4] =
            [("snapshot", |_, _| {}), ("changes", Self::change), ("drift", Self::drift), ("truncate", Self::truncate)];
        for (step, act) in steps {
            act(self, client);
            faucet.run("mirror").expect_code(0);
            check(&format!("{step} of {:?} in {:?}, published by {:?}", self.table, self.schema, self.publication));
        }
    }
}

#[test]
fn odd_names_reach_postgres() {
    for at in 0..NAMES.len() {
        let (database, round) = (fresh_database(), Round::new(at));
        round.make(database.client());
        let schema = format!("to {}", round.schema.chars().take(9).collect::<String>());
        let mut sink = config::postgres_sink(&database, round.destination, &KEY);
        sink.push(format!("  schema: {}", serde_json::json!(schema)));
        database.client().execute(&format!("CREATE SCHEMA {}", quoted(&schema)));
        let destination = format!("{}.{}", quoted(&schema), quoted(round.destination));
        let faucet = round.faucet(&database, &sink);
        let rows = |table: &str| database.client().rows(&format!("SELECT to_jsonb(x) FROM {table} x ORDER BY 1"));
        round.run(&database, &faucet, |step| assert_eq!(rows(&destination), rows(&round.source()), "{step}"));
    }
}

#[test]
fn odd_names_reach_sqlite() {
    for at in 0..NAMES.len() {
        let (database, round) = (fresh_database(), Round::new(at));
        round.make(database.client());
        let sink = config::sqlite_sink(round.destination, &KEY);
        let faucet = round.faucet(&database, &sink);
        let file = faucet.dir().join("mirror.db");
        let names = || -> Vec<String> {
            let sql = format!(
                "SELECT attname FROM pg_attribute WHERE attrelid = '{}'::regclass AND attnum > 0 ORDER BY attnum",
                round.source().replace('\'', "''")
            );
            database.client().rows(&sql).into_iter().map(|row| quoted(row[0].as_deref().unwrap())).collect()
        };
        let sorted = |mut rows: Vec<Row>| {
            rows.sort();
            rows
        };
        round.run(&database, &faucet, |step| {
            let columns = names().join(", ");
            let source = database.client().rows(&format!("SELECT {columns} FROM {}", round.source()));
            let sql = format!("SELECT {columns} FROM {}", quoted(round.destination));
            assert_eq!(sorted(sqlite_rows(&file, &sql).unwrap()), sorted(source), "{step}");
        });
    }
}

/// A table with two columns that differ only in case, and a mirror of it.
fn two_cases(sink: impl Fn(&Database) -> Vec<String>) -> (Database, Faucet) {
    let database = fresh_database();
    database.client().execute(
        "CREATE TABLE source (id int PRIMARY KEY, note text, \"Note\" text, \"NOTE\" text);
         INSERT INTO source VALUES (1, 'a', 'b', 'c'); CREATE PUBLICATION pub FOR TABLE source",
    );
    let sink = sink(&database);
    let sink: Vec<&str> = sink.iter().map(String::as_str).collect();
    let faucet = Faucet::new(&config::mirror(&database, "SELECT * FROM source", &sink, ""));
    (database, faucet)
}

#[test]
fn columns_that_differ_only_in_case_are_two_in_postgres_and_refused_by_sqlite() {
    let (database, faucet) = two_cases(|database| config::postgres_sink(database, "copy", &["id"]));
    faucet.run("mirror").expect_code(0);
    database.client().execute("UPDATE source SET \"Note\" = 'B'; INSERT INTO source VALUES (2, NULL, 'x', '')");
    faucet.run("mirror").expect_code(0);
    let rows = |table: &str| database.client().rows(&format!("SELECT to_jsonb(x) FROM {table} x ORDER BY id"));
    assert_eq!(rows("copy"), rows("source"));
    let (_database, faucet) = two_cases(|_| config::sqlite_sink("copy", &["id"]));
    let refused = faucet.run("mirror");
    assert_ne!(refused.code(), Some(0));
    for part in ["sqlite.column_twice", "note"] {
        assert!(refused.stderr.contains(part), "no {part}:\n{}", refused.stderr);
    }
}

/// Its rows would be taken for what `cdc_unwrap` says about them, in the snapshot as well as in the stream.
#[test]
fn a_column_called_as_our_own_is_refused_before_a_row_is_written() {
    let database = fresh_database();
    database.client().execute(
        "CREATE TABLE source (id int PRIMARY KEY, __op text); INSERT INTO source VALUES (1, 'd'), (2, 'x');
         CREATE PUBLICATION pub FOR TABLE source",
    );
    let sink = config::postgres_sink(&database, "copy", &["id"]);
    let sink: Vec<&str> = sink.iter().map(String::as_str).collect();
    let faucet = Faucet::new(&config::mirror(&database, "SELECT * FROM source", &sink, ""));
    let refused = faucet.run("mirror");
    assert_ne!(refused.code(), Some(0));
    assert!(refused.stderr.contains("cdc.op_column_taken"), "{}", refused.stderr);
    assert_eq!(database.client().one("SELECT to_regclass('copy') IS NULL"), "t");
}
