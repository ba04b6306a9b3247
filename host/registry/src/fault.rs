//! What goes wrong between a reference and a component on disk, and what to do about it.

use faucet_core::error::{Blame, Code, Retry};

/// Every code of this crate.
pub static CODES: &[&Code] = &[
    &BAD_REFERENCE,
    &NOT_FOUND,
    &UNAUTHORIZED,
    &CREDENTIALS,
    &UNAVAILABLE,
    &TLS,
    &REFUSED,
    &MALFORMED,
    &DIGEST_MISMATCH,
    &NOT_A_COMPONENT,
    &TOO_LARGE,
    &STORE,
    &TAMPERED,
    &LOCK_FILE,
    &LOCK_INVALID,
    &LOCK_MISMATCH,
    &LOCK_CHANGES,
    &NOT_LOCKED,
    &NOT_FETCHED,
];

/// What is written is no reference.
pub static BAD_REFERENCE: Code = Code {
    id: "registry.bad_reference",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "this is no reference to a component in a registry",
    help: "A reference is `registry[:port]/repository` with `:tag`, `@sha256:digest` or both, such as \
           `ghcr.io/acme/mask:1.2`. There is no default registry and no default tag. Leave out `https://` and `oci://`. \
           Repositories are in lower case.",
};

/// The registry does not have it.
pub static NOT_FOUND: Code = Code {
    id: "registry.not_found",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the registry does not have this component",
    help: "Check the name, the tag and the digest. Some registries say so, too, of what the credentials may not see.",
};

/// The registry does not let this user in.
pub static UNAUTHORIZED: Code = Code {
    id: "registry.unauthorized",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the registry does not allow this",
    help: "The credentials are wrong, missing, or may not do this. `docker login REGISTRY` or `podman login REGISTRY` \
           stores them where faucet looks; FAUCET_REGISTRY_USER and FAUCET_REGISTRY_PASSWORD come before both. Pushing \
           needs a token that may write. Many registries answer like this, too, when a repository does not exist.",
};

/// Stored credentials can't be read.
pub static CREDENTIALS: Code = Code {
    id: "registry.credentials",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "the credentials for the registry can't be read",
    help: "faucet looks into FAUCET_REGISTRY_USER and FAUCET_REGISTRY_PASSWORD (for one registry alone if \
           FAUCET_REGISTRY_HOST is set), then into docker's `config.json` (DOCKER_CONFIG, `~/.docker`) with the credential \
           helpers it names, then into podman's `auth.json`. The message says which of them is broken and never what is in \
           it.",
};

/// The registry can't answer now.
pub static UNAVAILABLE: Code = Code {
    id: "registry.unavailable",
    blame: Blame::Environment,
    retry: Retry::Backoff,
    title: "the registry can't be reached, or can't answer now",
    help: "It was tried several times. Check the name and the port, the network, and whether a proxy is needed (HTTPS_PROXY, \
           NO_PROXY). A pipeline does not need the registry: what was pulled before runs without it.",
};

/// No TLS connection.
pub static TLS: Code = Code {
    id: "registry.tls",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "there is no secure connection to the registry",
    help: "Its certificate has to be good for its name, by the roots of this machine (SSL_CERT_FILE and SSL_CERT_DIR name \
           others). A registry without TLS needs `--plain-http`; only use it inside a network that you trust.",
};

/// The registry says no for another reason.
pub static REFUSED: Code = Code {
    id: "registry.refused",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "the registry refuses this",
    help: "The message is the registry's own. It may have a rule against the tag (tags that can't be overwritten, a quota), \
           or not know OCI artifacts.",
};

/// The registry's answer makes no sense.
pub static MALFORMED: Code = Code {
    id: "registry.malformed",
    blame: Blame::Environment,
    retry: Retry::Never,
    title: "the registry's answer can't be understood",
    help: "The answer breaks the OCI distribution or image specification. Is it a registry, and not a web page or a proxy \
           that answers in its place?",
};

/// Bytes with another digest.
pub static DIGEST_MISMATCH: Code = Code {
    id: "registry.digest_mismatch",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "the registry delivered something else than what was asked for",
    help: "A tag was moved to another component after the digest was written down, or the bytes were changed or damaged in \
           the registry or on the way. Nothing was kept. If the tag was moved on purpose, and you trust the new component, \
           write its digest into the reference.",
};

/// The artifact holds no component.
pub static NOT_A_COMPONENT: Code = Code {
    id: "registry.not_a_component",
    blame: Blame::Plugin,
    retry: Retry::Operator,
    title: "this is no artifact with one WebAssembly component",
    help: "faucet takes an artifact with exactly one layer of the type `application/wasm` (or \
           `application/vnd.wasm.content.layer.v1+wasm`, as older tools wrote) whose bytes are a component. `faucet plugin \
           push` and `wkg oci push` make such. A container image, an index of several platforms and a core module are none.",
};

/// Beyond the limit.
pub static TOO_LARGE: Code = Code {
    id: "registry.too_large",
    blame: Blame::Plugin,
    retry: Retry::Operator,
    title: "the component or what describes it is too large",
    help: "A component may have 256 MiB and a manifest 4 MiB. Build the component without debug information.",
};

/// The store can't be used.
pub static STORE: Code = Code {
    id: "registry.store",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "the folder of pulled components can't be read or written",
    help: "Check that the folder belongs to this user, that its file system has space left, and that it can be written.",
};

/// A file of the store has other bytes than its name says.
pub static TAMPERED: Code = Code {
    id: "registry.tampered",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "a pulled component is not the one that was pulled",
    help: "The name of a file in the store is the digest of its bytes, and this one has others: it was changed or damaged. \
           It is not used. `faucet plugin pull CONFIG` fetches it again. Find out who may write to that folder.",
};

/// The lock file can't be read or written.
pub static LOCK_FILE: Code = Code {
    id: "registry.lock_file",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "the lock file can't be read or written",
    help: "`faucet.lock` lies beside the configuration. Check that the folder can be written by this user. Another process \
           may hold it: it is waited for, ten seconds.",
};

/// The lock file says something that can't be.
pub static LOCK_INVALID: Code = Code {
    id: "registry.lock_invalid",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the lock file is damaged",
    help: "`faucet.lock` is written by `faucet plugin pull CONFIG` and not by hand. After a merge with conflicts take one \
           side and pull again. If it says a version that this faucet does not know, use a newer faucet.",
};

/// Lock and reference disagree.
pub static LOCK_MISMATCH: Code = Code {
    id: "registry.lock_mismatch",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the lock file says another digest than the reference",
    help: "The reference in the configuration has a digest of its own, and the lock file has another one for it: it was \
           edited or merged by hand. Remove the entry and run `faucet plugin pull CONFIG`.",
};

/// The lock would have to change.
pub static LOCK_CHANGES: Code = Code {
    id: "registry.lock_changes",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the lock file would have to change",
    help: "With `--locked` nothing is added to the lock file. Run `faucet plugin pull CONFIG` without it, look at the change \
           of `faucet.lock`, and commit it.",
};

/// The lock knows nothing about a reference.
pub static NOT_LOCKED: Code = Code {
    id: "registry.not_locked",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "a component is not in the lock file",
    help: "A pipeline never asks a registry. `faucet plugin pull CONFIG` does, fetches the components, and writes down in \
           `faucet.lock` which ones they are.",
};

/// The lock names a component that is not here.
pub static NOT_FETCHED: Code = Code {
    id: "registry.not_fetched",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "a component was not pulled on this machine",
    help: "The lock file says which component it is, and the store of this machine does not have it. `faucet plugin pull \
           CONFIG` fetches it.",
};

/// What a person runs to fetch and lock everything.
pub(crate) const PULL: &str = "run `faucet plugin pull CONFIG`";

#[cfg(test)]
mod tests {
    use super::CODES;

    #[test]
    fn every_code_is_told_apart_and_explained() {
        let mut ids: Vec<_> = CODES.iter().map(|code| code.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), CODES.len());
        assert!(CODES.iter().all(|code| code.id.starts_with("registry.") && !code.help.is_empty()));
    }
}
