//! The log entries of a bundle: their exact texts, their places, and the takes that they record.

use std::collections::BTreeMap;

use super::bundle::Bundle;
use super::finding::{Check, Report, count};
use super::records::BundledTake;
use crate::domain::json::{Json, printable};
use crate::domain::{
    Invalid, LogEntry, LogLine, Operation, Seq, TakeContent, TakeEntry, TakeId, Timestamp,
};
use crate::proof::take_entry;
use crate::proof::tree::TreeHash;

/// An entry of a bundle, with its place in the log.
pub(super) struct BundledEntry {
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
    /// `None` for a kind that this version does not know.
    pub(super) entry: Option<LogEntry>,
    pub(super) leaf: TreeHash,
    pub(super) proof: Vec<TreeHash>,
}

impl BundledEntry {
    /// The index in the tree.
    pub(super) fn index(&self) -> u64 {
        self.seq.0.saturating_sub(1)
    }
}

/// Reads the entries, which must be in the order of the log. Returns them, and the faults: an entry that cannot be
/// read is one, and is skipped.
pub(super) fn read(bundle: &Bundle, report: &mut Report) -> (Vec<BundledEntry>, Vec<String>) {
    let (mut entries, mut faults): (Vec<BundledEntry>, Vec<String>) = Default::default();
    for (place, json) in (1..).zip(&bundle.entries) {
        let entry = match read_one(json) {
            Ok(entry) => entry,
            Err(fault) => {
                faults.push(format!("the entry in place {place} {fault}"));
                continue;
            }
        };
        if let Some(last) = entries.last().filter(|last| last.seq >= entry.seq) {
            faults.push(format!("entry {} stands after entry {}", entry.seq, last.seq));
        }
        entries.push(entry);
    }
    let unknown = entries.iter().filter(|entry| entry.entry.is_none()).count();
    if unknown > 0 {
        let unknown = count(unknown, "entry is", "entries are");
        report.unproven(
            Check::Unknown,
            format!("{unknown} of a kind that this version does not know"),
        );
    }
    (entries, faults)
}

fn read_one(json: &Json) -> Result<BundledEntry, String> {
    let mut fields = json.clone().into_object();
    let invalid = |error: Invalid| error.to_string();
    let text = fields.text("entry").map_err(invalid)?;
    let index = fields.whole_if_any("index").map_err(invalid)?.ok_or("has no index")?;
    let proof = fields.texts("proof").map_err(invalid)?;
    let proof = proof.iter().map(|hash| TreeHash::parse(hash)).collect::<Result<_, _>>();
    let (seq, at, entry) = parse(&text)?;
    if seq.0 != index.saturating_add(1) {
        return Err(format!("is entry {seq}, but has the index {index}"));
    }
    let proof = proof.map_err(|_| "has a proof that is no list of hashes".to_owned())?;
    Ok(BundledEntry { seq, at, entry, leaf: TreeHash::leaf(text.as_bytes()), proof })
}

/// Reads the exact text of an entry. Of a kind that this version does not know, only the beginning is read.
fn parse(text: &str) -> Result<(Seq, Timestamp, Option<LogEntry>), String> {
    let error = match LogLine::read(text) {
        Ok(LogLine { seq, at, entry }) => return Ok((seq, at, Some(entry))),
        Err(error) => error,
    };
    let inexact = || format!("is not the exact text of one: {}", printable(&error.to_string()));
    let mut fields = Json::read(text.as_bytes()).map_err(|_| inexact())?.into_object();
    let names: Vec<_> = fields.members().map(|(name, _)| name).take(3).collect();
    let begins = names == ["seq", "at", "kind"];
    let kind = fields.text("kind").map_err(|_| inexact())?;
    let seq = fields.whole_if_any("seq").ok().flatten();
    let at = fields.text("at").ok().and_then(|at| Timestamp::parse("at", &at).ok());
    match (seq, at) {
        (Some(seq), Some(at)) if begins && !matches!(&*kind, "take" | "session" | "opening") => {
            Ok((Seq(seq), at, None))
        }
        _ => Err(inexact()),
    }
}

/// Checks that each take has one entry, which agrees with it, and that no entry records a take of the session
/// that is missing. Returns the place in the log of each take.
pub(super) fn check_takes(
    takes: &[BundledTake],
    entries: &[BundledEntry],
    mut faults: Vec<String>,
    report: &mut Report,
) -> BTreeMap<TakeId, Seq> {
    let takes: BTreeMap<_, _> = takes.iter().map(|it| (it.take.id, &it.take)).collect();
    let session = takes.values().next().map(|take| take.session_id);
    let mut places: BTreeMap<TakeId, Seq> = BTreeMap::new();
    for BundledEntry { seq, at, entry, .. } in entries {
        let Some(LogEntry::Take(entry)) = entry else { continue };
        let Some(take) = takes.get(&entry.id) else {
            if session.is_none_or(|session| session == entry.session_id) {
                faults.push(format!("entry {seq} records take {}, which is missing", entry.id));
            }
            continue;
        };
        let id = take.id;
        if let Some(other) = places.insert(id, *seq) {
            faults.push(format!("entries {other} and {seq} both record take {id}"));
        }
        let different = differences(&take_entry(take), entry).into_iter();
        let fault = |field| format!("entry {seq} has another {field} than take {id}");
        faults.extend(different.map(fault));
        if take.filed_at != *at {
            faults.push(format!("take {id} says {}, entry {seq} says {at}", take.filed_at));
        }
    }
    let unlogged = takes.keys().filter(|id| !places.contains_key(id));
    faults.extend(unlogged.map(|id| format!("take {id} has no entry")));
    let order: Vec<_> = places.values().collect();
    if !order.is_sorted() {
        faults.push("the takes are in another order in the log".to_owned());
    }
    let (entries, takes) =
        (count(entries.len(), "entry", "entries"), count(takes.len(), "take", "takes"));
    report.conclude(
        Check::Entry,
        faults,
        format!("{entries} in place, and {takes}, each with an entry of its own"),
    );
    places
}

/// The fields in which an entry differs from the one computed from the take.
fn differences(take: &TakeEntry, entry: &TakeEntry) -> Vec<&'static str> {
    let fields = [
        ("sessionId", take.session_id == entry.session_id),
        ("memberId", take.member_id == entry.member_id),
        ("revision", take.revision == entry.revision),
        ("publicKey", take.public_key == entry.public_key),
    ];
    let different = fields.into_iter().filter(|(_, same)| !same).map(|(field, _)| field);
    different.chain(different_content(&take.content, &entry.content)).collect()
}

fn different_content(take: &TakeContent, entry: &TakeContent) -> Vec<&'static str> {
    use TakeContent::{Open, Sealed};
    match (take, entry) {
        (take, entry) if take == entry => Vec::new(),
        (Open { digest, signature }, Open { digest: entry_digest, signature: entry_signature }) => {
            let digest = (digest != entry_digest).then_some("digest");
            let signature = (signature != entry_signature).then_some("signature");
            digest.into_iter().chain(signature).collect()
        }
        (Sealed { .. }, _) | (_, Sealed { .. }) => vec!["sealed"],
    }
}

/// The places where time runs back from one entry to the next, unless the later one accepts a clock.
pub(super) fn backward_times(entries: &[BundledEntry]) -> Vec<String> {
    let accepts_clock = |entry: &BundledEntry| {
        matches!(entry.entry, Some(LogEntry::Operation(Operation::ClockAccepted { .. })))
    };
    let pairs = entries.iter().zip(entries.iter().skip(1));
    let backward = pairs.filter(|(one, next)| next.at < one.at && !accepts_clock(next));
    backward
        .map(|(one, next)| {
            let (before, after) = (one.at, next.at);
            format!("entry {} is of {after}, before entry {} of {before}", next.seq, one.seq)
        })
        .collect()
}
