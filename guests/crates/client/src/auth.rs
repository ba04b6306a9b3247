//! Who a request comes from. The configuration names secrets; their values are put in by the host.

use crate::call::Call;
use crate::url::origin;
use faucet_sdk::{Error, Result, config};

/// Who requests come from. Secrets are named as in the plugin's `secrets` and `grants.secrets`; the plugin itself never
/// sees their values.
#[config]
#[derive(PartialEq, Eq)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Auth {
    /// `Authorization: Bearer` and a secret.
    Bearer {
        /// The secret that holds the token.
        secret: String,
    },
    /// A user name and a password (RFC 7617).
    Basic {
        /// The user name.
        username: String,
        /// The secret that holds the password.
        secret: String,
    },
    /// A key in a header or in the query.
    ApiKey {
        /// The secret that holds the key.
        secret: String,
        /// The header it goes into, such as `X-Api-Key`.
        #[serde(default)]
        header: Option<String>,
        /// The query parameter it goes into.
        #[serde(default)]
        query: Option<String>,
        /// Text before the key in the header, such as `Token `.
        #[serde(default)]
        prefix: String,
    },
    /// A token that a token endpoint gives for the client's credentials (RFC 6749, section 4.4), kept until it expires
    /// or is refused.
    Oauth2 {
        /// The token endpoint.
        token_url: String,
        /// The client's id.
        client_id: String,
        /// The secret that holds the client's secret.
        secret: String,
        /// What to ask for.
        #[serde(default)]
        scopes: Vec<String>,
        /// More parameters of the token request, such as `audience`.
        #[serde(default)]
        parameters: std::collections::BTreeMap<String, String>,
    },
}

impl Auth {
    /// Checks what its types don't say.
    ///
    /// # Errors
    /// What is wrong, with its path.
    pub fn check(&self) -> Result<()> {
        let (Self::Bearer { secret }
        | Self::Basic { secret, .. }
        | Self::ApiKey { secret, .. }
        | Self::Oauth2 { secret, .. }) = self;
        check_name(secret)?;
        match self {
            Self::Bearer { .. } => Ok(()),
            Self::Basic { username, .. } => check_user(username, "auth.username"),
            Self::ApiKey { header, query, prefix, .. } => {
                if header.is_some() == query.is_some() {
                    return Err(Error::config("auth", "give the key either a `header` or a `query`"));
                }
                if query.is_some() && !prefix.is_empty() {
                    return Err(Error::config("auth.prefix", "goes with a `header`"));
                }
                Ok(())
            }
            Self::Oauth2 { token_url, client_id, .. } => {
                origin(token_url).map_err(|error| Error::config("auth.token_url", error.to_string()))?;
                check_user(client_id, "auth.client_id")
            }
        }
    }

    /// Puts the credentials into a request; `token` is the one of the token endpoint.
    pub(crate) fn apply(&self, call: &mut Call, token: Option<&str>) {
        let authorization = match self {
            Self::Bearer { secret } => format!("Bearer ${{secret:{secret}}}"),
            Self::Basic { username, secret } => format!("Basic ${{basic:{username}:{secret}}}"),
            Self::Oauth2 { .. } => format!("Bearer {}", token.unwrap_or_default()),
            Self::ApiKey { secret, header: Some(name), prefix, .. } => {
                call.headers.push((name.clone(), format!("{prefix}${{secret:{secret}}}")));
                return;
            }
            Self::ApiKey { secret, query, .. } => {
                let name = crate::url::encoded(query.as_deref().unwrap_or_default());
                let separator = if call.url.contains('?') { '&' } else { '?' };
                // The form in which the host finds it; see `call::inert`.
                call.url.push_str(&format!("{separator}{name}=$%7Bsecret:{secret}%7D"));
                return;
            }
        };
        call.headers.push(("authorization".to_owned(), authorization));
    }
}

fn check_name(secret: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if secret.is_empty() || !secret.chars().all(plain) {
        let message = "is the name of a secret under the plugin's `secrets`, not its value";
        return Err(Error::config("auth.secret", message));
    }
    Ok(())
}

/// A name that stays one in `${basic:USER:NAME}`. RFC 7617 itself forbids the colon.
fn check_user(name: &str, path: &str) -> Result<()> {
    if name.is_empty() || name.contains([':', '}', '\r', '\n']) {
        return Err(Error::config(path, "is a name without `:` and `}`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(auth: &Auth) -> Call {
        let mut call = Call { url: "https://h/x".to_owned(), ..Call::default() };
        auth.apply(&mut call, Some("tok"));
        call
    }

    #[test]
    fn secrets_are_placeholders() {
        let secret = || "key".to_owned();
        let header = |auth: &Auth| applied(auth).headers.pop().map(|(_, value)| value);
        assert_eq!(header(&Auth::Bearer { secret: secret() }).as_deref(), Some("Bearer ${secret:key}"));
        let basic = Auth::Basic { username: "me".to_owned(), secret: secret() };
        assert_eq!(header(&basic).as_deref(), Some("Basic ${basic:me:key}"));
        let query = |query: Option<&str>, header: Option<&str>| Auth::ApiKey {
            secret: secret(),
            header: header.map(Into::into),
            query: query.map(Into::into),
            prefix: String::new(),
        };
        assert_eq!(applied(&query(Some("k y"), None)).url, "https://h/x?k%20y=$%7Bsecret:key%7D");
        assert_eq!(header(&query(None, Some("X-Key"))).as_deref(), Some("${secret:key}"));
        assert!(query(None, None).check().is_err() && query(Some("a"), Some("b")).check().is_err());
    }

    #[test]
    fn a_value_in_place_of_a_name_is_refused() {
        for value in ["", "${secret:key}", "Bearer abc", "p@ss"] {
            let error = Auth::Bearer { secret: value.to_owned() }.check().expect_err("no name");
            assert_eq!(error.problems()[0].0, "auth.secret");
        }
        let basic = Auth::Basic { username: "a:b".to_owned(), secret: "key".to_owned() };
        assert!(basic.check().is_err_and(|error| error.problems()[0].0 == "auth.username"));
    }
}
