//! The tiles of a log (API.md, 11.6): its checkpoint, its entries, and the hashes of its tree.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use swarm_core::proof::tile::{
    TileId, TilePath, WIDTH, hash_in, read_entries_tile, read_hashes_tile,
};
use swarm_core::proof::tree::{Node, TreeHash};

use crate::connection::Client;
use crate::error::{Error, InvalidUrl, Refused};

/// The tiles of a log, read on demand. Nothing is verified.
#[derive(Debug)]
pub struct LogTiles {
    source: Source,
    /// The size of the tree that tiles are requested of.
    size: u64,
    read: HashMap<TileId, Vec<TreeHash>>,
}

/// Where the files of a log are.
#[derive(Debug)]
enum Source {
    /// At a service, below a path without a trailing slash.
    Service(Client, String),
    /// In a folder: the mirror of a log.
    Folder(PathBuf),
}

/// The path of a log at a service.
const LOG: &str = "/swarm/log";

impl Source {
    fn read(&self, name: &str, accept: &str) -> Result<Vec<u8>, Error> {
        let folder = match self {
            Self::Service(client, path) => {
                return client.get_bytes(&format!("{path}/{name}"), accept);
            }
            Self::Folder(folder) => folder,
        };
        let path = folder.join(name);
        fs::read(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::Refused(Box::new(Refused {
                status: 404,
                code: None,
                hint: None,
                retry_after: None,
                error: format!("{} does not exist", path.display()),
                body: Default::default(),
            })),
            _ => Error::NoAnswer(format!("{}: {error}", path.display())),
        })
    }
}

impl Source {
    /// Returns the narrowest partial tile that begins as this one does and is wider, if a folder has one: a mirror has partial tiles
    /// of the sizes alone at which its log was looked at.
    fn wider(&self, tile: TilePath) -> Option<TilePath> {
        let Self::Folder(folder) = self else { return None };
        let full = TilePath { width: WIDTH, ..tile };
        let partial = fs::read_dir(folder.join(format!("tile/{full}.p"))).ok()?;
        let widths = partial.filter_map(|file| file.ok()?.file_name().to_str()?.parse().ok());
        let width = widths.filter(|width| *width > tile.width).min()?;
        Some(TilePath { width, ..tile })
    }
}

impl LogTiles {
    /// The mirror of a log in a folder: a file `checkpoint`, and the tiles below `tile`. The folder may also be the one in which a
    /// watcher keeps its `mirror`.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let mirror = folder.join("mirror");
        let is_within = !folder.join("tile").is_dir() && mirror.join("tile").is_dir();
        let source = Source::Folder(if is_within { mirror } else { folder });
        Self { source, size: 0, read: HashMap::new() }
    }

    /// The log at `url`: the address of the service, or of the log itself, which has `/swarm/log` in it.
    ///
    /// # Errors
    /// [`InvalidUrl`] unless it is an `http` or `https` URL.
    pub fn new(url: &str) -> Result<Self, InvalidUrl> {
        Self::through(url, Client::new)
    }

    /// The log at `url`, by the client that `connect` makes of its origin.
    ///
    /// # Errors
    /// [`InvalidUrl`] like [`new`](Self::new), or as `connect` returns it.
    pub fn through(
        url: &str,
        connect: impl FnOnce(&str) -> Result<Client, InvalidUrl>,
    ) -> Result<Self, InvalidUrl> {
        let url = url.trim_end_matches('/');
        let authority = url.find("://").map_or(0, |at| at + 3);
        let path = url.get(authority..).and_then(|rest| rest.find('/')).map(|at| authority + at);
        let (origin, path) = url.split_at(path.unwrap_or(url.len()));
        let path = match path.contains(LOG) {
            true => path.to_owned(),
            false => format!("{path}{LOG}"),
        };
        let source = Source::Service(connect(origin)?, path);
        Ok(Self { source, size: 0, read: HashMap::new() })
    }

    /// Returns the latest signed checkpoint.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn checkpoint(&self) -> Result<String, Error> {
        let bytes = self.source.read("checkpoint", "text/plain")?;
        String::from_utf8(bytes)
            .map_err(|_| Error::Unreadable("the checkpoint is no text".to_owned()))
    }

    /// Returns the log of this origin, at the place that it has by its name; `None` if the origin is not of such a form.
    pub fn named(&self, origin: &str) -> Option<Self> {
        let (_, name) = origin.split_once("/swarm/log/")?;
        if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return None;
        }
        let source = match &self.source {
            Source::Service(client, path) => {
                let end = path.find(LOG).map_or(path.len(), |at| at + LOG.len());
                let base = path.get(..end).unwrap_or(path);
                Source::Service(client.clone(), format!("{base}/{name}"))
            }
            Source::Folder(folder) => Source::Folder(folder.join(name)),
        };
        Some(Self { source, size: 0, read: HashMap::new() })
    }

    /// Returns whether this is a log at the place that it has by its name, where it stays when another one begins.
    pub fn is_named(&self) -> bool {
        matches!(&self.source, Source::Service(_, path) if !path.ends_with(LOG))
    }

    /// Returns the signed note that names the log after this one, if this one has ended. It is there at the place of the log
    /// that it has [by its name](Self::named).
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn succession(&self) -> Result<Option<String>, Error> {
        let bytes = match self.source.read("succession", "text/plain") {
            Err(Error::Refused(refused)) if refused.status == 404 => return Ok(None),
            read => read?,
        };
        let text = String::from_utf8(bytes);
        text.map(Some).map_err(|_| Error::Unreadable("the succession is no text".to_owned()))
    }

    /// Sets the size of the tree that tiles are requested of. It must be the size of a signed checkpoint.
    pub fn of_size(&mut self, size: u64) {
        self.size = size;
        self.read.clear();
    }

    /// Returns the tiles of hashes that were read since the size was set.
    pub fn tiles_read(&self) -> impl Iterator<Item = (TileId, &[TreeHash])> {
        self.read.iter().map(|(id, hashes)| (*id, &**hashes))
    }

    /// Returns the hash of a complete subtree.
    ///
    /// # Errors
    /// [`Error`], as of every call; [`Error::Unreadable`] when the tile does not contain it.
    pub fn hash(&mut self, node: Node) -> Result<TreeHash, Error> {
        let id = TileId::of(node);
        if !self.read.contains_key(&id) {
            let tile =
                TilePath { level: Some(id.level), index: id.index, width: id.width(self.size) };
            let bytes = self.tile(tile)?;
            let hashes = read_hashes_tile(&bytes).ok_or_else(|| unreadable(tile))?;
            self.read.insert(id, hashes);
        }
        let hash = self.read.get(&id).and_then(|hashes| hash_in(hashes, node));
        hash.ok_or_else(|| {
            Error::Unreadable(format!("tile {}/{} is too short", id.level, id.index))
        })
    }

    /// Returns the texts of the entries from this index on, up to the end of their tile.
    ///
    /// # Errors
    /// [`Error`], as of every call; [`Error::Unreadable`] when the tile does not contain them.
    pub fn entries(&self, first: u64) -> Result<Vec<String>, Error> {
        let id = TileId::of(Node { level: 0, index: first });
        let tile = TilePath { level: None, index: id.index, width: id.width(self.size) };
        let bytes = self.tile(tile)?;
        let texts = read_entries_tile(&bytes).ok_or_else(|| unreadable(tile))?;
        if texts.len() < tile.width.into() {
            return Err(Error::Unreadable(format!("tile {tile} is too short")));
        }
        let skipped = usize::try_from(first % u64::from(WIDTH)).unwrap_or_default();
        let texts = texts.into_iter().take(tile.width.into()).skip(skipped);
        Ok(texts.map(str::to_owned).collect())
    }

    fn tile(&self, tile: TilePath) -> Result<Vec<u8>, Error> {
        let get = |tile| self.source.read(&format!("tile/{tile}"), "application/octet-stream");
        match get(tile) {
            // A log may drop a partial tile once it has the full one.
            Err(Error::Refused(refused)) if refused.status == 404 && tile.width < WIDTH => {
                let full = TilePath { width: WIDTH, ..tile };
                get(self.source.wider(tile).unwrap_or(full))
            }
            read => read,
        }
    }
}

fn unreadable(tile: TilePath) -> Error {
    Error::Unreadable(format!("{tile} is no tile"))
}
