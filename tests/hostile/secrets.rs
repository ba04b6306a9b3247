//! Secrets: a guest puts them into requests by name, and never sees them.

use crate::lair::{assert_host_is_well, assert_tells, http, probe, prober, said};
use crate::server::Server;
use faucet_wasm::{Grants, PluginSpec};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const VALUE: &str = "s3cr3t/value";

/// The prober, granted the secret `key` of two, and these hosts.
fn keeper(hosts: &[&str]) -> PluginSpec {
    let values = [("key", VALUE), ("other", "not this one")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let grants = Grants { secrets: vec!["key".to_owned()], ..http(hosts) };
    PluginSpec { secrets: BTreeMap::from(values), ..prober(grants) }
}

fn with_header(url: &str, value: &str) -> Value {
    json!({ "do": "get", "url": url, "headers": { "authorization": value } })
}

#[test]
fn a_guest_sees_the_names_of_what_is_granted() {
    assert_eq!(probe(&keeper(&[]), json!({ "do": "secrets" })).unwrap(), "key");
    assert_eq!(probe(&prober(http(&[])), json!({ "do": "secrets" })).unwrap(), "");
}

#[test]
fn the_host_puts_the_value_where_the_name_stands() {
    let server = Server::of("thanks");
    let spec = keeper(&[&server.address()]);
    for (value, sent) in [
        ("Bearer ${secret:key}", "authorization: Bearer s3cr3t/value\r\n"),
        ("Basic ${basic:me:key}", "authorization: Basic bWU6czNjcjN0L3ZhbHVl\r\n"),
        ("${key} ${env:PATH} $key", "authorization: ${key} ${env:PATH} $key\r\n"),
    ] {
        let seen = probe(&spec, with_header(&server.url("/"), value)).unwrap();
        assert!(!seen.contains("s3cr3t"), "{seen}");
        assert!(server.seen().last().unwrap().contains(sent), "{:?}", server.seen());
    }
    for placeholder in ["${secret:key}", "$%7Bsecret:key%7D"] {
        probe(&spec, json!({ "do": "get", "url": server.url(&format!("/a?k={placeholder}&x=1")) })).unwrap();
        assert!(
            server.seen().last().unwrap().starts_with("GET /a?k=s3cr3t%2Fvalue&x=1 HTTP/1.1"),
            "encoded as a value"
        );
    }
}

#[test]
fn what_is_not_granted_is_not_sent() {
    let server = Server::of("thanks");
    let spec = keeper(&[&server.address()]);
    for config in [
        with_header(&server.url("/"), "Bearer ${secret:other}"),
        with_header(&server.url("/"), "Bearer ${secret:nothing}"),
        json!({ "do": "get", "url": server.url("/?k=${secret:other}") }),
    ] {
        let error = probe(&spec, config).unwrap_err();
        assert_tells(&error, "plugin.failed", "apply");
        assert!(error.hint_text().unwrap().contains("plugins.villain.grants.secrets"), "{error:?}");
    }
    assert_eq!(server.seen(), [""; 0]);
    assert_host_is_well();
}

/// A secret goes to the hosts that are granted, and not into the name of one.
#[test]
fn a_secret_goes_nowhere_else() {
    let spec = keeper(&["127.0.0.1:1"]);
    for url in ["http://elsewhere.invalid/?k=${secret:key}", "http://${secret:key}.elsewhere.invalid/"] {
        let error = probe(&spec, with_header(url, "${secret:key}")).unwrap_err();
        assert_tells(&error, "plugin.failed", "apply");
        assert!(!said(&error).contains("s3cr3t"), "{error:?}");
    }
    let error = probe(&spec, with_header("http://127.0.0.1:1/?k=${secret:key}", "${secret:key}")).unwrap_err();
    assert_tells(&error, "plugin.unavailable", "apply");
    assert!(!said(&error).contains("s3cr3t"), "{error:?}");
    let quietly = json!({ "do": "get-quietly", "url": "http://127.0.0.1:1/?k=${secret:key}" });
    let seen = probe(&spec, quietly).unwrap();
    assert!(!seen.contains("s3cr3t"), "{seen}");
}

#[test]
fn a_secret_makes_no_second_header() {
    let server = Server::of("thanks");
    let secrets = BTreeMap::from([("key".to_owned(), "a\r\nx-more: 1".to_owned())]);
    let spec = PluginSpec { secrets, ..keeper(&[&server.address()]) };
    let error = probe(&spec, with_header(&server.url("/"), "${secret:key}")).unwrap_err();
    assert_tells(&error, "plugin.failed", "apply");
    assert!(error.hint_text().unwrap().contains("holds characters that a header can't"), "{error:?}");
    assert!(!said(&error).contains("x-more"), "{error:?}");
    assert_eq!(server.seen(), [""; 0]);
}
