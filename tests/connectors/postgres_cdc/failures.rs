//! The errors a new user makes first: what is said, under which code, and what to do about it.

use super::{Fixture, try_capture};
use faucet_core::error::{Error, Retry};
use faucet_tests::{Postgres, PostgresOptions, postgres::free_port, shared_postgres};
use serde_json::json;

const DDL: &str = "CREATE TABLE t (id int PRIMARY KEY)";

fn error(fixture: &Fixture) -> Error {
    let opening = fixture.try_open(None).err().expect("the stream doesn't open");
    let capturing = try_capture(&fixture.config).unwrap_err();
    assert_eq!(opening.code().id, capturing.code().id);
    opening
}

fn at(fixture: Fixture, url: &str) -> Fixture {
    fixture.with(json!({"connection_url": url}))
}

#[test]
fn a_server_that_is_not_there() {
    let port = free_port();
    let fixture = at(Fixture::new(DDL), &format!("postgres://u:s3cret@127.0.0.1:{port}/d"));
    let error = error(&fixture);
    assert_eq!((error.code().id, error.retry()), ("postgres.unreachable", Retry::Backoff));
    assert_eq!(error.to_string(), format!("can't reach PostgreSQL at 127.0.0.1:{port}: the connection was refused"));
    assert!(!format!("{error:?}").contains("s3cret"));
    let fixture = at(fixture, "postgres://u@no-such-host.invalid/d");
    assert!(self::error(&fixture).to_string().ends_with("the name was not found"));
}

#[test]
fn something_else_that_listens_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        use std::io::Write;
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let fixture = at(Fixture::new(DDL), &format!("postgres://u@127.0.0.1:{port}/d?sslmode=disable"));
    let code = error(&fixture).code().id;
    assert!(["postgres.protocol", "postgres.connection_lost"].contains(&code), "{code}");
}

#[test]
fn a_wrong_password_user_or_database() {
    let fixture = Fixture::new(DDL);
    let server = shared_postgres();
    let wrong = server.url_as("postgres", "s3cret", fixture.database.name());
    let fixture = at(fixture, &wrong);
    let refused = error(&fixture);
    assert_eq!((refused.code().id, refused.retry()), ("postgres.auth_failed", Retry::Operator));
    assert_eq!(refused.to_string(), "password authentication failed for user \"postgres\" (SQLSTATE 28P01)");
    assert!(!format!("{refused:?}").contains("s3cret"));
    let none = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    let fixture = at(fixture, &none);
    assert!(error(&fixture).hint_text().unwrap().contains("no password"));
    let fixture = at(fixture, &server.url("no_such_database"));
    let missing = error(&fixture);
    assert_eq!(missing.code().id, "postgres.database_missing");
    assert!(missing.to_string().contains("no_such_database"));
}

#[test]
fn a_role_without_replication() {
    let fixture = Fixture::new(DDL);
    let server = shared_postgres();
    server.create_role("cdc_plain", "pw", "");
    let url = server.url_as("cdc_plain", "pw", fixture.database.name());
    let fixture = at(fixture, &url);
    let error = error(&fixture);
    assert_eq!((error.code().id, error.retry()), ("postgres.permission_denied", Retry::Operator));
    assert_eq!(error.hint_text(), Some("a change stream needs `ALTER ROLE \"cdc_plain\" REPLICATION`"));
}

#[test]
fn a_server_that_does_not_log_enough() {
    let server = Postgres::start(PostgresOptions { wal_level: "replica", ..PostgresOptions::default() });
    let fixture = Fixture::on_server(&server, DDL);
    let error = error(&fixture);
    assert_eq!((error.code().id, error.retry()), ("postgres.wal_level", Retry::Operator));
    assert!(error.hint_text().unwrap().contains("ALTER SYSTEM SET wal_level = 'logical'"));
}

#[test]
fn a_publication_that_is_missing_or_empty() {
    let fixture = Fixture::new(DDL).with(json!({"publication_name": "orders_pub"}));
    let missing = error(&fixture);
    assert_eq!((missing.code().id, missing.retry()), ("postgres.publication_missing", Retry::Operator));
    assert_eq!(missing.to_string(), "publication \"orders_pub\" does not exist");
    assert!(missing.hint_text().unwrap().contains("CREATE PUBLICATION \"orders_pub\" FOR TABLE"));
    fixture.sql("CREATE PUBLICATION orders_pub");
    let empty = error(&fixture);
    assert_eq!(empty.code().id, "postgres.publication_empty");
    assert!(empty.hint_text().unwrap().contains("ADD TABLE"));
    // A schema without tables yet may get some.
    fixture.sql("CREATE SCHEMA later; ALTER PUBLICATION orders_pub ADD TABLES IN SCHEMA later");
    fixture.open();
}

#[test]
fn a_publication_with_a_name_that_needs_quotes() {
    let fixture = Fixture::new(DDL).with(json!({"publication_name": "it's \"Mine\", too"}));
    fixture.sql("CREATE PUBLICATION \"it's \"\"Mine\"\", too\" FOR TABLE t");
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1)");
    assert_eq!(fixture.open().changes(), ["c t id=1"]);
}

#[test]
fn a_publication_dropped_under_the_stream() {
    let fixture = Fixture::new(DDL).with(json!({"idle_timeout": "20s"}));
    fixture.capture();
    let mut stream = fixture.open();
    fixture.sql("DROP PUBLICATION pub; INSERT INTO t VALUES (1)");
    let error = loop {
        if let Err(error) = stream.try_next() {
            break error;
        }
    };
    assert_eq!((error.code().id, error.retry()), ("postgres.publication_gone", Retry::Operator));
}

#[test]
fn all_connections_in_use() {
    let settings = [("max_connections", "4"), ("superuser_reserved_connections", "0"), ("max_wal_senders", "1")];
    let settings = settings.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec();
    let server = Postgres::start(PostgresOptions { settings, ..PostgresOptions::default() });
    let fixture = Fixture::on_server(&server, DDL);
    fixture.capture();
    let _stream = fixture.open();
    // The only replication session is in use.
    let second = fixture.try_open(None).err().unwrap();
    assert_eq!((second.code().id, second.retry()), ("postgres.too_many_connections", Retry::Backoff));
}
