//! Names of components in registries.

use crate::digest::{Digest, shown};
use crate::fault::BAD_REFERENCE;
use faucet_core::error::{Error, Result};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// What a good one looks like, for hints.
const EXAMPLE: &str = "write it like ghcr.io/acme/mask:1.2 or ghcr.io/acme/mask:1.2@sha256:…";

/// Longest repository that registries take, of the distribution specification.
const LONGEST_REPOSITORY: usize = 255;

/// Longest tag, of the distribution specification.
const LONGEST_TAG: usize = 128;

/// Which component in which registry: `registry[:port]/repository` with a tag, a digest, or both.
///
/// Nothing is assumed: a registry is named, and so is a tag or a digest. The grammar is that of the OCI distribution
/// specification; a digest is always a SHA-256.
///
/// ```
/// use faucet_registry::Reference;
/// let reference: Reference = "ghcr.io/acme/mask:1.2".parse().unwrap();
/// assert_eq!(reference.registry(), "ghcr.io");
/// assert_eq!(reference.repository(), "acme/mask");
/// assert_eq!(reference.tag(), Some("1.2"));
/// assert_eq!(reference.digest(), None);
///
/// let error = "mask:1".parse::<Reference>().unwrap_err();
/// assert_eq!(error.to_string(), "'mask:1' names no registry, and there is no default one");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    registry: String,
    repository: String,
    tag: Option<String>,
    digest: Option<Digest>,
}

impl Reference {
    /// Host and port, as written.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The repository in the registry.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// The tag, if there is one.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The digest of the manifest, if it is pinned.
    pub fn digest(&self) -> Option<Digest> {
        self.digest
    }

    /// The same name pinned to `digest`, which replaces one that is there.
    #[must_use]
    pub fn pinned(&self, digest: Digest) -> Self {
        Self { digest: Some(digest), ..self.clone() }
    }

    /// Whether the registry is this machine: `localhost`, `127.0.0.0/8` or `[::1]`.
    pub fn is_local(&self) -> bool {
        let host = host_of(&self.registry);
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Host and port that serve the API. Docker Hub goes by another name than its own.
    pub(crate) fn api(&self) -> &str {
        match self.registry.as_str() {
            "docker.io" | "index.docker.io" => "registry-1.docker.io",
            other => other,
        }
    }

    /// What stands in the path of a manifest: the tag, or the digest where there is none.
    pub(crate) fn version(&self) -> String {
        let digest = || self.digest.map(|digest| digest.to_string());
        self.tag.clone().or_else(digest).expect("parsing asks for a tag or a digest")
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        match &self.digest {
            Some(digest) => write!(f, "@{digest}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Reference {
    type Err = Error;

    /// # Errors
    /// `registry.bad_reference`, with what is wrong and an example.
    fn from_str(text: &str) -> Result<Self> {
        parse(text).map_err(|why| Error::new(&BAD_REFERENCE, format!("'{}' {why}", shown(text))).hint(EXAMPLE))
    }
}

/// The parts of a reference, or what is wrong with it.
fn parse(text: &str) -> Result<Reference, String> {
    if let Some((scheme, _)) = text.split_once("://") {
        return Err(format!("begins with '{scheme}://'; leave that out"));
    }
    let (name, digest) = match text.split_once('@') {
        None => (text, None),
        Some((name, digest)) => (name, Some(digest.parse::<Digest>().map_err(|e| format!("can't be read: {e}"))?)),
    };
    let (registry, path) = name.split_once('/').filter(|(first, _)| names_a_host(first)).ok_or_else(no_registry)?;
    check_registry(registry)?;
    let (repository, tag) = match path.split_once(':') {
        None => (path, None),
        Some((repository, tag)) => (repository, Some(tag)),
    };
    check_repository(repository)?;
    tag.map_or(Ok(()), check_tag)?;
    if tag.is_none() && digest.is_none() {
        return Err("names no version, and there is no default tag".to_owned());
    }
    let (registry, repository) = (registry.to_ascii_lowercase(), repository.to_owned());
    Ok(Reference { registry, repository, tag: tag.map(str::to_owned), digest })
}

fn no_registry() -> String {
    "names no registry, and there is no default one".to_owned()
}

/// Whether the first part of a name is a host and not the first part of a repository; the rule of docker.
fn names_a_host(first: &str) -> bool {
    first == "localhost" || first.contains(['.', ':'])
}

/// A registry without its port.
fn host_of(registry: &str) -> &str {
    match registry.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => host,
        _ => registry,
    }
}

fn check_registry(registry: &str) -> Result<(), String> {
    let host = host_of(registry);
    let port = registry.strip_prefix(host).and_then(|rest| rest.strip_prefix(':'));
    if port.is_some_and(|port| !matches!(port.parse::<u16>(), Ok(1..)) || port.starts_with('+')) {
        return Err("has a port that is no number from 1 to 65535".to_owned());
    }
    let label = |label: &str| {
        let inside = label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        !label.is_empty() && inside && !label.starts_with('-') && !label.ends_with('-')
    };
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let good = match address {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => host.split('.').all(label),
    };
    if good { Ok(()) } else { Err(format!("has the registry '{}', which is no host name", shown(registry))) }
}

/// Parts of lower-case letters and digits, with `.`, `_`, `__` or hyphens inside.
fn check_repository(repository: &str) -> Result<(), String> {
    if repository.bytes().any(|b| b.is_ascii_uppercase()) {
        return Err("has upper-case letters in the repository; registries take lower case alone".to_owned());
    }
    if repository.len() > LONGEST_REPOSITORY {
        return Err(format!("has a repository of more than {LONGEST_REPOSITORY} characters"));
    }
    if repository.split('/').all(is_repository_part) {
        return Ok(());
    }
    Err("has a repository that is not made of lower-case letters, digits and single '.', '_', '-' between them"
        .to_owned())
}

fn is_repository_part(part: &str) -> bool {
    let alphanumeric = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let separators = part.split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let ends = part.bytes().next().is_some_and(alphanumeric) && part.bytes().next_back().is_some_and(alphanumeric);
    ends && separators.into_iter().all(|s| matches!(s, "" | "." | "_" | "__") || s.bytes().all(|b| b == b'-'))
}

fn check_tag(tag: &str) -> Result<(), String> {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let starts = tag.bytes().next().is_some_and(word);
    if starts && tag.len() <= LONGEST_TAG && tag.bytes().all(|b| word(b) || b == b'.' || b == b'-') {
        return Ok(());
    }
    Err(format!(
        "has a tag that is not 1 to {LONGEST_TAG} letters, digits, '_', '.' and '-', beginning with none of the last two"
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEX: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn read(text: &str) -> Reference {
        text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn parts_are_found() {
        let all = read(&format!("localhost:5000/a/b_c/d__e-f.g:1.2-rc.1@{HEX}"));
        assert_eq!((all.registry(), all.repository()), ("localhost:5000", "a/b_c/d__e-f.g"));
        assert_eq!((all.tag(), all.digest().unwrap().to_string().as_str()), (Some("1.2-rc.1"), HEX));
        let pinned = read(&format!("[::1]:5000/mask@{HEX}"));
        assert_eq!((pinned.registry(), pinned.tag()), ("[::1]:5000", None));
        assert_eq!(read("GHCR.io/acme/mask:A").registry(), "ghcr.io");
        assert_eq!(read("docker.io/acme/mask:1").api(), "registry-1.docker.io");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let long_tag = format!("ghcr.io/a:{}", "x".repeat(129));
        let long_name = format!("ghcr.io/{}:1", "x".repeat(256));
        let cases = [
            ("mask:1", "names no registry"),
            ("", "names no registry"),
            ("acme/mask:1", "names no registry"),
            ("https://ghcr.io/acme/mask:1", "begins with 'https://'"),
            ("oci://ghcr.io/acme/mask:1", "begins with 'oci://'"),
            ("ghcr.io/acme/mask", "names no version"),
            ("ghcr.io/Acme/mask:1", "upper-case"),
            ("ghcr.io/acme//mask:1", "a repository that is not"),
            ("ghcr.io/:1", "a repository that is not"),
            ("ghcr.io/a..b:1", "a repository that is not"),
            ("ghcr.io/../v2:1", "a repository that is not"),
            ("ghcr.io/a?b:1", "a repository that is not"),
            ("ghcr.io/acme/mask:", "a tag that is not"),
            ("ghcr.io/acme/mask:.1", "a tag that is not"),
            ("ghcr.io/acme/mask:1+b", "a tag that is not"),
            ("ghcr.io/acme/mask:1:2", "a tag that is not"),
            ("ghcr.io:0/acme/mask:1", "a port"),
            ("ghcr.io:+1/acme/mask:1", "a port"),
            ("ghcr.io:x/acme/mask:1", "a port"),
            ("user@ghcr.io/mask:1", "is no digest"),
            ("-a.io/mask:1", "no host name"),
            ("a..io/mask:1", "no host name"),
            ("[::g]:5/mask:1", "no host name"),
            ("ghcr.io/mask:1@sha512:00", "is no digest"),
            ("ghcr.io/mask:1 ", "a tag that is not"),
            (&long_tag, "a tag that is not"),
            (&long_name, "more than 255"),
        ];
        for (text, expected) in cases {
            let error = text.parse::<Reference>().expect_err(text);
            assert!(error.to_string().contains(expected), "{text}: {error}");
            assert_eq!(error.code().id, "registry.bad_reference");
            assert!(error.hint_text().unwrap_or_default().contains("ghcr.io/acme/mask:1.2"));
        }
    }

    #[test]
    fn this_machine_is_known() {
        for local in ["localhost/a:1", "localhost:5000/a:1", "127.0.0.1:5000/a:1", "[::1]:5000/a:1", "[::1]/a:1"] {
            assert!(local.parse::<Reference>().is_ok_and(|r| r.is_local()), "{local}");
        }
        for other in ["ghcr.io/a:1", "localhost.example.com/a:1", "10.0.0.1:5000/a:1", "127.0.0.1.example.com/a:1"] {
            assert!(other.parse::<Reference>().is_ok_and(|r| !r.is_local()), "{other}");
        }
    }

    proptest! {
        #[test]
        fn reading_never_panics_and_writing_gives_it_back(text in "\\PC{0,60}") {
            if let Ok(reference) = text.parse::<Reference>() {
                prop_assert_eq!(reference.to_string().parse::<Reference>().unwrap(), reference);
            }
        }

        #[test]
        fn good_ones_come_back(
            registry in "[a-z0-9]{1,9}\\.[a-z]{2,4}(:[1-9][0-9]{0,3})?",
            repository in "[a-z0-9]{1,5}([._-][a-z0-9]{1,5})?(/[a-z0-9]{1,5}){0,3}",
            tag in "[A-Za-z0-9_][A-Za-z0-9._-]{0,20}",
            pinned: bool,
        ) {
            let pin = if pinned { format!("@{HEX}") } else { String::new() };
            let text = format!("{registry}/{repository}:{tag}{pin}");
            prop_assert_eq!(text.parse::<Reference>().unwrap().to_string(), text);
        }
    }
}
