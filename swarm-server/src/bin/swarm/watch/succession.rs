//! Finds the log that goes on in the place of the one that was watched, by the notes that the logs before it signed.

use swarm_client::{Error, LogTiles};
use swarm_core::Timestamp;
use swarm_core::audit::{LogKey, Watch, WatchFault, WatchState};
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::SignedNote;
use swarm_core::proof::succession::Succession;

use super::read_error::ReadError;
use crate::{Failure, successions};

/// The way from the log that was watched to the one that goes on in its place.
pub(super) struct Found {
    pub(super) steps: Vec<Succession>,
    /// The key of the log that goes on.
    successor: String,
    origin: String,
    /// What could not be checked of the end of the log that was watched.
    pub(super) unproven: Option<String>,
}

/// Why a log that ended does not continue what was seen of it, with its tiles.
pub(super) struct Fault {
    pub(super) fault: WatchFault,
    pub(super) tiles: LogTiles,
}

impl Found {
    /// The key of the log that goes on.
    pub(super) fn key(&self) -> String {
        self.successor.clone()
    }

    /// The log that goes on, at the service that the log was watched at.
    pub(super) fn tiles(&self, watched: LogTiles) -> Option<LogTiles> {
        if watched.is_named() { watched.named(&self.origin) } else { Some(watched) }
    }
}

/// Finds the log that goes on in the place of the one that was watched, and checks that this one continued to its end; `None`
/// if it goes on itself, or nothing says which log comes after it.
pub(super) fn find(
    watched: &WatchState,
    tiles: &LogTiles,
    key: &LogKey,
    now: Timestamp,
) -> Result<Result<Option<Found>, Fault>, ReadError> {
    let Some(last) = watched.last_checkpoint() else { return Ok(Ok(None)) };
    if !tiles.is_named()
        && origin_of(&tiles.checkpoint().map_err(Failure::from)?) == Some(last.origin.clone())
    {
        return Ok(Ok(None));
    }
    let Some(mut ended) = tiles.named(&last.origin) else { return Ok(Ok(None)) };
    let steps = successions::from(tiles, &last.origin, key)?.map_err(ReadError::Broken)?;
    let (Some(first), Some(latest)) = (steps.first(), steps.last()) else { return Ok(Ok(None)) };
    let (end, successor) = (first.last.clone(), latest.successor.to_string());
    let origin = latest.successor.name().to_owned();
    let unproven = match check_end(watched, &mut ended, &end, key, now)? {
        Ok(unproven) => unproven,
        Err(fault) => return Ok(Err(Fault { fault, tiles: ended })),
    };
    Ok(Ok(Some(Found { steps, successor, origin, unproven })))
}

/// Checks that the log that was watched continued to its last checkpoint. Its tiles may be lost with the store; that is said.
fn check_end(
    watched: &WatchState,
    ended: &mut LogTiles,
    end: &Checkpoint,
    key: &LogKey,
    now: Timestamp,
) -> Result<Result<Option<String>, WatchFault>, ReadError> {
    let note = ended.checkpoint()?;
    let served = SignedNote::parse(&note).and_then(|note| Checkpoint::parse(note.text()));
    if served.as_ref() != Ok(end) {
        let text =
            "the last checkpoint of a log that ended is not the one that its succession names";
        return Ok(Err(WatchFault::Broken(vec![text.to_owned()])));
    }
    ended.of_size(end.size);
    match Watch::begin(watched, &note, key, now, |node| ended.hash(node)) {
        Ok(Ok(_)) => Ok(Ok(None)),
        Ok(Err(WatchFault::OtherTiles(_))) | Err(Error::Refused(_)) => Ok(Ok(Some(format!(
            "unproven: that the log which ended continued from {} to {} entries: it does not serve their tiles any more",
            watched.size(),
            end.size
        )))),
        Ok(Err(fault)) => Ok(Err(fault)),
        Err(error) => Err(error.into()),
    }
}

fn origin_of(note: &str) -> Option<String> {
    let note = SignedNote::parse(note).ok()?;
    Checkpoint::parse(note.text()).ok().map(|checkpoint| checkpoint.origin)
}
