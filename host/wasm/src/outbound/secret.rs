//! Secrets in requests. The guest writes a name, the host puts the value: the guest never holds it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::HeaderValue;
use http::{Request, Uri};
use std::collections::BTreeMap;

/// The secrets of a plugin.
struct Secrets<'a> {
    plugin: &'a str,
    values: &'a BTreeMap<String, String>,
}

/// Fills in `${secret:NAME}` and `${basic:USER:NAME}` in the headers, and `${secret:NAME}` in the path and query.
///
/// # Errors
/// A secret that is not granted, or whose value a header can't hold; without the value.
pub(crate) fn fill<B>(request: &mut Request<B>, plugin: &str, values: &BTreeMap<String, String>) -> Result<(), String> {
    let secrets = &Secrets { plugin, values };
    for (name, value) in request.headers_mut() {
        let Some(text) = value.to_str().ok().filter(|text| text.contains("${")) else { continue };
        let filled = replaced(text, secrets, false)?;
        let mut header = HeaderValue::from_str(&filled)
            .map_err(|_| format!("the secret in header {name} holds characters that a header can't"))?;
        header.set_sensitive(true);
        *value = header;
    }
    fill_uri(request.uri_mut(), secrets)
}

fn fill_uri(uri: &mut Uri, secrets: &Secrets<'_>) -> Result<(), String> {
    let Some(path) = uri.path_and_query().map(|path| path.as_str().to_owned()) else { return Ok(()) };
    // A guest's HTTP library may have encoded the braces.
    let plain =
        path.replace("%7B", "{").replace("%7b", "{").replace("%7D", "}").replace("%7d", "}").replace("%24", "$");
    if !plain.contains("${secret:") {
        return Ok(());
    }
    let filled = replaced(&plain, secrets, true)?;
    let mut parts = std::mem::take(uri).into_parts();
    let malformed = |_| "the secret in the path of a request can't be part of a URL".to_owned();
    parts.path_and_query = Some(filled.parse().map_err(|error: http::uri::InvalidUri| malformed(error.to_string()))?);
    *uri = Uri::from_parts(parts).map_err(|error| malformed(error.to_string()))?;
    Ok(())
}

/// `text` with its placeholders replaced. In a URL values are percent-encoded.
fn replaced(text: &str, secrets: &Secrets<'_>, in_url: bool) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(end) = rest[start..].find('}').map(|at| start + at) else { break };
        out.push_str(&rest[..start]);
        match placeholder(&rest[start + 2..end], secrets)? {
            Some(value) if in_url => out.push_str(&percent_encoded(&value)),
            Some(value) => out.push_str(&value),
            None => out.push_str(&rest[start..=end]),
        }
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The value of one placeholder; none if it is something else.
fn placeholder(inner: &str, secrets: &Secrets<'_>) -> Result<Option<String>, String> {
    let value = |name: &str| {
        let missing = || format!("the secret {name} is not given to it: see plugins.{}.grants.secrets", secrets.plugin);
        secrets.values.get(name).ok_or_else(missing)
    };
    if let Some(name) = inner.strip_prefix("secret:") {
        return value(name).map(|value| Some(value.clone()));
    }
    let Some((user, name)) = inner.strip_prefix("basic:").and_then(|rest| rest.rsplit_once(':')) else {
        return Ok(None);
    };
    Ok(Some(STANDARD.encode(format!("{user}:{}", value(name)?))))
}

fn percent_encoded(value: &str) -> String {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    value.bytes().map(|b| if unreserved(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn filled(uri: &str, header: &str) -> Result<(String, String), String> {
        let secrets = BTreeMap::from([("key".to_owned(), "s3/cret".to_owned())]);
        let mut request = Request::builder().uri(uri).header("authorization", header).body(()).unwrap();
        fill(&mut request, "p", &secrets)?;
        Ok((request.uri().to_string(), request.headers()["authorization"].to_str().unwrap().to_owned()))
    }

    #[test]
    fn values_stand_where_the_guest_wrote_names() {
        let (uri, header) = filled("http://h/a?k=$%7Bsecret:key%7D&x=1", "Bearer ${secret:key}").unwrap();
        assert_eq!((uri.as_str(), header.as_str()), ("http://h/a?k=s3%2Fcret&x=1", "Bearer s3/cret"));
        let (_, header) = filled("http://h/", "Basic ${basic:me:key}").unwrap();
        assert_eq!(header, format!("Basic {}", STANDARD.encode("me:s3/cret")));
    }

    #[test]
    fn what_is_not_granted_is_not_sent() {
        let error = filled("http://h/", "Bearer ${secret:other}").unwrap_err();
        assert!(error.contains("other") && error.contains("plugins.p.grants.secrets"), "{error}");
        assert_eq!(filled("http://h/", "${other}").unwrap().1, "${other}");
    }
}
