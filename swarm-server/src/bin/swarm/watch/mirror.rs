//! A mirror of a log: its checkpoint, its entries and the hashes of its tree, as files with the paths that the log serves
//! them at. Only what was authenticated by a checkpoint is in it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::SignedNote;
use swarm_core::proof::tile::{
    TileId, TilePath, WIDTH, entries_tile, hashes_tile, read_entries_tile, read_hashes_tile,
};
use swarm_core::proof::tree::TreeHash;

use super::state_folder::replace;
use crate::Failure;

pub(super) struct Mirror {
    folder: PathBuf,
    /// The number of entries that it has.
    size: u64,
    /// The entries of the tile that is being filled.
    tile: Vec<String>,
    /// The number of entries in it and before it.
    next: u64,
}

/// The folder of the tiles of a look that has not ended.
const INCOMING: &str = "incoming";

const CHECKPOINT: &str = "checkpoint";

impl Mirror {
    /// Opens a mirror, or begins one.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn open(folder: PathBuf) -> Result<Self, Failure> {
        let note = match fs::read_to_string(folder.join(CHECKPOINT)) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            read => Some(SignedNote::parse(&read?)?),
        };
        let size = match note {
            Some(note) => Checkpoint::parse(note.text())?.size,
            None => 0,
        };
        match fs::remove_dir_all(folder.join(INCOMING)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        Ok(Self { folder, size, tile: Vec::new(), next: 0 })
    }

    /// Returns a function that reads an entry by its index.
    pub(super) fn into_entries(self) -> impl FnMut(u64) -> Option<String> + 'static {
        let (mut first, mut texts) = (0, Vec::new());
        move |index| {
            let width = u64::from(WIDTH);
            if texts.is_empty() || index / width != first / width {
                let tile = TileId { level: 0, index: index / width };
                let tile = TilePath { level: None, ..path_of(tile, self.size) };
                let bytes = fs::read(self.path(&self.folder, tile)).ok()?;
                first = index / width * width;
                texts = read_entries_tile(&bytes)?.into_iter().map(str::to_owned).collect();
            }
            texts.get(usize::try_from(index - first).ok()?).cloned()
        }
    }

    /// The number of entries that it has.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Begins with the entry of this index: it is the first one, or the one after those that the mirror has.
    ///
    /// # Errors
    /// If the last tile cannot be read.
    pub(super) fn begin(&mut self, first: u64) -> Result<(), Failure> {
        let width = first % u64::from(WIDTH);
        self.next = first;
        self.tile = match u16::try_from(width) {
            Ok(0) | Err(_) => Vec::new(),
            Ok(width) => {
                let tile = TilePath { level: None, index: first / u64::from(WIDTH), width };
                let bytes = fs::read(self.path(&self.folder, tile))?;
                let texts = read_entries_tile(&bytes).ok_or("an entries tile is damaged")?;
                texts.into_iter().map(str::to_owned).collect()
            }
        };
        Ok(())
    }

    /// Adds the next entry, which is not authenticated yet.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn push(&mut self, entry: &str) -> Result<(), Failure> {
        self.tile.push(entry.to_owned());
        self.next += 1;
        if self.next.is_multiple_of(u64::from(WIDTH)) {
            self.write_entries()?;
            self.tile.clear();
        }
        Ok(())
    }

    fn write_entries(&self) -> Result<(), Failure> {
        let Some(index) = self.next.checked_sub(1).map(|last| last / u64::from(WIDTH)) else {
            return Ok(());
        };
        let incoming = self.folder.join(INCOMING);
        let width = u16::try_from(self.tile.len())?;
        let tile = TilePath { level: None, index, width };
        replace(&self.path(&incoming, tile), &entries_tile(&self.tile))?;
        let hashes = self.tile.iter().map(|text| TreeHash::leaf(text.as_bytes()));
        let tile = TilePath { level: Some(0), ..tile };
        replace(&self.path(&incoming, tile), &hashes_tile(&hashes.collect::<Vec<_>>()))
    }

    /// Ends a look whose entries were authenticated: they are part of the mirror from now on.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn end(mut self, checkpoint: &str) -> Result<(), Failure> {
        if !self.tile.is_empty() {
            self.write_entries()?;
        }
        let incoming = self.folder.join(INCOMING);
        if incoming.try_exists()? {
            move_all(&incoming, &self.folder)?;
            fs::remove_dir_all(&incoming)?;
        }
        let before = std::mem::replace(&mut self.size, self.next);
        self.write_levels(before)?;
        replace(&self.folder.join(CHECKPOINT), checkpoint.as_bytes())?;
        self.remove_partial(before);
        Ok(())
    }

    /// Writes the hashes above the leaves that changed since the mirror had this size.
    fn write_levels(&self, before: u64) -> Result<(), Failure> {
        let mut level = 1;
        let hashes = |level: u8, size: u64| size.checked_shr(8 * u32::from(level)).unwrap_or(0);
        while hashes(level, self.size) > 0 {
            let (first, end) = (hashes(level, before), hashes(level, self.size));
            for index in first / u64::from(WIDTH)..end.div_ceil(u64::from(WIDTH)) {
                let id = TileId { level, index };
                let below = |place| TileId { level: level - 1, index: index * 256 + place };
                let roots =
                    (0..u64::from(id.width(self.size))).map(|place| self.root(below(place)));
                let roots = roots.collect::<Result<Vec<_>, _>>()?;
                if !roots.is_empty() {
                    replace(
                        &self.path(&self.folder, path_of(id, self.size)),
                        &hashes_tile(&roots),
                    )?;
                }
            }
            level += 1;
        }
        Ok(())
    }

    /// The root of a full tile.
    fn root(&self, id: TileId) -> Result<TreeHash, Failure> {
        let path = self.path(&self.folder, path_of(id, self.size));
        let hashes = read_hashes_tile(&fs::read(&path)?);
        let hashes = hashes.filter(|hashes| hashes.len() == usize::from(WIDTH));
        let hashes = hashes.ok_or_else(|| format!("{}: is no full tile", path.display()))?;
        Ok(TreeHash::complete(&hashes))
    }

    /// Removes the partial tiles of an earlier size that others have replaced. They are in nobody's way if they stay.
    fn remove_partial(&self, before: u64) {
        let entries = TilePath {
            level: None,
            index: before / u64::from(WIDTH),
            width: (before % u64::from(WIDTH)) as u16,
        };
        let levels = (0..8).map(|level| {
            let hashes = before.checked_shr(8 * u32::from(level)).unwrap_or(0);
            let id = TileId { level, index: hashes / u64::from(WIDTH) };
            TilePath { level: Some(level), index: id.index, width: id.width(before) }
        });
        for tile in std::iter::once(entries).chain(levels) {
            let id = TileId { level: tile.level.unwrap_or(0), index: tile.index };
            let is_replaced = id.width(self.size) > tile.width;
            if is_replaced && tile.width > 0 {
                let _ = fs::remove_file(self.path(&self.folder, tile));
            }
        }
    }

    fn path(&self, folder: &Path, tile: TilePath) -> PathBuf {
        folder.join(format!("tile/{tile}"))
    }
}

fn path_of(id: TileId, size: u64) -> TilePath {
    TilePath { level: Some(id.level), index: id.index, width: id.width(size) }
}

/// Moves the files below a folder to the same places below another.
fn move_all(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            move_all(&entry.path(), &place)?;
        } else {
            fs::rename(entry.path(), &place)?;
        }
    }
    Ok(())
}
