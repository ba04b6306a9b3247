//! Where a server is and how to get in: what a `connection_url` and a `tls:` block say, checked without any I/O.

use faucet_core::error::{Problem, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::foreign;
use super::tls::{ClientIdentity, Roots, SslMode, TlsSettings};
use super::url::{self, invalid};

/// A PostgreSQL connection string: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=...` or `host=... user=...`
/// pairs. Several hosts are separated by commas and tried in order; a host that starts with `/` is the folder of a
/// Unix socket. TLS: `sslmode` (disable, allow, prefer, require, verify-ca, verify-full), `sslrootcert` (a PEM file or
/// `system`), `sslcert`, `sslkey`, `sslnegotiation`.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ConnectionUrl(String);

impl ConnectionUrl {
    /// A connection string as written.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// Never shows the string: it holds the password.
impl fmt::Debug for ConnectionUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConnectionUrl(..)")
    }
}

/// TLS settings beside the URL; each key given here replaces its counterpart in the URL.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TlsConfig {
    /// How much TLS is asked for, as libpq's `sslmode`. Default: the URL's, or `verify-full` when `ca_cert_path` is
    /// given, or `prefer`.
    #[serde(default)]
    pub mode: Option<SslMode>,
    /// PEM file of the certificate authorities to trust, or `system` for those of this machine.
    #[serde(default)]
    pub ca_cert_path: Option<String>,
    /// PEM file of the certificate to show to the server.
    #[serde(default)]
    pub client_cert_path: Option<PathBuf>,
    /// PEM file of that certificate's private key, not encrypted.
    #[serde(default)]
    pub client_key_path: Option<PathBuf>,
}

/// A password; never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(pub(super) String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

/// One address to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Name or address, or the folder of a Unix socket; certificates are checked against it.
    pub name: String,
    /// Address to connect to instead of resolving the name.
    pub address: Option<String>,
    /// TCP port, or the number in the socket's file name.
    pub port: u16,
}

impl Host {
    /// The folder of a Unix socket, if it is one.
    pub fn socket_folder(&self) -> Option<&str> {
        (self.address.is_none() && self.name.starts_with('/')).then_some(self.name.as_str())
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.is_empty() { self.address.as_deref().unwrap_or_default() } else { &self.name };
        match (self.socket_folder(), name.contains(':')) {
            (Some(folder), _) => write!(f, "{folder}/.s.PGSQL.{}", self.port),
            (None, true) => write!(f, "[{name}]:{}", self.port),
            (None, false) => write!(f, "{name}:{}", self.port),
        }
    }
}

/// What kind of server a session may end up on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TargetSession {
    /// Any.
    #[default]
    Any,
    /// One that takes writes.
    ReadWrite,
    /// One that takes none.
    ReadOnly,
    /// Not a standby.
    Primary,
    /// A standby.
    Standby,
    /// A standby if there is one, else any.
    PreferStandby,
}

/// Whether SCRAM is bound to the TLS channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChannelBinding {
    /// Never.
    Disable,
    /// Where both ends can.
    #[default]
    Prefer,
    /// Anything else is refused.
    Require,
}

/// A server, a user and a database, with everything needed to connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Tried in order.
    pub hosts: Vec<Host>,
    /// Whether the order is drawn anew for each connection.
    pub shuffle: bool,
    /// The role.
    pub user: String,
    /// Its password, if one is given.
    pub password: Option<Password>,
    /// The database.
    pub database: String,
    /// Command-line options for the server.
    pub options: Option<String>,
    /// Replaces faucet's own application name.
    pub application_name: Option<String>,
    /// Per address.
    pub connect_timeout: Duration,
    /// TCP keepalive, unless switched off.
    pub keepalive: Option<Keepalive>,
    /// How long sent data may stay without an answer from the other machine.
    pub user_timeout: Option<Duration>,
    /// TLS.
    pub tls: TlsSettings,
    /// What kind of server to look for.
    pub target: TargetSession,
    /// Whether SCRAM is bound to the TLS channel.
    pub channel_binding: ChannelBinding,
}

/// TCP keepalive timing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keepalive {
    /// Silence before the first probe.
    pub idle: Duration,
    /// Time between probes.
    pub interval: Duration,
    /// Lost probes before the connection counts as broken.
    pub retries: u32,
}

impl Default for Keepalive {
    fn default() -> Self {
        Self { idle: Duration::from_secs(30), interval: Duration::from_secs(10), retries: 3 }
    }
}

impl Endpoint {
    /// What `url` and `tls` say.
    ///
    /// # Errors
    /// `postgres.url_invalid`; the message never repeats a part of the URL.
    pub fn new(url: &ConnectionUrl, tls: Option<&TlsConfig>) -> Result<Self> {
        let mut draft = Draft::default();
        for (index, (key, value)) in url::parse(&url.0)?.into_iter().enumerate() {
            draft.set(index, &key, value)?;
        }
        draft.finish(tls)
    }

    /// The same as problems of a configuration block that holds `connection_url` and `tls`.
    pub fn problems(url: &ConnectionUrl, tls: Option<&TlsConfig>) -> Vec<Problem> {
        match Self::new(url, tls) {
            Ok(_) => Vec::new(),
            Err(error) => {
                let problem = Problem::error("connection_url", error.to_string());
                vec![match error.hint_text() {
                    Some(hint) => problem.hint(hint),
                    None => problem,
                }]
            }
        }
    }
}

/// Parameters as they are collected.
#[derive(Default)]
struct Draft {
    host: String,
    hostaddr: String,
    port: String,
    user: Option<String>,
    password: Option<Password>,
    dbname: Option<String>,
    options: Option<String>,
    application_name: Option<String>,
    fallback_application_name: Option<String>,
    connect_timeout: Option<Duration>,
    keepalives_off: bool,
    keepalive: Keepalive,
    user_timeout: Option<Duration>,
    mode: Option<SslMode>,
    root_cert: Option<String>,
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
    direct: bool,
    no_sni: bool,
    shuffle: bool,
    target: TargetSession,
    channel_binding: ChannelBinding,
}

/// The parameters that are understood, for "did you mean".
const KNOWN: &[&str] = &[
    "host",
    "hostaddr",
    "port",
    "user",
    "password",
    "dbname",
    "options",
    "application_name",
    "fallback_application_name",
    "connect_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_count",
    "tcp_user_timeout",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "sslnegotiation",
    "sslsni",
    "gssencmode",
    "client_encoding",
    "load_balance_hosts",
    "target_session_attrs",
    "channel_binding",
];

impl Draft {
    fn set(&mut self, index: usize, key: &str, value: String) -> Result<()> {
        match key {
            "host" => self.host = value,
            "hostaddr" => self.hostaddr = value,
            "port" => self.port = value,
            "user" => self.user = some(value),
            "password" => self.password = some(value).map(Password),
            "dbname" => self.dbname = some(value),
            "options" => self.options = some(value),
            "application_name" => self.application_name = some(value),
            "fallback_application_name" => self.fallback_application_name = some(value),
            "connect_timeout" => self.connect_timeout = seconds("connect_timeout", &value)?,
            "keepalives" => self.keepalives_off = !flag("keepalives", &value)?,
            "keepalives_idle" => replace(&mut self.keepalive.idle, seconds("keepalives_idle", &value)?),
            "keepalives_interval" => replace(&mut self.keepalive.interval, seconds("keepalives_interval", &value)?),
            "keepalives_count" => replace(&mut self.keepalive.retries, number("keepalives_count", &value)?),
            "tcp_user_timeout" => {
                self.user_timeout = number("tcp_user_timeout", &value)?.map(|ms| Duration::from_millis(ms.into()));
            }
            _ => return self.set_tls(index, key, value),
        }
        Ok(())
    }

    fn set_tls(&mut self, index: usize, key: &str, value: String) -> Result<()> {
        match key {
            "sslmode" => self.mode = Some(choice("sslmode", &value, SslMode::NAMES)?),
            "sslrootcert" => self.root_cert = some(value),
            "sslcert" => self.cert = some(value).map(PathBuf::from),
            "sslkey" => self.key = some(value).map(PathBuf::from),
            "sslnegotiation" => self.direct = choice("sslnegotiation", &value, NEGOTIATIONS)?,
            "sslsni" => self.no_sni = !flag("sslsni", &value)?,
            "load_balance_hosts" => self.shuffle = choice("load_balance_hosts", &value, BALANCES)?,
            "target_session_attrs" => self.target = choice("target_session_attrs", &value, TARGETS)?,
            "channel_binding" => self.channel_binding = choice("channel_binding", &value, BINDINGS)?,
            // There is no GSSAPI here, which is what `disable` and `prefer` accept.
            "gssencmode" => choice("gssencmode", &value, &[("disable", ()), ("prefer", ())])?,
            // Sessions always speak UTF-8.
            "client_encoding" => choice("client_encoding", &value, ENCODINGS)?,
            _ => return Err(unknown(index, key)),
        }
        Ok(())
    }

    fn finish(self, tls: Option<&TlsConfig>) -> Result<Endpoint> {
        let hosts = self.hosts()?;
        let tls_settings = self.tls(tls)?;
        let user = self.user.ok_or_else(|| invalid("it names no user"))?;
        Ok(Endpoint {
            hosts,
            shuffle: self.shuffle,
            database: self.dbname.unwrap_or_else(|| user.clone()),
            user,
            password: self.password,
            options: self.options,
            application_name: self.application_name.or(self.fallback_application_name),
            connect_timeout: self.connect_timeout.unwrap_or(Duration::from_secs(10)),
            keepalive: (!self.keepalives_off).then_some(self.keepalive),
            user_timeout: self.user_timeout,
            tls: tls_settings,
            target: self.target,
            channel_binding: self.channel_binding,
        })
    }

    fn hosts(&self) -> Result<Vec<Host>> {
        let names: Vec<&str> = self.host.split(',').map(str::trim).collect();
        let addresses: Vec<&str> = self.hostaddr.split(',').map(str::trim).collect();
        let ports: Vec<&str> = self.port.split(',').map(str::trim).collect();
        let count = if self.host.is_empty() { addresses.len() } else { names.len() };
        if !self.hostaddr.is_empty() && addresses.len() != count {
            return Err(invalid("`host` and `hostaddr` must list the same number of entries"));
        }
        if ports.len() != 1 && ports.len() != count {
            return Err(invalid("`port` must list one entry, or one for each host"));
        }
        (0..count)
            .map(|i| {
                let address = addresses.get(i).filter(|a| !a.is_empty()).map(|a| (*a).to_owned());
                let name = names.get(i).copied().unwrap_or_default();
                let name = if name.is_empty() && address.is_none() { "localhost" } else { name };
                let port = parse_port(if ports.len() == 1 { ports[0] } else { ports[i] })?;
                Ok(Host { name: name.to_owned(), address, port })
            })
            .collect()
    }

    fn tls(&self, block: Option<&TlsConfig>) -> Result<TlsSettings> {
        let none = TlsConfig::default();
        let block = block.unwrap_or(&none);
        let root = block.ca_cert_path.clone().or_else(|| self.root_cert.clone());
        let roots = root.map(|r| if r == "system" { Roots::System } else { Roots::File(r.into()) });
        let default = match (&roots, block.ca_cert_path.is_some()) {
            (Some(Roots::System), _) | (_, true) => SslMode::VerifyFull,
            _ => SslMode::Prefer,
        };
        let mode = block.mode.or(self.mode).unwrap_or(default);
        if roots == Some(Roots::System) && mode != SslMode::VerifyFull {
            return Err(invalid("the `system` certificate store needs sslmode=verify-full, else anybody could answer"));
        }
        if roots.is_none() && mode == SslMode::VerifyCa {
            return Err(invalid("sslmode=verify-ca needs a root certificate (sslrootcert) to verify with"));
        }
        if self.direct && mode < SslMode::Require {
            return Err(invalid("sslnegotiation=direct needs sslmode=require or stronger"));
        }
        let certificate = block.client_cert_path.clone().or_else(|| self.cert.clone());
        let key = block.client_key_path.clone().or_else(|| self.key.clone());
        let identity = match (certificate, key) {
            (Some(certificate), Some(key)) => Some(ClientIdentity { certificate, key }),
            (None, None) => None,
            _ => return Err(invalid("a client certificate and its key (sslcert, sslkey) must be given together")),
        };
        Ok(TlsSettings { mode, roots, identity, direct: self.direct, sni: !self.no_sni })
    }
}

const NEGOTIATIONS: &[(&str, bool)] = &[("postgres", false), ("direct", true)];
const BALANCES: &[(&str, bool)] = &[("disable", false), ("random", true)];
const ENCODINGS: &[(&str, ())] = &[("UTF8", ()), ("utf8", ()), ("utf-8", ()), ("UTF-8", ()), ("auto", ())];
const BINDINGS: &[(&str, ChannelBinding)] =
    &[("disable", ChannelBinding::Disable), ("prefer", ChannelBinding::Prefer), ("require", ChannelBinding::Require)];
const TARGETS: &[(&str, TargetSession)] = &[
    ("any", TargetSession::Any),
    ("read-write", TargetSession::ReadWrite),
    ("read-only", TargetSession::ReadOnly),
    ("primary", TargetSession::Primary),
    ("standby", TargetSession::Standby),
    ("prefer-standby", TargetSession::PreferStandby),
];

fn some(value: String) -> Option<String> {
    Some(value).filter(|v| !v.is_empty())
}

/// Takes a value that was given; zero and below mean the default, as in libpq.
fn replace<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

fn choice<T: Copy>(key: &str, value: &str, choices: &[(&str, T)]) -> Result<T> {
    choices.iter().find(|(name, _)| *name == value).map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        invalid(format!("`{key}` must be one of {}", names.join(", "))).hint(format!("correct `{key}`"))
    })
}

fn flag(key: &str, value: &str) -> Result<bool> {
    choice(key, value, &[("0", false), ("1", true)])
}

fn number(key: &str, value: &str) -> Result<Option<u32>> {
    let number: i32 = value.parse().map_err(|_| invalid(format!("`{key}` must be a whole number")))?;
    Ok(u32::try_from(number).ok().filter(|&n| n > 0))
}

fn seconds(key: &str, value: &str) -> Result<Option<Duration>> {
    Ok(number(key, value)?.map(|s| Duration::from_secs(s.into())))
}

fn parse_port(text: &str) -> Result<u16> {
    match text {
        "" => Ok(5432),
        text => text.parse().ok().filter(|&p| p > 0).ok_or_else(|| {
            invalid("a port isn't a number from 1 to 65535 (a `:` or `/` in a password must be percent-encoded)")
        }),
    }
}

/// The name isn't repeated unless it is well known: behind an unescaped `?` or `&` it can be a piece of the password.
fn unknown(index: usize, key: &str) -> faucet_core::error::Error {
    if let Some((name, advice)) = foreign::advice(key) {
        return invalid(format!("its parameter `{name}` means nothing here")).hint(advice);
    }
    let near = KNOWN.iter().max_by(|a, b| strsim::jaro(a, key).total_cmp(&strsim::jaro(b, key)));
    let near = near.filter(|known| strsim::jaro(known, key) > 0.8);
    let error = invalid(format!("its {} parameter isn't known here", ordinal(index + 1)));
    match near {
        Some(known) => error.hint(format!("did you mean `{known}`?")),
        None => error,
    }
}

fn ordinal(n: usize) -> String {
    match n {
        1 => "first".into(),
        2 => "second".into(),
        3 => "third".into(),
        n => format!("{n}th"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn endpoint(url: &str) -> Endpoint {
        Endpoint::new(&ConnectionUrl::new(url), None).unwrap()
    }

    fn refused(url: &str) -> String {
        let error = Endpoint::new(&ConnectionUrl::new(url), None).unwrap_err();
        format!("{error} / {}", error.hint_text().unwrap_or_default())
    }

    #[test]
    fn hosts_pair_up_with_ports() {
        let show = |url: &str| endpoint(url).hosts.iter().map(Host::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(show("postgres://u@a:1,b,[::1]:3/d"), "a:1 b:5432 [::1]:3");
        assert_eq!(show("host=a,b port=7 user=u"), "a:7 b:7");
        assert_eq!(show("host=/tmp user=u port=5433"), "/tmp/.s.PGSQL.5433");
        assert_eq!(show("hostaddr=10.0.0.1 user=u"), "10.0.0.1:5432");
        assert_eq!(show("postgres://u@/d"), "localhost:5432");
        assert!(refused("host=a,b,c port=1,2 user=u").contains("one for each host"));
    }

    #[test]
    fn the_database_defaults_to_the_user() {
        assert_eq!(endpoint("postgres://u@h").database, "u");
        assert_eq!(endpoint("postgres://u@h/d").database, "d");
        assert!(refused("postgres://h/d").contains("names no user"));
    }

    #[test]
    fn tls_settings_come_from_url_and_block() {
        let url = ConnectionUrl::new("postgres://u@h/d?sslmode=require&sslrootcert=/ca.pem&sslcert=/c&sslkey=/k");
        let plain = Endpoint::new(&url, None).unwrap().tls;
        assert_eq!((plain.mode, plain.roots), (SslMode::Require, Some(Roots::File("/ca.pem".into()))));
        assert_eq!(plain.identity.unwrap().key, PathBuf::from("/k"));
        let block = TlsConfig { mode: Some(SslMode::VerifyCa), ca_cert_path: Some("/b".into()), ..Default::default() };
        let both = Endpoint::new(&url, Some(&block)).unwrap().tls;
        assert_eq!((both.mode, both.roots), (SslMode::VerifyCa, Some(Roots::File("/b".into()))));
        let block = TlsConfig { ca_cert_path: Some("/b".into()), ..Default::default() };
        let url = ConnectionUrl::new("postgres://u@h/d");
        assert_eq!(Endpoint::new(&url, Some(&block)).unwrap().tls.mode, SslMode::VerifyFull);
        assert_eq!(Endpoint::new(&url, None).unwrap().tls.mode, SslMode::Prefer);
        assert_eq!(endpoint("postgres://u@h/d?sslrootcert=system").tls.mode, SslMode::VerifyFull);
    }

    #[test]
    fn weak_combinations_are_refused() {
        assert!(refused("postgres://u@h?sslrootcert=system&sslmode=require").contains("verify-full"));
        assert!(refused("postgres://u@h?sslmode=verify-ca").contains("needs a root certificate"));
        assert!(refused("postgres://u@h?sslnegotiation=direct").contains("sslmode=require"));
        assert!(refused("postgres://u@h?sslcert=/c").contains("together"));
    }

    #[test]
    fn unknown_parameters_and_values_are_refused_without_repeating_them() {
        assert!(refused("postgres://u@h?sslmod=require").contains("did you mean `sslmode`"));
        assert!(refused("postgres://u@h?sslmode=full").contains("verify-full"));
        let pooled = refused("postgres://u@h/d?sslmode=require&pgbouncer=s3cret");
        assert!(pooled.contains("`pgbouncer`") && pooled.contains("host and port") && !pooled.contains("s3cret"));
        assert!(refused("postgres://u@h:70000").contains("65535"));
        for url in ["postgres://u:s3cret/x", "host=h user=u s3cret=1", "postgres://u@h?a=1&s3cret=2"] {
            assert!(!refused(url).contains("s3cret"), "{}", refused(url));
        }
    }

    #[test]
    fn debug_output_holds_no_password() {
        let url = ConnectionUrl::new("postgres://u:s3cret@h");
        let endpoint = Endpoint::new(&url, None).unwrap();
        assert!(!format!("{url:?} {endpoint:?}").contains("s3cret"));
    }
}
