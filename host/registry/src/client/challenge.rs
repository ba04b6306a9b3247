//! What a registry asks for when it answers 401: a password, or a token from somewhere else.

use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};

/// How to authenticate.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// With name and password in each request.
    Basic,
    /// With a token that `realm` hands out, as docker's token authentication has it.
    Bearer {
        /// Where.
        realm: String,
        /// For which service, as the registry calls itself.
        service: Option<String>,
    },
}

/// The best of the ways that a registry offers: a token where it can, for it lasts minutes and opens one repository.
pub(super) fn challenge(headers: &HeaderMap) -> Option<Challenge> {
    let values = headers.get_all(WWW_AUTHENTICATE).into_iter().filter_map(|value| value.to_str().ok());
    let offered: Vec<Challenge> = values.flat_map(read).collect();
    let bearer = offered.iter().position(|challenge| matches!(challenge, Challenge::Bearer { .. }));
    offered.into_iter().nth(bearer.unwrap_or(0))
}

fn read(header: &str) -> Vec<Challenge> {
    let challenges = http_auth::parse_challenges(header).unwrap_or_default();
    let known = challenges.iter().filter_map(|challenge| {
        let parameter = |name: &str| {
            let found = challenge.params.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.to_unescaped())
        };
        if challenge.scheme.eq_ignore_ascii_case("basic") {
            return Some(Challenge::Basic);
        }
        let realm = parameter("realm").filter(|_| challenge.scheme.eq_ignore_ascii_case("bearer"))?;
        Some(Challenge::Bearer { realm, service: parameter("service") })
    });
    known.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Option<Challenge> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, value.parse().unwrap());
        }
        challenge(&headers)
    }

    #[test]
    fn the_usual_ones_are_read() {
        let docker =
            r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a:pull""#;
        let bearer = |realm: &str, service: Option<&str>| {
            Some(Challenge::Bearer { realm: realm.to_owned(), service: service.map(str::to_owned) })
        };
        assert_eq!(of(&[docker]), bearer("https://auth.docker.io/token", Some("registry.docker.io")));
        assert_eq!(of(&[r#"basic realm="x""#]), Some(Challenge::Basic));
        assert_eq!(of(&[r#"Basic realm="x", bearer realm="r""#]), bearer("r", None));
        assert_eq!(of(&[r#"Basic realm="x""#, r#"Bearer realm="r""#]), bearer("r", None));
        assert_eq!(of(&["Negotiate"]), None);
        assert_eq!(of(&["Bearer"]), None);
        assert_eq!(of(&["=\"\\"]), None);
        assert_eq!(of(&[]), None);
    }
}
