//! Whether a path still leads to the file that was opened there.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{Failure, Outcome};

/// Where a file was opened. One that is replaced or removed stays open: what is written to it is
/// lost with the process.
pub(crate) struct Place {
    path: PathBuf,
    file: Option<Identity>,
    /// The files of SQLite beside it, the latest commits first.
    beside: [(PathBuf, Option<Identity>); 2],
    are_aside: AtomicBool,
}

/// The device and the number of a file.
type Identity = (u64, u64);

impl Place {
    /// Where this file is; it was opened just now.
    pub(crate) fn of(path: &Path) -> Self {
        let found = |path: &Path| identity(path).ok().flatten();
        let beside = ["-wal", "-shm"].map(|ending| {
            let path = with(path, ending);
            let file = found(&path);
            (path, file)
        });
        let are_aside = AtomicBool::new(false);
        Self { path: path.to_owned(), file: found(path), beside, are_aside }
    }

    /// Makes sure that the file is still there. Where another is, what stands beside it is set aside: whoever
    /// opened the other would take it for its latest commits. It is put back when the file is.
    pub(crate) fn still_there(&self) -> Outcome<()> {
        let found = identity(&self.path).map_err(Failure::path)?;
        let is_there = found == self.file;
        if is_there && !self.are_aside.load(Ordering::Relaxed) {
            return Ok(());
        }
        if is_there && self.put_back() {
            self.are_aside.store(false, Ordering::Relaxed);
            return Ok(());
        }
        if !is_there && found.is_some() {
            self.set_aside();
            self.are_aside.store(true, Ordering::Relaxed);
        }
        Err(Failure::misconfigured(self.advice(found.is_some())))
    }

    /// What an operator can do, the harmless step first. It names files, and no folder: anybody may
    /// read it.
    fn advice(&self, is_replaced: bool) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        if !is_replaced {
            return format!(
                "{name} was removed or renamed while it was open: put it back under that name, and this \
                 server goes on; do not restart it before, or it begins an empty file"
            );
        }
        format!(
            "{name} was replaced by another file while it was open: put the previous file back, and \
             this server goes on; its latest commits were set aside in {name}-wal.aside, and are put \
             back with it; only to serve the other file, and to give up what the previous one has \
             beyond it, restart the server"
        )
    }

    fn set_aside(&self) {
        for (path, file) in &self.beside {
            if is_at(path, *file) {
                // Where that fails, the next call tries again.
                let _ = std::fs::rename(path, with(path, ".aside"));
            }
        }
    }

    /// Whether all of them are in their places again.
    fn put_back(&self) -> bool {
        self.beside.iter().all(|(path, file)| {
            let is_free = matches!(identity(path), Ok(None));
            if is_free && is_at(&with(path, ".aside"), *file) {
                let _ = std::fs::rename(with(path, ".aside"), path);
            }
            file.is_none() || is_at(path, *file)
        })
    }
}

/// Whether this very file is at the path.
fn is_at(path: &Path, file: Option<Identity>) -> bool {
    file.is_some() && identity(path).ok().flatten() == file
}

fn with(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// Of what is at the path, if anything is.
#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Option<Identity>> {
    use std::os::unix::fs::MetadataExt as _;
    match std::fs::metadata(path) {
        Ok(file) => Ok(Some((file.dev(), file.ino()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Elsewhere a file that is open can be neither replaced nor removed.
#[cfg(not(unix))]
fn identity(_: &Path) -> io::Result<Option<Identity>> {
    Ok(None)
}
