//! Whether a path still leads to the file that was opened there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};

/// Where a file was opened. One that is replaced or removed stays open: what is written to it is
/// lost with the process.
pub(crate) struct Place {
    path: PathBuf,
    file: Option<Identity>,
    /// The files of SQLite beside it, the latest commits first.
    beside: [(PathBuf, Option<Identity>); 2],
}

/// The device and the number of a file.
type Identity = (u64, u64);

impl Place {
    /// Where this file is; it was opened just now.
    pub(crate) fn of(path: &Path) -> Self {
        let beside = ["-wal", "-shm"].map(|ending| {
            let path = with(path, ending);
            let file = identity(&path);
            (path, file)
        });
        Self { path: path.to_owned(), file: identity(path), beside }
    }

    /// Makes sure that the file is still there. If not, what stands beside it is set aside: whoever opened
    /// the other file would take it for its latest commits.
    pub(crate) fn still_there(&self) -> Outcome<()> {
        if identity(&self.path) == self.file {
            return Ok(());
        }
        for (path, file) in &self.beside {
            if file.is_some() && identity(path) == *file {
                // Where that fails, the next call tries again.
                let _ = std::fs::rename(path, with(path, ".aside"));
            }
        }
        let text = "the file was replaced or removed while it was open: restart the server";
        Err(Failure::misconfigured(text))
    }
}

fn with(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    let file = std::fs::metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

/// Elsewhere a file that is open can be neither replaced nor removed.
#[cfg(not(unix))]
fn identity(_: &Path) -> Option<Identity> {
    None
}
