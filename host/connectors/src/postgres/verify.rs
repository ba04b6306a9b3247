//! Checks a server's certificate the way libpq does.
//!
//! Two things go beyond rustls' own verifier, because servers set up by the manual's recipe need them: a certificate
//! listed among the roots is trusted as it is (a self-signed server), and a certificate without subject alternative
//! names is matched by its common name (RFC 6125, section 6.4.4).

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::der;

/// What is checked.
#[derive(Debug)]
pub(super) enum Checks {
    /// Nothing: the traffic is only hidden from those who listen.
    Nothing,
    /// That a trusted authority signed the certificate.
    Chain {
        /// The authorities.
        store: RootCertStore,
        /// Certificates that are trusted as they are.
        pinned: Vec<CertificateDer<'static>>,
        /// Whether the certificate must name the host.
        name: bool,
    },
}

#[derive(Debug)]
pub(super) struct Verifier {
    checks: Checks,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    pub(super) fn new(checks: Checks, provider: &CryptoProvider) -> Self {
        Self { checks, algorithms: provider.signature_verification_algorithms }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Checks::Chain { store, pinned, name } = &self.checks {
            let parsed = ParsedCertificate::try_from(end_entity)?;
            let chain =
                verify_server_cert_signed_by_trust_anchor(&parsed, store, intermediates, now, self.algorithms.all);
            match chain {
                Err(error) if !(pinned.iter().any(|p| p == end_entity) && is_only_untrusted(&error)) => {
                    return Err(error);
                }
                Ok(()) | Err(_) => {}
            }
            if *name {
                verify_name(&parsed, end_entity, server_name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.checks {
            // Nobody knows whose key it is, so the signature proves nothing; old certificates don't even parse.
            Checks::Nothing => Ok(HandshakeSignatureValid::assertion()),
            Checks::Chain { .. } => verify_tls12_signature(message, cert, dss, &self.algorithms),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.checks {
            Checks::Nothing => Ok(HandshakeSignatureValid::assertion()),
            Checks::Chain { .. } => verify_tls13_signature(message, cert, dss, &self.algorithms),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Whether the certificate's dates and form were fine and only its issuer was not: the chain check looks at dates
/// first, then reports either an unknown issuer or (as "other") an authority's certificate used by a server.
fn is_only_untrusted(error: &Error) -> bool {
    matches!(error, Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::Other(_)))
}

fn verify_name(parsed: &ParsedCertificate<'_>, der: &CertificateDer<'_>, name: &ServerName<'_>) -> Result<(), Error> {
    match verify_server_name(parsed, name) {
        Err(Error::InvalidCertificate(CertificateError::NotValidForNameContext { expected, presented }))
            if presented.is_empty() =>
        {
            let common = der::common_name(der);
            match common {
                Some(common) if der::name_matches(common, &name.to_str()) => Ok(()),
                other => Err(Error::InvalidCertificate(CertificateError::NotValidForNameContext {
                    expected,
                    presented: other.map(str::to_owned).into_iter().collect(),
                })),
            }
        }
        result => result,
    }
}

/// What is wrong with a certificate or a handshake, for people.
pub(super) fn explain(error: &Error) -> String {
    let Error::InvalidCertificate(reason) = error else {
        return format!("the TLS handshake failed: {error}");
    };
    match reason {
        CertificateError::UnknownIssuer => "the server's certificate is not signed by a trusted authority".into(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired".into()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet; is this machine's clock right?".into()
        }
        CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => {
            "the server's certificate names no host".into()
        }
        CertificateError::NotValidForNameContext { presented, .. } => {
            format!("the server's certificate is for {}, not for this host", presented.join(", "))
        }
        other => format!("the server's certificate can't be used: {other}"),
    }
}
