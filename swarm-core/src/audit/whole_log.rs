//! All entries of a log up to the checkpoint of a bundle: what they say of its session, and of the keys of members.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::bundle::Bundle;
use super::entries::{BundledEntry, Content, Parsed, parse};
use super::finding::{Check, Report, count};
use crate::domain::json::printable;
use crate::domain::{
    Actor, Day, Invalid, MemberId, PublicKey, Seq, Session, SessionAct, SessionId, SubjectId,
    TakeId, Timestamp,
};
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::Note;
use crate::proof::tree::{GrowingTree, TreeHash};
use crate::records::Record as _;

/// Reads the entries of a log, one after another, for the audit of one bundle.
#[derive(Debug)]
pub struct LogReader {
    checkpoint: Checkpoint,
    tree: GrowingTree,
    log: WholeLog,
}

/// What the entries of a log say of one session. They are those of the checkpoint.
#[derive(Debug)]
pub struct WholeLog {
    session: SessionId,
    day: (Day, SubjectId),
    /// The entries that concern the session.
    concerning: BTreeMap<Seq, TreeHash>,
    takes: HashSet<TakeId>,
    /// Other sessions of the day and subject: the place and time of their convening, and whether they were withdrawn.
    others: BTreeMap<SessionId, (Seq, Timestamp, bool)>,
    /// The keys that each member had, in order.
    keys: HashMap<MemberId, Vec<KeyInLog>>,
    /// Entries that cannot be read.
    faults: Vec<String>,
}

/// The key that an entry of the log gives a member.
#[derive(Debug)]
pub(super) struct KeyInLog {
    pub(super) seq: Seq,
    pub(super) key: Option<PublicKey>,
    /// The operator who gave it; `None`: the member itself.
    pub(super) by: Option<Actor>,
}

impl LogReader {
    /// Begins to read the log of a bundle's checkpoint.
    ///
    /// # Errors
    /// [`Invalid`] when the bundle has no session or no checkpoint that can be read.
    pub fn of(bundle: &Bundle<'_>) -> Result<Self, Invalid> {
        let session = Session::read(&mut bundle.session.to_object());
        let session = session.map_err(|error| Invalid::new("session", error.to_string()))?;
        let checkpoint = Checkpoint::parse(Note::parse(&bundle.checkpoint)?.text())?;
        let log = WholeLog {
            session: session.id,
            day: (session.date, session.subject_id),
            concerning: BTreeMap::new(),
            takes: HashSet::new(),
            others: BTreeMap::new(),
            keys: HashMap::new(),
            faults: Vec::new(),
        };
        Ok(Self { checkpoint, tree: GrowingTree::default(), log })
    }

    /// Returns the number of entries to read.
    pub fn size(&self) -> u64 {
        self.checkpoint.size
    }

    /// Returns the index of the next entry; `None` after the last one.
    pub fn next(&self) -> Option<u64> {
        (self.tree.size() < self.checkpoint.size).then(|| self.tree.size())
    }

    /// Reads the next entry.
    pub fn read(&mut self, text: &str) {
        let leaf = TreeHash::leaf(text.as_bytes());
        self.tree.push(leaf);
        self.log.read(Seq(self.tree.size()), leaf, parse(text));
    }

    /// Ends the reading, after the last entry.
    ///
    /// # Errors
    /// Why the entries are not those that the checkpoint commits to: then nothing follows from them.
    pub fn end(self) -> Result<WholeLog, String> {
        let Checkpoint { size, root, .. } = &self.checkpoint;
        if self.tree.size() == *size && self.tree.root() == *root {
            return Ok(self.log);
        }
        Err(format!("the {size} entries are not those of the bundle's checkpoint"))
    }
}

impl WholeLog {
    fn read(&mut self, place: Seq, leaf: TreeHash, parsed: Result<Parsed, String>) {
        let content = match parsed {
            Ok(parsed) if parsed.seq == place => parsed,
            Ok(parsed) => {
                let seq = parsed.seq;
                self.faults.push(format!("entry {seq} stands in the place of entry {place}"));
                return;
            }
            Err(fault) => return self.faults.push(format!("entry {place} {fault}")),
        };
        let at = content.at;
        let concerns = match content.content {
            Content::Take(take) => {
                let concerns = take.session_id == self.session;
                concerns.then(|| self.takes.insert(take.id));
                concerns
            }
            Content::Opening(opening) => self.takes.contains(&opening.id),
            Content::TakeMark(mark) => self.takes.contains(&mark.id),
            Content::Session(act) => {
                let session = act.session;
                if session.id != self.session
                    && (session.date, &session.subject_id) == (self.day.0, &self.day.1)
                {
                    let other = self.others.entry(session.id).or_insert((place, at, false));
                    other.2 |= act.act == SessionAct::Withdrawn;
                }
                session.id == self.session
            }
            Content::Member(entry) => {
                let keys = self.keys.entry(entry.id).or_default();
                if keys.last().is_none_or(|last| last.key != entry.public_key) {
                    keys.push(KeyInLog { seq: place, key: entry.public_key, by: entry.by });
                }
                false
            }
            Content::ClockAccepted | Content::Other | Content::Unknown => false,
        };
        if concerns {
            self.concerning.insert(place, leaf);
        }
    }

    /// The keys of a member, in order.
    pub(super) fn keys(&self, member: &MemberId) -> &[KeyInLog] {
        self.keys.get(member).map(Vec::as_slice).unwrap_or_default()
    }

    /// The key that a member had at a place in the log.
    pub(super) fn key_before(&self, member: &MemberId, place: Seq) -> Option<&KeyInLog> {
        let keys = self.keys(member);
        keys.get(keys.partition_point(|key| key.seq < place).checked_sub(1)?)
    }

    /// Checks that a bundle has every entry that concerns its session, and reports other sessions of its day and subject.
    pub(super) fn check(&self, entries: &[BundledEntry], report: &mut Report) {
        let bundled: HashMap<_, _> = entries.iter().map(|it| (it.seq, it.leaf)).collect();
        let mut faults = self.faults.clone();
        let missing = self.concerning.iter().filter(|(seq, leaf)| bundled.get(seq) != Some(leaf));
        faults.extend(missing.map(|(seq, _)| {
            format!("entry {seq} of the log concerns the session, and is not in the bundle")
        }));
        let concerning = count(self.concerning.len(), "entry", "entries");
        let holds = format!("the log has {concerning} on the session, and the bundle all of them");
        report.conclude(Check::Completeness, faults, holds);
        let date = self.day.0;
        let subject = printable(self.day.1.as_str());
        let others = self.others.iter().map(|(id, (seq, at, is_withdrawn))| {
            let withdrawn = if *is_withdrawn { ", and withdrawn" } else { "" };
            format!(
                "session {id} of {date} and {subject} is convened by entry {seq} of {at}{withdrawn}"
            )
        });
        report.notable(Check::Sessions, others.collect());
    }
}
