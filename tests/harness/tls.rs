//! Throwaway certificate authorities and server certificates, made in memory.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};

/// A certificate authority that exists for one test.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key, both PEM.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The certificate, signed by its authority.
    pub certificate: String,
    /// Its private key (PKCS #8).
    pub key: String,
}

impl Authority {
    /// A new authority called `name`.
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("ring generates a key");
        Self { issuer: CertifiedIssuer::self_signed(params, key).expect("the parameters are valid") }
    }

    /// The authority's own certificate, PEM: what a client is told to trust.
    pub fn certificate(&self) -> String {
        self.issuer.pem()
    }

    /// A server certificate for `names` (host names or IP addresses).
    pub fn server(&self, names: &[&str]) -> Identity {
        let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        let params = CertificateParams::new(names).expect("names are ASCII");
        self.sign(params)
    }

    /// A client certificate whose common name is `user`, for servers that ask for one.
    pub fn client(&self, user: &str) -> Identity {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, user);
        self.sign(params)
    }

    fn sign(&self, params: CertificateParams) -> Identity {
        let key = KeyPair::generate().expect("ring generates a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("the authority signs");
        Identity { certificate: certificate.pem(), key: key.serialize_pem() }
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Authority")
    }
}
