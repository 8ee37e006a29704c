//! All entries of a log: what they say of the session of a bundle, and of the keys of members. A log that goes on after the
//! checkpoint of the bundle is read to its latest one, since the server of a bundle can choose an old one.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::bundle::Bundle;
use super::endorsement::is_endorsed;
use super::entries::{BundledEntry, Content, Parsed, parse};
use super::finding::{Check, Faults, Report, count};
use super::key::LogKey;
use super::records::BundledTake;
use crate::domain::json::printable;
use crate::domain::{
    Actor, Day, Digest, Invalid, MemberAct, MemberEntry, MemberId, MemberStatus, PublicKey, Seq,
    Session, SessionAct, SessionId, SubjectId, TakeContent, TakeId, Timestamp,
};
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::SignedNote;
use crate::proof::tree::{GrowingTree, TreeHash};
use crate::records;

/// Reads the entries of a log, one after another, for the audit of one bundle.
#[derive(Debug)]
pub struct LogReader {
    /// The checkpoint of the bundle.
    checkpoint: Checkpoint,
    /// A later one of the same log.
    latest: Option<Checkpoint>,
    tree: GrowingTree,
    /// Whether the tree had the root of the bundle's checkpoint at its size.
    has_root: bool,
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
    /// The sessions of other days and subjects.
    elsewhere: HashSet<SessionId>,
    /// Other sessions of the day and subject: the place and time of their convening, and whether they were withdrawn.
    others: BTreeMap<SessionId, (Seq, Timestamp, bool)>,
    /// The takes in them, and in sessions that no entry before convened, by the digests of what was signed.
    others_takes: HashMap<Digest, TakeId>,
    /// The sessions of these takes.
    sessions: HashMap<TakeId, SessionId>,
    /// The keys that each member had, in order.
    keys: HashMap<MemberId, Vec<KeyInLog>>,
    /// Whether each member was active, from which place on, in order.
    statuses: HashMap<MemberId, Vec<(Seq, MemberStatus)>>,
    /// Entries that cannot be read.
    faults: Vec<String>,
    /// The last entry.
    last: Option<(Seq, Timestamp)>,
    /// The entries at which time runs back since the session was convened, at most [`MAX_BACKWARD`], in order.
    backward: Vec<Backward>,
    /// Those that accept a clock, likewise.
    accepted: Vec<Backward>,
    /// The number of entries that the checkpoint of the bundle covers.
    bundled: u64,
    /// The number of entries, and whether the log is known to end there.
    size: u64,
    is_latest: bool,
    /// That the log signed two histories.
    fork: Option<String>,
}

/// The most entries at which time runs back that are kept.
const MAX_BACKWARD: usize = 1_000;

/// An entry at which time runs back.
#[derive(Debug)]
struct Backward {
    seq: Seq,
    at: Timestamp,
    before: (Seq, Timestamp),
    /// The operator, if the entry accepts a clock.
    accepted_by: Option<Actor>,
}

/// The key that an entry of the log gives a member, or that it takes its key.
#[derive(Debug)]
pub(super) struct KeyInLog {
    pub(super) seq: Seq,
    pub(super) key: Option<PublicKey>,
    pub(super) by: GivenBy,
}

/// Who gave a member a key in the place of another.
#[derive(Debug)]
pub(super) enum GivenBy {
    /// The member, with the endorsement of the key before. Also of its first key.
    Member,
    Operator(Actor),
    /// The entry is none by which a key is replaced.
    Nobody,
}

impl Backward {
    fn fault(&self) -> String {
        let Self { seq, at, before: (one, before), .. } = self;
        format!("entry {seq} is of {at}, before entry {one} of {before}")
    }

    fn note(&self) -> String {
        let Self { seq, at, before: (_, before), accepted_by } = self;
        let by = accepted_by.as_ref().map_or("nobody", Actor::as_str);
        format!(
            "entry {seq} by {}: the clock {before} → {at}, which the bundle leaves out",
            printable(by)
        )
    }
}

impl LogReader {
    /// Begins to read the log of a bundle's checkpoint.
    ///
    /// # Errors
    /// [`Invalid`] when the bundle has no session or no checkpoint that can be read.
    pub fn of(bundle: &Bundle<'_>) -> Result<Self, Invalid> {
        let session = records::read::<Session>(bundle.session.to_json());
        let session = session.map_err(|error| Invalid::new("session", error.to_string()))?;
        let checkpoint = Checkpoint::parse(SignedNote::parse(&bundle.checkpoint)?.text())?;
        let log = WholeLog {
            session: session.id,
            day: (session.date, session.subject_id),
            concerning: BTreeMap::new(),
            takes: HashSet::new(),
            elsewhere: HashSet::new(),
            others: BTreeMap::new(),
            others_takes: HashMap::new(),
            sessions: HashMap::new(),
            keys: HashMap::new(),
            statuses: HashMap::new(),
            faults: Vec::new(),
            last: None,
            backward: Vec::new(),
            accepted: Vec::new(),
            bundled: checkpoint.size,
            size: checkpoint.size,
            is_latest: false,
            fork: None,
        };
        let tree = GrowingTree::default();
        let has_root = checkpoint.size == 0 && checkpoint.root == tree.root();
        Ok(Self { checkpoint, latest: None, tree, has_root, log })
    }

    /// Has the log read to its latest checkpoint, if this key signed it and it is one of the same log.
    #[must_use]
    pub fn up_to(mut self, note: &str, key: &LogKey) -> Self {
        let signed = SignedNote::parse(note).ok().and_then(|note| {
            let latest = Checkpoint::parse(note.text()).ok()?;
            let key = key.verifier(&latest.origin).ok()?;
            let is_signed = key.name() == latest.origin && note.is_signed_by(&key);
            (is_signed && latest.origin == self.checkpoint.origin).then_some(latest)
        });
        let Some(latest) = signed.filter(|latest| latest.size >= self.checkpoint.size) else {
            return self;
        };
        (self.log.size, self.log.is_latest) = (latest.size, true);
        self.latest = Some(latest);
        self
    }

    /// Returns the number of entries to read.
    pub fn size(&self) -> u64 {
        self.log.size
    }

    /// Returns the index of the next entry; `None` after the last one.
    pub fn next(&self) -> Option<u64> {
        (self.tree.size() < self.log.size).then(|| self.tree.size())
    }

    /// Reads the next entry.
    pub fn read(&mut self, text: &str) {
        let leaf = TreeHash::leaf(text.as_bytes());
        self.tree.push(leaf);
        if self.tree.size() == self.checkpoint.size {
            self.has_root = self.tree.root() == self.checkpoint.root;
        }
        self.log.read(Seq(self.tree.size()), leaf, parse(text));
    }

    /// Ends the reading, after the last entry.
    ///
    /// # Errors
    /// Why the entries are not those that the checkpoint commits to: then nothing follows from them.
    pub fn end(mut self) -> Result<WholeLog, String> {
        let size = self.checkpoint.size;
        match &self.latest {
            Some(latest) if self.tree.root() != latest.root => {
                return Err(format!(
                    "the {} entries are not those of the latest checkpoint",
                    latest.size
                ));
            }
            Some(latest) if !self.has_root => {
                self.log.fork = Some(format!(
                    "a fork: the log of {} entries does not begin with the {size} of the bundle's checkpoint",
                    latest.size
                ));
            }
            None if !self.has_root => {
                return Err(format!("the {size} entries are not those of the bundle's checkpoint"));
            }
            _ => {}
        }
        Ok(self.log)
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
        self.read_time(place, &content);
        let concerns = match content.content {
            Content::Take(take) => {
                let concerns = take.session_id == self.session;
                if concerns {
                    self.takes.insert(take.id);
                } else if !self.elsewhere.contains(&take.session_id) {
                    self.sessions.insert(take.id, take.session_id);
                    if let TakeContent::Open { digest, .. } = take.content {
                        self.others_takes.insert(digest, take.id);
                    }
                }
                concerns
            }
            Content::Opening(opening) => {
                if self.sessions.contains_key(&opening.id) {
                    self.others_takes.insert(opening.digest, opening.id);
                }
                self.takes.contains(&opening.id)
            }
            Content::TakeMark(mark) => self.takes.contains(&mark.id),
            Content::Session(act) => {
                let session = act.session;
                if session.id != self.session
                    && (session.date, &session.subject_id) == (self.day.0, &self.day.1)
                {
                    let other = self.others.entry(session.id).or_insert((place, at, false));
                    other.2 |= act.act == SessionAct::Withdrawn;
                } else if session.id != self.session {
                    self.elsewhere.insert(session.id);
                }
                session.id == self.session
            }
            Content::Member(entry) => {
                self.read_key(place, &entry);
                self.read_status(place, entry);
                false
            }
            Content::ClockAccepted(_) | Content::Other | Content::Unknown => false,
        };
        if concerns {
            self.concerning.insert(place, leaf);
        }
    }

    fn read_time(&mut self, seq: Seq, Parsed { at, content, .. }: &Parsed) {
        let before = self.last.replace((seq, *at)).filter(|(_, before)| at < before);
        let Some(before) = before.filter(|_| !self.concerning.is_empty()) else { return };
        let (kept, accepted_by) = match content {
            Content::ClockAccepted(by) => (&mut self.accepted, Some(by.clone())),
            _ => (&mut self.backward, None),
        };
        if kept.len() < MAX_BACKWARD {
            kept.push(Backward { seq, at: *at, before, accepted_by });
        }
    }

    fn read_key(&mut self, seq: Seq, entry: &MemberEntry) {
        let keys = self.keys.entry(entry.id.clone()).or_default();
        let last = keys.last().map(|last| last.key.as_ref());
        let Some(key) = &entry.public_key else {
            if let Some(Some(_)) = last {
                keys.push(KeyInLog { seq, key: None, by: GivenBy::Member });
            }
            return;
        };
        let by = match (last, &entry.by, &entry.endorsed) {
            (None, ..) => GivenBy::Member,
            (Some(Some(last)), ..) if last == key => return,
            (Some(_), ..) if entry.act != MemberAct::KeyRotated => GivenBy::Nobody,
            (Some(Some(last)), _, Some(endorsed)) => {
                let is_endorsed = endorsed.replaces == *last
                    && is_endorsed(&entry.id, key, last, &endorsed.endorsement);
                if is_endorsed { GivenBy::Member } else { GivenBy::Nobody }
            }
            (Some(_), Some(by), None) if *by != Actor::MEMBER => GivenBy::Operator(by.clone()),
            (Some(_), ..) => GivenBy::Nobody,
        };
        keys.push(KeyInLog { seq, key: Some(key.clone()), by });
    }

    fn read_status(&mut self, seq: Seq, MemberEntry { id, status, .. }: MemberEntry) {
        let statuses = self.statuses.entry(id).or_default();
        if statuses.last().is_none_or(|(_, last)| *last != status) {
            statuses.push((seq, status));
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

    /// Whether a member was active at a place in the log.
    pub(super) fn is_active_before(&self, member: &MemberId, place: Seq) -> bool {
        let statuses = self.statuses.get(member).map(Vec::as_slice).unwrap_or_default();
        let last = statuses.iter().rev().find(|(seq, _)| *seq < place);
        last.is_some_and(|(_, status)| *status == MemberStatus::Active)
    }

    /// Checks that a bundle has every entry that concerns its session, and that no take was filed in another session of its day
    /// and subject too. Reports those sessions.
    pub(super) fn check(
        &self,
        takes: &[BundledTake],
        entries: &[BundledEntry],
        report: &mut Report,
    ) {
        let bundled: HashMap<_, _> = entries.iter().map(|it| (it.seq, it.leaf)).collect();
        let mut faults = self.faults.clone();
        let missing = self.concerning.iter().filter(|(seq, leaf)| bundled.get(seq) != Some(leaf));
        faults.extend(missing.map(|(seq, _)| {
            let later = match seq.0 > self.bundled {
                true => ": it came after the checkpoint of the bundle",
                false => "",
            };
            format!("entry {seq} of the log concerns the session, and is not in the bundle{later}")
        }));
        let (concerning, size) = (count(self.concerning.len(), "entry", "entries"), self.size);
        let holds = format!(
            "the log of {size} has {concerning} on the session, and the bundle all of them"
        );
        report.conclude(Check::Completeness, faults, holds);
        if !self.is_latest {
            let text =
                format!("that no act followed entry {size}: the latest checkpoint was not read");
            report.unproven(Check::Completeness, text);
        }
        report.faults(Check::Consistency, self.fork.iter().cloned().collect::<Faults>());
        let last = self.concerning.keys().next_back();
        let is_between = |it: &&Backward| last.is_some_and(|last| it.seq <= *last);
        // The bundle itself shows the others.
        let is_unseen = |it: &&Backward| !bundled.contains_key(&it.seq);
        let faults = self.backward.iter().filter(is_between).filter(|it| {
            let (before, _) = it.before;
            is_unseen(it) || !bundled.contains_key(&before)
        });
        report.faults(Check::Time, faults.map(Backward::fault).collect::<Faults>());
        let accepted = self.accepted.iter().filter(is_between).filter(is_unseen);
        report.notable(Check::Time, accepted.map(Backward::note).collect::<Faults>());
        // Nonces are spent once, so an operator has filed it again.
        let again = takes.iter().filter_map(|it| {
            let other = self.others_takes.get(&it.take.digest())?;
            let (id, session) = (it.take.id, self.sessions.get(other)?);
            Some(format!("take {id} was filed in session {session} too, as take {other}"))
        });
        report.faults(Check::Nonce, again.collect::<Faults>());
        let date = self.day.0;
        let subject = printable(self.day.1.as_str());
        let others = self.others.iter().map(|(id, (seq, at, is_withdrawn))| {
            let withdrawn = if *is_withdrawn { ", and withdrawn" } else { "" };
            format!(
                "session {id} of {date} and {subject} is convened by entry {seq} of {at}{withdrawn}"
            )
        });
        report.notable(Check::Sessions, others.collect::<Faults>());
    }
}
