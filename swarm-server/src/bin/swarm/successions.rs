//! Follows the notes by which logs that ended name the logs after them (API.md, 11.6).

use swarm_client::{Error, LogTiles};
use swarm_core::audit::{KeySource, LogKey, verified_succession};
use swarm_core::proof::succession::Succession;

/// The most logs that are followed.
const MAX_STEPS: usize = 100;

/// Follows the successions from the log of this origin and this key, at the service of `tiles`. Returns one for each log that
/// ended, in order; none if the log goes on. The inner error is why a note does not hold.
///
/// # Errors
/// [`Error`] if a note cannot be read.
pub(crate) fn from(
    tiles: &LogTiles,
    origin: &str,
    key: &LogKey,
) -> Result<Result<Vec<Succession>, String>, Error> {
    let (mut steps, mut origin, mut key) = (Vec::new(), origin.to_owned(), key.clone());
    while let Some(note) = tiles.named(&origin).map(|log| log.succession()).transpose()?.flatten() {
        if steps.len() == MAX_STEPS {
            return Ok(Err(format!("over {MAX_STEPS} logs have ended")));
        }
        let step = match verified_succession(&note, &origin, &key) {
            Ok(step) => step,
            Err(fault) => return Ok(Err(fault)),
        };
        origin = step.successor.name().to_owned();
        key = successor_key(&step)?;
        steps.push(step);
    }
    Ok(Ok(steps))
}

/// The key of the log that a succession names.
///
/// # Errors
/// [`Error`], but not in practice: the key was read before.
pub(crate) fn successor_key(step: &Succession) -> Result<LogKey, Error> {
    Ok(LogKey::parse(&step.successor.to_string(), KeySource::Given)?)
}
