//! Files that are there whole or not at all.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Puts `bytes` at `path`: a temporary file beside it, forced to disk, renamed over what is there, and the folder forced
/// to disk. Whoever reads sees the old file or the new one, at any point and after a power cut.
///
/// Others may read it, as far as the umask lets them: what one user pulls, a service of another one runs.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".faucet-").suffix(".partial");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// The folder a file is in; `.` for a bare name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn others_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        replace(&path, b"one").unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        // Nothing beyond 0644, and more than the owner unless the umask of whoever runs this forbids it.
        let free = folder.path().join("b");
        std::fs::write(&free, "").unwrap();
        assert_eq!(mode & 0o777, 0o644 & std::fs::metadata(&free).unwrap().permissions().mode());
    }

    #[test]
    fn a_bare_name_lies_in_the_current_folder() {
        assert_eq!(folder_of(Path::new("a")), Path::new("."));
        assert_eq!(folder_of(Path::new("a/b")), Path::new("a"));
    }
}
