//! The evidence of a fork: two signed checkpoints of one log, and the tiles that show that the later one does not continue the
//! earlier one. The folder has the form of a mirror, so that `swarm verify` reads it too.

use std::path::PathBuf;

use swarm_client::LogTiles;
use swarm_core::audit::{LogKey, is_fork};
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::SignedNote;
use swarm_core::proof::tile::{TilePath, hashes_tile};

use super::state_folder::replace;
use crate::Failure;

pub(super) struct Evidence(PathBuf);

const EARLIER: &str = "earlier.checkpoint";

/// The later checkpoint, under the name that it has in a mirror.
const LATER: &str = "checkpoint";

impl Evidence {
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Keeps two signed checkpoints, and the tiles that were read of the later tree.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn keep(&self, earlier: &str, later: &str, tiles: &LogTiles) -> Result<(), Failure> {
        let size = size_of(later).unwrap_or_default();
        for (id, hashes) in tiles.tiles_read() {
            let tile = TilePath { level: Some(id.level), index: id.index, width: id.width(size) };
            replace(&self.0.join(format!("tile/{tile}")), &hashes_tile(hashes))?;
        }
        replace(&self.0.join(EARLIER), earlier.as_bytes())?;
        replace(&self.0.join(LATER), later.as_bytes())
    }

    /// The fork that an earlier run kept the evidence of, for people.
    ///
    /// # Errors
    /// If there is evidence that cannot be read, or that is none.
    pub(super) fn find(&self, key: &LogKey) -> Result<Option<String>, Failure> {
        let [earlier, later] = [EARLIER, LATER].map(|name| self.0.join(name));
        if !earlier.try_exists()? {
            return Ok(None);
        }
        let read = |path: PathBuf| {
            std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let (earlier, later) = (read(earlier)?, read(later)?);
        let mut tiles = LogTiles::in_folder(&self.0);
        tiles.of_size(size_of(&later).unwrap_or_default());
        let folder = self.0.display();
        if is_fork([&earlier, &later], key, |node| tiles.hash(node))? {
            return Ok(Some(format!(
                "a fork, found by an earlier run: its evidence is in {folder}"
            )));
        }
        Err(format!("{folder}: the evidence that an earlier run kept is damaged").into())
    }

    /// Where it is kept, for people.
    pub(super) fn place(&self) -> String {
        self.0.display().to_string()
    }
}

fn size_of(note: &str) -> Option<u64> {
    let note = SignedNote::parse(note).ok()?;
    Some(Checkpoint::parse(note.text()).ok()?.size)
}
