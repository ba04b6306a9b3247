//! The two facts about an X.509 certificate that rustls doesn't tell: its subject's common name and the hash of its
//! signature, read straight from the DER (RFC 5280, section 4.1; X.690). Anything unexpected reads as "not there".

use sha2::{Digest, Sha256, Sha384, Sha512};

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_IDENTIFIER: u8 = 0x06;
/// The explicit tag of the optional version field.
const VERSION: u8 = 0xa0;
/// 2.5.4.3
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];

/// Takes one element: its tag, its content, and what follows.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (bytes.iter().fold(0, |n, &b| n << 8 | usize::from(b)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// The content of the next element if it has `tag`, and what follows.
fn expect(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    element(der).filter(|(found, ..)| *found == tag).map(|(_, content, rest)| (content, rest))
}

/// The last common name of the certificate's subject.
pub(super) fn common_name(certificate: &[u8]) -> Option<&str> {
    let (certificate, _) = expect(certificate, SEQUENCE)?;
    let (mut fields, _) = expect(certificate, SEQUENCE)?;
    if let Some((_, rest)) = expect(fields, VERSION) {
        fields = rest;
    }
    // Serial number, signature algorithm, issuer, validity.
    for _ in 0..4 {
        fields = element(fields)?.2;
    }
    let (mut subject, _) = expect(fields, SEQUENCE)?;
    let mut found = None;
    while !subject.is_empty() {
        let (mut set, rest) = expect(subject, SET)?;
        while !set.is_empty() {
            let (attribute, others) = expect(set, SEQUENCE)?;
            let (kind, value) = expect(attribute, OBJECT_IDENTIFIER)?;
            if kind == COMMON_NAME {
                found = std::str::from_utf8(element(value)?.1).ok();
            }
            set = others;
        }
        subject = rest;
    }
    found
}

/// Whether a common name stands for `host`: equal without regard to case, or a wildcard in place of the first label.
pub(super) fn name_matches(common: &str, host: &str) -> bool {
    let host = host.trim_end_matches('.');
    match common.strip_prefix("*.") {
        Some(rest) => host
            .split_once('.')
            .is_some_and(|(label, tail)| !label.is_empty() && rest.contains('.') && tail.eq_ignore_ascii_case(rest)),
        None => common.eq_ignore_ascii_case(host),
    }
}

/// The `tls-server-end-point` channel binding (RFC 5929, section 4.1): the certificate hashed by its signature's hash
/// function, SHA-256 in place of weaker ones. `None` where the signature has no such function (Ed25519, RSA-PSS).
pub(super) fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    let (fields, _) = expect(certificate, SEQUENCE)?;
    let (_, rest) = expect(fields, SEQUENCE)?;
    let (algorithm, _) = expect(rest, SEQUENCE)?;
    let (algorithm, _) = expect(algorithm, OBJECT_IDENTIFIER)?;
    /// 1.2.840.113549.1.1: RSA signatures; the last arc is the hash.
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    /// 1.2.840.10045.4.3: ECDSA signatures; the last arc is the hash.
    const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03];
    let (&hash, family) = algorithm.split_last()?;
    match (family, hash) {
        (RSA, 4 | 5 | 11) | (ECDSA, 2) => Some(Sha256::digest(certificate).to_vec()),
        (RSA, 12) | (ECDSA, 3) => Some(Sha384::digest(certificate).to_vec()),
        (RSA, 13) | (ECDSA, 4) => Some(Sha512::digest(certificate).to_vec()),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;

    /// `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -subj "/O=Shop/CN=db.example.org" -days 36500`
    const PEM: &str = "-----BEGIN CERTIFICATE-----
MIIBpjCCAU2gAwIBAgIUGQ3K1cTA2btdtUob2C3CuRxxJVQwCgYIKoZIzj0EAwIw
KDENMAsGA1UECgwEU2hvcDEXMBUGA1UEAwwOZGIuZXhhbXBsZS5vcmcwIBcNMjYx
MTI5MTUzNTM3WhgPMjEyNjExMDUxNTM1MzdaMCgxDTALBgNVBAoMBFNob3AxFzAV
BgNVBAMMDmRiLmV4YW1wbGUub3JnMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
MlTUwFMJyvCMI5pST/mau3bpaaBzP/80cczz4iAtZZ5PDsKt3zyX+a/tCZ0R/muA
lbGpnlzJCYggGTiy26c86qNTMFEwHQYDVR0OBBYEFKTB22tRFntiJsXTYpa+r1df
IYfTMB8GA1UdIwQYMBaAFKTB22tRFntiJsXTYpa+r1dfIYfTMA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgL2s/Nrm8P4yvwNa25ZwSRrd0EbKLMd4j
z5CuUFbvICkCIGktxxrt6iJ0ZCXTRv8j4hWENbh20oXsEW925TOYT072
-----END CERTIFICATE-----";

    fn certificate() -> Vec<u8> {
        CertificateDer::from_pem_slice(PEM.as_bytes()).unwrap().to_vec()
    }

    #[test]
    fn name_and_hash_are_read() {
        assert_eq!(common_name(&certificate()), Some("db.example.org"));
        assert_eq!(end_point(&certificate()), Some(Sha256::digest(certificate()).to_vec()));
    }

    #[test]
    fn a_wildcard_stands_for_one_label() {
        assert!(name_matches("DB.example.org", "db.Example.org"));
        assert!(name_matches("*.example.org", "db.example.org"));
        assert!(!name_matches("*.example.org", "a.db.example.org"));
        assert!(!name_matches("*.org", "example.org"));
        assert!(!name_matches("db.example.org", "db2.example.org"));
    }

    proptest! {
        #[test]
        fn damaged_certificates_never_panic(at in 0usize..400, byte: u8, len in 0usize..400) {
            let mut der = certificate();
            let place = at % der.len();
            der[place] = byte;
            der.truncate(len);
            let _ = (common_name(&der), end_point(&der));
        }
    }
}
