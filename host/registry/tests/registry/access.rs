//! Who is let in, and where passwords and tokens go.

use crate::support::real::{PASSWORD, Registry, USER};
use crate::support::scripted::{Reply, Request, Scripted, answer, head};
use crate::support::{anonymous, component, everything, options, reference, with_password};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use faucet_registry::{Client, Credentials, Digest, Metadata, Options};
use serde_json::json;

/// Credentials out of a docker configuration.
fn with_config(config: &serde_json::Value) -> (tempfile::TempDir, Client) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    let home = folder.path().as_os_str().to_owned();
    let credentials = Credentials::from_variables(|name| (name == "DOCKER_CONFIG").then(|| home.clone())).unwrap();
    (folder, Client::new(options(), credentials).unwrap())
}

#[tokio::test]
async fn a_password_opens_a_real_registry() {
    let registry = Registry::locked();
    let tagged = reference(&registry.name("acme/mask:1.2"));
    let auth = BASE64.encode(format!("{USER}:{PASSWORD}"));
    let (_folder, docker) = with_config(&json!({ "auths": { tagged.registry(): { "auth": auth } } }));
    docker.push(component("one").into(), &tagged, &Metadata::default()).await.unwrap();
    assert_eq!(with_password(USER, PASSWORD).pull(&tagged).await.unwrap().bytes, component("one"));
}

#[tokio::test]
async fn without_the_right_password_it_stays_closed() {
    let registry = Registry::locked();
    let tagged = reference(&registry.name("acme/mask:1.2"));
    let wrong = with_password(USER, "wr0ng-pass");
    for error in [
        wrong.pull(&tagged).await.unwrap_err(),
        wrong.push(component("one").into(), &tagged, &Metadata::default()).await.unwrap_err(),
    ] {
        assert_eq!(error.code().id, "registry.unauthorized", "{error}");
        let encoded = BASE64.encode(format!("{USER}:wr0ng-pass"));
        assert!(!everything(&error).contains("wr0ng-pass") && !everything(&error).contains(&encoded));
    }
    let error = anonymous().pull(&tagged).await.unwrap_err();
    assert_eq!(error.code().id, "registry.unauthorized");
    let hint = error.hint_text().unwrap();
    assert!(hint.contains(&format!("docker login {}", tagged.registry())), "{hint}");
}

#[test]
fn nothing_that_is_printed_holds_a_password() {
    assert!(!format!("{:?}", with_password(USER, PASSWORD)).contains(PASSWORD));
}

/// A registry with a component that wants the token `t0ken` from its own `/token`.
fn token_registry(token: fn(&Request) -> Reply) -> Scripted {
    Scripted::start(move |request, port| {
        if request.path.starts_with("/token") {
            return token(request);
        }
        if request.header("authorization") != Some("Bearer t0ken") {
            let realm = format!("Bearer realm=\"http://127.0.0.1:{port}/token?x=y\",service=\"test registry\"");
            return answer(401, &[("WWW-Authenticate", &realm)], "");
        }
        serve(request)
    })
}

/// The answers of a registry that holds `component("one")` under every tag.
pub fn serve(request: &Request) -> Reply {
    let bytes = component("one");
    if request.path.contains("/manifests/") {
        return answer(200, &[], manifest(&bytes, bytes.len()));
    }
    answer(200, &[], bytes)
}

pub fn manifest(bytes: &[u8], size: usize) -> Vec<u8> {
    let config = json!({ "mediaType": "application/vnd.wasm.config.v0+json", "digest": Digest::of(b"{}"), "size": 2 });
    let layer = json!({ "mediaType": "application/wasm", "digest": Digest::of(bytes), "size": size });
    serde_json::to_vec(&json!({ "schemaVersion": 2, "config": config, "layers": [layer] })).unwrap()
}

#[tokio::test]
async fn a_token_is_fetched_once_with_the_password_and_for_one_repository() {
    let registry = token_registry(|_| answer(200, &[], r#"{"token":"t0ken"}"#));
    let tagged = reference(&registry.name("acme/mask:1"));
    assert_eq!(with_password("u", "p").pull(&tagged).await.unwrap().bytes, component("one"));
    let seen = registry.seen();
    let token: Vec<_> = seen.iter().filter(|request| request.path.starts_with("/token")).collect();
    assert_eq!(token.len(), 1);
    assert_eq!(token[0].path, "/token?x=y&service=test+registry&scope=repository%3Aacme%2Fmask%3Apull");
    assert_eq!(token[0].header("authorization"), Some(format!("Basic {}", BASE64.encode("u:p")).as_str()));
    let shown: Vec<_> = seen.iter().filter_map(|r| r.header("authorization")).collect();
    assert_eq!(shown.iter().filter(|shown| shown.starts_with("Basic")).count(), 1, "the registry itself never sees it");
}

#[tokio::test]
async fn a_token_is_fetched_without_a_password_too() {
    let registry = token_registry(|request| match request.header("authorization") {
        None => answer(200, &[], r#"{"access_token":"t0ken"}"#),
        Some(_) => answer(403, &[], ""),
    });
    let tagged = reference(&registry.name("acme/mask:1"));
    assert_eq!(anonymous().pull(&tagged).await.unwrap().bytes, component("one"));
}

#[tokio::test]
async fn an_identity_token_is_exchanged() {
    let registry = token_registry(|request| {
        let form = String::from_utf8_lossy(&request.body).into_owned();
        let good = request.method == "POST" && form.contains("grant_type=refresh_token&client_id=faucet");
        if good
            && form.ends_with("refresh_token=l0ng%2Blived")
            && form.contains("scope=repository%3Aacme%2Fmask%3Apull")
        {
            return answer(200, &[], r#"{"access_token":"t0ken"}"#);
        }
        answer(400, &[], "")
    });
    let tagged = reference(&registry.name("acme/mask:1"));
    let (_folder, client) = with_config(&json!({ "auths": { tagged.registry(): { "identitytoken": "l0ng+lived" } } }));
    assert_eq!(client.pull(&tagged).await.unwrap().bytes, component("one"));
}

#[tokio::test]
async fn a_token_that_makes_no_sense_is_an_error() {
    type Token = fn(&Request) -> Reply;
    let answers: [(&str, Token, &str); 5] = [
        ("a line break", |_| answer(200, &[], r#"{"token":"s3cr\net"}"#), "registry.malformed"),
        ("no token", |_| answer(200, &[], r#"{"s3cret":1}"#), "registry.malformed"),
        ("no JSON", |_| answer(200, &[], "s3cret"), "registry.malformed"),
        (
            "a refusal",
            |_| answer(401, &[], r#"{"errors":[{"code":"DENIED","message":"not p4ss"}]}"#),
            "registry.unauthorized",
        ),
        ("no end", |_| Reply::Endless(head(200, &[])), "registry.too_large"),
    ];
    for (what, token, code) in answers {
        let registry = token_registry(token);
        let error = with_password("u", "p4ss").pull(&reference(&registry.name("acme/mask:1"))).await.unwrap_err();
        assert_eq!(error.code().id, code, "{what}: {error}");
        assert!(!everything(&error).contains("s3cr") && !everything(&error).contains("p4ss"), "{error:?}");
    }
}

#[tokio::test]
async fn a_refused_token_is_not_asked_for_again_and_again() {
    let registry = token_registry(|_| answer(200, &[], r#"{"token":"0ther"}"#));
    let error = anonymous().pull(&reference(&registry.name("acme/mask:1"))).await.unwrap_err();
    assert_eq!(error.code().id, "registry.unauthorized");
    assert_eq!((registry.count("/token"), registry.count("/manifests/")), (1, 2));
}

#[tokio::test]
async fn a_password_goes_to_no_realm_without_tls() {
    // Not this machine's name, so that the realm counts as far away; nothing is sent there.
    let registry = Scripted::start(|_, _| {
        answer(401, &[("WWW-Authenticate", r#"Bearer realm="http://token.invalid/token""#)], "")
    });
    let error = with_password("u", "p").pull(&reference(&registry.name("acme/mask:1"))).await.unwrap_err();
    assert_eq!(error.code().id, "registry.tls", "{error}");
    assert!(error.to_string().contains("http://token.invalid/token"));
}

#[tokio::test]
async fn a_redirect_gets_the_blob_and_not_the_password() {
    let elsewhere = Scripted::start(|_, _| answer(200, &[], component("one")));
    let port = elsewhere.port;
    let registry = Scripted::start(move |request, _| match request.header("authorization") {
        None => answer(401, &[("WWW-Authenticate", "Basic realm=\"x\"")], ""),
        Some(_) if request.path.contains("/blobs/") => {
            answer(307, &[("Location", &format!("http://127.0.0.1:{port}/signed?key=k3y"))], "")
        }
        Some(_) => serve(request),
    });
    let pulled = with_password("u", "p").pull(&reference(&registry.name("acme/mask:1"))).await.unwrap();
    assert_eq!(pulled.bytes, component("one"));
    assert_eq!(elsewhere.seen().len(), 1);
    assert_eq!(elsewhere.seen()[0].header("authorization"), None);
}

#[tokio::test]
async fn a_place_elsewhere_that_asks_for_a_password_gets_none() {
    // Basic would go to the registry alone in any case; a realm of its own choice is what it could win with.
    let elsewhere = Scripted::start(|_, port| {
        answer(401, &[("WWW-Authenticate", &format!("Bearer realm=\"http://127.0.0.1:{port}/token\""))], "")
    });
    let port = elsewhere.port;
    let registry = Scripted::start(move |request, _| match request.path.contains("/blobs/") {
        true => answer(307, &[("Location", &format!("http://127.0.0.1:{port}/signed?key=k3y"))], ""),
        false => serve(request),
    });
    let error = with_password("u", "p").pull(&reference(&registry.name("acme/mask:1"))).await.unwrap_err();
    assert_eq!(error.code().id, "registry.unauthorized");
    assert!(elsewhere.seen().iter().all(|request| request.header("authorization").is_none()));
    assert_eq!((elsewhere.seen().len(), elsewhere.count("/token")), (1, 0));
    assert!(!everything(&error).contains("k3y"), "{error:?}");
}

#[tokio::test]
async fn an_upload_elsewhere_gets_no_password() {
    let elsewhere = Scripted::start(|_, _| answer(201, &[], ""));
    let port = elsewhere.port;
    let registry =
        Scripted::start(move |request, _| match (request.header("authorization"), request.method.as_str()) {
            (None, _) => answer(401, &[("WWW-Authenticate", "Basic realm=\"x\"")], ""),
            (_, "HEAD") => answer(404, &[], ""),
            (_, "POST") => answer(202, &[("Location", &format!("http://127.0.0.1:{port}/up?a=b"))], ""),
            _ => answer(201, &[], ""),
        });
    let tagged = reference(&registry.name("acme/mask:1"));
    with_password("u", "p").push(component("one").into(), &tagged, &Metadata::default()).await.unwrap();
    let seen = elsewhere.seen();
    assert_eq!((seen.len(), seen[0].body.clone()), (2, component("one")));
    assert!(seen.iter().all(|request| request.method == "PUT" && request.header("authorization").is_none()));
    assert!(seen[0].path.starts_with("/up?a=b&digest=sha256%3A"));
}

#[tokio::test]
async fn an_upload_is_not_redirected() {
    let registry = Scripted::start(|request, port| match request.method.as_str() {
        "HEAD" => answer(404, &[], ""),
        _ => answer(307, &[("Location", &format!("http://127.0.0.1:{port}/elsewhere"))], ""),
    });
    let tagged = reference(&registry.name("acme/mask:1"));
    let error = anonymous().push(component("one").into(), &tagged, &Metadata::default()).await.unwrap_err();
    assert_eq!((error.code().id, registry.count("/elsewhere")), ("registry.refused", 0), "{error}");
}

#[tokio::test]
async fn plain_http_far_away_is_only_spoken_when_asked_for() {
    let registry = Scripted::start(|request, _| serve(request));
    // This machine too, by a name that does not say so.
    let far = reference(&format!("0.0.0.0:{}/acme/mask:1", registry.port));
    let error = anonymous().pull(&far).await.unwrap_err();
    assert_eq!(error.code().id, "registry.tls", "{error}");
    assert!(error.hint_text().unwrap().contains("--plain-http"));
    assert_eq!(registry.count("/v2/"), 0);
    let plain = Client::new(Options { plain_http: true, ..options() }, Credentials::anonymous()).unwrap();
    assert_eq!(plain.pull(&far).await.unwrap().bytes, component("one"));
}
