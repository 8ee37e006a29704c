//! Whether a path still leads to the file that was opened there.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};

/// Where a file was opened. One that is replaced or removed stays open: what is written to it is
/// lost with the process.
pub(crate) struct Place {
    path: PathBuf,
    file: Option<Identity>,
}

/// The device and the number of a file.
type Identity = (u64, u64);

impl Place {
    /// Where this file is; it was opened just now.
    pub(crate) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), file: identity(path) }
    }

    /// Makes sure that the file is still there.
    pub(crate) fn still_there(&self) -> Outcome<()> {
        if identity(&self.path) == self.file {
            return Ok(());
        }
        let text = "the file was replaced or removed while it was open: restart the server";
        Err(Failure::misconfigured(text))
    }
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
