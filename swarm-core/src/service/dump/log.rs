//! The checks of a log: it has no gap, each entry agrees with its record, and each take could be filed at its
//! time.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::fault::{Checked, Fault, check};
use super::take_index::{TakeIndex, key};
use crate::domain::committee::{CommitteeMemberId, CommitteeTake};
use crate::domain::{
    Day, Digest, LogEntry, LogLine, LogRow, Logged, LoggedSession, Member, MemberEntry, MemberId,
    MemberStatus, OpeningEntry, Operation, PublicKey, Revision, Seq, Session, SessionAct,
    SessionEntry, SessionId, Take, TakeId, TenantId, Timestamp,
};
use crate::proof::{canonical, holds, log_line, opening_entry};
use crate::rules::logged;
use crate::store::{Collection, StoredDocument};

/// What is known of a log so far.
#[derive(Debug)]
pub(super) struct LogChecks {
    tenant: TenantId,
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
    /// The opening entries that must come next: an act opened their session.
    openings: VecDeque<OpeningEntry>,
}

/// What the checks of the log know from other records and from earlier takes.
pub(super) struct Known<'a> {
    pub(super) committee_members: &'a HashSet<CommitteeMemberId>,
    pub(super) days: &'a HashSet<Day>,
    pub(super) takes: &'a mut dyn TakeIndex,
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
    /// The opening entries of its sealed takes that are not opened yet.
    sealed: VecDeque<OpeningEntry>,
}

#[derive(Debug)]
struct DocumentFacts {
    line: u64,
    /// `None` if there is nothing to compare: the document is unreadable or erased.
    digest: Option<Digest>,
    entry: Option<(Digest, u64)>,
}

impl SessionFacts {
    fn fault(&self, id: SessionId) -> Option<Fault> {
        if let Some(take) = self.sealed.front().filter(|_| self.record.opened_at.is_some()) {
            let what = format!("the session is opened, but no entry opens its take {}", take.id);
            return Some(Fault { line: self.line, what });
        }
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
    pub(super) fn new(tenant: &TenantId, size: Seq, head_line: u64) -> Self {
        Self {
            tenant: tenant.clone(),
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
            openings: VecDeque::new(),
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
            sealed: VecDeque::new(),
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
        known: &mut Known<'_>,
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
        self.expect_opening(&row.logged)?;
        match &row.logged {
            Logged::Take(take) => self.take(take, row, known.takes),
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
        if let Some(take) = self.openings.front() {
            let what = format!("the log ends here, before the entry that opens take {}", take.id);
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

    fn take(&mut self, take: &Arc<Take>, row: &LogRow, takes: &mut dyn TakeIndex) -> Checked<()> {
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
        let author = draft.member_id.as_str();
        let in_session = key(&self.tenant, ["revision", author, &take.session_id.to_string()]);
        let before = takes.set(in_session, take.revision.get())?;
        let before = before.and_then(Revision::new);
        check(Revision::after(before) == Some(take.revision), || {
            format!("revision {} of take {id} does not follow the one before", take.revision.get())
        })?;
        let deadline = session.entry.as_ref().and_then(|(entry, _)| entry.window_closes_at);
        check(deadline.is_none_or(|deadline| take.filed_at <= deadline), || {
            format!("take {id} was filed after the deadline that was in force")
        })?;
        if let Some(opening) = opening_entry(take) {
            let is_opened = session.entry.as_ref().is_some_and(|(it, _)| it.opened_at.is_some());
            check(!is_opened, || format!("take {id} is sealed, and was filed after the opening"))?;
            session.sealed.push_back(opening);
        }
        let before = takes.set(key(&self.tenant, ["nonce", author, draft.nonce.as_str()]), 1)?;
        check(before.is_none(), || {
            format!("the nonce of take {id} was used before by the same member")
        })
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
            LogEntry::Opening(entry) => self.opening(entry),
            LogEntry::Operation(_) | LogEntry::CommitteeDay(_) => Ok(()),
        }
    }

    /// After the act that opens a session, an entry for each of its sealed takes must come, in order.
    fn expect_opening(&self, logged: &Logged) -> Checked<()> {
        let Some(expected) = self.openings.front() else { return Ok(()) };
        let found = match logged {
            Logged::Entry(entry) => match &**entry {
                LogEntry::Opening(opening) => Some(opening),
                _ => None,
            },
            Logged::Take(_) | Logged::CommitteeTake(_) => None,
        };
        check(found == Some(expected), || {
            format!("the entry that opens take {} must come here", expected.id)
        })
    }

    fn opening(&mut self, entry: &OpeningEntry) -> Checked<()> {
        // If an entry is expected, this is the one.
        let expected = self.openings.pop_front();
        check(expected.is_some(), || format!("no act opens take {}", entry.id))
    }

    fn session_entry(&mut self, entry: &SessionEntry, line: u64) -> Checked<()> {
        let id = entry.session.id;
        let is_withdrawn = entry.act == SessionAct::Withdrawn;
        match self.sessions.get_mut(&id) {
            Some(_) if is_withdrawn => Err(format!("session {id} is withdrawn, and in the dump"))?,
            Some(session) => {
                session.entry = Some((entry.session.clone(), line));
                if entry.act == SessionAct::Opened {
                    self.openings = std::mem::take(&mut session.sealed);
                }
            }
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

fn submission(take: &CommitteeTake, at: Timestamp, known: &Known<'_>) -> Checked<()> {
    let member = &take.member_id;
    check(known.committee_members.contains(member), || {
        format!("the committee has no member {member}")
    })?;
    check(known.days.contains(&take.date), || format!("the dump has no day {}", take.date))?;
    check(take.received_at == at, || "received_at is not the time of the entry".to_owned())
}

fn status(is_active: bool) -> MemberStatus {
    if is_active { MemberStatus::Active } else { MemberStatus::Inactive }
}
