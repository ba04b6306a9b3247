//! HTTP: who may be spoken to, and how long, how often and how much.

use crate::lair::{
    apply, assert_host_is_well, assert_tells, first_text, http, load, page, plain_page, probe, prober, said, spec,
};
use crate::server::{Server, drip, endlessly, redirect, respond};
use faucet_core::error::Error;
use faucet_wasm::{Limits, PluginSpec};
use serde_json::{Value, json};
use std::io::Write;
use std::time::{Duration, Instant};

/// The deadline of a call in these tests, in milliseconds.
const DEADLINE: u32 = 600;

fn limited(hosts: &[&str], limits: Limits) -> PluginSpec {
    PluginSpec { limits, ..prober(http(hosts)) }
}

fn patient() -> Limits {
    Limits { deadline_ms: Some(30_000), ..Limits::default() }
}

fn get(url: &str) -> Value {
    json!({ "do": "get", "url": url })
}

/// The request is not sent, and the error says which line of the configuration is about it.
fn assert_refused(spec: &PluginSpec, config: Value, hint: &str) -> Error {
    let error = probe(spec, config).unwrap_err();
    assert_tells(&error, "plugin.failed", "apply");
    assert!(error.hint_text().is_some_and(|said| said.contains(hint)), "{error:?} should hint at {hint}");
    error
}

#[test]
fn a_granted_host_answers() {
    let server = Server::of("hello");
    let seen = probe(&limited(&[&server.address()], patient()), get(&server.url("/a?b=1"))).unwrap();
    assert!(seen.starts_with("200\n") && seen.ends_with("\n\nhello"), "{seen}");
    let head = server.seen().remove(0);
    assert!(head.starts_with("GET /a?b=1 HTTP/1.1\r\n"), "{head}");
    assert!(
        head.contains(&format!("host: {}\r\n", server.address())) && head.contains("user-agent: faucet/"),
        "{head}"
    );
}

#[test]
fn no_other_host_is_spoken_to() {
    let (granted, other) = (Server::of("mine"), Server::of("not mine"));
    let wanted = format!("{} is not granted: add it to plugins.villain.grants.http", other.address());
    assert_refused(&prober(http(&[])), get(&other.url("/")), &wanted);
    assert_refused(&prober(http(&[&granted.address()])), get(&other.url("/")), &wanted);
    let spec = prober(http(&["api.example.com", "*.example.com:443"]));
    for url in ["http://api.example.com/", "https://example.com/", "https://api.example.com.evil.invalid/"] {
        assert_refused(&spec, get(url), "is not granted: add it to plugins.villain.grants.http");
    }
    assert_eq!(other.seen(), [""; 0]);
    assert_host_is_well();
}

/// A `*` means hosts that everybody can reach. However this machine, a private network or the place where clouds hand
/// out credentials is spelled: it is refused before a connection is made.
#[test]
fn a_star_means_no_private_address() {
    let server = Server::of("private");
    let spellings = [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.0.0.1.",
        "localhost",
        "LOCALHOST.",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
    ];
    let spec = limited(&["*"], patient());
    for host in spellings {
        let hint =
            "is not a public address: if that is meant, add its address or network to plugins.villain.grants.http";
        assert_refused(&spec, get(&server.url_at(host, "/")), hint);
    }
    assert_eq!(server.seen(), [""; 0]);
    assert_host_is_well();
}

/// A name is looked up once and the connection is made to what was found, so that it can't be one address when it is
/// checked and another when it is used. That the check is about what was found is seen here: the name alone opens nothing.
#[test]
fn a_name_leads_to_a_private_address_only_if_that_is_granted_too() {
    let server = Server::of("hello");
    let (name, url) = (server.address_at("localhost"), server.url_at("localhost", "/"));
    assert_refused(&limited(&[&name], patient()), get(&url), "localhost is not a public address");
    assert_eq!(server.seen(), [""; 0]);
    let seen = probe(&limited(&[&name, "127.0.0.0/8"], patient()), get(&url)).unwrap();
    assert!(seen.ends_with("hello"), "{seen}");
    assert_refused(&limited(&["127.0.0.0/8"], patient()), get(&url), "is not granted");
}

#[test]
fn a_redirect_is_another_request() {
    let hidden = Server::of("hidden");
    let to = hidden.url("/secret");
    let lures = Server::new(move |_, stream| redirect(stream, &to));
    let follow = json!({ "do": "follow", "url": lures.url("/") });
    assert_refused(&prober(http(&[&lures.address()])), follow.clone(), "is not granted");
    assert_eq!(hidden.seen(), [""; 0]);
    let seen = probe(&limited(&[&lures.address(), &hidden.address()], patient()), follow).unwrap();
    assert!(seen.ends_with("hidden"), "{seen}");
}

#[test]
fn credentials_in_a_url_and_headers_of_the_connection_are_not_sent() {
    let server = Server::of("hello");
    let spec = prober(http(&[&server.address()]));
    let error = probe(&spec, get(&server.url_at("me:secret@127.0.0.1", "/"))).unwrap_err();
    assert_tells(&error, "plugin.failed", "apply");
    for name in ["host", "transfer-encoding", "connection", "upgrade"] {
        let config = json!({ "do": "get", "url": server.url("/"), "headers": { name: "x" } });
        let error = probe(&spec, config).unwrap_err();
        assert!(error.to_string().contains("a header of the request is not allowed"), "{name}: {error}");
    }
    assert_eq!(server.seen(), [""; 0]);
}

#[test]
fn an_answer_ends_at_its_limit() {
    let server = Server::of(vec![b'x'; 3 << 20]);
    let size = json!({ "do": "size", "url": server.url("/") });
    let spec = |http_response_mb| limited(&[&server.address()], Limits { http_response_mb, ..patient() });
    let hint = "the answer is larger than 1 MiB: raise plugins.villain.limits.http_response_mb";
    let error = assert_refused(&spec(1), size.clone(), hint);
    assert!(said(&error).len() < 2000 && !said(&error).contains("wasmtime"), "{error:?}");
    assert_eq!(probe(&spec(4), size).unwrap(), (3 << 20).to_string());
    assert_host_is_well();
}

#[test]
fn a_flood_of_requests_meets_its_limit() {
    let server = Server::of("hello");
    let few = Limits { http_requests_per_minute: 4, ..patient() };
    let plugin = load(&limited(&[&server.address()], few)).unwrap();
    let mut flood = plugin.open(json!({ "do": "flood", "url": server.url("/"), "count": 10 })).unwrap();
    let out = apply(&mut flood, plain_page()).unwrap();
    let seen = first_text(&out);
    assert_eq!(seen, "4 the request is not allowed: the host's log says why");
    let error = apply(&mut plugin.open(get(&server.url("/"))).unwrap(), plain_page()).unwrap_err();
    assert_tells(&error, "plugin.failed", "apply");
    let hint = "more than 4 HTTP requests within a minute: raise plugins.villain.limits.http_requests_per_minute";
    assert_eq!(error.hint_text(), Some(hint), "all instances of a plugin share the minute");
    assert_eq!(server.seen().len(), 4);
    assert_host_is_well();
}

#[test]
fn requests_leave_no_handles_behind() {
    let server = Server::of("hello");
    let many = Limits { http_requests_per_minute: 1_000_000, ..patient() };
    let spec = limited(&[&server.address()], many);
    let config = |url: &str| json!({ "do": "flood", "url": url, "count": 1500, "timeout_ms": 10_000 });
    assert_eq!(probe(&spec, config(&server.url("/"))).unwrap(), "1500 ");
    let refused = probe(&spec, config("http://elsewhere.invalid/")).unwrap();
    assert!(refused.starts_with("0 the request is not allowed"), "{refused}");
}

/// Runs a request that the other end never finishes, and looks at when and how it ends.
fn assert_ends_in_time(server: &Server, config: Value) {
    let start = Instant::now();
    let limits = Limits { deadline_ms: Some(DEADLINE), ..Limits::default() };
    let error = probe(&limited(&[&server.address()], limits), config).unwrap_err();
    let took = start.elapsed();
    let ended = ["plugin.unavailable", "plugin.deadline"].contains(&error.code().id);
    assert!(ended && error.to_string().contains(" in 'apply'"), "{error:?}");
    // Loading is part of it, and a page that meets its deadline is tried twice.
    assert!(took < Duration::from_millis(10 * u64::from(DEADLINE)), "{took:?}: {error}");
    assert_host_is_well();
}

#[test]
fn a_server_that_is_slow_on_purpose_is_not_waited_for() {
    let silent = Server::silent();
    assert_ends_in_time(&silent, get(&silent.url("/")));
    let head = Server::new(|_, stream| drip(stream, &format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(1000))));
    assert_ends_in_time(&head, get(&head.url("/")));
    let body = Server::new(|_, stream| {
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")?;
        drip(stream, &"x".repeat(1000))
    });
    assert_ends_in_time(&body, get(&body.url("/")));
}

#[test]
fn an_answer_without_end_has_one() {
    let promises = Server::new(|_, stream| endlessly(stream, "HTTP/1.1 100 Continue\r\n\r\n"));
    assert_ends_in_time(&promises, get(&promises.url("/")));
    let crumbs = Server::new(|_, stream| {
        write!(stream, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")?;
        endlessly(stream, "1\r\nx\r\n")
    });
    assert_ends_in_time(&crumbs, get(&crumbs.url("/")));
    let headers = Server::new(|_, stream| {
        write!(stream, "HTTP/1.1 200 OK\r\n")?;
        endlessly(stream, &format!("x: {}\r\n", "y".repeat(1000)))
    });
    assert_ends_in_time(&headers, get(&headers.url("/")));
}

#[test]
fn a_server_that_reads_nothing_is_not_written_to_for_ever() {
    let post = |server: &Server| json!({ "do": "post", "url": server.url("/"), "bytes": 20 << 20 });
    let silent = Server::silent();
    assert_ends_in_time(&silent, post(&silent));
    let early = Server::new(|_, stream| {
        respond(stream, b"enough")?;
        std::thread::sleep(Duration::from_secs(60));
        Ok(())
    });
    assert_ends_in_time(&early, post(&early));
}

#[test]
fn a_guest_may_wait_for_less() {
    let silent = Server::silent();
    let start = Instant::now();
    let config = json!({ "do": "get", "url": silent.url("/"), "timeout_ms": 100 });
    let error = probe(&limited(&[&silent.address()], patient()), config).unwrap_err();
    assert_tells(&error, "plugin.unavailable", "apply");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn what_is_no_answer_can_be_tried_again() {
    let noise = Server::new(|_, stream| stream.write_all(b"SSH-2.0 hello\r\n\r\n"));
    let gone = Server::new(|_, _| Ok(()));
    let cut = Server::new(|_, stream| write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nshort"));
    for server in [noise, gone, cut] {
        let error = probe(&limited(&[&server.address()], patient()), get(&server.url("/"))).unwrap_err();
        assert_tells(&error, "plugin.unavailable", "apply");
    }
    for url in ["http://127.0.0.1:1/", "http://nowhere.invalid/"] {
        let spec = limited(&["127.0.0.1:1", "nowhere.invalid:80"], patient());
        assert_tells(&probe(&spec, get(url)).unwrap_err(), "plugin.unavailable", "apply");
    }
    assert_host_is_well();
}

#[test]
fn others_go_on_while_one_waits() {
    let silent = Server::silent();
    let limits = Limits { deadline_ms: Some(2_000), ..Limits::default() };
    let waiting = limited(&[&silent.address()], limits);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| probe(&waiting, get(&silent.url("/"))));
        let mut echo = load(&spec("echo.wasm")).unwrap().open(json!("pass")).unwrap();
        while silent.seen().is_empty() {
            std::thread::yield_now();
        }
        let start = Instant::now();
        for _ in 0..100 {
            assert_eq!(apply(&mut echo, page()).unwrap().pages, [page()]);
        }
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        assert!(!waits.is_finished() && waits.join().unwrap().is_err());
    });
}
