//! The little of URLs that is needed (RFC 3986): origins, references, query strings.

use faucet_sdk::{Error, Result};

/// Scheme and authority of an absolute `http` or `https` URL, such as `https://api.example.com:8443`.
///
/// # Errors
/// If it is none, or holds a user name.
pub fn origin(url: &str) -> Result<&str> {
    let none = || Error::new("is no URL that starts with http:// or https:// and a host");
    let (scheme, rest) = url.split_once("://").ok_or_else(none)?;
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    if !["http", "https"].contains(&scheme) || authority.is_empty() {
        return Err(none());
    }
    if authority.contains('@') {
        return Err(Error::new("holds a user name: use `auth`"));
    }
    Ok(&url[..scheme.len() + 3 + authority.len()])
}

/// Whether two URLs have the same scheme, host and port.
pub fn same_origin(one: &str, other: &str) -> bool {
    let plain = |url: &str| {
        let origin = origin(url).ok()?.to_ascii_lowercase();
        let port = if origin.starts_with("https") { ":443" } else { ":80" };
        Some(origin.strip_suffix(port).map(str::to_owned).unwrap_or(origin))
    };
    plain(one).is_some_and(|one| plain(other) == Some(one))
}

/// What a reference in an answer from `base` refers to (RFC 3986, section 5.2).
///
/// # Errors
/// If `base` is no URL.
pub fn joined(base: &str, reference: &str) -> Result<String> {
    let reference = reference.split('#').next().unwrap_or_default();
    let origin = origin(base)?;
    let scheme = origin.split(':').next().unwrap_or_default();
    let path = base[origin.len()..].split(['?', '#']).next().unwrap_or_default();
    let target = match reference {
        "" => return Ok(base.to_owned()),
        absolute if absolute.contains("://") && !absolute.starts_with(['/', '?']) => return Ok(absolute.to_owned()),
        authority if authority.starts_with("//") => return Ok(format!("{scheme}:{authority}")),
        query if query.starts_with('?') => return Ok(format!("{origin}{path}{query}")),
        absolute if absolute.starts_with('/') => absolute.to_owned(),
        relative => format!("{}/{relative}", path.rsplit_once('/').map_or("", |(folder, _)| folder)),
    };
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    Ok(format!("{origin}{}{query}", without_dots(path)))
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => drop(kept.pop()),
            part => kept.push(part),
        }
    }
    if path.ends_with("/.") || path.ends_with("/..") {
        kept.push("");
    }
    format!("/{}", kept.join("/"))
}

/// Text as part of a path or a query: everything but letters, digits and `-._~` is percent-encoded.
pub fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

/// A URL with more parameters in its query.
pub fn with_query<'a>(url: &str, parameters: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = url.split('#').next().unwrap_or_default().to_owned();
    for (name, value) in parameters {
        out.push(if !out.contains('?') { '?' } else { '&' });
        out.push_str(&format!("{}={}", encoded(name), encoded(value)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_told_apart() {
        assert_eq!(origin("https://api.example.com:8443/v1?x"), Ok("https://api.example.com:8443"));
        assert_eq!(origin("http://h?x"), Ok("http://h"));
        for bad in ["ftp://h/", "h/path", "https:///x", "https://me:pw@h/", ""] {
            assert!(origin(bad).is_err(), "{bad}");
        }
        assert!(same_origin("https://h/a", "https://H:443/b") && same_origin("http://h:80", "http://h/x"));
        for other in ["http://h/", "https://h:444/", "https://h.evil/", "https://g/", "x"] {
            assert!(!same_origin("https://h/a", other), "{other}");
        }
    }

    #[test]
    fn references_are_resolved() {
        let base = "https://h/a/b/c?q=1";
        let cases = [
            ("https://g/x", "https://g/x"),
            ("//g/x", "https://g/x"),
            ("/x?y=1", "https://h/x?y=1"),
            ("?page=2", "https://h/a/b/c?page=2"),
            ("d", "https://h/a/b/d"),
            ("../d#top", "https://h/a/d"),
            ("../../../../d", "https://h/d"),
            (".", "https://h/a/b/"),
            ("/x?u=http://y/z", "https://h/x?u=http://y/z"),
            ("", base),
        ];
        for (reference, wanted) in cases {
            assert_eq!(joined(base, reference).as_deref(), Ok(wanted), "{reference}");
        }
        assert_eq!(joined("https://h", "x").as_deref(), Ok("https://h/x"));
    }

    #[test]
    fn parameters_are_encoded() {
        assert_eq!(with_query("https://h/x", [("a b", "1&2"), ("c", "é")]), "https://h/x?a%20b=1%262&c=%C3%A9");
        assert_eq!(with_query("https://h/x?y=1#top", [("z", "")]), "https://h/x?y=1&z=");
        assert!(!with_query("https://h/", [("a", "${secret:b}")]).replace("%24", "$").contains("secret:"));
    }
}
