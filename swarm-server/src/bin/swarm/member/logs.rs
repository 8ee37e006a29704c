//! The logs of a service that a member has evidence of: the one whose key its profile keeps, and those after it.

use swarm_client::{Client, LogTiles, printable};
use swarm_core::audit::{Continuation, LogKey, continuation};
use swarm_core::domain::Seq;
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::{SignedNote, VerifierKey};
use swarm_core::proof::succession::Succession;
use swarm_core::proof::tree::{TreeHash, inclusion, verify_inclusion};

use crate::arguments::Trust;
use crate::failure::CommandError;
use crate::successions;

/// The logs that the service has had since the one whose key the profile keeps, in order. The last one goes on.
pub(super) struct Logs(Vec<Log>);

impl Logs {
    /// Follows the successions from the log of this key to the one that the service shows now.
    ///
    /// # Errors
    /// If a log cannot be read, or none that follows from the key is shown.
    pub(super) fn read(client: &Client, trust: &Trust, key: &LogKey) -> Result<Self, CommandError> {
        let tiles = trust.log(client.url())?;
        let now = Checkpoint::parse(SignedNote::parse(&tiles.checkpoint()?)?.text())?;
        let mut logs = Vec::new();
        let (mut key, origin) = (key.clone(), key.verifier(&now.origin)?.name().to_owned());
        if origin != now.origin {
            for step in successions::from(&tiles, &origin, &key)?.map_err(CommandError::Refused)? {
                let tiles = tiles.named(&step.last.origin).ok_or_else(|| {
                    CommandError::Refused(format!("no log: {}", printable(&step.last.origin)))
                })?;
                let next = successions::successor_key(&step)?;
                logs.push(Log::ended(tiles, key, step));
                key = next;
            }
        }
        logs.push(Log::now(tiles, key)?);
        Ok(Self(logs))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Log> {
        self.0.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Log> {
        self.0.iter_mut()
    }

    /// The log that goes on.
    pub(super) fn last_mut(&mut self) -> Option<&mut Log> {
        self.0.last_mut()
    }

    pub(super) fn named(&mut self, origin: &str) -> Option<&mut Log> {
        self.0.iter_mut().find(|log| log.checkpoint.origin == origin)
    }

    /// The name of the log that goes on.
    pub(super) fn shown(&self) -> String {
        self.0.last().map(|log| printable(&log.checkpoint.origin)).unwrap_or_default()
    }
}

/// What was read shows nothing: it was damaged on the way, or is of another checkpoint.
const OTHER_TILES: &str = "the tiles of the log are not those of its checkpoint";

/// A log of the service.
pub(super) struct Log {
    tiles: LogTiles,
    key: LogKey,
    /// Its checkpoint of now, or its last one.
    checkpoint: Checkpoint,
    /// The log after it, if it ended.
    successor: Option<VerifierKey>,
}

impl Log {
    fn now(mut tiles: LogTiles, key: LogKey) -> Result<Self, CommandError> {
        let note = SignedNote::parse(&tiles.checkpoint()?)?;
        let checkpoint = Checkpoint::parse(note.text())?;
        let verifier = key.verifier(&checkpoint.origin)?;
        if verifier.name() != checkpoint.origin || !note.is_signed_by(&verifier) {
            let origin = printable(&checkpoint.origin);
            return Err(CommandError::Refused(format!(
                "the log {origin} is not signed by the key that this profile keeps: {verifier}"
            )));
        }
        tiles.of_size(checkpoint.size);
        Ok(Self { tiles, key, checkpoint, successor: None })
    }

    /// The log that ended by this succession, which its key signed.
    fn ended(mut tiles: LogTiles, key: LogKey, succession: Succession) -> Self {
        let Succession { last: checkpoint, successor } = succession;
        tiles.of_size(checkpoint.size);
        Self { tiles, key, checkpoint, successor: Some(successor) }
    }

    pub(super) fn key(&self) -> &LogKey {
        &self.key
    }

    /// That the log ended, and which one goes on; `None` if it goes on itself.
    pub(super) fn end(&self) -> Option<String> {
        let (origin, size) = (printable(&self.checkpoint.origin), self.checkpoint.size);
        let successor = self.successor.as_ref()?;
        Some(format!("the log {origin} ended with {size} entries, and {successor} goes on"))
    }

    /// The text of the entry with this number, which is in the tree of the checkpoint; `None` if the checkpoint does not cover it.
    pub(super) fn entry(&mut self, seq: Seq) -> Result<Option<String>, CommandError> {
        let Checkpoint { size, root, .. } = &self.checkpoint;
        let Some(index) = seq.0.checked_sub(1).filter(|index| index < size) else {
            return Ok(None);
        };
        let tiles = &mut self.tiles;
        let proof = inclusion(index, *size, |node| tiles.hash(node))?;
        let text = tiles.entries(index)?.into_iter().next().unwrap_or_default();
        if !verify_inclusion(&TreeHash::leaf(text.as_bytes()), index, *size, &proof, root) {
            return Err(CommandError::Unreached(OTHER_TILES.to_owned()));
        }
        Ok(Some(text))
    }

    /// Why the log does not continue that of a checkpoint, whose signature is checked apart; `None` if it does.
    pub(super) fn fault_after(
        &mut self,
        note: &SignedNote,
    ) -> Result<Option<String>, CommandError> {
        let before = Checkpoint::parse(note.text())?;
        let (old, new) = (before.size, self.checkpoint.size);
        if old > new && self.successor.is_some() {
            return Ok(Some(format!("the log ended with {new} entries, and had {old} before")));
        }
        if old > new {
            // The proof was signed after the checkpoint was read.
            let note = SignedNote::parse(&self.tiles.checkpoint()?)?;
            let now = Checkpoint::parse(note.text())?;
            return Ok((now.size < old)
                .then(|| format!("the log went back: it had {old} entries, then {}", now.size)));
        }
        let tiles = &mut self.tiles;
        Ok(match continuation(&before, &self.checkpoint, |node| tiles.hash(node))? {
            Continuation::Continues => None,
            Continuation::Fork => Some(format!(
                "a fork: the log of {new} entries does not begin with the one of {old}"
            )),
            Continuation::OtherTiles => {
                return Err(CommandError::Unreached(OTHER_TILES.to_owned()));
            }
        })
    }
}
