//! Detects that the database file was replaced or removed while it is open.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{Failure, Outcome};

/// The identity of a file when it was opened. A file that is replaced or removed stays open, but what is
/// written to it is lost when the process ends.
pub(crate) struct OpenedFile {
    path: PathBuf,
    file: Option<Identity>,
    /// Its -wal and -shm files, in the order in which they are set aside.
    sidecars: [(PathBuf, Option<Identity>); 2],
    are_aside: AtomicBool,
}

/// The device and the inode number of a file.
type Identity = (u64, u64);

impl OpenedFile {
    /// Records the identity of a file that was just opened.
    pub(crate) fn of(path: &Path) -> Self {
        let found = |path: &Path| identity(path).ok().flatten();
        let sidecars = ["-wal", "-shm"].map(|ending| {
            let path = with(path, ending);
            let file = found(&path);
            (path, file)
        });
        let are_aside = AtomicBool::new(false);
        Self { path: path.to_owned(), file: found(path), sidecars, are_aside }
    }

    /// Checks that the path still leads to the file. If another file has taken its place, renames the -wal and
    /// -shm files: a process that opens the other file would replay them into it. They are renamed back when
    /// the file returns.
    pub(crate) fn check_in_place(&self) -> Outcome<()> {
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

    /// Advice for the operator, the safe step first. Names files without their folder, since the text is
    /// public.
    fn advice(&self, is_replaced: bool) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        if !is_replaced {
            return format!(
                "{name} was removed or renamed while it was open: put it back under that name, and this \
                 server continues; the latest commits are in {name}-wal, which belongs to it"
            );
        }
        format!(
            "{name} was replaced by another file while it was open: put the previous file back, and \
             this server continues; the latest commits are in {name}-wal.aside, and are restored with \
             that file; restart the server only to serve the other file and to lose the commits that \
             it lacks"
        )
    }

    fn set_aside(&self) {
        for (path, file) in &self.sidecars {
            if is_at(path, *file) {
                // If this fails, the next call retries.
                let _ = std::fs::rename(path, with(path, ".aside"));
            }
        }
    }

    /// Renames the -wal and -shm files back; returns whether all of them are in place.
    fn put_back(&self) -> bool {
        self.sidecars.iter().all(|(path, file)| {
            let is_free = matches!(identity(path), Ok(None));
            if is_free && is_at(&with(path, ".aside"), *file) {
                let _ = std::fs::rename(with(path, ".aside"), path);
            }
            file.is_none() || is_at(path, *file)
        })
    }
}

/// Whether the path leads to this file.
fn is_at(path: &Path, file: Option<Identity>) -> bool {
    file.is_some() && identity(path).ok().flatten() == file
}

fn with(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// The identity of the file at the path, if there is one.
#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Option<Identity>> {
    use std::os::unix::fs::MetadataExt as _;
    match std::fs::metadata(path) {
        Ok(file) => Ok(Some((file.dev(), file.ino()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// On other platforms an open file can be neither replaced nor removed.
#[cfg(not(unix))]
fn identity(_: &Path) -> io::Result<Option<Identity>> {
    Ok(None)
}
