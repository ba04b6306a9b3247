//! Every `sslmode` against servers with and without TLS, for ordinary sessions and streams alike.

use super::Fixture;
use faucet_connectors::postgres::{ConnectionUrl, Endpoint, TlsConfig};
use faucet_core::error::Result;
use faucet_tests::tls::Authority;
use faucet_tests::{Postgres, PostgresOptions, Scratch, runtime, shared_postgres};
use serde_json::{Value, json};
use std::path::PathBuf;

const DDL: &str = "CREATE TABLE t (id int PRIMARY KEY)";

struct Secured {
    server: Postgres,
    files: Scratch,
    authority: Authority,
}

/// A server with a certificate for `names`.
fn secured(names: &[&str], change: impl Fn(&Authority, &mut PostgresOptions)) -> Secured {
    let authority = Authority::new("Test CA");
    let mut options = PostgresOptions { tls: Some(authority.server(names)), ..PostgresOptions::default() };
    change(&authority, &mut options);
    let files = Scratch::new("tls");
    files.write("ca.pem", authority.certificate());
    files.write("other.pem", Authority::new("Other CA").certificate());
    Secured { server: Postgres::start(options), files, authority }
}

impl Secured {
    fn file(&self, name: &str) -> String {
        self.files.path().join(name).display().to_string()
    }

    /// What connecting to `host` with these parameters gives: `tls`, `plain`, or the error's code.
    fn outcome(&self, host: &str, parameters: &str) -> String {
        let (password, port) = (self.server.password(), self.server.port());
        let url = format!("postgres://postgres:{password}@{host}:{port}/postgres?{parameters}");
        outcome(&url, None)
    }
}

fn outcome(url: &str, tls: Option<&TlsConfig>) -> String {
    let session = session(url, tls);
    session.unwrap_or_else(|error| error.code().id.to_owned())
}

fn session(url: &str, tls: Option<&TlsConfig>) -> Result<String> {
    let endpoint = Endpoint::new(&ConnectionUrl::new(url), tls)?;
    runtime::wait(async move {
        let session = endpoint.connect("test").await?;
        let sql = "SELECT CASE WHEN ssl THEN 'tls' ELSE 'plain' END FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        Ok(session.query_one(sql, &[]).await.unwrap().get(0))
    })
}

/// Whether the stream's own session is encrypted, or the error's code.
fn stream(server: &Postgres, parameters: &str, more: Value) -> String {
    let fixture = Fixture::on_server(server, DDL);
    let url = format!("{}?{parameters}", fixture.database.url());
    let fixture = fixture.with(json!({"connection_url": url})).with(more);
    if !super::connector().validate(&fixture.config).is_empty() {
        return "postgres.url_invalid".to_owned();
    }
    let mut stream = match fixture.try_open(None) {
        Ok(stream) => stream,
        Err(error) => return error.code().id.to_owned(),
    };
    let sql = "SELECT string_agg(DISTINCT CASE WHEN ssl THEN 'tls' ELSE 'plain' END, '+') FROM pg_stat_ssl \
               JOIN pg_stat_activity USING (pid) WHERE application_name = 'faucet:test'";
    let how = fixture.client().one(sql);
    fixture.sql("INSERT INTO t VALUES (1)");
    assert_eq!(stream.changes(), ["c t id=1"]);
    stream.close();
    how
}

#[test]
fn each_mode_against_a_server_with_tls() {
    let secured = secured(&["127.0.0.1"], |_, _| {});
    let (ca, other) = (secured.file("ca.pem"), secured.file("other.pem"));
    let failed = "postgres.tls_failed";
    for (parameters, expected) in [
        ("sslmode=disable".to_owned(), "plain"),
        ("sslmode=allow".to_owned(), "plain"),
        ("sslmode=prefer".to_owned(), "tls"),
        (String::new(), "tls"),
        ("sslmode=require".to_owned(), "tls"),
        // With a root certificate, libpq checks it in every mode; `prefer` then goes on without TLS.
        (format!("sslmode=require&sslrootcert={ca}"), "tls"),
        (format!("sslmode=require&sslrootcert={other}"), failed),
        (format!("sslmode=prefer&sslrootcert={other}"), "plain"),
        ("sslmode=verify-ca".to_owned(), "postgres.url_invalid"),
        (format!("sslmode=verify-ca&sslrootcert={ca}"), "tls"),
        (format!("sslmode=verify-ca&sslrootcert={other}"), failed),
        ("sslmode=verify-full".to_owned(), failed),
        (format!("sslmode=verify-full&sslrootcert={ca}"), "tls"),
        (format!("sslmode=verify-full&sslrootcert={other}"), failed),
        ("sslrootcert=system".to_owned(), failed),
        ("sslmode=verify-ca&sslrootcert=/no/such/file".to_owned(), failed),
        ("sslmode=require&channel_binding=require".to_owned(), "tls"),
        ("sslmode=disable&channel_binding=require".to_owned(), "postgres.auth_failed"),
    ] {
        assert_eq!(secured.outcome("127.0.0.1", &parameters), expected, "session, {parameters}");
        assert_eq!(stream(&secured.server, &parameters, json!({})), expected, "stream, {parameters}");
    }
    // The certificate names an address, not this name.
    assert_eq!(secured.outcome("localhost", &format!("sslmode=verify-full&sslrootcert={ca}")), failed);
    assert_eq!(secured.outcome("localhost", &format!("sslmode=verify-ca&sslrootcert={ca}")), "tls");
    // The block stands in for the URL's parameters.
    let block = json!({"tls": {"mode": "verify-full", "ca_cert_path": ca}});
    assert_eq!(stream(&secured.server, "", block), "tls");
    assert_eq!(stream(&secured.server, "", json!({"tls": {"ca_cert_path": other}})), failed);
}

#[test]
fn each_mode_against_a_server_without_tls() {
    let server = shared_postgres();
    for (mode, expected) in [
        ("disable", "plain"),
        ("allow", "plain"),
        ("prefer", "plain"),
        ("require", "postgres.tls_failed"),
        ("verify-full", "postgres.tls_failed"),
    ] {
        let url = format!("{}?sslmode={mode}", server.url("postgres"));
        assert_eq!(outcome(&url, None), expected, "{mode}");
    }
}

#[test]
fn a_server_that_insists_on_tls_gets_it_in_every_mode_but_disable() {
    let secured = secured(&["127.0.0.1"], |_, options| options.require_tls = true);
    assert_eq!(secured.outcome("127.0.0.1", "sslmode=disable"), "postgres.auth_failed");
    for mode in ["allow", "prefer", "require"] {
        assert_eq!(secured.outcome("127.0.0.1", &format!("sslmode={mode}")), "tls", "{mode}");
    }
}

#[test]
fn a_client_certificate_is_shown() {
    let secured = secured(&["127.0.0.1"], |authority, options| {
        options.client_authority = Some(authority.certificate());
    });
    let client = secured.authority.client("postgres");
    secured.files.write("client.pem", &client.certificate);
    secured.files.write("client.key", &client.key);
    let rules = "hostssl all all 127.0.0.1/32 cert\n";
    std::fs::write(secured.server.data_dir().join("pg_hba.conf"), rules).unwrap();
    let mut server = secured.server;
    server.restart();
    let file = |name: &str| secured.files.path().join(name);
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    let (certificate, key) = (file("client.pem").display().to_string(), file("client.key").display().to_string());
    assert_eq!(outcome(&format!("{url}?sslmode=require&sslcert={certificate}&sslkey={key}"), None), "tls");
    assert_eq!(outcome(&format!("{url}?sslmode=require"), None), "postgres.auth_failed");
    let block = TlsConfig {
        client_cert_path: Some(PathBuf::from(&certificate)),
        client_key_path: Some(PathBuf::from(&key)),
        ca_cert_path: Some(file("ca.pem").display().to_string()),
        ..TlsConfig::default()
    };
    assert_eq!(outcome(&url, Some(&block)), "tls");
}

#[test]
fn a_self_signed_certificate_is_trusted_when_it_is_the_root() {
    // As the server's manual makes one: no alternative names, the host in the common name.
    let files = Scratch::new("self-signed");
    let path = |name: &str| files.path().join(name).display().to_string();
    let made = std::process::Command::new("openssl")
        .args(["req", "-new", "-x509", "-days", "30", "-nodes", "-subj", "/CN=localhost", "-newkey", "rsa:2048"])
        .args(["-out", &path("server.crt"), "-keyout", &path("server.key")])
        .output();
    assert!(made.expect("openssl is installed").status.success());
    let identity = faucet_tests::tls::Identity { certificate: files.read("server.crt"), key: files.read("server.key") };
    let server = Postgres::start(PostgresOptions { tls: Some(identity), ..PostgresOptions::default() });
    let url = |host: &str, mode: &str| {
        let (password, port, root) = (server.password(), server.port(), path("server.crt"));
        format!("postgres://postgres:{password}@{host}:{port}/postgres?sslmode={mode}&sslrootcert={root}")
    };
    assert_eq!(outcome(&url("localhost", "verify-full"), None), "tls");
    assert_eq!(outcome(&url("127.0.0.1", "verify-ca"), None), "tls");
    let error = session(&url("127.0.0.1", "verify-full"), None).unwrap_err();
    assert!(error.to_string().ends_with("the server's certificate is for localhost, not for this host"), "{error}");
}
