//! Checkpoints: the signatures of one, the proofs that lead to that of a bundle, and whether one continues another.

use super::continuation::{Continuation, continuation};
use super::entries::BundledEntry;
use super::finding::{Check, Faults, Finding, Report, count};
use super::key::{KeySource, LogKey};
use crate::domain::Invalid;
use crate::domain::json::printable;
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::{SignedNote, VerifierKey};
use crate::proof::tlog_policy::{Cosigned, CosigningTimes, TlogPolicy};
use crate::proof::tree::{Node, TreeHash, verify_inclusion};

/// Checks the checkpoint's signatures, and the proof of each entry.
pub(super) fn check(
    text: &str,
    entries: &[BundledEntry],
    key: Option<&LogKey>,
    policy: Option<(&TlogPolicy, CosigningTimes)>,
    report: &mut Report,
) {
    let parsed =
        SignedNote::parse(text).and_then(|note| Ok((Checkpoint::parse(note.text())?, note)));
    let (Checkpoint { size, root, .. }, note) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return report.faults(Check::Checkpoint, vec![error.to_string()]),
    };
    let is_unproven = |entry: &&BundledEntry| {
        !verify_inclusion(&entry.leaf, entry.index(), size, &entry.proof, &root)
    };
    let unproven = entries.iter().filter(is_unproven);
    let unproven =
        unproven.map(|it| format!("entry {} is not in the tree of the checkpoint", it.seq));
    let proven = count(entries.len(), "entry is", "entries are");
    let holds = format!("{proven} in the tree of {size}; checked offline");
    let holds = (!entries.is_empty()).then_some(holds);
    report.conclude(Check::Inclusion, unproven.collect::<Faults>(), holds);
    check_note(&note, key, policy, report);
}

/// Checks a signed checkpoint, and reports what its name and its signatures do not prove.
pub(super) fn check_note(
    note: &SignedNote,
    key: Option<&LogKey>,
    policy: Option<(&TlogPolicy, CosigningTimes)>,
    report: &mut Report,
) {
    let checkpoint = match Checkpoint::parse(note.text()) {
        Ok(checkpoint) => checkpoint,
        Err(error) => return report.faults(Check::Checkpoint, vec![error.to_string()]),
    };
    let logs = policy.map(|(policy, _)| policy.logs()).unwrap_or_default();
    let listed = logs.iter().find(|log| log.name() == checkpoint.origin).map(LogKey::given);
    check_signature(note, &checkpoint, key.or(listed.as_ref()), report);
    if !logs.is_empty() && !logs.iter().any(|log| is_of(&checkpoint, note, log)) {
        let fault = "no log of the policy signed it".to_owned();
        report.faults(Check::Checkpoint, vec![fault]);
    }
    if checkpoint.origin == "localhost" || checkpoint.origin.starts_with("localhost/") {
        let name = printable(&checkpoint.origin);
        report.unproven(Check::Origin, format!("the log is called {name}, as many others are"));
    }
    check_witnesses(note, policy, report);
}

/// Whether a log signed a checkpoint of its own.
fn is_of(checkpoint: &Checkpoint, note: &SignedNote, log: &VerifierKey) -> bool {
    checkpoint.origin == log.name() && note.is_signed_by(log)
}

/// Checks the cosignatures that the policy requires. Without a policy no cosignature proves anything, because the server of a
/// checkpoint can write any name under it.
fn check_witnesses(
    note: &SignedNote,
    policy: Option<(&TlogPolicy, CosigningTimes)>,
    report: &mut Report,
) {
    let Some((policy, within)) = policy.filter(|(policy, _)| policy.requires_witnesses()) else {
        return report.unproven(
            Check::Witness,
            "that others were shown this log: no cosignature was checked, name the witnesses with --policy",
        );
    };
    let Cosigned { is_met, by, misdated, .. } = policy.cosigned(note, within);
    let dated = by.iter().map(|(name, time)| format!("{} at {time}", printable(name)));
    let undated = misdated.iter().map(|(name, _)| printable(name));
    let shown = dated.chain(undated).collect::<Vec<_>>().join(", ");
    let faults = match (is_met, shown.as_str()) {
        (true, _) => Vec::new(),
        (false, "") => vec!["no witness of the policy cosigned it".to_owned()],
        (false, shown) => vec![format!("too few witnesses of the policy cosigned it: {shown}")],
    };
    let then = if by.is_empty() { "" } else { "; each entry in its tree was there then" };
    let holds = format!("cosigned by {shown}{then}");
    report.conclude(Check::Witness, faults, holds);
    let impossible = misdated.iter().map(|(name, time)| {
        let time = time.map_or("an unknown time".to_owned(), |time| time.to_string());
        let name = printable(name);
        format!("the cosignature of {name} is not of {time}: that is before an entry of the tree, or after now")
    });
    report.notable(Check::Witness, impossible.collect::<Faults>());
}

/// Checks that the checkpoint is signed by the log's key, and reports the source of that key.
fn check_signature(
    note: &SignedNote,
    checkpoint: &Checkpoint,
    key: Option<&LogKey>,
    report: &mut Report,
) {
    let Some(key) = key else {
        return report.unproven(
            Check::Checkpoint,
            "not verified: name the key of the log with --key. The maker of a bundle can make a log too",
        );
    };
    let mut faults = Vec::new();
    match key.verifier(&checkpoint.origin) {
        Err(error) => faults.push(error.to_string()),
        Ok(key) if key.name() != checkpoint.origin => {
            let (origin, name) = (printable(&checkpoint.origin), printable(key.name()));
            faults.push(format!("it is of the log {origin}, the key is of {name}"));
        }
        Ok(key) if !note.is_signed_by(&key) => {
            faults.push(format!("the key {} did not sign it", key.public_key()));
        }
        Ok(_) => {}
    }
    let whose = match key.source {
        KeySource::Given => "the key that you named",
        KeySource::Served => "the key that the server named",
    };
    let (origin, size) = (printable(&checkpoint.origin), checkpoint.size);
    report.conclude(
        Check::Checkpoint,
        faults,
        format!("{origin} at size {size}, signed by {whose}"),
    );
    if key.source == KeySource::Served {
        report.unproven(
            Check::Checkpoint,
            "the log's key came from the server itself. Name it, from another source, with --key",
        );
    }
}

/// The result of the comparison of two checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// What was found of them. A check of [`Check::Consistency`] that fails is a proven fork, if no other check fails.
    Findings(Vec<Finding>),
    /// The hashes that were read are not those of the longer checkpoint, so nothing follows from them.
    OtherTiles(String),
}

/// Checks that the longer of two signed checkpoints continues the shorter one. A checkpoint does not say when it was signed,
/// so the order in which they are given shows nothing: a longer one that is given first does not mean that the log went
/// back. `read` returns the hash of a complete subtree of the longer tree. Its answers are compared with the longer
/// checkpoint before anything is concluded from them.
///
/// # Errors
/// The error of `read`.
pub fn audit_checkpoints<E>(
    one: &str,
    other: &str,
    key: Option<&LogKey>,
    read: impl FnMut(Node) -> Result<TreeHash, E>,
) -> Result<Comparison, E> {
    let mut report = Report::default();
    let (one, other) = match (parse(one), parse(other)) {
        (Ok(one), Ok(other)) => (one, other),
        (one, other) => {
            let faults = [one.err(), other.err()].into_iter().flatten();
            report.faults(
                Check::Checkpoint,
                faults.map(|error| error.to_string()).collect::<Faults>(),
            );
            return Ok(Comparison::Findings(report.into_findings()));
        }
    };
    for (note, checkpoint) in [&one, &other] {
        check_signature(note, checkpoint, key, &mut report);
    }
    let (one, other) = (one.1, other.1);
    let (old, new) = if one.size <= other.size { (one, other) } else { (other, one) };
    let fault = match continuation(&old, &new, read)? {
        _ if old.origin != new.origin => Some(other_log(&old, &new)),
        Continuation::Continues => None,
        Continuation::Fork => Some(fork(&old, &new)),
        Continuation::OtherTiles => {
            let size = new.size;
            let why = format!("the tiles are not those of the checkpoint of {size} entries");
            return Ok(Comparison::OtherTiles(why));
        }
    };
    let holds = format!("the log of {} entries continues that of {}", new.size, old.size);
    report.conclude(Check::Consistency, fault.into_iter().collect::<Faults>(), holds);
    Ok(Comparison::Findings(report.into_findings()))
}

fn parse(text: &str) -> Result<(SignedNote, Checkpoint), Invalid> {
    let note = SignedNote::parse(text)?;
    let checkpoint = Checkpoint::parse(note.text())?;
    Ok((note, checkpoint))
}

fn fork(old: &Checkpoint, new: &Checkpoint) -> String {
    let (old, new) = (old.size, new.size);
    format!("a fork: the log of {new} entries does not begin with the one of {old}")
}

fn other_log(old: &Checkpoint, new: &Checkpoint) -> String {
    let (old, new) = (printable(&old.origin), printable(&new.origin));
    format!("{old} and {new} are two logs")
}
