use super::*;
use std::collections::HashMap;

/// A home with files, and the credentials found in it.
struct Home {
    folder: tempfile::TempDir,
    variables: HashMap<String, OsString>,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().as_os_str().to_owned();
        Self { folder, variables: HashMap::from([("HOME".to_owned(), home)]) }
    }

    fn set(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// A credential helper out of shell script, in a folder that is first in the path.
    #[cfg(unix)]
    fn helper(self, name: &str, script: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let file = format!("bin/docker-credential-{name}");
        let home = self.file(&file, format!("#!/bin/sh\n{script}\n"));
        let path = home.folder.path().join(file);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let bin = home.folder.path().join("bin").into_os_string().into_string().unwrap();
        home.set("PATH", format!("{bin}:/usr/bin:/bin"))
    }

    fn credentials(&self) -> Result<Credentials> {
        Credentials::from_variables(|name| self.variables.get(name).cloned())
    }

    async fn find(&self, reference: &str) -> Result<Credential> {
        self.credentials()?.helper_patience(Duration::from_secs(5)).find(&reference.parse()?).await
    }
}

fn password(user: &str, password: &str) -> Credential {
    Credential::Password { user: user.to_owned(), password: Secret::new(password) }
}

/// `auths` with one entry for each key: the user is `u`, the password is the key.
fn auths(keys: &[&str]) -> String {
    use base64::Engine as _;
    let auth = |key: &&str| {
        let auth = base64::engine::general_purpose::STANDARD.encode(format!("u:{key}"));
        format!(r#""{key}": {{ "auth": "{auth}" }}"#)
    };
    format!(r#"{{ "auths": {{ {} }} }}"#, keys.iter().map(auth).collect::<Vec<_>>().join(", "))
}

#[tokio::test]
async fn nothing_anywhere_is_anonymous() {
    assert_eq!(Home::new().find("ghcr.io/a:1").await.unwrap(), Credential::Anonymous);
}

#[tokio::test]
async fn the_environment_comes_first_and_for_its_host_alone() {
    let home = Home::new()
        .file(".docker/config.json", auths(&["ghcr.io", "other.io"]))
        .set("FAUCET_REGISTRY_USER", "robot")
        .set("FAUCET_REGISTRY_PASSWORD", "s3cret");
    assert_eq!(home.find("ghcr.io/a:1").await.unwrap(), password("robot", "s3cret"));
    assert!(home.credentials().unwrap().are_for_anybody());
    let home = home.set("FAUCET_REGISTRY_HOST", "GHCR.io");
    assert_eq!(home.find("ghcr.io/a:1").await.unwrap(), password("robot", "s3cret"));
    assert_eq!(home.find("other.io/a:1").await.unwrap(), password("u", "other.io"));
    assert!(!home.credentials().unwrap().are_for_anybody());
}

#[tokio::test]
async fn half_of_the_environment_is_an_error() {
    for (name, other) in
        [("FAUCET_REGISTRY_USER", "FAUCET_REGISTRY_PASSWORD"), ("FAUCET_REGISTRY_PASSWORD", "FAUCET_REGISTRY_USER")]
    {
        let error = Home::new().set(name, "s3cret").set(other, "").credentials().unwrap_err();
        assert_eq!(error.to_string(), format!("{name} is set, and {other} is not"));
    }
}

#[tokio::test]
async fn files_are_asked_in_their_order() {
    let home = Home::new()
        .file(".docker/config.json", auths(&["one.io"]))
        .file("elsewhere/config.json", auths(&["two.io"]))
        .file("run/containers/auth.json", auths(&["one.io/x", "three.io"]))
        .file(".config/containers/auth.json", auths(&["four.io"]))
        .file("named.json", auths(&["five.io"]));
    let root = home.folder.path().to_owned();
    let home = home.set("XDG_RUNTIME_DIR", root.join("run"));
    assert_eq!(home.find("one.io/x:1").await.unwrap(), password("u", "one.io"));
    assert_eq!(home.find("three.io/a:1").await.unwrap(), password("u", "three.io"));
    assert_eq!(home.find("four.io/a:1").await.unwrap(), password("u", "four.io"));
    let home = home.set("DOCKER_CONFIG", root.join("elsewhere")).set("REGISTRY_AUTH_FILE", root.join("named.json"));
    assert_eq!(home.find("two.io/a:1").await.unwrap(), password("u", "two.io"));
    assert_eq!(home.find("five.io/a:1").await.unwrap(), password("u", "five.io"));
    for left in ["one.io/a:1", "three.io/a:1", "four.io/a:1"] {
        assert_eq!(home.find(left).await.unwrap(), Credential::Anonymous, "{left}");
    }
}

#[tokio::test]
async fn keys_are_matched_by_host_and_the_longest_path() {
    let keys = ["https://Old.io/v2/", "https://index.docker.io/v1/", "ghcr.io", "ghcr.io/acme", "ghcr.io/acme/mask"];
    let home = Home::new().file(".docker/config.json", auths(&[&keys[..], &["localhost:5000"]].concat()));
    let cases = [
        ("old.io/a:1", keys[0]),
        ("docker.io/acme/mask:1", keys[1]),
        ("ghcr.io/acm:1", keys[2]),
        ("ghcr.io/acmeother/mask:1", keys[2]),
        ("ghcr.io/acme/other:1", keys[3]),
        ("ghcr.io/acme/mask:1", keys[4]),
        ("localhost:5000/a:1", "localhost:5000"),
    ];
    for (reference, key) in cases {
        assert_eq!(home.find(reference).await.unwrap(), password("u", key), "{reference}");
    }
    for stranger in ["localhost:5001/a:1", "evil-ghcr.io/acme/mask:1", "ghcr.io.evil.io/acme/mask:1"] {
        assert_eq!(home.find(stranger).await.unwrap(), Credential::Anonymous, "{stranger}");
    }
}

#[tokio::test]
async fn entries_come_in_several_shapes() {
    let text = r#"{ "auths": {
        "token.io": { "auth": "eDp5", "identitytoken": "t0ken" },
        "plain.io": { "username": "u", "password": "p" },
        "unpadded.io": { "auth": "dTpwcA" },
        "colon.io": { "auth": "dTphOmI=" },
        "empty.io": {}
    }, "HttpHeaders": { "x": "y" } }"#;
    let home = Home::new().file(".docker/config.json", text);
    assert_eq!(home.find("token.io/a:1").await.unwrap(), Credential::Identity(Secret::new("t0ken")));
    assert_eq!(home.find("plain.io/a:1").await.unwrap(), password("u", "p"));
    assert_eq!(home.find("unpadded.io/a:1").await.unwrap(), password("u", "pp"));
    assert_eq!(home.find("colon.io/a:1").await.unwrap(), password("u", "a:b"));
    assert_eq!(home.find("empty.io/a:1").await.unwrap(), Credential::Anonymous);
}

#[tokio::test]
async fn a_broken_file_is_an_error_that_quotes_nothing() {
    let cases = [
        (r#"{ "auths": { "ghcr.io": { "auth": { "s3cret": 1 } } } }"#, "wrong type at line 1"),
        (r#"{ "auths": { "ghcr.io": "s3cret" } }"#, "wrong type at line 1"),
        ("{ \"auths\": {\n s3cret", "is not JSON at line 2"),
        (r#"{ "auths": { "ghcr.io": { "auth": "s3cret!" } } }"#, "not Base64"),
        (r#"{ "auths": { "ghcr.io": { "auth": "czNjcmV0" } } }"#, "without a colon"),
        (r#"{ "credHelpers": { "ghcr.io": "../s3cret" } }"#, "characters that no program has"),
    ];
    for (text, expected) in cases {
        let error = Home::new().file(".docker/config.json", text).find("ghcr.io/a:1").await.unwrap_err();
        assert_eq!(error.code().id, "registry.credentials");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!format!("{error:?} {:?}", error.hint_text()).contains("s3cret"), "{error:?}");
    }
}

#[cfg(unix)]
mod helpers {
    use super::*;

    const GIVES: &str =
        r#"read -r server; echo "{\"ServerURL\":\"$server\",\"Username\":\"u\",\"Secret\":\"for $server\"}""#;

    #[tokio::test]
    async fn the_helper_of_a_registry_comes_before_its_entry_and_the_store_comes_last() {
        let config = r#"{ "credHelpers": { "ghcr.io": "one" }, "credsStore": "all",
            "auths": { "ghcr.io": { "username": "x", "password": "y" }, "two.io": { "username": "x", "password": "y" },
                       "three.io": {} } }"#;
        let all = GIVES.replace("for", "all");
        let home = Home::new().file(".docker/config.json", config).helper("one", GIVES).helper("all", &all);
        assert_eq!(home.find("ghcr.io/a:1").await.unwrap(), password("u", "for ghcr.io"));
        assert_eq!(home.find("two.io/a:1").await.unwrap(), password("x", "y"));
        assert_eq!(home.find("three.io/a:1").await.unwrap(), password("u", "all three.io"));
        assert_eq!(home.find("docker.io/a:1").await.unwrap(), password("u", "all https://index.docker.io/v1/"));
    }

    #[tokio::test]
    async fn an_identity_token_is_told_from_a_password() {
        let script = r#"echo '{"Username":"<token>","Secret":"t"}'"#;
        let home = Home::new().file(".docker/config.json", r#"{ "credsStore": "x" }"#).helper("x", script);
        assert_eq!(home.find("ghcr.io/a:1").await.unwrap(), Credential::Identity(Secret::new("t")));
    }

    #[tokio::test]
    async fn a_helper_that_knows_nothing_leaves_it_to_the_next_file() {
        let script = "echo 'credentials not found in native keychain'; exit 1";
        let home = Home::new().file(".docker/config.json", r#"{ "credsStore": "x" }"#).helper("x", script);
        assert_eq!(home.find("ghcr.io/a:1").await.unwrap(), Credential::Anonymous);
        let home = home.file(".config/containers/auth.json", auths(&["ghcr.io"]));
        assert_eq!(home.find("ghcr.io/a:1").await.unwrap(), password("u", "ghcr.io"));
    }

    #[tokio::test]
    async fn a_helper_that_fails_is_an_error_without_its_words() {
        let cases = [
            ("echo s3cret; echo s3cret >&2; exit 3", "failed (exit status: 3)"),
            ("echo '{\"Secret\": \"s3cret\"}'", "something else than credentials"),
            ("exec sleep 60", "did not answer within 5 s"),
            ("exec yes s3cret", "failed"),
        ];
        for (script, expected) in cases {
            let home = Home::new().file(".docker/config.json", r#"{ "credsStore": "x" }"#).helper("x", script);
            let error = home.find("ghcr.io/a:1").await.unwrap_err();
            assert_eq!(error.code().id, "registry.credentials");
            assert!(error.to_string().contains(expected), "{script}: {error}");
            assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
        }
    }

    #[tokio::test]
    async fn a_helper_that_is_not_there_is_an_error() {
        let home = Home::new().file(".docker/config.json", r#"{ "credsStore": "gone" }"#);
        let error = home.find("ghcr.io/a:1").await.unwrap_err();
        assert!(error.to_string().contains("docker-credential-gone can't be started"), "{error}");
        assert!(error.contexts()[0].contains(".docker/config.json"));
    }
}
