//! A registry, or a network, that breaks off, falls silent, lies or floods.

use crate::access::{manifest, serve};
use crate::support::scripted::{Reply, Request, Scripted, answer, head};
use crate::support::{anonymous, component, everything, options, reference};
use faucet_core::error::{Error, Result};
use faucet_registry::{Client, Credentials, Metadata, Options, Pulled};
use std::time::{Duration, Instant};

/// A registry whose blobs are delivered by `blob`, and whose manifests are right.
fn blobs(blob: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Scripted {
    Scripted::start(move |request, _| if request.path.contains("/blobs/") { blob(request) } else { serve(request) })
}

async fn pull(registry: &Scripted) -> Result<Pulled> {
    anonymous().pull(&reference(&registry.name("acme/mask:1"))).await
}

/// A client that waits for nobody.
fn impatient() -> Client {
    let options = Options { idle_timeout: Duration::from_millis(200), attempts: 2, ..options() };
    Client::new(options, Credentials::anonymous()).unwrap()
}

async fn pull_impatiently(registry: &Scripted) -> (Error, Duration) {
    let start = Instant::now();
    let error = impatient().pull(&reference(&registry.name("acme/mask:1"))).await.unwrap_err();
    (error, start.elapsed())
}

/// The head of an answer that promises the whole component.
fn promise() -> Vec<u8> {
    head(200, &[("Content-Length", &component("one").len().to_string())])
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    let registry = Scripted::start(|request, _| match request.before {
        0 => answer(429, &[("Retry-After", "1")], ""),
        1 => answer(503, &[], ""),
        _ => serve(request),
    });
    let start = Instant::now();
    assert_eq!(pull(&registry).await.unwrap().bytes, component("one"));
    assert_eq!((registry.count("/manifests/"), registry.count("/blobs/")), (3, 3));
    assert!(start.elapsed() >= Duration::from_secs(2), "Retry-After is honoured: {:?}", start.elapsed());
}

#[tokio::test]
async fn what_does_not_pass_is_given_up() {
    let registry = Scripted::start(|_, _| answer(503, &[], r#"{"errors":[{"code":"X","message":"busy"}]}"#));
    let error = pull(&registry).await.unwrap_err();
    assert_eq!((error.code().id, registry.count("/manifests/")), ("registry.unavailable", 3));
    assert!(error.to_string().contains("503 (X: busy)"), "{error}");
}

#[tokio::test]
async fn a_pause_that_is_too_long_is_not_made() {
    let registry = Scripted::start(|_, _| answer(429, &[("Retry-After", "3600")], ""));
    let error = pull(&registry).await.unwrap_err();
    assert_eq!((error.code().id, registry.count("/manifests/")), ("registry.unavailable", 1));
    assert_eq!(error.hint_text(), Some("the registry asks to come back in 3600 s"));
}

#[tokio::test]
async fn what_will_not_pass_is_tried_once() {
    for (status, code) in [(400, "registry.refused"), (404, "registry.not_found"), (403, "registry.unauthorized")] {
        let registry = Scripted::start(move |_, _| answer(status, &[], ""));
        let error = pull(&registry).await.unwrap_err();
        assert_eq!((error.code().id, registry.count("/manifests/")), (code, 1), "{status}");
    }
}

#[tokio::test]
async fn a_blob_that_breaks_off_is_fetched_again() {
    let registry = blobs(|request| match request.before {
        0 => Reply::Bytes([promise(), component("one")[..5].to_vec()].concat()),
        _ => serve(request),
    });
    assert_eq!(pull(&registry).await.unwrap().bytes, component("one"));
    assert_eq!(registry.count("/blobs/"), 2);
}

#[tokio::test]
async fn a_registry_that_dies_in_every_blob_is_unavailable() {
    let registry = blobs(|_| Reply::Bytes([promise(), component("one")[..5].to_vec()].concat()));
    let error = pull(&registry).await.unwrap_err();
    assert_eq!((error.code().id, registry.count("/blobs/")), ("registry.unavailable", 3), "{error}");
}

#[tokio::test]
async fn an_end_that_comes_early_without_a_length_is_noticed() {
    let registry = blobs(|_| Reply::Bytes([head(200, &[]), component("one")[..5].to_vec()].concat()));
    let error = pull(&registry).await.unwrap_err();
    assert_eq!((error.code().id, registry.count("/blobs/")), ("registry.digest_mismatch", 3), "{error}");
}

#[tokio::test]
async fn more_than_the_manifest_says_is_not_read() {
    let flood = blobs(|_| Reply::Endless(head(200, &[])));
    assert_eq!(pull(&flood).await.unwrap_err().code().id, "registry.too_large");
    let longer = blobs(|_| answer(200, &[], [component("one"), vec![0]].concat()));
    assert_eq!(pull(&longer).await.unwrap_err().code().id, "registry.digest_mismatch");
    let liar = blobs(|_| Reply::Endless(head(200, &[("Content-Length", "99999999999")])));
    assert_eq!(pull(&liar).await.unwrap_err().code().id, "registry.digest_mismatch");
}

#[tokio::test]
async fn a_manifest_without_end_is_not_read() {
    let registry = Scripted::start(|_, _| Reply::Endless(head(200, &[])));
    assert_eq!(pull(&registry).await.unwrap_err().code().id, "registry.too_large");
    let registry = Scripted::start(|_, _| Reply::Endless(head(200, &[("Content-Length", "99999999999")])));
    assert_eq!(pull(&registry).await.unwrap_err().code().id, "registry.too_large");
}

#[tokio::test]
async fn the_words_of_a_refusal_are_not_read_without_end() {
    let registry = Scripted::start(|_, _| Reply::Endless(head(400, &[])));
    assert_eq!(pull(&registry).await.unwrap_err().code().id, "registry.refused");
}

#[tokio::test]
async fn a_size_beyond_the_limit_is_refused_before_a_byte_is_read() {
    let registry = Scripted::start(|_, _| answer(200, &[], manifest(&component("one"), (256 << 20) + 1)));
    let error = pull(&registry).await.unwrap_err();
    assert_eq!((error.code().id, registry.count("/blobs/")), ("registry.too_large", 0));
}

#[tokio::test]
async fn silence_ends() {
    let silent: [fn(&Request) -> Reply; 3] = [
        |_| Reply::Hang(Vec::new()),
        |_| Reply::Hang(b"HTTP/1.1 200 x\r\nContent-".to_vec()),
        |_| Reply::Hang([promise(), b"\0asm".to_vec()].concat()),
    ];
    for script in silent {
        let registry = blobs(script);
        let (error, took) = pull_impatiently(&registry).await;
        assert_eq!(error.code().id, "registry.unavailable", "{error}");
        assert!(took < Duration::from_secs(10), "{took:?}");
        assert_eq!(registry.count("/blobs/"), 2);
    }
}

#[tokio::test]
async fn a_trickle_ends() {
    let options = Options { idle_timeout: Duration::from_millis(200), attempts: 1, ..options() };
    let client = Client::new(options, Credentials::anonymous()).unwrap();
    // A blob of a few bytes may take 400 ms; the manifest's bound of 4 MiB would allow more than two minutes.
    let start = Instant::now();
    let slow = blobs(|_| Reply::Trickle(head(200, &[]), Duration::from_millis(100)));
    let error = client.pull(&reference(&slow.name("acme/mask:1"))).await.unwrap_err();
    assert_eq!(error.code().id, "registry.unavailable", "{error}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn what_is_no_registry_is_said_to_be_none() {
    for (body, expected) in [("<html>", "can't be read"), ("{}", "can't be read"), ("", "can't be read")] {
        let registry = Scripted::start(move |_, _| answer(200, &[], body));
        let error = pull(&registry).await.unwrap_err();
        assert_eq!(error.code().id, "registry.malformed");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let registry = Scripted::start(|_, _| Reply::Bytes(b"SSH-2.0-OpenSSH\r\n".to_vec()));
    assert_eq!(pull(&registry).await.unwrap_err().code().id, "registry.unavailable");
}

#[tokio::test]
async fn redirects_in_circles_end() {
    let registry =
        Scripted::start(|_, port| answer(307, &[("Location", &format!("http://127.0.0.1:{port}/again?key=k3y"))], ""));
    let error = pull(&registry).await.unwrap_err();
    assert_eq!(error.code().id, "registry.malformed", "{error}");
    assert!(!everything(&error).contains("k3y"), "{error:?}");
    assert!(registry.count("/again") <= 6);
}

#[tokio::test]
async fn an_upload_to_nowhere_is_an_error() {
    for place in ["", "http://", "\u{e4}", "http://[::"] {
        let registry = Scripted::start(move |request, _| match request.method.as_str() {
            "HEAD" => answer(404, &[], ""),
            "POST" if place.is_empty() => answer(202, &[], ""),
            _ => answer(202, &[("Location", place)], ""),
        });
        let tagged = reference(&registry.name("acme/mask:1"));
        let pushed = anonymous().push(component("one").into(), &tagged, &Metadata::default()).await;
        let code = pushed.unwrap_err().code().id;
        assert!(["registry.malformed", "registry.unavailable"].contains(&code), "{place}: {code}");
    }
}

#[tokio::test]
async fn a_push_begins_again_when_the_upload_breaks_off() {
    let registry = Scripted::start(|request, port| match request.method.as_str() {
        "HEAD" => answer(404, &[], ""),
        "POST" => answer(202, &[("Location", &format!("http://127.0.0.1:{port}/up"))], ""),
        "PUT" if request.path.starts_with("/up") && request.before == 0 => answer(502, &[], ""),
        _ => answer(201, &[], ""),
    });
    let tagged = reference(&registry.name("acme/mask:1"));
    anonymous().push(component("one").into(), &tagged, &Metadata::default()).await.unwrap();
    assert_eq!(registry.count("/up?"), 4, "each of the two blobs twice");
}

#[tokio::test]
async fn a_registry_that_takes_the_manifest_for_another_is_not_believed() {
    let registry = Scripted::start(|request, _| match request.method.as_str() {
        "HEAD" => answer(200, &[], ""),
        _ => answer(201, &[("Docker-Content-Digest", "sha256:00")], ""),
    });
    let tagged = reference(&registry.name("acme/mask:1"));
    let error = anonymous().push(component("one").into(), &tagged, &Metadata::default()).await.unwrap_err();
    assert_eq!(error.code().id, "registry.digest_mismatch", "{error}");
    assert_eq!(registry.count("/uploads/"), 0, "what is there is not sent");
}
