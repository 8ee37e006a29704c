//! The checks of a log: it has no gap, each entry agrees with the record that it is of, and each take is
//! one that could be filed then.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::fault::{Checked, Fault, check};
use crate::domain::committee::{CommitteeMemberId, CommitteeTake};
use crate::domain::{
    Day, Digest, LogEntry, LogLine, LogRow, Logged, LoggedSession, Member, MemberEntry, MemberId,
    MemberStatus, Operation, PublicKey, Revision, Seq, Session, SessionAct, SessionEntry,
    SessionId, Take, TakeId, Timestamp,
};
use crate::proof::{canonical, holds, log_line};
use crate::rules::logged;
use crate::store::{Collection, StoredDocument};

/// What is known of a log so far.
#[derive(Debug)]
pub(super) struct LogChecks {
    size: Seq,
    head_line: u64,
    last: Seq,
    last_line: u64,
    at: Option<Timestamp>,
    last_take: TakeId,
    members: HashMap<MemberId, MemberFacts>,
    sessions: HashMap<SessionId, SessionFacts>,
    /// Sessions that the dump does not have: whether the last entry withdraws it, and its line.
    missing: HashMap<SessionId, (bool, u64)>,
    documents: HashMap<(Collection, String), DocumentFacts>,
    /// Fingerprints of the nonces that each member has used: 16 bytes of a SHA-256.
    nonces: HashSet<[u8; 16]>,
}

/// What the checks of the log know from other records.
pub(super) struct Logs<'a> {
    pub(super) seats: &'a HashSet<CommitteeMemberId>,
    pub(super) days: &'a HashSet<Day>,
}

#[derive(Debug)]
struct MemberFacts {
    line: u64,
    status: MemberStatus,
    key: Option<PublicKey>,
    /// The last entry, and its line.
    entry: Option<(MemberStatus, Option<PublicKey>, u64)>,
}

#[derive(Debug)]
struct SessionFacts {
    line: u64,
    date: Day,
    subject: crate::domain::SubjectId,
    record: LoggedSession,
    /// The last entry, and its line.
    entry: Option<(LoggedSession, u64)>,
    revisions: HashMap<MemberId, Revision>,
}

#[derive(Debug)]
struct DocumentFacts {
    line: u64,
    /// `None` where it says nothing: it is not readable, or was erased.
    digest: Option<Digest>,
    entry: Option<(Digest, u64)>,
}

impl SessionFacts {
    fn fault(&self, id: SessionId) -> Option<Fault> {
        let (_, line) = self.entry.as_ref().filter(|(entry, _)| *entry != self.record)?;
        let what = format!("the entry disagrees with session {id} in line {}", self.line);
        Some(Fault { line: *line, what })
    }
}

impl MemberFacts {
    fn fault(&self, id: &MemberId) -> Option<Fault> {
        let (status, key, line) = self.entry.as_ref()?;
        let agrees = (*status, key) == (self.status, &self.key);
        let what = format!("the entry disagrees with member {id} in line {}", self.line);
        (!agrees).then_some(Fault { line: *line, what })
    }
}

impl DocumentFacts {
    fn fault(&self, (collection, key): &(Collection, String)) -> Option<Fault> {
        let known = self.digest?;
        let (_, line) = self.entry.as_ref().filter(|(digest, _)| *digest != known)?;
        let document = format!("document {key:?} of {collection} in line {}", self.line);
        Some(Fault { line: *line, what: format!("the digest is not that of {document}") })
    }
}

impl LogChecks {
    pub(super) fn new(size: Seq, head_line: u64) -> Self {
        Self {
            size,
            head_line,
            last: Seq(0),
            last_line: head_line,
            at: None,
            last_take: TakeId(0),
            members: HashMap::new(),
            sessions: HashMap::new(),
            missing: HashMap::new(),
            documents: HashMap::new(),
            nonces: HashSet::new(),
        }
    }

    pub(super) fn member(&mut self, member: &Member, line: u64) {
        let status = status(member.state.is_active());
        let facts = MemberFacts { line, status, key: member.public_key.clone(), entry: None };
        self.members.insert(member.id.clone(), facts);
    }

    pub(super) fn session(&mut self, session: &Session, line: u64) {
        let facts = SessionFacts {
            line,
            date: session.date,
            subject: session.subject_id.clone(),
            record: logged(session),
            entry: None,
            revisions: HashMap::new(),
        };
        self.sessions.insert(session.id, facts);
    }

    pub(super) fn document(&mut self, stored: &StoredDocument, digest: Option<Digest>, line: u64) {
        let key = (stored.collection, stored.document.key.clone());
        self.documents.insert(key, DocumentFacts { line, digest, entry: None });
    }

    /// Checks a row; `text` is its entry as the dump has it.
    pub(super) fn row(
        &mut self,
        row: &LogRow,
        text: &LogLine,
        line: u64,
        known: &Logs<'_>,
    ) -> Checked<()> {
        let next = Seq(self.last.0.saturating_add(1));
        check(row.seq == next, || format!("entry {next} of the log is missing before this one"))?;
        check(row.seq <= self.size, || {
            format!("the line of the tenant says that the log has {} entries", self.size)
        })?;
        self.last = next;
        self.last_line = line;
        let may_go_back =
            matches!(&text.entry, LogEntry::Operation(Operation::ClockAccepted { .. }));
        check(may_go_back || self.at.is_none_or(|at| at <= row.at), || {
            "the time is before that of the entry before, and no operator accepted the clock"
                .to_owned()
        })?;
        self.at = Some(row.at);
        match &row.logged {
            Logged::Take(take) => self.take(take, row),
            Logged::CommitteeTake(take) => submission(take, row.at, known),
            Logged::Entry(entry) => self.entry(entry, line),
        }?;
        check(log_line(row) == *text, || "the entry is not that of the take beside it".to_owned())
    }

    /// Checks that the last entries agree with the records, and that none is missing.
    pub(super) fn finish(self) -> Result<(), Fault> {
        if self.last != self.size {
            let (last, size) = (self.last, self.size);
            let head = self.head_line;
            let what = format!("the log ends with entry {last}, but line {head} says {size}");
            return Err(Fault { line: self.last_line, what });
        }
        let missing = self.missing.iter().filter(|(_, (is_withdrawn, _))| !is_withdrawn);
        let missing = missing.map(|(id, (_, line))| Fault {
            line: *line,
            what: format!("the dump has no session {id}"),
        });
        let sessions = self.sessions.iter().filter_map(|(id, session)| session.fault(*id));
        let members = self.members.iter().filter_map(|(id, member)| member.fault(id));
        let documents = self.documents.iter().filter_map(|(key, document)| document.fault(key));
        let first = sessions.chain(members).chain(documents).chain(missing);
        let first = first.min_by_key(|fault| fault.line);
        first.map_or(Ok(()), Err)
    }

    fn take(&mut self, take: &Arc<Take>, row: &LogRow) -> Checked<()> {
        let (id, draft) = (take.id, take.draft());
        let next = TakeId(self.last_take.0.saturating_add(1));
        check(id == next, || format!("take {id} follows take {}", self.last_take))?;
        self.last_take = id;
        let member = self.members.get(&draft.member_id);
        let member = member.ok_or_else(|| format!("the dump has no member {}", draft.member_id))?;
        let session = self.sessions.get_mut(&take.session_id);
        let session =
            session.ok_or_else(|| format!("the dump has no session {}", take.session_id))?;
        check((session.date, &session.subject) == (draft.date, &draft.subject_id), || {
            format!("the take is not of the day and subject of session {}", take.session_id)
        })?;
        check(take.filed_at == row.at, || "filedAt is not the time of the entry".to_owned())?;
        let text = canonical(draft);
        let holds = holds(text.as_bytes(), &take.signed.signature, &take.public_key);
        check(holds, || format!("the signature of take {id} does not hold"))?;
        let in_force = member.entry.as_ref().map(|(_, key, _)| key.as_ref());
        check(in_force.is_none_or(|key| key == Some(&take.public_key)), || {
            format!("take {id} is not signed with the key that its member had then")
        })?;
        let before = session.revisions.get(&draft.member_id).copied();
        check(Revision::after(before) == Some(take.revision), || {
            format!("revision {} of take {id} does not follow the one before", take.revision.get())
        })?;
        session.revisions.insert(draft.member_id.clone(), take.revision);
        let deadline = session.entry.as_ref().and_then(|(entry, _)| entry.window_closes_at);
        check(deadline.is_none_or(|deadline| take.filed_at <= deadline), || {
            format!("take {id} was filed after the deadline that was in force")
        })?;
        let is_new = self.nonces.insert(fingerprint(&draft.member_id, draft.nonce.as_str()));
        check(is_new, || format!("the nonce of take {id} was used before by the same member"))
    }

    fn entry(&mut self, entry: &LogEntry, line: u64) -> Checked<()> {
        match entry {
            LogEntry::Take(_) => Err("the entry of a take without the take".to_owned()),
            LogEntry::CommitteeTake(_) => {
                Err("the entry of a submission without the submission".to_owned())
            }
            LogEntry::Session(entry) => self.session_entry(entry, line),
            LogEntry::Member(entry) => self.member_entry(entry, line),
            LogEntry::Memo(entry) => {
                self.document_entry(Collection::Memos, entry.id.to_string(), entry.digest, line)
            }
            LogEntry::Subject { id, digest, .. } => {
                self.document_entry(Collection::Subjects, id.to_string(), *digest, line)
            }
            LogEntry::SubjectSnapshot { id, digest, .. } => {
                self.document_entry(Collection::SubjectSnapshots, id.to_string(), *digest, line)
            }
            LogEntry::Regime { date, digest, .. } => {
                self.document_entry(Collection::Regimes, date.to_string(), *digest, line)
            }
            LogEntry::Signal { signal_key, date, digest, .. } => {
                let key = format!("{date}{signal_key}");
                self.document_entry(Collection::Signals, key, *digest, line)
            }
            LogEntry::Operation(_) | LogEntry::CommitteeDay(_) => Ok(()),
        }
    }

    fn session_entry(&mut self, entry: &SessionEntry, line: u64) -> Checked<()> {
        let id = entry.session.id;
        let is_withdrawn = entry.act == SessionAct::Withdrawn;
        match self.sessions.get_mut(&id) {
            Some(_) if is_withdrawn => Err(format!("session {id} is withdrawn, and in the dump"))?,
            Some(session) => session.entry = Some((entry.session.clone(), line)),
            None => drop(self.missing.insert(id, (is_withdrawn, line))),
        }
        Ok(())
    }

    fn member_entry(&mut self, entry: &MemberEntry, line: u64) -> Checked<()> {
        let member = self.members.get_mut(&entry.id);
        let member = member.ok_or_else(|| format!("the dump has no member {}", entry.id))?;
        member.entry = Some((entry.status, entry.public_key.clone(), line));
        Ok(())
    }

    fn document_entry(
        &mut self,
        collection: Collection,
        key: String,
        digest: Digest,
        line: u64,
    ) -> Checked<()> {
        let document = self.documents.get_mut(&(collection, key));
        let document =
            document.ok_or_else(|| format!("the dump has no such document of {collection}"))?;
        document.entry = Some((digest, line));
        Ok(())
    }
}

fn submission(take: &CommitteeTake, at: Timestamp, known: &Logs<'_>) -> Checked<()> {
    let member = &take.member_id;
    check(known.seats.contains(member), || format!("the committee has no member {member}"))?;
    check(known.days.contains(&take.date), || format!("the dump has no day {}", take.date))?;
    check(take.received_at == at, || "received_at is not the time of the entry".to_owned())
}

fn status(is_active: bool) -> MemberStatus {
    if is_active { MemberStatus::Active } else { MemberStatus::Inactive }
}

fn fingerprint(member: &MemberId, nonce: &str) -> [u8; 16] {
    // An id is preceded by its length, so that no two pairs have the same text.
    let member = member.as_str();
    let digest = Digest::of(format!("{} {member}{nonce}", member.len()).as_bytes());
    let mut fingerprint = [0; 16];
    fingerprint.iter_mut().zip(digest.as_bytes()).for_each(|(to, from)| *to = *from);
    fingerprint
}
