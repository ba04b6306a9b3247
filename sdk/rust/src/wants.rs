//! What a component asks for beyond its pages.

use crate::bindings::faucet::connector::types as wire;

/// What a component asks for. It gets what it asks for here, the configuration grants, and the operator allows: all
/// three. Nothing is asked for by default.
///
/// ```
/// use faucet_sdk::Wants;
/// let wants = Wants::default().http("api.example.com:443").secret("api_key");
/// assert_eq!(wants, wants.clone());
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wants {
    http: Vec<String>,
    dirs: Vec<wire::WantedDir>,
    env: Vec<String>,
    secrets: Vec<String>,
    clock: bool,
    random: bool,
}

impl Wants {
    /// To send HTTP requests to a host: `host:port`, `*.example.com:443`, or `*` for those the configuration grants.
    #[must_use]
    pub fn http(mut self, host: impl Into<String>) -> Self {
        self.http.push(host.into());
        self
    }

    /// To read files in the folder that the configuration puts at `name`, such as `/reference`.
    #[must_use]
    pub fn read(mut self, name: impl Into<String>) -> Self {
        self.dirs.push(wire::WantedDir { name: name.into(), write: false });
        self
    }

    /// To read and write files in the folder that the configuration puts at `name`.
    #[must_use]
    pub fn write(mut self, name: impl Into<String>) -> Self {
        self.dirs.push(wire::WantedDir { name: name.into(), write: true });
        self
    }

    /// To read an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>) -> Self {
        self.env.push(name.into());
        self
    }

    /// To put a secret into requests; `*` for those the configuration grants.
    #[must_use]
    pub fn secret(mut self, name: impl Into<String>) -> Self {
        self.secrets.push(name.into());
        self
    }

    /// The real time, instead of a clock that stands still at 1970-01-01.
    #[must_use]
    pub fn clock(mut self) -> Self {
        self.clock = true;
        self
    }

    /// Real randomness, instead of a fixed sequence.
    #[must_use]
    pub fn random(mut self) -> Self {
        self.random = true;
        self
    }
}

impl From<Wants> for wire::Wants {
    fn from(wants: Wants) -> Self {
        let Wants { http, dirs, env, secrets, clock, random } = wants;
        Self { http, dirs, env, secrets, clock, random }
    }
}
