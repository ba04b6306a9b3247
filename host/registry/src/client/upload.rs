//! The requests of a push, each of which can be made again.

use super::retry::Failure;
use super::session::{Ask, Session};
use crate::artifact::MANIFEST;
use crate::digest::{Digest, shown};
use crate::fault::{DIGEST_MISMATCH, MALFORMED};
use bytes::Bytes;
use faucet_core::error::Error;
use reqwest::header::LOCATION;
use reqwest::{Method, StatusCode};

/// Puts a blob into the repository, unless it is there: a POST that opens an upload and a PUT that sends it whole.
pub(super) async fn blob(session: &Session<'_>, bytes: &Bytes) -> Result<(), Failure> {
    let digest = Digest::of(bytes);
    let there = session.send(&Ask::new(Method::HEAD, session.url(&format!("blobs/{digest}")))).await?;
    match there.status() {
        status if status.is_success() => return Ok(()),
        StatusCode::NOT_FOUND => {}
        _ => return Err(session.refusal(there).await),
    }
    let open = Ask::new(Method::POST, session.url("blobs/uploads/")).body("application/octet-stream", Bytes::new());
    let opened = session.call(&open).await?;
    let place = opened.headers().get(LOCATION).and_then(|place| place.to_str().ok());
    let place = place.ok_or_else(|| Error::new(&MALFORMED, "the registry opens an upload and does not say where"))?;
    let mut url = session.location(place)?;
    url.query_pairs_mut().append_pair("digest", &digest.to_string());
    let sent = Ask::new(Method::PUT, url).body("application/octet-stream", bytes.clone());
    session.call(&sent).await.map(drop)
}

/// Puts the manifest under the tag and returns its digest, which the registry has to agree with.
pub(super) async fn manifest(session: &Session<'_>, tag: &str, bytes: &Bytes) -> Result<Digest, Failure> {
    let url = session.url(&format!("manifests/{tag}"));
    let answer = session.call(&Ask::new(Method::PUT, url).body(MANIFEST, bytes.clone())).await?;
    let digest = Digest::of(bytes);
    let said = answer.headers().get("docker-content-digest").and_then(|said| said.to_str().ok());
    match said.filter(|said| *said != digest.to_string()) {
        None => Ok(digest),
        Some(other) => {
            let what = format!("the registry took the manifest {digest} for {}", shown(other));
            Err(Failure::Final(Error::new(&DIGEST_MISMATCH, what)))
        }
    }
}
