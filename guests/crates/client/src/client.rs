//! Sends requests with credentials, follows redirects, and tells answers that mean "later" from the others.

use crate::auth::Auth;
use crate::backoff::{Later, retry_after};
use crate::call::{Call, Transport, inert};
use crate::moment::unix_now;
use crate::url::{encoded, joined, same_origin};
use faucet_sdk::http::Response;
use faucet_sdk::{Error, Result};
use std::time::Duration;

/// Redirects that are followed in a row.
const REDIRECTS: usize = 5;

/// A token is given up so long before it expires, so that it doesn't expire on its way.
const MARGIN: Duration = Duration::from_secs(30);

/// What a try gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Attempt {
    /// An answer that would not change.
    Answer(Response),
    /// Nothing yet.
    Later(Later),
}

/// Sends requests to one API.
#[derive(Debug)]
pub struct Client<T> {
    transport: T,
    auth: Option<Auth>,
    timeout: Duration,
    token: Option<Token>,
}

/// A token of the token endpoint.
#[derive(Debug)]
struct Token {
    text: String,
    /// When it is given up, by the time since 1970.
    until: Option<Duration>,
}

impl<T: Transport> Client<T> {
    /// A client that waits for each answer as long as `timeout`.
    pub fn new(transport: T, auth: Option<Auth>, timeout: Duration) -> Self {
        Self { transport, auth, timeout, token: None }
    }

    /// What sends its requests.
    pub fn transport(&self) -> &T {
        &self.transport
    }

    /// Sends a request once. A token that is refused is replaced, and redirects are followed.
    ///
    /// # Errors
    /// What trying again would not change: a redirect to another host, refused credentials, a request that is not
    /// allowed.
    pub fn attempt(&mut self, call: &Call) -> Result<Attempt> {
        let kept = self.token.is_some();
        match self.once(call)? {
            // The server may have taken the token back before its time.
            Attempt::Answer(answer) if answer.status == 401 && kept => {
                self.token = None;
                self.once(call)
            }
            attempt => Ok(attempt),
        }
    }

    fn once(&mut self, call: &Call) -> Result<Attempt> {
        if let Some(Attempt::Later(later)) = self.renew_token()? {
            return Ok(Attempt::Later(later));
        }
        let token = self.token.as_ref().map(|token| token.text.as_str());
        let mut call = call.clone();
        let plain = call.url.clone();
        let mut redirects = 0;
        loop {
            let mut dressed = call.clone();
            if let Some(auth) = &self.auth {
                auth.apply(&mut dressed, token);
            }
            let answer = match sent(&mut self.transport, &dressed, self.timeout)? {
                Attempt::Answer(answer) => answer,
                later @ Attempt::Later(_) => return Ok(later),
            };
            let Some(target) = redirect(&call, &answer)? else { return Ok(Attempt::Answer(answer)) };
            redirects += 1;
            if redirects > REDIRECTS {
                return Err(Error::new(format!("the server redirects more than {REDIRECTS} times in a row")));
            }
            if !same_origin(&plain, &target) {
                return Err(Error::new(
                    "the server redirects to another host, which is not followed: if that is meant, put the new \
                     address into `url`",
                ));
            }
            call.url = target;
        }
    }

    /// Gets a token where one is needed and there is none that is good for a while.
    fn renew_token(&mut self) -> Result<Option<Attempt>> {
        let Some(Auth::Oauth2 { token_url, client_id, secret, scopes, parameters }) = &self.auth else {
            return Ok(None);
        };
        let now = unix_now();
        if self.token.as_ref().is_some_and(|token| token.until.is_none_or(|until| now < until)) {
            return Ok(None);
        }
        let call = token_request(token_url, client_id, secret, scopes, parameters.iter());
        let answer = match sent(&mut self.transport, &call, self.timeout)? {
            Attempt::Answer(answer) => answer,
            Attempt::Later(Later { after, why }) => {
                return Ok(Some(Attempt::Later(Later { after, why: format!("the token endpoint: {why}") })));
            }
        };
        self.token = Some(token(&answer, now)?);
        Ok(None)
    }
}

/// Sends a request, and sorts the answer.
fn sent(transport: &mut impl Transport, call: &Call, timeout: Duration) -> Result<Attempt> {
    match transport.send(call, timeout) {
        Ok(answer) if matches!(answer.status, 408 | 429 | 500..=599) => {
            let why = format!("the server answered {}", answer.status);
            Ok(Attempt::Later(Later { after: answer.header("retry-after").and_then(retry_after), why }))
        }
        Ok(answer) => Ok(Attempt::Answer(answer)),
        Err(error) if error.is_unavailable() => Ok(Attempt::Later(Later { after: None, why: error.to_string() })),
        Err(error) => Err(error),
    }
}

/// Where an answer points to, if it is a redirect.
fn redirect(call: &Call, answer: &Response) -> Result<Option<String>> {
    if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = answer.header("location") else { return Ok(None) };
    if answer.status < 307 && !["GET", "HEAD"].contains(&call.method.as_str()) {
        let (status, method) = (answer.status, &call.method);
        return Err(Error::new(format!(
            "the server redirects a {method} with {status}, which would lose its body: put the new address into `url`"
        )));
    }
    joined(&call.url, inert(location)?).map(Some)
}

fn token_request<'a>(
    url: &str,
    client_id: &str,
    secret: &str,
    scopes: &[String],
    parameters: impl Iterator<Item = (&'a String, &'a String)>,
) -> Call {
    let mut body = "grant_type=client_credentials".to_owned();
    if !scopes.is_empty() {
        body.push_str(&format!("&scope={}", encoded(&scopes.join(" "))));
    }
    for (name, value) in parameters {
        body.push_str(&format!("&{}={}", encoded(name), encoded(value)));
    }
    let headers = [
        ("authorization", format!("Basic ${{basic:{client_id}:{secret}}}")),
        ("content-type", "application/x-www-form-urlencoded".to_owned()),
        ("accept", "application/json".to_owned()),
    ];
    let headers = headers.map(|(name, value)| (name.to_owned(), value)).to_vec();
    Call { method: "POST".to_owned(), url: url.to_owned(), headers, body: Some(body.into_bytes()) }
}

fn token(answer: &Response, now: Duration) -> Result<Token> {
    if !(200..300).contains(&answer.status) {
        return Err(Error::new(format!(
            "the token endpoint answered {}: check `auth.client_id`, the secret's value and `auth.scopes`",
            answer.status
        )));
    }
    let json = answer.json().map_err(|_| Error::new("the token endpoint did not answer with JSON"))?;
    let text =
        json["access_token"].as_str().filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic()));
    let text = inert(text.ok_or("the token endpoint's answer holds no access_token")?)?.to_owned();
    let until = json["expires_in"].as_u64().map(|seconds| {
        let lasts = Duration::from_secs(seconds.min(u64::from(u32::MAX)));
        now + lasts.saturating_sub(MARGIN.min(lasts / 2))
    });
    Ok(Token { text, until })
}

/// What an answer other than 2xx means, for a person; nothing of its body.
pub fn refusal(method: &str, url: &str, status: u16) -> Error {
    let plain = url.split(['?', '#']).next().unwrap_or_default();
    let advice = match status {
        300..=399 => ": a redirect without an address",
        400 | 422 => ": the request is not what the server expects; check parameters and body",
        401 => ": check `auth` and the secret's value",
        403 => ": these credentials may not do that",
        404 | 410 => ": there is nothing there; check `url` and `path`",
        405 => ": check `method`",
        406 | 415 => ": check the headers `accept` and `content-type`",
        413 => ": the request is too large",
        _ => "",
    };
    Error::new(format!("{method} {plain}: the server answered {status}{advice}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Answers in turn, and remembers what was asked.
    #[derive(Default)]
    struct Script(VecDeque<Result<Response>>, Vec<Call>);

    impl Transport for Script {
        fn send(&mut self, call: &Call, _: Duration) -> Result<Response> {
            self.1.push(call.clone());
            self.0.pop_front().unwrap()
        }
    }

    fn answer(status: u16, header: Option<(&str, &str)>, body: &str) -> Result<Response> {
        let headers = header.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Ok(Response { status, headers, body: body.as_bytes().to_vec() })
    }

    fn client(auth: Option<Auth>, answers: impl IntoIterator<Item = Result<Response>>) -> Client<Script> {
        let script = Script(answers.into_iter().collect(), Vec::new());
        Client::new(script, auth, Duration::from_secs(1))
    }

    fn get(url: &str) -> Call {
        Call { method: "GET".to_owned(), url: url.to_owned(), ..Call::default() }
    }

    fn status(attempt: Result<Attempt>) -> u16 {
        match attempt.unwrap() {
            Attempt::Answer(answer) => answer.status,
            Attempt::Later(later) => panic!("{later:?}"),
        }
    }

    #[test]
    fn answers_that_mean_later_say_when() {
        let mut client = client(
            None,
            [
                answer(429, Some(("retry-after", "3")), ""),
                answer(503, None, ""),
                Err(Error::unavailable("the connection was reset")),
                answer(404, None, ""),
                Err(Error::new("not allowed")),
            ],
        );
        let call = get("https://h/x");
        let later = |after, why: &str| Ok(Attempt::Later(Later { after, why: why.to_owned() }));
        assert_eq!(client.attempt(&call), later(Some(Duration::from_secs(3)), "the server answered 429"));
        assert_eq!(client.attempt(&call), later(None, "the server answered 503"));
        assert_eq!(client.attempt(&call), later(None, "the connection was reset"));
        assert_eq!(status(client.attempt(&call)), 404);
        assert_eq!(client.attempt(&call).unwrap_err().to_string(), "not allowed");
    }

    #[test]
    fn redirects_stay_on_their_host() {
        let to = |status, location: &str| answer(status, Some(("location", location)), "");
        let mut client = client(None, [to(302, "/y?z=1"), answer(200, None, "")]);
        assert_eq!(status(client.attempt(&get("https://h/x"))), 200);
        assert_eq!(client.transport.1[1].url, "https://h/y?z=1");
        for location in ["https://evil/x", "//evil/", "http://h/x", "https://h:444/"] {
            let error = super::tests::client(None, [to(302, location)]).attempt(&get("https://h/x")).unwrap_err();
            assert!(error.to_string().contains("another host"), "{location}: {error}");
        }
        let loops = (0..9).map(|_| to(301, "/x"));
        let error = super::tests::client(None, loops).attempt(&get("https://h/x")).unwrap_err();
        assert!(error.to_string().contains("more than 5 times"), "{error}");
        let error = super::tests::client(None, [to(302, "/${secret:a}")]).attempt(&get("https://h/x")).unwrap_err();
        assert!(error.to_string().contains("placeholder"), "{error}");
        let post = Call { method: "POST".to_owned(), ..get("https://h/x") };
        let error = super::tests::client(None, [to(302, "/y")]).attempt(&post).unwrap_err();
        assert!(error.to_string().contains("lose its body"), "{error}");
        assert_eq!(status(super::tests::client(None, [to(307, "/y"), answer(204, None, "")]).attempt(&post)), 204);
    }

    fn oauth() -> Auth {
        Auth::Oauth2 {
            token_url: "https://id/token".to_owned(),
            client_id: "app".to_owned(),
            secret: "app_secret".to_owned(),
            scopes: vec!["read".to_owned(), "list".to_owned()],
            parameters: Default::default(),
        }
    }

    #[test]
    fn a_token_is_kept_and_replaced_when_it_is_refused() {
        let token = |text: &str| answer(200, None, &format!(r#"{{"access_token":"{text}","expires_in":3600}}"#));
        let mut client = client(
            Some(oauth()),
            [
                token("one"),
                answer(200, None, ""),
                answer(200, None, ""),
                answer(401, None, ""),
                token("two"),
                answer(200, None, ""),
            ],
        );
        for _ in 0..3 {
            assert_eq!(status(client.attempt(&get("https://h/x"))), 200);
        }
        let calls = &client.transport.1;
        let sent: Vec<&str> = calls.iter().map(|call| call.headers[0].1.as_str()).collect();
        let asked = "Basic ${basic:app:app_secret}";
        assert_eq!(sent, [asked, "Bearer one", "Bearer one", "Bearer one", asked, "Bearer two"]);
        assert_eq!(calls[0].body.as_deref(), Some(&b"grant_type=client_credentials&scope=read%20list"[..]));
    }

    #[test]
    fn an_expired_token_is_replaced_before_it_is_used() {
        let token = answer(200, None, r#"{"access_token":"a","expires_in":0}"#);
        let ok = || answer(200, None, "");
        let mut client = client(Some(oauth()), [token.clone(), ok(), token, ok()]);
        for _ in 0..2 {
            assert_eq!(status(client.attempt(&get("https://h/x"))), 200);
        }
        assert_eq!(client.transport.1.len(), 4);
    }

    #[test]
    fn a_token_endpoint_that_refuses_is_no_loop() {
        let mut refused = client(Some(oauth()), [answer(401, None, "")]);
        let error = refused.attempt(&get("https://h/x")).unwrap_err().to_string();
        assert!(error.contains("token endpoint answered 401"), "{error}");
        let mut fresh = client(Some(oauth()), [answer(200, None, r#"{"access_token":"a"}"#), answer(401, None, "")]);
        assert_eq!(status(fresh.attempt(&get("https://h/x"))), 401, "a new token that is refused is not replaced");
        for body in ["<html>", "{}", r#"{"access_token":"${secret:b}"}"#, r#"{"access_token":"a\nb"}"#] {
            assert!(client(Some(oauth()), [answer(200, None, body)]).attempt(&get("https://h/x")).is_err(), "{body}");
        }
    }

    #[test]
    fn a_refusal_shows_no_query() {
        let error = refusal("GET", "https://h/orders?email=a@b", 404).to_string();
        assert_eq!(
            error,
            "GET https://h/orders: the server answered 404: there is nothing there; check `url` and `path`"
        );
    }
}
