//! One conversation with one registry about one repository.

use super::Options;
use super::answer::{LARGEST_ERROR, judge};
use super::challenge::{Challenge, challenge};
use super::retry::Failure;
use super::transport::{Transport, network};
use crate::credentials::{Credential, Credentials};
use crate::digest::shown;
use crate::fault::{BAD_REFERENCE, MALFORMED, TLS, TOO_LARGE, UNAUTHORIZED, UNAVAILABLE};
use crate::reference::Reference;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use faucet_core::error::{Error, Result};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response, StatusCode};
use serde::Deserialize;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use url::{Host, Url};

/// An answer with a token is not larger.
const LARGEST_TOKEN: u64 = 1 << 20;

/// A body may be this slow, in bytes a second.
const SLOWEST: u64 = 32 << 10;

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Actions {
    Pull,
    Push,
}

impl Actions {
    fn scope(self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Push => "pull,push",
        }
    }
}

/// A request that can be made again.
#[derive(Debug)]
pub(super) struct Ask {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Bytes>,
}

impl Ask {
    pub(super) fn new(method: Method, url: Url) -> Self {
        Self { method, url, headers: HeaderMap::new(), body: None }
    }

    pub(super) fn get(url: Url) -> Self {
        Self::new(Method::GET, url)
    }

    #[must_use]
    pub(super) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    #[must_use]
    pub(super) fn body(mut self, media_type: &'static str, body: Bytes) -> Self {
        self.body = Some(body);
        self.header(CONTENT_TYPE, HeaderValue::from_static(media_type))
    }
}

/// A registry, a repository, and what was learned about how to get in.
pub(super) struct Session<'a> {
    options: &'a Options,
    credentials: &'a Credentials,
    reference: &'a Reference,
    actions: Actions,
    /// Scheme, host and port. Credentials go nowhere else, but to the realm that the registry names.
    home: Url,
    transport: Transport,
    credential: OnceCell<Credential>,
    authorization: Mutex<Option<HeaderValue>>,
}

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

impl<'a> Session<'a> {
    pub(super) fn open(
        options: &'a Options,
        credentials: &'a Credentials,
        tls: &rustls::ClientConfig,
        reference: &'a Reference,
        actions: Actions,
    ) -> Result<Self> {
        let scheme = if options.plain_http || reference.is_local() { "http" } else { "https" };
        let home = Url::parse(&format!("{scheme}://{}", reference.api()))
            .map_err(|error| Error::new(&BAD_REFERENCE, format!("{reference}: the registry is no host: {error}")))?;
        let transport = Transport::open(options, tls, reference.is_local())?;
        let (credential, authorization) = (OnceCell::new(), Mutex::new(None));
        Ok(Self { options, credentials, reference, actions, home, transport, credential, authorization })
    }

    /// A place below the repository.
    pub(super) fn url(&self, below: &str) -> Url {
        let mut url = self.home.clone();
        url.set_path(&format!("/v2/{}/{below}", self.reference.repository()));
        url
    }

    /// Where the registry's `Location` leads.
    pub(super) fn location(&self, text: &str) -> Result<Url> {
        let url = self.home.join(text).map_err(|error| {
            Error::new(&MALFORMED, format!("the registry names the place '{}', which is none: {error}", shown(text)))
        })?;
        if self.home.scheme() == "https" && url.scheme() != "https" {
            return Err(Error::new(&TLS, "the registry wants the upload at a place without TLS"));
        }
        Ok(url)
    }

    /// An answer that says yes.
    pub(super) async fn call(&self, ask: &Ask) -> Result<Response, Failure> {
        let answer = self.send(ask).await?;
        if answer.status().is_success() { Ok(answer) } else { Err(self.refusal(answer).await) }
    }

    /// Any answer, after authenticating if the registry asks for it.
    pub(super) async fn send(&self, ask: &Ask) -> Result<Response, Failure> {
        let answer = self.send_as(ask, self.known()).await?;
        if answer.status() != StatusCode::UNAUTHORIZED || !self.is_home(answer.url()) {
            return Ok(answer);
        }
        // Without a challenge that is understood the 401 stands.
        let Some(challenge) = challenge(answer.headers()) else { return Ok(answer) };
        let authorization = self.authorize(&challenge).await?;
        *self.authorization.lock().unwrap_or_else(PoisonError::into_inner) = Some(authorization.clone());
        self.send_as(ask, Some(authorization)).await
    }

    /// What an answer means that does not say yes.
    pub(super) async fn refusal(&self, answer: Response) -> Failure {
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = self.read(answer, LARGEST_ERROR).await.unwrap_or_default();
        let known = self.known();
        let token = known.as_ref().and_then(|value| value.to_str().ok()).and_then(|value| value.split_once(' '));
        let mut secrets: Vec<&str> = token.iter().map(|(_, token)| *token).collect();
        match self.credential.get() {
            Some(Credential::Password { password: secret, .. } | Credential::Identity(secret)) => {
                secrets.push(secret.reveal());
            }
            Some(Credential::Anonymous) | None => {}
        }
        secrets.retain(|secret| !secret.is_empty());
        judge(status, &headers, &body, &self.reference.to_string(), &secrets)
    }

    /// A body of at most `most` bytes.
    pub(super) async fn read(&self, answer: Response, most: u64) -> Result<Vec<u8>, Failure> {
        let patience = self.patience(most);
        match timeout(patience, self.read_on(answer, most)).await {
            Ok(read) => read,
            Err(_) => Err(self.silent(&format!("took more than {} s to answer", patience.as_secs()))),
        }
    }

    async fn read_on(&self, mut answer: Response, most: u64) -> Result<Vec<u8>, Failure> {
        let too_long =
            || Failure::Final(Error::new(&TOO_LARGE, format!("{} sends more than {most} bytes", self.host())));
        if answer.content_length().is_some_and(|length| length > most) {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        loop {
            let chunk = timeout(self.options.idle_timeout, answer.chunk()).await;
            let chunk = chunk.map_err(|_| self.silent("fell silent in the middle of an answer"))?;
            let Some(chunk) = chunk.map_err(|error| network(&error, &self.host()))? else { return Ok(bytes) };
            if (bytes.len() + chunk.len()) as u64 > most {
                return Err(too_long());
            }
            bytes.extend_from_slice(&chunk);
        }
    }

    async fn send_as(&self, ask: &Ask, authorization: Option<HeaderValue>) -> Result<Response, Failure> {
        let reads = matches!(ask.method, Method::GET | Method::HEAD);
        let client = if reads { &self.transport.follow } else { &self.transport.stay };
        let mut request = client.request(ask.method.clone(), ask.url.clone()).headers(ask.headers.clone());
        if let Some(authorization) = authorization.filter(|_| self.is_home(&ask.url)) {
            request = request.header(AUTHORIZATION, authorization);
        }
        if let Some(body) = &ask.body {
            request = request.body(body.clone());
        }
        self.execute(request, ask.body.as_ref().map_or(0, Bytes::len)).await
    }

    async fn execute(&self, request: reqwest::RequestBuilder, sent: usize) -> Result<Response, Failure> {
        let patience = self.options.connect_timeout + self.patience(sent as u64);
        let answer = timeout(patience, request.send()).await;
        let answer = answer.map_err(|_| self.silent(&format!("did not answer within {} s", patience.as_secs_f32())))?;
        answer.map_err(|error| network(&error, &self.host()))
    }

    async fn authorize(&self, challenge: &Challenge) -> Result<HeaderValue, Failure> {
        let credential = self.credential.get_or_try_init(|| self.credentials.find(self.reference)).await?;
        let text = match (challenge, credential) {
            (Challenge::Basic, Credential::Password { user, password }) => basic(user, password.reveal()),
            (Challenge::Basic, _) => return Err(self.no_password().into()),
            (Challenge::Bearer { realm, service }, credential) => {
                format!("Bearer {}", self.token(&self.realm(realm)?, service.as_deref(), credential).await?)
            }
        };
        let unusable = |_| Error::new(&MALFORMED, "the registry's token has characters that no header can hold");
        let mut value = HeaderValue::from_str(&text).map_err(unusable)?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// A token from the place the registry names, for this repository.
    async fn token(&self, realm: &Url, service: Option<&str>, credential: &Credential) -> Result<String, Failure> {
        let answer = self.execute(self.token_request(realm, service, credential), 0).await?;
        if !answer.status().is_success() {
            return Err(self.refusal(answer).await);
        }
        read_token(&self.read(answer, LARGEST_TOKEN).await?).map_err(Failure::Final)
    }

    /// A GET with the password, if there is one; a POST that exchanges an identity token.
    fn token_request(&self, realm: &Url, service: Option<&str>, credential: &Credential) -> reqwest::RequestBuilder {
        let mut fields = url::form_urlencoded::Serializer::new(String::new());
        if let Some(service) = service {
            fields.append_pair("service", service);
        }
        fields.append_pair("scope", &format!("repository:{}:{}", self.reference.repository(), self.actions.scope()));
        if let Credential::Identity(secret) = credential {
            fields.append_pair("grant_type", "refresh_token").append_pair("client_id", "faucet");
            let form = fields.append_pair("refresh_token", secret.reveal()).finish();
            let request = self.transport.stay.post(realm.clone()).body(form);
            return request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        }
        let (mut url, query) = (realm.clone(), fields.finish());
        url.set_query(Some(&realm.query().map_or_else(|| query.clone(), |old| format!("{old}&{query}"))));
        let request = self.transport.stay.get(url);
        match credential {
            Credential::Password { user, password } => request.header(AUTHORIZATION, basic(user, password.reveal())),
            Credential::Anonymous | Credential::Identity(_) => request,
        }
    }

    /// A realm gets the password, so it has to be as safe as the registry.
    fn realm(&self, text: &str) -> Result<Url> {
        let named = || format!("the registry sends for a token to '{}', which", shown(text));
        let url =
            Url::parse(text).map_err(|error| Error::new(&MALFORMED, format!("{} is no URL: {error}", named())))?;
        let local = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        let open = self.options.plain_http || (self.reference.is_local() && local);
        if url.scheme() == "https" || (url.scheme() == "http" && open) {
            return Ok(url);
        }
        Err(Error::new(&TLS, format!("{} has no TLS", named())))
    }

    fn no_password(&self) -> Error {
        let registry = self.reference.registry();
        Error::new(&UNAUTHORIZED, format!("{}: the registry asks for a password, and none is known", self.reference))
            .hint(format!("run `docker login {registry}`, or set FAUCET_REGISTRY_USER and FAUCET_REGISTRY_PASSWORD"))
    }

    fn known(&self) -> Option<HeaderValue> {
        self.authorization.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_home(&self, url: &Url) -> bool {
        url.origin() == self.home.origin()
    }

    fn host(&self) -> String {
        self.reference.registry().to_owned()
    }

    /// How long so many bytes may take in whole.
    fn patience(&self, bytes: u64) -> Duration {
        self.options.idle_timeout * 2 + Duration::from_secs(bytes / SLOWEST)
    }

    fn silent(&self, what: &str) -> Failure {
        Failure::passing(Error::new(&UNAVAILABLE, format!("{} {what}", self.host())))
    }
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64.encode(format!("{user}:{password}")))
}

/// The token of an answer. What the parser says about another answer could quote it.
fn read_token(body: &[u8]) -> Result<String> {
    let token = serde_json::from_slice::<Token>(body).ok().and_then(|answer| answer.token.or(answer.access_token));
    token.filter(|token| !token.is_empty()).ok_or_else(|| Error::new(&MALFORMED, "the answer for a token holds none"))
}
