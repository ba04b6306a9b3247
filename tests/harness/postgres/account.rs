//! The account a server runs under: PostgreSQL refuses to run as root.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Who runs the server.
#[derive(Debug, Clone, Copy)]
pub enum Account {
    /// Whoever runs the tests.
    Same,
    /// Another user, because we are root.
    Other {
        /// User id.
        uid: u32,
        /// Group id.
        gid: u32,
    },
}

impl Account {
    /// Under root, user `postgres`, else `nobody`.
    pub fn for_server() -> Result<Self, String> {
        if !Self::is_root() {
            return Ok(Self::Same);
        }
        let other = ["postgres", "nobody"].into_iter().find_map(|user| {
            let (uid, gid) = (id(&["-u", user])?, id(&["-g", user])?);
            Some(Self::Other { uid, gid })
        });
        other.ok_or_else(|| "PostgreSQL can't run as root, and there is no user `postgres` or `nobody`".to_owned())
    }

    /// Whether whoever runs the tests is root.
    pub fn is_root() -> bool {
        id(&["-u"]) == Some(0)
    }

    /// A command that runs `program` under this account.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if let Self::Other { uid, gid } = *self {
            command.uid(uid).gid(gid);
        }
        // A message in another language would not match what tests look for.
        command.env("LC_ALL", "C").env_remove("PGDATA").env_remove("PGPORT").env_remove("PGUSER");
        command
    }

    /// Makes `path` belong to this account.
    pub fn own(&self, path: &Path) -> std::io::Result<()> {
        match *self {
            Self::Same => Ok(()),
            Self::Other { uid, gid } => std::os::unix::fs::chown(path, Some(uid), Some(gid)),
        }
    }
}

fn id(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(arguments).output().ok()?;
    if !output.status.success() {
        return None;
    }
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}
