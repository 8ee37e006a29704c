//! Checks that one checkpoint of a log continues another.

use super::checkpoint::check_signature;
use super::finding::{Check, Finding, Report};
use super::key::LogKey;
use crate::domain::Invalid;
use crate::domain::json::printable;
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::Note;
use crate::proof::tree::{self, Node, TreeHash};

/// Checks that `new`, a signed checkpoint, continues `old`. `read` returns the hash of a complete subtree of the
/// new tree. Its answers are verified: a false one can make the check fail, but never pass.
///
/// # Errors
/// Those of `read`.
pub fn audit_checkpoints<E>(
    old: &str,
    new: &str,
    key: Option<&LogKey>,
    read: impl FnMut(Node) -> Result<TreeHash, E>,
) -> Result<Vec<Finding>, E> {
    let mut report = Report::default();
    let (old, new) = match (parse(old), parse(new)) {
        (Ok(old), Ok(new)) => (old, new),
        (old, new) => {
            let faults = [old.err(), new.err()].into_iter().flatten();
            report.faults(Check::Checkpoint, faults.map(|error| error.to_string()).collect());
            return Ok(report.into_findings());
        }
    };
    for (note, checkpoint) in [&old, &new] {
        check_signature(note, checkpoint, key, &mut report);
    }
    let (old, new) = (old.1, new.1);
    let fault = fault(&old, &new, read)?;
    let holds = format!("the log of {} entries continues that of {}", new.size, old.size);
    report.conclude(Check::Consistency, fault.into_iter().collect(), holds);
    Ok(report.into_findings())
}

fn parse(text: &str) -> Result<(Note, Checkpoint), Invalid> {
    let note = Note::parse(text)?;
    let checkpoint = Checkpoint::parse(note.text())?;
    Ok((note, checkpoint))
}

/// Why a checkpoint does not continue an earlier one; `None` if it does.
pub(super) fn fault<E>(
    old: &Checkpoint,
    new: &Checkpoint,
    read: impl FnMut(Node) -> Result<TreeHash, E>,
) -> Result<Option<String>, E> {
    if old.origin != new.origin {
        let (old, new) = (printable(&old.origin), printable(&new.origin));
        return Ok(Some(format!("{old} and {new} are two logs")));
    }
    if old.size > new.size {
        let (old, new) = (old.size, new.size);
        return Ok(Some(format!("the log went back: it had {old} entries, then {new}")));
    }
    let proof = tree::consistency(old.size, new.size, read)?;
    let continues = tree::verify_consistency(old.size, &old.root, new.size, &new.root, &proof);
    Ok((!continues).then(|| {
        let (old, new) = (old.size, new.size);
        format!("a fork: the log of {new} entries does not begin with the one of {old}")
    }))
}
