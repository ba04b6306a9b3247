//! TLS: whom it trusts, and that no process-wide setting is needed for it.

use crate::access::serve;
use crate::support::scripted::Request;
use crate::support::{anonymous, component, reference};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;

/// Not a local name to faucet, and this machine to the kernel.
const HOST: &str = "0.0.0.0";

/// Set in the process that [`a_certificate_of_a_known_authority_is_trusted`] starts.
const CHILD: &str = "FAUCET_TEST_TLS_PORT";

/// A registry behind TLS with a certificate of its own; the certificate is returned as PEM.
fn secure() -> (u16, String) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed([HOST.to_owned()]).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind((HOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = Arc::new(config);
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let mut connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            answer(&mut rustls::Stream::new(&mut connection, &mut socket));
        }
    });
    (port, cert.pem())
}

fn answer(stream: &mut (impl Read + Write)) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let path = String::from_utf8_lossy(&head).split(' ').nth(1).unwrap_or_default().to_owned();
    let request = Request { method: "GET".to_owned(), path, headers: Vec::new(), body: Vec::new(), before: 0 };
    if let crate::support::scripted::Reply::Bytes(bytes) = serve(&request) {
        let _ = stream.write_all(&bytes);
    }
}

#[tokio::test]
async fn a_certificate_of_nobody_known_is_refused() {
    let (port, _) = secure();
    let error = anonymous().pull(&reference(&format!("{HOST}:{port}/acme/mask:1"))).await.unwrap_err();
    assert_eq!(error.code().id, "registry.tls", "{error}");
    assert!(error.to_string().contains("certificate"), "{error}");
    assert!(!error.contexts().iter().any(|context| context.contains("times")), "it is not tried again");
}

/// The roots of a machine are read from where `SSL_CERT_FILE` says, which is set before a process starts.
#[test]
fn a_certificate_of_a_known_authority_is_trusted() {
    let (port, pem) = secure();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("roots.pem"), pem).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "secure::child", "--nocapture"])
        .env("SSL_CERT_FILE", folder.path().join("roots.pem"))
        .env(CHILD, port.to_string())
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    assert!(String::from_utf8_lossy(&child.stderr).contains("pulled over TLS"));
}

#[tokio::test]
async fn child() {
    let Ok(port) = std::env::var(CHILD) else { return };
    let pulled = anonymous().pull(&reference(&format!("{HOST}:{port}/acme/mask:1"))).await.unwrap();
    assert_eq!(pulled.bytes, component("one"));
    std::io::stderr().write_all(b"pulled over TLS\n").unwrap();
}
