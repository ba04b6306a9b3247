//! Every type of PostgreSQL with its extremes, through a mirror in both phases, to PostgreSQL, SQLite and JSON lines.
//! What the source server prints is what the destination must hold.

use crate::config;
use faucet_connectors::postgres::connect::SESSION_SETTINGS;
use faucet_tests::types::{self, TypeCase};
use faucet_tests::{Client, Database, Faucet, Postgres, PostgresOptions, compare::Row, fresh_database, sqlite_rows};
use std::collections::HashMap;
use std::path::PathBuf;

/// Where the ids of rows start that are copied, that are inserted while the stream is followed, and that are inserted
/// empty and then updated.
const PHASES: [usize; 3] = [0, 1000, 2000];

/// One table with a column of each type, and a row for each literal.
struct Matrix {
    database: Database,
    cases: Vec<TypeCase>,
    rows: usize,
    timestamps_as_text: bool,
}

impl Matrix {
    fn new(wanted: impl Fn(&TypeCase) -> bool) -> Self {
        Self::of(|cases| cases.into_iter().filter(&wanted).collect(), false)
    }

    /// Timestamps alone, as text, with those that no number of microseconds since 1970 reaches.
    fn of_late_timestamps() -> Self {
        let late = |mut case: TypeCase| {
            if !case.name.contains('(') {
                case.literals.insert(0, "'294276-12-31 23:59:59.999999'".to_owned());
            }
            TypeCase { kind: "native", ..case }
        };
        let wanted = |case: &TypeCase| case.kind.starts_with("timestamp");
        Self::of(|cases| cases.into_iter().filter(wanted).map(late).collect(), true)
    }

    fn of(chosen: impl Fn(Vec<TypeCase>) -> Vec<TypeCase>, timestamps_as_text: bool) -> Self {
        let database = fresh_database();
        let client = database.client();
        types::prepare(client);
        let cases = chosen(types::all(client));
        let columns: String = cases.iter().enumerate().map(|(i, case)| format!(", c{i} {}", case.name)).collect();
        client.execute(&format!(
            "CREATE TABLE source (id int PRIMARY KEY{columns}); CREATE PUBLICATION pub FOR TABLE source"
        ));
        let rows = cases.iter().map(|case| case.literals.len()).max().unwrap_or_default() + 1;
        let matrix = Self { database, cases, rows, timestamps_as_text };
        matrix.insert(PHASES[0]);
        matrix
    }

    /// The literals of one row; past the last of a type comes null, where it can be.
    fn literals(&self, row: usize) -> Vec<&str> {
        let mut literals = Vec::new();
        for case in &self.cases {
            let listed = if case.nullable { row } else { row % case.literals.len() };
            literals.push(case.literals.get(listed).map_or("NULL", String::as_str));
        }
        literals
    }

    fn insert(&self, start: usize) {
        for row in 0..self.rows {
            let values = self.literals(row).join(", ");
            self.database.client().execute(&format!("INSERT INTO source VALUES ({}, {values})", start + row));
        }
    }

    /// Rows that begin with nulls and get their values in a transaction of their own.
    fn insert_and_update(&self, start: usize) {
        for row in 0..self.rows {
            let id = start + row;
            let literals = self.literals(row);
            let needed = self.cases.iter().enumerate().filter(|(_, case)| !case.nullable);
            let (names, values): (String, String) =
                needed.map(|(i, _)| (format!(", c{i}"), format!(", {}", literals[i]))).unzip();
            let set: Vec<_> = literals.iter().enumerate().map(|(i, literal)| format!("c{i} = {literal}")).collect();
            let client = self.database.client();
            client.execute(&format!("INSERT INTO source (id{names}) VALUES ({id}{values})"));
            client.execute(&format!("UPDATE source SET {} WHERE id = {id}", set.join(", ")));
        }
    }

    /// Copies, then follows changes of both sorts.
    fn mirror(&self, sink: &[String], options: &str) -> Faucet {
        let sink: Vec<&str> = sink.iter().map(String::as_str).collect();
        let config = config::mirror(&self.database, "SELECT * FROM source", &sink, options);
        // Both sources of a mirror, each by the key that it has and the other hasn't.
        let faucet = Faucet::new(&match self.timestamps_as_text {
            false => config,
            true => config
                .replace("      idle_timeout:", "      timestamps: text\n      idle_timeout:")
                .replace(", query:", ", timestamps: text, query:"),
        });
        faucet.run("mirror").expect_code(0);
        self.insert(PHASES[1]);
        self.insert_and_update(PHASES[2]);
        faucet.run("mirror").expect_code(0);
        faucet
    }

    /// What the server prints for each row, under the settings that faucet reads it with.
    fn printed(&self, table: &str, shown: impl Fn(usize) -> String) -> Vec<Row> {
        let client = self.database.connect();
        client.execute(SESSION_SETTINGS);
        self.rows_of(&client, table, shown)
    }

    fn rows_of(&self, client: &Client, table: &str, shown: impl Fn(usize) -> String) -> Vec<Row> {
        let columns: String = (0..self.cases.len()).map(|i| format!(", {}", shown(i))).collect();
        client.rows(&format!("SELECT id{columns} FROM {table} ORDER BY id"))
    }

    /// Compares cell by cell, and names the type where one differs.
    #[track_caller]
    fn assert_cells(&self, found: &[Row], matches: impl Fn(&TypeCase, Option<&str>, Option<&str>) -> bool) {
        let source = self.printed("source", |i| format!("c{i}"));
        assert_eq!(found.len(), source.len(), "rows");
        let mut wrong = Vec::new();
        for (left, right) in source.iter().zip(found) {
            assert_eq!(left[0], right[0]);
            for (i, case) in self.cases.iter().enumerate() {
                let (left, right) = (left[i + 1].as_deref(), right[i + 1].as_deref());
                if !matches(case, left, right) {
                    wrong.push(format!("{}: {} arrived as {}", case.name, brief(left), brief(right)));
                }
            }
        }
        assert!(wrong.is_empty(), "{} cells differ:\n{}", wrong.len(), wrong.join("\n"));
    }
}

fn brief(value: Option<&str>) -> String {
    value.map_or("null".to_owned(), |text| format!("{:?}", text.chars().take(60).collect::<String>()))
}

fn to_postgres(matrix: &Matrix) {
    let faucet = matrix.mirror(&config::postgres_sink(&matrix.database, "copy", &["id"]), "");
    // What `format` prints hides no blank and no difference between null and an empty text.
    let shown = |i| format!("format('%L', c{i})");
    let same = |case: &TypeCase, source: &[Row], copy: &[Row]| {
        let at = matrix.cases.iter().position(|c| c.name == case.name).unwrap() + 1;
        let differ = source.iter().zip(copy).find(|(a, b)| a[at] != b[at]);
        differ.map(|(a, b)| format!("{}: {} is {}", case.name, brief(a[at].as_deref()), brief(b[at].as_deref())))
    };
    let check = || {
        let (source, copy) = (matrix.printed("source", shown), matrix.printed("copy", shown));
        assert_eq!(source.len(), matrix.rows * PHASES.len());
        assert_eq!(copy.len(), source.len());
        let wrong: Vec<_> = matrix.cases.iter().filter_map(|case| same(case, &source, &copy)).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    };
    check();
    // Whatever is stored out of line isn't sent, and stays.
    let touched = matrix.cases.iter().position(|case| case.name == "boolean");
    let set = touched.map_or("id = id".to_owned(), |at| format!("c{at} = NOT c{at}"));
    matrix.database.client().execute(&format!("UPDATE source SET {set}"));
    faucet.run("mirror").expect_code(0);
    check();
}

#[test]
fn every_type_arrives_as_it_was_in_postgres() {
    to_postgres(&Matrix::new(|_| true));
}

/// Without a native type among the columns, rows are copied in binary format.
#[test]
fn every_kind_arrives_as_it_was_in_postgres_in_binary() {
    to_postgres(&Matrix::new(|case| case.kind != "native"));
}

/// PostgreSQL's last 29 years have no place in 64 bits of microseconds since 1970.
#[test]
fn every_timestamp_arrives_as_text() {
    to_postgres(&Matrix::of_late_timestamps());
    to_sqlite(&Matrix::of_late_timestamps());
    to_jsonl(&Matrix::of_late_timestamps());
}

/// The float that a text means in its own width.
fn float(kind: &str, text: &str) -> f64 {
    if kind == "float32" { text.parse::<f32>().unwrap().into() } else { text.parse().unwrap() }
}

/// The same float, not the same text. Both zeros are one in SQLite.
fn same_float(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan()
}

#[test]
fn every_type_arrives_in_sqlite_in_its_documented_form() {
    let matrix = Matrix::new(|_| true);
    let (_faucet, file) = to_sqlite(&matrix);
    // Numbers are stored as numbers.
    let at = matrix.cases.iter().position(|case| case.name == "bigint").unwrap();
    let kinds = sqlite_rows(&file, &format!("SELECT DISTINCT typeof(c{at}) FROM copy WHERE c{at} IS NOT NULL"));
    assert_eq!(kinds.unwrap(), [[Some("integer".to_owned())]]);
}

/// The database, and who keeps its folder.
fn to_sqlite(matrix: &Matrix) -> (Faucet, PathBuf) {
    let faucet = matrix.mirror(&config::sqlite_sink("copy", &["id"]), "");
    let file = faucet.dir().join("mirror.db");
    let columns: String = (0..matrix.cases.len()).map(|i| format!(", c{i}")).collect();
    let found = sqlite_rows(&file, &format!("SELECT id{columns} FROM copy ORDER BY id")).unwrap();
    matrix.assert_cells(&found, |case, source, found| {
        let (Some(source), Some(found)) = (source, found) else { return source == found };
        match case.kind {
            "boolean" => found == if source == "t" { "1" } else { "0" },
            // SQLite's floats are wide ones.
            "float32" | "float64" => same_float(float(case.kind, source), float("float64", found)),
            "timestamptz" => found == source.replacen("+00", "+00:00", 1),
            _ => found == source,
        }
    });
    (faucet, file)
}

/// The members of a line of JSON, each value as it is written.
fn members(line: &str) -> HashMap<&str, &str> {
    let bytes = line.as_bytes();
    let (mut depth, mut quoted, mut start, mut at) = (0, false, 1, 0);
    let mut found = HashMap::new();
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b']' if !quoted => depth -= 1,
            b'}' if !quoted => depth -= 1,
            _ => {}
        }
        if !quoted && (depth == 0 || depth == 1 && bytes[at] == b',') {
            let (name, value) = line[start..at].split_once(':').expect("a member has a value");
            found.insert(name.trim_matches('"'), value);
            start = at + 1;
        }
        at += 1;
    }
    found
}

fn json_form(kind: &str, source: &str) -> String {
    let string = |text: &str| serde_json::json!(text).to_string();
    let is_word = source.contains("NaN") || source.contains("nfinity");
    match kind {
        "boolean" => if source == "t" { "true" } else { "false" }.to_owned(),
        "int64" => source.to_owned(),
        "decimal" if is_word => string(source),
        "decimal" => source.to_owned(),
        "timestamp" if !is_word => string(&source.replacen(' ', "T", 1)),
        "timestamptz" if !is_word => string(&source.replacen(' ', "T", 1).replacen("+00", "Z", 1)),
        "json" => source.replace('\n', " "),
        _ => string(source),
    }
}

#[test]
fn every_type_arrives_in_json_lines_in_its_documented_form() {
    to_jsonl(&Matrix::new(|_| true));
}

fn to_jsonl(matrix: &Matrix) {
    let sink = ["type: jsonl", "config: { path: ./out.jsonl }"].map(str::to_owned);
    let faucet = matrix.mirror(&sink, "");
    let text = std::fs::read_to_string(faucet.dir().join("out.jsonl")).unwrap();
    // A row that changed has a line for each version: the last counts.
    let mut last: HashMap<usize, HashMap<&str, &str>> = HashMap::new();
    for line in text.lines() {
        let row = members(line);
        last.insert(row["id"].parse().unwrap(), row);
    }
    let mut ids: Vec<_> = last.keys().copied().collect();
    ids.sort_unstable();
    let cells = |id: &usize| {
        let row = &last[id];
        let values = (0..matrix.cases.len()).map(|i| Some(row[&*format!("c{i}")].to_owned()));
        std::iter::once(Some(id.to_string())).chain(values).collect()
    };
    let found: Vec<Row> = ids.iter().map(cells).collect();
    matrix.assert_cells(&found, |case, source, found| match (source, found) {
        (None, found) => found == Some("null"),
        (Some(source), Some(found)) if matches!(case.kind, "float32" | "float64") => {
            let (left, right) = (float(case.kind, source), float(case.kind, found.trim_matches('"')));
            same_float(left, right)
                && left.is_sign_negative() == right.is_sign_negative()
                && found.starts_with('"') != left.is_finite()
        }
        (Some(source), found) => found == Some(&*json_form(case.kind, source)),
    });
    for row in 0..matrix.rows {
        for (i, case) in matrix.cases.iter().enumerate() {
            let versions = PHASES.map(|start| last[&(start + row)][&*format!("c{i}")]);
            assert!(versions.iter().all(|v| *v == versions[0]), "{} differs by phase", case.name);
        }
    }
}

/// The server converts what it sends, in both phases.
#[test]
fn text_of_a_database_in_another_encoding_arrives_as_it_reads() {
    let server = Postgres::start(PostgresOptions::default());
    let database = Database::create_on(&server);
    database.client().execute("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'");
    let latin = server.connect("latin");
    latin.execute(
        "CREATE TABLE source (id int PRIMARY KEY, \"größe\" text, tags text[]); CREATE PUBLICATION pub FOR TABLE source;
         INSERT INTO source VALUES (1, 'é', '{ü,NULL}')",
    );
    let sink = config::postgres_sink(&database, "copy", &["id"]);
    let sink: Vec<&str> = sink.iter().map(String::as_str).collect();
    let text = config::mirror(&database, "SELECT * FROM source", &sink, "");
    // Only the sources are elsewhere.
    let (before, after) = text.split_once("  sink:\n").unwrap();
    let (sink, snapshot) = after.split_once("mirror:\n").unwrap();
    let elsewhere = |part: &str| part.replace(database.url(), &server.url("latin"));
    let faucet = Faucet::new(&format!("{}  sink:\n{sink}mirror:\n{}", elsewhere(before), elsewhere(snapshot)));
    faucet.run("mirror").expect_code(0);
    latin.execute("UPDATE source SET \"größe\" = 'ß' || \"größe\"; INSERT INTO source VALUES (2, 'ñ', '{}')");
    faucet.run("mirror").expect_code(0);
    let rows = |client: &Client, table: &str| client.rows(&format!("SELECT to_jsonb(x) FROM {table} x ORDER BY id"));
    assert_eq!(rows(database.client(), "copy"), rows(&latin, "source"));
    // The slot keeps a database from being dropped.
    latin.execute(&format!("SELECT pg_drop_replication_slot('{}_slot')", database.name()));
}
