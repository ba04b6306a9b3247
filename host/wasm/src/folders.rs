//! Granted folders. wasmtime looks everything up inside of them, so that neither `..` nor a link leads out. Three of its
//! functions are replaced here:
//!
//! * `open-at` and `set-times-at` open what has the name. Opening a pipe waits for whoever is at its other end, out of
//!   reach of the deadline, and opening a device may do anything. Files and folders are opened, and nothing else.
//! * `symlink-at` makes what a guest can't follow out of its folder, and other programs can. There are no new links.

use crate::capability::Surroundings;
use crate::grant::{Access, Folder};
use tokio::time::timeout_at;
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemCtxView, WasiFilesystemView};
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, DescriptorType, ErrorCode, HostDescriptor, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::runtime::in_tokio;
use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

/// The interface of files, as wasmtime names it. Other versions of its track are served by it too.
const TYPES: &str = "wasi:filesystem/types@0.2.12";

/// Opens the granted folders for a new instance.
///
/// # Errors
/// If one can't be opened.
pub(crate) fn open(builder: &mut WasiCtxBuilder, folders: &[Folder]) -> wasmtime::Result<()> {
    for folder in folders {
        let permissions = match folder.access {
            Access::Read => FsPerms::ReadOnly,
            Access::Write => FsPerms::ReadWrite,
        };
        builder.preopened_dir(&folder.path, &folder.name, permissions)?;
    }
    Ok(())
}

/// Puts the functions of this module in the place of wasmtime's own.
pub(crate) fn link(linker: &mut Linker<Surroundings>) -> wasmtime::Result<()> {
    type Open = (Resource<Descriptor>, PathFlags, String, OpenFlags, DescriptorFlags);
    type SetTimes = (Resource<Descriptor>, PathFlags, String, NewTimestamp, NewTimestamp);
    type Symlink = (Resource<Descriptor>, String, String);
    let mut types = linker.instance(TYPES)?;
    types.func_wrap(
        "[method]descriptor.open-at",
        |mut store: StoreContextMut<'_, Surroundings>, (folder, follow, path, how, access): Open| {
            in_time(store.data_mut(), async |files| {
                refuse_special(files, &folder, follow, &path).await?;
                files.open_at(folder, follow, path, how, access).await
            })
        },
    )?;
    types.func_wrap(
        "[method]descriptor.set-times-at",
        |mut store: StoreContextMut<'_, Surroundings>, (folder, follow, path, read, written): SetTimes| {
            in_time(store.data_mut(), async |files| {
                refuse_special(files, &folder, follow, &path).await?;
                files.set_times_at(folder, follow, path, read, written).await
            })
        },
    )?;
    types.func_wrap("[method]descriptor.symlink-at", |_: StoreContextMut<'_, Surroundings>, _: Symlink| {
        Ok((Err::<(), _>(ErrorCode::NotPermitted),))
    })
}

/// Refuses what has this name and is neither a file nor a folder. What can't be looked at is left to whoever opens it, and
/// so is a link that is not followed.
async fn refuse_special(
    files: &mut WasiFilesystemCtxView<'_>,
    folder: &Resource<Descriptor>,
    follow: PathFlags,
    path: &str,
) -> FsResult<()> {
    let folder = Resource::new_borrow(folder.rep());
    match files.stat_at(folder, follow, path.to_owned()).await.map(|found| found.type_) {
        Ok(DescriptorType::RegularFile | DescriptorType::Directory | DescriptorType::SymbolicLink) | Err(_) => Ok(()),
        Ok(_) => Err(ErrorCode::NotPermitted.into()),
    }
}

/// What comes of work on files before the call's deadline. Another program can put a pipe in the place of a file after it
/// was looked at: that, like a disk that hangs, holds up a thread of the host, but not the call.
fn in_time<T>(
    guest: &mut Surroundings,
    work: impl AsyncFnOnce(&mut WasiFilesystemCtxView<'_>) -> FsResult<T>,
) -> wasmtime::Result<(Result<T, ErrorCode>,)> {
    let deadline = guest.deadline().into();
    let mut files = guest.filesystem();
    let done = match in_tokio(async { timeout_at(deadline, work(&mut files)).await }) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(error.downcast()?),
        Err(_) => Err(ErrorCode::WouldBlock),
    };
    Ok((done,))
}
