//! Credential helpers: programs `docker-credential-NAME` that are asked about one server on standard input.
//!
//! The protocol is that of docker's credential helpers: the server's name goes in, `{"Username": ..., "Secret": ...}`
//! comes out. A helper that knows nothing ends with a code and says "credentials not found".

use super::{Credential, Secret};
use crate::fault::CREDENTIALS;
use faucet_core::error::{Error, Result};
use serde::Deserialize;
use std::ffi::OsStr;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

/// More than this is no answer.
const LARGEST: u64 = 64 << 10;

/// The name that stands for "the secret is an identity token".
const IDENTITY: &str = "<token>";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    username: String,
    secret: String,
}

/// Asks the helper `name` about `server`. `path` is where programs are looked for.
///
/// # Errors
/// `registry.credentials`: it isn't there, fails, takes too long or answers with something else. What it wrote is not part
/// of the error, since it may hold the secret.
pub(super) async fn ask(
    name: &str,
    server: &str,
    path: Option<&OsStr>,
    patience: Duration,
) -> Result<Option<Credential>> {
    let program = format!("docker-credential-{name}");
    let failed = |why: String| {
        Error::new(&CREDENTIALS, format!("{program} {why}")).hint(format!("try it: `echo {server} | {program} get`"))
    };
    if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)) {
        return Err(Error::new(&CREDENTIALS, "the name of a credential helper has characters that no program has"));
    }
    let child = start(&program, path).map_err(|e| failed(format!("can't be started: {e}")))?;
    // The child is killed when the future that holds it is dropped.
    let ended = tokio::time::timeout(patience, converse(child, server)).await;
    let ended = ended.map_err(|_| failed(format!("did not answer within {} s", patience.as_secs_f32())))?;
    let (status, answer) = ended.map_err(|e| failed(format!("broke off: {e}")))?;
    if !status.success() {
        let unknown = String::from_utf8_lossy(&answer).contains("credentials not found");
        return if unknown { Ok(None) } else { Err(failed(format!("failed ({status})"))) };
    }
    let answer: Answer =
        serde_json::from_slice(&answer).map_err(|_| failed("answered with something else than credentials".into()))?;
    Ok(Some(answer.credential()))
}

impl Answer {
    fn credential(self) -> Credential {
        let secret = Secret::new(self.secret);
        if self.username == IDENTITY {
            return Credential::Identity(secret);
        }
        Credential::Password { user: self.username, password: secret }
    }
}

fn start(program: &str, path: Option<&OsStr>) -> io::Result<Child> {
    let mut command = Command::new(program);
    command.arg("get").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    if let Some(path) = path {
        command.env("PATH", path);
    }
    command.spawn()
}

async fn converse(mut child: Child, server: &str) -> io::Result<(ExitStatus, Vec<u8>)> {
    let mut input = child.stdin.take().expect("it is piped");
    let mut output = child.stdout.take().expect("it is piped").take(LARGEST);
    // One that ends without reading has its answer already.
    match input.write_all(server.as_bytes()).await {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
        _ => drop(input),
    }
    let mut answer = Vec::new();
    output.read_to_end(&mut answer).await?;
    drop(output);
    Ok((child.wait().await?, answer))
}
