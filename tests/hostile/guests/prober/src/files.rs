//! Files: in the granted folders, and out of them.

use crate::text;
use faucet_sdk::serde_json::Value;
use std::{fs, io};
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{ErrorCode, NewTimestamp, PathFlags};

/// What became of it: the content that was read, or the sort of error.
pub fn probe(what: &str, config: &Value) -> String {
    let path = text(config, "path");
    let done = match what {
        "file-read" => fs::read_to_string(path),
        "file-write" => fs::write(path, text(config, "text")).map(|()| "written".into()),
        "file-remove" => fs::remove_file(path).map(|()| "removed".into()),
        "file-rename" => fs::rename(path, text(config, "to")).map(|()| "renamed".into()),
        "file-make" => fs::create_dir(path).map(|()| "made".into()),
        "file-list" => list(path),
        "file-touch" => touch(path).map(|()| "touched".into()),
        "file-link" => link(text(config, "to"), path).map(|()| "linked".into()),
        _ => Err(io::Error::other(format!("there is no {what}"))),
    };
    done.unwrap_or_else(|error| format!("error: {:?}", error.kind()))
}

/// Changes the times of what has a name, without opening it here.
fn touch(path: &str) -> io::Result<()> {
    let folders = get_directories();
    let found = folders.iter().find_map(|(folder, name)| Some((folder, path.strip_prefix(name.as_str())?)));
    let (folder, below) = found.ok_or(io::ErrorKind::NotFound)?;
    let (kept, now) = (NewTimestamp::NoChange, NewTimestamp::Now);
    let touched = folder.set_times_at(PathFlags::SYMLINK_FOLLOW, below.trim_start_matches('/'), kept, now);
    touched.map_err(|code| match code {
        ErrorCode::NotPermitted => io::ErrorKind::PermissionDenied.into(),
        code => io::Error::other(format!("{code:?}")),
    })
}

fn list(path: &str) -> io::Result<String> {
    let names = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names.join(","))
}

#[allow(deprecated, reason = "what replaces it for WASI is not stable")]
fn link(to: &str, path: &str) -> io::Result<()> {
    fs::soft_link(to, path)
}
