//! The log entries of a bundle: their exact texts, their places, and the takes that they record.

use std::collections::BTreeMap;

use super::bundle::Bundle;
use super::finding::{Check, Faults, Report, count};
use super::records::BundledTake;
use crate::domain::json::{Json, RawJson, printable, write};
use crate::domain::{
    Actor, Invalid, LogEntry, LogLine, MemberEntry, OpeningEntry, Operation, Seq, SessionEntry,
    SessionId, TakeContent, TakeEntry, TakeId, TakeMarkEntry, Timestamp,
};
use crate::proof::take_entry;
use crate::proof::tree::TreeHash;

/// An entry of a bundle, with its place in the log.
pub(super) struct BundledEntry {
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
    pub(super) content: Content,
    pub(super) leaf: TreeHash,
    pub(super) proof: Vec<TreeHash>,
}

/// What an entry says, as far as an audit reads it.
pub(super) enum Content {
    Take(TakeEntry),
    Opening(OpeningEntry),
    TakeMark(TakeMarkEntry),
    Session(Box<SessionEntry>),
    Member(MemberEntry),
    /// An operator accepted a clock that ran back.
    ClockAccepted(Actor),
    /// Another kind, of which an audit reads nothing.
    Other,
    /// A kind that this version does not know.
    Unknown,
}

impl BundledEntry {
    /// The index in the tree.
    pub(super) fn index(&self) -> u64 {
        self.seq.0.saturating_sub(1)
    }
}

/// Reads the entries, which must be in the order of the log. Returns them, and the faults: an entry that cannot be
/// read is one, and is skipped.
pub(super) fn read(bundle: &Bundle<'_>, report: &mut Report) -> (Vec<BundledEntry>, Faults) {
    let (mut entries, mut faults): (Vec<BundledEntry>, Faults) = Default::default();
    for (place, raw) in (1..).zip(bundle.entries()) {
        let entry = match read_one(raw) {
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
    let unknown = entries.iter().filter(|entry| matches!(entry.content, Content::Unknown)).count();
    if unknown > 0 {
        let unknown = count(unknown, "entry is", "entries are");
        report.unproven(
            Check::Unknown,
            format!("{unknown} of a kind that this version does not know"),
        );
    }
    (entries, faults)
}

fn read_one(raw: RawJson<'_>) -> Result<BundledEntry, String> {
    let mut fields = raw.to_object();
    let invalid = |error: Invalid| error.to_string();
    let text = fields.text("entry").map_err(invalid)?;
    let index = fields.whole_if_any("index").map_err(invalid)?.ok_or("has no index")?;
    let proof = fields.texts("proof").map_err(invalid)?;
    let proof = proof.iter().map(|hash| TreeHash::parse(hash)).collect::<Result<_, _>>();
    let Parsed { seq, at, content } = parse(&text)?;
    if seq.0 != index.saturating_add(1) {
        return Err(format!("is entry {seq}, but has the index {index}"));
    }
    let proof = proof.map_err(|_| "has a proof that is no list of hashes".to_owned())?;
    Ok(BundledEntry { seq, at, content, leaf: TreeHash::leaf(text.as_bytes()), proof })
}

/// An entry that was parsed.
pub(super) struct Parsed {
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
    pub(super) content: Content,
}

/// The kinds of entries whose content decides something.
const DECIDING_KINDS: [&str; 5] = ["take", "take-mark", "opening", "session", "member"];

/// The kinds of entries of which an audit reads the beginning alone.
const OTHER_KINDS: [&str; 8] = [
    "memo",
    "subject",
    "subject-snapshot",
    "regime",
    "signal",
    "operation",
    "committee-day",
    "committee-take",
];

/// Reads the exact text of an entry. Of a kind whose content decides nothing, only the beginning must be exact.
pub(super) fn parse(text: &str) -> Result<Parsed, String> {
    let inexact = |why: &dyn std::fmt::Display| {
        format!("is not the exact text of one: {}", printable(&why.to_string()))
    };
    let json = Json::read(text.as_bytes()).map_err(|error| inexact(&error))?;
    let is_exact = write(&json) == text;
    let mut fields = json.into_object();
    let kind = fields.text("kind").map_err(|error| inexact(&error))?;
    let seq = fields.whole_if_any("seq").ok().flatten();
    let at = fields.text("at").ok().and_then(|at| Timestamp::parse("at", &at).ok());
    let (Some(seq), Some(at)) = (seq, at) else { return Err(inexact(&"it has no seq or at")) };
    let begin = format!("{{\"seq\":{seq},\"at\":\"{at}\",\"kind\":{}", write(&*kind));
    if !is_exact || !text.starts_with(&begin) {
        return Err(inexact(&"it is written in another form"));
    }
    let line = LogLine::read(text);
    let content = match line.map(|line| line.entry) {
        Ok(LogEntry::Take(entry)) => Content::Take(entry),
        Ok(LogEntry::Opening(entry)) => Content::Opening(entry),
        Ok(LogEntry::TakeMark(entry)) => Content::TakeMark(entry),
        Ok(LogEntry::Session(entry)) => Content::Session(entry),
        Ok(LogEntry::Member(entry)) => Content::Member(entry),
        Ok(LogEntry::Operation(Operation::ClockAccepted { by })) => Content::ClockAccepted(by),
        _ if OTHER_KINDS.contains(&&*kind) => Content::Other,
        Err(error) if DECIDING_KINDS.contains(&&*kind) => {
            return Err(inexact(&error));
        }
        _ => Content::Unknown,
    };
    Ok(Parsed { seq: Seq(seq), at, content })
}

/// Checks that each take has one entry, which agrees with it, and that no entry records a take of the session
/// that is missing. Returns the place in the log of each take.
pub(super) fn check_takes(
    session: Option<SessionId>,
    takes: &[BundledTake],
    entries: &[BundledEntry],
    mut faults: Faults,
    report: &mut Report,
) -> BTreeMap<TakeId, Seq> {
    let takes: BTreeMap<_, _> = takes.iter().map(|it| (it.take.id, &it.take)).collect();
    let mut places: BTreeMap<TakeId, Seq> = BTreeMap::new();
    for BundledEntry { seq, at, content, .. } in entries {
        let Content::Take(entry) = content else { continue };
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
    let mut holds = format!("{} in place", count(entries.len(), "entry", "entries"));
    if !takes.is_empty() {
        let takes = count(takes.len(), "take", "takes");
        holds.push_str(&format!(", and {takes}, each with an entry of its own"));
    }
    report.conclude(Check::Entry, faults, (!entries.is_empty()).then_some(holds));
    places
}

/// The fields in which an entry differs from the one computed from the take. The version of the session stands in the
/// entry alone.
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
