//! A request in the making.

use crate::config::{Config, Method, Param};
use client::{Call, encoded, with_query};
use faucet_sdk::serde_json::Value;
use faucet_sdk::{Error, Result};

/// A request whose parts can still be set.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    url: String,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    body: Option<Value>,
}

impl Draft {
    /// The request that the configuration describes.
    pub(crate) fn new(config: &Config) -> Self {
        let text = |value: &Param| match value {
            Param::Text(text) => text.clone(),
            Param::Number(number) => number.to_string(),
            Param::Flag(flag) => flag.to_string(),
        };
        let query = config.params.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        let mut headers: Vec<_> = config.headers.iter().map(|(n, v)| (n.to_lowercase(), v.clone())).collect();
        if !config.headers.keys().any(|name| name.eq_ignore_ascii_case("accept")) {
            headers.push(("accept".to_owned(), "application/json".to_owned()));
        }
        Self { url: address(config), query, headers, body: config.body.clone() }
    }

    /// Sets a query parameter.
    pub(crate) fn set_query(&mut self, name: &str, value: String) {
        match self.query.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.query.push((name.to_owned(), value)),
        }
    }

    /// Sets a header.
    pub(crate) fn set_header(&mut self, name: &str, value: String) {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_lowercase(), value));
    }

    /// Puts a value where the path says `{name}`.
    pub(crate) fn fill_path(&mut self, name: &str, value: &str) {
        self.url = self.url.replace(&format!("{{{name}}}"), &encoded(value));
    }

    /// Sets a place in the body.
    pub(crate) fn set_body(&mut self, place: &[String], value: Value) -> Result<()> {
        let slot = self.body.as_mut().and_then(|body| slot(body, place));
        *slot.ok_or_else(|| Error::new("the body has no such place"))? = value;
        Ok(())
    }

    /// Turns to an address that a server gave, which says all that the query says.
    pub(crate) fn follow(&mut self, url: String) {
        self.url = url;
        self.query.clear();
    }

    pub(crate) fn finish(mut self, method: Method) -> Call {
        let url = with_query(&self.url, self.query.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        if self.body.is_some() && !self.headers.iter().any(|(name, _)| name == "content-type") {
            self.headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        let method = match method {
            Method::Get => "GET",
            Method::Post => "POST",
        };
        let body = self.body.map(|body| body.to_string().into_bytes());
        Call { method: method.to_owned(), url, headers: self.headers, body }
    }
}

/// `url` and `path` together.
pub(crate) fn address(config: &Config) -> String {
    match &config.path {
        Some(path) => format!("{}/{}", config.url.trim_end_matches('/'), path.trim_start_matches('/')),
        None => config.url.clone(),
    }
}

/// A place that exists, or a new member of an object that exists.
fn slot<'a>(body: &'a mut Value, place: &[String]) -> Option<&'a mut Value> {
    let (last, before) = place.split_last()?;
    let mut at = body;
    for part in before {
        at = match at {
            Value::Object(members) => members.get_mut(part)?,
            Value::Array(elements) => elements.get_mut(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    match at {
        Value::Object(members) => Some(members.entry(last.clone()).or_insert(Value::Null)),
        Value::Array(elements) => elements.get_mut(last.parse::<usize>().ok()?),
        _ => None,
    }
}

/// Whether a place in a body can be set: a single value, or a new member of an object. The error says why not.
pub(crate) fn check_place(body: Option<&Value>, place: &[String]) -> Result<(), String> {
    let mut body = body.cloned().ok_or("needs a JSON `body`")?;
    if !body.is_object() {
        return Err("needs a `body` that is a JSON object".to_owned());
    }
    match slot(&mut body, place) {
        None => Err("leads nowhere in `body`: only the last member of an object may be missing".to_owned()),
        Some(Value::Object(_) | Value::Array(_)) => Err("leads to an object or a list in `body`".to_owned()),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use faucet_sdk::serde_json::{from_value, json};

    fn draft(config: Value) -> (Draft, Method) {
        let config: Config = from_value(config).unwrap();
        (Draft::new(&config), config.method)
    }

    #[test]
    fn a_request_is_what_the_configuration_says() {
        let (mut draft, method) = draft(json!({
            "url": "https://h/v1/", "path": "/orders/{day}", "method": "POST", "params": {"limit": 10, "all": true},
            "headers": {"X-A": "b"}, "body": {"filters": [{"value": null}]},
        }));
        draft.set_query("limit", "5".to_owned());
        draft.fill_path("day", "1/2");
        draft.set_body(&["filters".into(), "0".into(), "value".into()], json!(7)).unwrap();
        let call = draft.finish(method);
        assert_eq!((call.method.as_str(), call.url.as_str()), ("POST", "https://h/v1/orders/1%2F2?all=true&limit=5"));
        assert_eq!(call.body.unwrap(), br#"{"filters":[{"value":7}]}"#);
        let names: Vec<&str> = call.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["x-a", "accept", "content-type"]);
    }

    #[test]
    fn places_in_a_body_are_checked() {
        let body = json!({"a": {"b": 1}, "list": [{"x": null}]});
        let check =
            |place: &[&str]| check_place(Some(&body), &place.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>());
        for good in [&["new"][..], &["a", "b"], &["a", "new"], &["list", "0", "x"], &["list", "0", "y"]] {
            assert_eq!(check(good), Ok(()), "{good:?}");
        }
        for bad in [&["a"][..], &["x", "y"], &["list", "1", "x"], &["list", "1"], &["a", "b", "c"], &[]] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
        assert!(check_place(None, &["a".to_owned()]).is_err());
        assert!(check_place(Some(&json!([1])), &["0".to_owned()]).is_err());
    }
}
