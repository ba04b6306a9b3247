//! Ways to reach a server, for ordinary sessions and streams alike.

use super::Fixture;
use faucet_connectors::postgres::{ConnectionUrl, Endpoint};
use faucet_core::error::Result;
use faucet_tests::{Postgres, PostgresOptions, postgres::free_port, runtime, shared_postgres};
use serde_json::json;

const DDL: &str = "CREATE TABLE t (id int PRIMARY KEY)";

/// What a query gives over an ordinary session.
fn ask(url: &str, sql: &'static str) -> Result<String> {
    let endpoint = Endpoint::new(&ConnectionUrl::new(url), None)?;
    runtime::wait(async move {
        let session = endpoint.connect("test").await?;
        let row = session.query_one(sql, &[]).await.unwrap();
        session.close().await;
        Ok(row.get::<_, String>(0))
    })
}

fn streams(fixture: Fixture, url: &str) {
    let fixture = fixture.with(json!({"connection_url": url}));
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1)");
    let mut stream = fixture.open();
    assert_eq!(stream.changes(), ["c t id=1"]);
    stream.close();
}

#[test]
fn a_session_is_set_whatever_the_role_and_the_url_say() {
    let fixture = Fixture::new(DDL);
    let name = fixture.database.name();
    fixture.sql(&format!(
        "ALTER DATABASE {name} SET DateStyle = 'SQL, DMY'; ALTER DATABASE {name} SET TimeZone = 'Asia/Tokyo';
         ALTER DATABASE {name} SET IntervalStyle = 'sql_standard'; ALTER DATABASE {name} SET bytea_output = 'escape';
         ALTER DATABASE {name} SET extra_float_digits = 0; ALTER DATABASE {name} SET statement_timeout = '1s'"
    ));
    let url = format!("{}?options=-c%20TimeZone%3DAsia%2FTokyo", fixture.database.url());
    let settings = "SELECT concat_ws(' ', current_setting('DateStyle'), current_setting('IntervalStyle'), \
                    current_setting('TimeZone'), current_setting('extra_float_digits'), current_setting('bytea_output'), \
                    current_setting('client_encoding'), current_setting('statement_timeout'), \
                    current_setting('application_name'))";
    assert_eq!(ask(&url, settings).unwrap(), "ISO, DMY iso_8601 UTC 3 hex UTF8 0 faucet:test");
    fixture.sql("CREATE TABLE v (id int PRIMARY KEY, at timestamptz, d date, f float8, i interval, b bytea)");
    let fixture = fixture.with(json!({"connection_url": url}));
    fixture.capture();
    fixture.sql(
        "INSERT INTO v VALUES (1, '2024-02-03 04:05:06+09', '2024-02-03', 0.1::float8 + 0.2, '1 mon 2 days', '\\xff')",
    );
    let expected = "c v id=1 at=TimestampTz(1706900706000000) d=Date(19756) f=F64(0.30000000000000004) \
                    i=Interval(Interval { months: 1, days: 2, microseconds: 0 }) b=Bytes([255])";
    assert_eq!(fixture.open().changes(), [expected]);
}

#[test]
fn key_value_pairs_and_percent_encoding_work() {
    let fixture = Fixture::new(DDL);
    let server = shared_postgres();
    server.create_role("cdc odd", "p@ss:w/rd%", "SUPERUSER");
    let port = server.port();
    let name = fixture.database.name().to_owned();
    let url = format!("postgresql://cdc%20odd:p%40ss%3Aw%2Frd%25@127.0.0.1:{port}/{name}");
    assert_eq!(ask(&url, "SELECT current_user::text").unwrap(), "cdc odd");
    let pairs = format!("host=127.0.0.1 port={port} user='cdc odd' password='p@ss:w/rd%' dbname={name}");
    assert_eq!(ask(&pairs, "SELECT current_user::text").unwrap(), "cdc odd");
    streams(fixture, &pairs);
}

#[test]
fn a_unix_socket_works() {
    let fixture = Fixture::new(DDL);
    let server = shared_postgres();
    let socket = server.dir().join("socket");
    let folder = socket.display().to_string().replace('/', "%2F");
    // The folder belongs to the server's account; root may enter it, others are refused by the file system.
    let (port, name) = (server.port(), fixture.database.name().to_owned());
    let url = format!("postgres://postgres:{}@{folder}:{port}/{name}?sslmode=require", server.password());
    assert_eq!(ask(&url, "SELECT 'in'").unwrap(), "in");
    streams(fixture, &url);
}

#[test]
fn several_hosts_are_tried_in_order() {
    let fixture = Fixture::new(DDL);
    let server = shared_postgres();
    let (dead, port, name) = (free_port(), server.port(), fixture.database.name().to_owned());
    let url = |target: &str| {
        let password = server.password();
        let hosts = format!("127.0.0.1:{dead},127.0.0.1:{port}");
        format!("postgres://postgres:{password}@{hosts}/{name}?target_session_attrs={target}")
    };
    let error = ask(&url("standby"), "SELECT ''").unwrap_err();
    assert_eq!(error.code().id, "postgres.wrong_session");
    assert_eq!(ask(&url("prefer-standby"), "SELECT 'in'").unwrap(), "in");
    streams(fixture, &url("read-write"));
}

#[test]
fn a_server_that_wants_md5_or_a_plain_password_is_served() {
    let settings = vec![("password_encryption".to_owned(), "md5".to_owned())];
    let mut server = Postgres::start(PostgresOptions { settings, ..PostgresOptions::default() });
    server.create_role("old", "pw", "SUPERUSER");
    for method in ["md5", "password", "trust"] {
        let rules = format!("host all postgres 127.0.0.1/32 scram-sha-256\nhost all old 127.0.0.1/32 {method}\n");
        std::fs::write(server.data_dir().join("pg_hba.conf"), rules).unwrap();
        server.restart();
        let fixture = Fixture::on_server(&server, DDL);
        let url = server.url_as("old", "pw", fixture.database.name());
        assert_eq!(ask(&url, "SELECT current_user::text").unwrap(), "old");
        if method != "trust" {
            let wrong = server.url_as("old", "wrong", fixture.database.name());
            assert_eq!(ask(&wrong, "SELECT ''").unwrap_err().code().id, "postgres.auth_failed");
        }
        streams(fixture, &url);
    }
}

#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let began = std::time::Instant::now();
    let error = ask(&format!("postgres://u@127.0.0.1:{port}/d?connect_timeout=1"), "SELECT ''").unwrap_err();
    assert_eq!(error.code().id, "postgres.unreachable");
    assert!(began.elapsed() < std::time::Duration::from_secs(3));
}
