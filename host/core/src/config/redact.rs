//! [`Redactor`]: keeps secrets out of messages and logs.

use serde_json::Value;

/// What stands in for a secret.
const MASK: &str = "***";

/// Values shorter than this are not masked by value: `5` or `id` is no secret, and masking it would garble messages.
const SHORTEST: usize = 4;

/// The names of the parameters whose value is masked wherever `name=value` appears, in lower case.
const SECRET_PARAMETERS: [&str; 6] = ["password", "sslpassword", "passwd", "pwd", "access_token", "api_key"];

/// Replaces secrets in text: every value that came in by interpolation, every literal the connectors' schemas mark as
/// secret, and the password of anything that looks like a URL or a `key=value` connection string.
///
/// Cheap to clone and to use on every message; knows nothing about where a text comes from.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a secret which contains another is masked whole.
    secrets: Vec<String>,
}

impl Redactor {
    /// Remembers `secret`, also as messages quote it, and the password inside it when it is a URL.
    pub fn add(&mut self, secret: &str) {
        let secret = secret.trim();
        self.insert(secret);
        self.insert(Value::from(secret).to_string().trim_matches('"'));
        for password in url_passwords(secret) {
            self.insert(password);
            if let Some(decoded) = percent_decode(password) {
                self.insert(&decoded);
            }
        }
    }

    /// Remembers the passwords of all URLs anywhere in `tree`.
    pub fn add_urls_of(&mut self, tree: &Value) {
        match tree {
            Value::String(text) => {
                for password in url_passwords(text) {
                    self.add(password);
                    if let Some(decoded) = percent_decode(password) {
                        self.insert(&decoded);
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.add_urls_of(item)),
            Value::Object(entries) => entries.values().for_each(|entry| self.add_urls_of(entry)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn insert(&mut self, secret: &str) {
        if secret.len() < SHORTEST || self.secrets.iter().any(|known| known == secret) {
            return;
        }
        let place = self.secrets.partition_point(|known| known.len() >= secret.len());
        self.secrets.insert(place, secret.to_owned());
    }

    /// `text` with every secret replaced by `***`.
    pub fn redact(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for secret in &self.secrets {
            if clean.contains(secret.as_str()) {
                clean = clean.replace(secret.as_str(), MASK);
            }
        }
        mask_forms(&clean)
    }
}

/// Masks what looks like a password in a URL or a connection string, whoever wrote it. Has to happen before a text is
/// shortened: a URL cut off before its `@` isn't recognised any more.
pub(super) fn mask_forms(text: &str) -> String {
    mask_parameters(&mask_urls(text))
}

/// The passwords of all `scheme://user:password@` in `text`, as written.
fn url_passwords(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("://").filter_map(|(at, _)| {
        let (from, to) = password_range(&text[at + 3..])?;
        Some(&text[at + 3 + from..at + 3 + to])
    })
}

/// Where the password stands in `rest`, the part of a URL after `://`.
fn password_range(rest: &str) -> Option<(usize, usize)> {
    let authority = &rest[..rest.find(|c: char| c.is_whitespace() || "/?#\"'<>".contains(c)).unwrap_or(rest.len())];
    // A raw `/`, `?` or `#` in a password ends the authority early by the letter of RFC 3986; people write them anyway.
    let authority = if authority.contains('@') { authority } else { lenient_authority(rest) };
    let at = authority.rfind('@')?;
    let colon = authority[..at].find(':')?;
    (colon + 1 < at).then_some((colon + 1, at))
}

fn lenient_authority(rest: &str) -> &str {
    let word = &rest[..rest.find(|c: char| c.is_whitespace() || "\"'<>".contains(c)).unwrap_or(rest.len())];
    let Some((_, after_colon)) = word.split_once('@').and_then(|(user, _)| user.split_once(':')) else { return "" };
    // `host:80/path?mail=a@b` is a port and a path, not a password.
    let port = after_colon.split(['/', '?', '#']).next().unwrap_or("");
    if port.bytes().all(|b| b.is_ascii_digit()) { "" } else { &word[..=word.find('@').unwrap_or(0)] }
}

fn mask_urls(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (head, tail) = rest.split_at(at + 3);
        clean.push_str(head);
        rest = tail;
        if let Some((from, to)) = password_range(rest) {
            clean.push_str(&rest[..from]);
            clean.push_str(MASK);
            rest = &rest[to..];
        }
    }
    clean.push_str(rest);
    clean
}

/// Masks `password=...` as connection strings and query strings write it, quoted or not.
fn mask_parameters(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    for (equals, _) in lower.match_indices('=') {
        let is_name = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
        let name_start = equals - lower.as_bytes()[..equals].iter().rev().take_while(is_name).count();
        if equals < from || !SECRET_PARAMETERS.contains(&&lower[name_start..equals]) {
            continue;
        }
        let value = &text[equals + 1..];
        let length = match value.chars().next() {
            Some(quote @ ('\'' | '"')) => value[1..].find(quote).map_or(value.len(), |end| end + 2),
            _ => value.find(|c: char| c.is_whitespace() || "&;,)\"'".contains(c)).unwrap_or(value.len()),
        };
        if length > 0 {
            clean.push_str(&text[from..=equals]);
            clean.push_str(MASK);
            from = equals + 1 + length;
        }
    }
    clean.push_str(&text[from..]);
    clean
}

fn percent_decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return None;
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex = (bytes[i] == b'%').then(|| text.get(i + 1..i + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                i += 3;
            }
            None => {
                decoded.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_can_be_redacted(text in "(\\PC|://|@|:|=|password|'|%|/){0,40}", secret in "\\PC{0,6}") {
            let clean = redact(&[&secret], &text);
            if secret.trim().len() >= SHORTEST && !secret.contains('*') {
                prop_assert!(!clean.contains(secret.trim()), "{}", clean);
            }
        }
    }

    fn redact(secrets: &[&str], text: &str) -> String {
        let mut redactor = Redactor::default();
        secrets.iter().for_each(|secret| redactor.add(secret));
        redactor.redact(text)
    }

    #[test]
    fn known_values_disappear_longest_first() {
        assert_eq!(redact(&["hunter2", "hunter2-long"], "was hunter2-long and hunter2"), "was *** and ***");
        assert_eq!(redact(&["id", "5"], "id is 5"), "id is 5");
    }

    #[test]
    fn the_password_of_a_known_url_disappears_alone_and_decoded() {
        let secrets = ["postgres://app:p%40ss-word@db:5432/shop"];
        assert_eq!(redact(&secrets, "p@ss-word or p%40ss-word"), "*** or ***");
        assert_eq!(redact(&secrets, "postgres://app:p%40ss-word@db:5432/shop failed"), "*** failed");
    }

    #[test]
    fn a_secret_is_recognised_in_quotes_too() {
        assert_eq!(redact(&["a\"b\\c"], r#"found "a\"b\\c" and a"b\c"#), r#"found "***" and ***"#);
    }

    #[test]
    fn passwords_in_unknown_urls_and_connection_strings_disappear() {
        assert_eq!(
            redact(&[], "see postgres://u:pw@h/d and mysql://v:x@i"),
            "see postgres://u:***@h/d and mysql://v:***@i"
        );
        assert_eq!(redact(&[], "postgres://u:a/b?c@h/d"), "postgres://u:***@h/d");
        assert_eq!(redact(&[], "postgres://u:a@b@h/d"), "postgres://u:***@h/d");
        assert_eq!(redact(&[], "host=h Password=abc user=u"), "host=h Password=*** user=u");
        assert_eq!(redact(&[], "password='a b' host=h"), "password=*** host=h");
        assert_eq!(redact(&[], "postgres://h/d?password=abc&x=1"), "postgres://h/d?password=***&x=1");
        assert_eq!(redact(&[], "é=1 épassword=abc"), "é=1 épassword=***");
        assert_eq!(redact(&[], "http://host:80/x?mail=a@b.c"), "http://host:80/x?mail=a@b.c");
        assert_eq!(redact(&[], "no secret: a=b, password is set"), "no secret: a=b, password is set");
    }
}
