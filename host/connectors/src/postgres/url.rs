//! The syntax of a connection string: `postgres://...` or `key=value ...`, as libpq defines them (PostgreSQL manual,
//! "Connection Strings"). Meaning is given to the parameters in [`super::endpoint`].
//!
//! No message here repeats any part of the string: a stray character can make a piece of the password look like
//! a host, a port or a parameter.

use faucet_core::error::{Error, Result};

use super::error::URL_INVALID;

/// One parameter as written; a later one of the same name replaces an earlier one.
pub(super) type Parameter = (String, String);

/// The parameters of a connection string, decoded, in the order written.
pub(super) fn parse(text: &str) -> Result<Vec<Parameter>> {
    match text.strip_prefix("postgresql://").or_else(|| text.strip_prefix("postgres://")) {
        Some(rest) => parse_url(rest),
        None if text.contains("://") => Err(invalid("the URL must start with postgres:// or postgresql://")),
        None => parse_pairs(text),
    }
}

pub(super) fn invalid(what: impl Into<String>) -> Error {
    Error::new(&URL_INVALID, what)
        .hint("write postgres://USER:PASSWORD@HOST:PORT/DATABASE, special characters percent-encoded (`@` as %40)")
}

fn parse_url(rest: &str) -> Result<Vec<Parameter>> {
    let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(authority_end);
    if rest.contains('@') {
        return Err(invalid("there is an '@' behind the host; in a user name or password `/` is %2F, `?` is %3F"));
    }
    let mut out = Vec::new();
    let hosts = match authority.rfind('@') {
        Some(at) => {
            push_user(&authority[..at], &mut out)?;
            &authority[at + 1..]
        }
        None => authority,
    };
    push_hosts(hosts, &mut out)?;
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let database = path.strip_prefix('/').unwrap_or(path);
    if !database.is_empty() {
        out.push(("dbname".into(), decode(database)?));
    }
    for pair in query.split('&').filter(|p| !p.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(|| invalid("a parameter behind '?' has no '='"))?;
        out.push((decode(key)?, decode(value)?));
    }
    Ok(out)
}

fn push_user(text: &str, out: &mut Vec<Parameter>) -> Result<()> {
    let (user, password) = match text.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (text, None),
    };
    if !user.is_empty() {
        out.push(("user".into(), decode(user)?));
    }
    if let Some(password) = password.filter(|p| !p.is_empty()) {
        out.push(("password".into(), decode(password)?));
    }
    Ok(())
}

fn push_hosts(text: &str, out: &mut Vec<Parameter>) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let (mut hosts, mut ports) = (Vec::new(), Vec::new());
    for one in text.split(',') {
        let (host, port) = split_port(one)?;
        hosts.push(decode(host)?);
        ports.push(decode(port)?);
    }
    if hosts.iter().any(|h| !h.is_empty()) {
        out.push(("host".into(), hosts.join(",")));
    }
    if ports.iter().any(|p| !p.is_empty()) {
        out.push(("port".into(), ports.join(",")));
    }
    Ok(())
}

/// Splits `host:port`, where the host may be an IPv6 address in brackets.
fn split_port(text: &str) -> Result<(&str, &str)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or_else(|| invalid("a '[' of an IPv6 address isn't closed"))?;
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, port)),
            None if rest.is_empty() => Ok((host, "")),
            None => Err(invalid("only a port can follow the ']' of an IPv6 address")),
        };
    }
    Ok(text.rsplit_once(':').unwrap_or((text, "")))
}

fn decode(text: &str) -> Result<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || bytes.next().and_then(|b| char::from(b).to_digit(16));
        match (digit(), digit()) {
            (Some(high), Some(low)) if high + low > 0 => out.push((high * 16 + low) as u8),
            _ => return Err(invalid("a '%' must be followed by two hexadecimal digits; a plain '%' is %25")),
        }
    }
    String::from_utf8(out).map_err(|_| invalid("percent-encoded text isn't UTF-8"))
}

fn parse_pairs(text: &str) -> Result<Vec<Parameter>> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (key, after) = rest
            .split_once('=')
            .ok_or_else(|| invalid("a word without '=' (a value with spaces needs single quotes around it)"))?;
        let key = key.trim_end();
        if key.is_empty() || key.contains(char::is_whitespace) {
            return Err(invalid("a word without '=' (a value with spaces needs single quotes around it)"));
        }
        let (value, after) = take_value(after.trim_start())?;
        out.push((key.to_owned(), value));
        rest = after.trim_start();
    }
    Ok(out)
}

/// Takes one value, quoted or not; a backslash escapes the character behind it.
fn take_value(text: &str) -> Result<(String, &str)> {
    let quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut chars = text.char_indices().skip(usize::from(quoted));
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, escaped)) => value.push(escaped),
                None => return Err(invalid("it ends in a backslash")),
            },
            '\'' if quoted => return Ok((value, &text[at + 1..])),
            c if c.is_whitespace() && !quoted => return Ok((value, &text[at..])),
            c => value.push(c),
        }
    }
    if quoted { Err(invalid("a single quote isn't closed")) } else { Ok((value, "")) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn text(url: &str) -> String {
        parse(url).unwrap().iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn urls_are_split_and_decoded() {
        assert_eq!(text("postgres://u:p@h:1/d"), "user=u password=p host=h port=1 dbname=d");
        assert_eq!(text("postgresql://u@h"), "user=u host=h");
        assert_eq!(text("postgres://u:a%40b%2Fc@h/d%20e"), "user=u password=a@b/c host=h dbname=d e");
        assert_eq!(text("postgres://u:p@ss@h/d"), "user=u password=p@ss host=h dbname=d");
        assert_eq!(text("postgres://u@a:1,b,[::1]:3/d"), "user=u host=a,b,::1 port=1,,3 dbname=d");
        assert_eq!(text("postgres://u@%2Ftmp:5433/d"), "user=u host=/tmp port=5433 dbname=d");
        assert_eq!(
            text("postgres:///d?host=/tmp&user=u&options=-c%20a%3Db"),
            "dbname=d host=/tmp user=u options=-c a=b"
        );
        assert_eq!(text("postgres://u@h?sslmode=require"), "user=u host=h sslmode=require");
    }

    #[test]
    fn pairs_are_split_and_unquoted() {
        assert_eq!(text("host=h port = 1 user='a b' password='it\\'s'"), "host=h port=1 user=a b password=it's");
        assert_eq!(text("host=h password=a\\ b"), "host=h password=a b");
        assert_eq!(text("host=h password='' user=u"), "host=h password= user=u");
        assert_eq!(text(""), "");
    }

    #[test]
    fn nothing_of_a_broken_string_is_repeated() {
        for url in [
            "postgres://u:s3cr/et@h/d",
            "postgres://u:s3cr?et@h/d",
            "postgres://u:s3cr%zzet@h/d",
            "postgres://u:s3cret@[::1/d",
            "postgres://u@h/d?s3cret",
            "mysql://u:s3cret@h/d",
            "host=h password=a s3cret",
            "host=h password='s3cret",
            "host=h password=s3cret\\",
        ] {
            let error = parse(url).unwrap_err();
            assert!(!format!("{error:?}").contains("s3cr"), "{url}: {error:?}");
            assert_eq!(error.code().id, "postgres.url_invalid");
        }
    }
}
