//! The checks of a log: it has no gap, each entry agrees with its record, and each take could be filed at its
//! time.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::index::{Facts, Kind};
use super::{Checked, Fault, check};
use crate::domain::committee::CommitteeTake;
use crate::domain::{
    Digest, LogEntry, LogLine, LogRow, Logged, LoggedSession, Member, MemberEntry, MemberStatus,
    Note, OpeningEntry, Operation, PublicKey, Revision, Seq, Session, SessionAct, SessionEntry,
    SessionId, StoredTake, Take, TakeId, TakeMarkAct, Timestamp,
};
use crate::proof::{canonical, log_line, opening_entry, verify_signature};
use crate::rules::logged;
use crate::store::{Collection, StoredDocument};

/// What is known of a log so far, but for what is in the index.
#[derive(Debug)]
pub(super) struct LogChecks {
    size: Seq,
    head_line: u64,
    last: Seq,
    last_line: u64,
    at: Option<Timestamp>,
    last_take: TakeId,
    opening: Option<Opening>,
}

/// The opening entries that must come next: an act opened their session.
#[derive(Debug)]
struct Opening {
    session: SessionId,
    /// The place of the next one among the sealed takes of the session, and their number.
    next: u64,
    count: u64,
}

/// A record, and what the last entry says of it.
#[derive(Serialize, Deserialize)]
struct Recorded<T> {
    /// How a fault names it.
    name: String,
    line: u64,
    /// What the last entry must say; `None` where nothing can be compared.
    record: Option<T>,
    /// What the last entry says, and its line.
    entry: Option<(T, u64)>,
}

/// What entries say of a session: its version and the session.
type NumberedSession = (u64, LoggedSession);

/// What entries say of a member: its status and its key.
type LoggedMember = (MemberStatus, Option<String>);

#[derive(Serialize, Deserialize)]
struct SessionFacts {
    recorded: Recorded<NumberedSession>,
    /// The number of its sealed takes that no act has opened yet.
    sealed: u64,
}

/// When and why texts were withheld.
type Mark = (Timestamp, Note);

/// The mark of a take, and what the last entry says of it.
#[derive(Serialize, Deserialize)]
struct MarkFacts {
    take: TakeId,
    /// The line of the take, or of its last entry.
    line: u64,
    record: Option<Mark>,
    entry: Option<Mark>,
}

impl MarkFacts {
    fn fault(&self) -> Option<Fault> {
        let what = format!("the mark of take {} is not that of its last entry", self.take);
        (self.record != self.entry).then_some(Fault { line: self.line, what })
    }
}

impl<T: PartialEq> Recorded<T> {
    fn new(name: String, line: u64, record: Option<T>) -> Self {
        Self { name, line, record, entry: None }
    }

    fn fault(&self) -> Option<Fault> {
        let record = self.record.as_ref()?;
        let (_, line) = self.entry.as_ref().filter(|(entry, _)| entry != record)?;
        let what = format!("the entry disagrees with {} in line {}", self.name, self.line);
        Some(Fault { line: *line, what })
    }
}

impl SessionFacts {
    fn fault(&self) -> Option<Fault> {
        let Recorded { line, record, .. } = &self.recorded;
        let is_opened = record.as_ref().is_some_and(|(_, session)| session.opened_at.is_some());
        if is_opened && self.sealed > 0 {
            let what = "the session is opened, but no entry opens its takes".to_owned();
            return Some(Fault { line: *line, what });
        }
        self.recorded.fault()
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
            opening: None,
        }
    }

    pub(super) fn member(&self, member: &Member, line: u64, facts: &mut Facts) -> Checked<()> {
        let record = logged_member(status(member.state.is_active()), member.public_key.as_ref());
        let recorded = Recorded::new(format!("member {}", member.id), line, Some(record));
        facts.set(Kind::Member, &[member.id.as_str()], &recorded)
    }

    pub(super) fn session(&self, session: &Session, line: u64, facts: &mut Facts) -> Checked<()> {
        let record = (session.version, logged(session));
        let recorded = Recorded::new(format!("session {}", session.id), line, Some(record));
        let known = SessionFacts { recorded, sealed: 0 };
        facts.set(Kind::Session, &[&session.id.to_string()], &known)
    }

    pub(super) fn document(
        &self,
        stored: &StoredDocument,
        digest: Option<Digest>,
        line: u64,
        facts: &mut Facts,
    ) -> Checked<()> {
        let (collection, key) = (stored.collection, &*stored.document.key);
        let name = format!("document {key:?} of {collection}");
        let recorded = Recorded::new(name, line, digest);
        facts.set(Kind::Document, &[collection.as_str(), key], &recorded)
    }

    /// Checks a row; `text` is its entry as the dump has it.
    pub(super) fn row(
        &mut self,
        row: &LogRow,
        text: &LogLine,
        line: u64,
        facts: &mut Facts,
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
        self.expect_opening(&row.logged, facts)?;
        match &row.logged {
            Logged::Take(StoredTake::Whole(take)) => self.take(take, row, line, facts),
            Logged::Take(StoredTake::Sealed(take)) => {
                Err(format!("take {} is without what it says", take.shown.id))
            }
            Logged::CommitteeTake(take) => submission(take, row.at, facts),
            Logged::TakeMark(session, entry) => take_mark(*session, entry, (row.at, line), facts),
            Logged::Entry(entry) => self.entry(entry, line, facts),
        }?;
        check(log_line(row) == *text, || "the entry is not that of the take beside it".to_owned())
    }

    /// Checks that the last entries agree with the records, and that none is missing. Returns the first fault.
    pub(super) fn finish(self, facts: &mut Facts) -> Checked<Option<Fault>> {
        if self.last != self.size {
            let (last, size) = (self.last, self.size);
            let head = self.head_line;
            let what = format!("the log ends with entry {last}, but line {head} says {size}");
            return Ok(Some(Fault { line: self.last_line, what }));
        }
        if let Some(opening) = &self.opening {
            let (take, _) = opening.expected(facts)?;
            let what = format!("the log ends here, before the entry that opens take {take}");
            return Ok(Some(Fault { line: self.last_line, what }));
        }
        let mut first: Option<Fault> = None;
        let mut found = |fault: Option<Fault>| {
            let both = first.take().into_iter().chain(fault);
            first = both.min_by_key(|fault| fault.line);
        };
        facts.each(Kind::Session, |session: SessionFacts| found(session.fault()))?;
        facts.each(Kind::Member, |member: Recorded<LoggedMember>| found(member.fault()))?;
        facts.each(Kind::Mark, |mark: MarkFacts| found(mark.fault()))?;
        facts.each(Kind::Document, |document: Recorded<Digest>| found(document.fault()))?;
        facts.each(Kind::MissingSession, |missing: Option<(u64, String)>| {
            found(missing.map(|(line, what)| Fault { line, what }));
        })?;
        Ok(first)
    }

    fn take(
        &mut self,
        take: &Arc<Take>,
        row: &LogRow,
        line: u64,
        facts: &mut Facts,
    ) -> Checked<()> {
        let (id, draft) = (take.id, take.draft());
        let next = TakeId(self.last_take.0.saturating_add(1));
        check(id == next, || format!("take {id} follows take {}", self.last_take))?;
        self.last_take = id;
        let (author, in_session) = (draft.member_id.as_str(), take.session_id.to_string());
        let member: Option<Recorded<LoggedMember>> = facts.get(Kind::Member, &[author])?;
        let member = member.ok_or_else(|| format!("the dump has no member {author}"))?;
        let session: Option<SessionFacts> = facts.get(Kind::Session, &[&in_session])?;
        let mut session = session.ok_or_else(|| format!("the dump has no session {in_session}"))?;
        let of = session.recorded.record.as_ref().map(|(_, it)| (it.date, &it.subject_id));
        check(of == Some((draft.date, &draft.subject_id)), || {
            format!("the take is not of the day and subject of session {in_session}")
        })?;
        check(take.filed_at == row.at, || "filedAt is not the time of the entry".to_owned())?;
        let text = canonical(draft);
        // Of texts that were erased, only the digest is known, which the entry has too.
        let is_valid = !take.has_texts()
            || verify_signature(text.as_bytes(), &take.signed.signature, &take.public_key);
        check(is_valid, || format!("the signature of take {id} does not hold"))?;
        let in_force = member.entry.map(|((_, key), _)| key);
        check(in_force.is_none_or(|key| key == Some(take.public_key.to_string())), || {
            format!("take {id} is not signed with the key that its member had then")
        })?;
        let before = facts.get(Kind::Revision, &[author, &in_session])?.and_then(Revision::new);
        let declaration =
            session.recorded.entry.as_ref().map(|((_, it), _)| it.declaration.clone());
        let declaration = declaration.unwrap_or_default();
        check(declaration.next_revision(before) == Some(take.revision), || {
            format!("revision {} of take {id} does not follow the one before", take.revision.get())
        })?;
        check(declaration.allows(&draft.stance), || {
            format!("take {id} has a stance that its session does not declare")
        })?;
        facts.set(Kind::Revision, &[author, &in_session], &take.revision.get())?;
        let entry = session.recorded.entry.as_ref().map(|(entry, _)| entry);
        let (judged, version) = (take.session_version, entry.map(|(version, _)| *version));
        check(version.is_none_or(|version| judged == version), || {
            let version = version.unwrap_or_default();
            format!("take {id} was judged under version {judged}, and {version} was in force")
        })?;
        let entry = entry.map(|(_, session)| session);
        let deadline = entry.and_then(|entry| entry.window_closes_at);
        check(deadline.is_none_or(|deadline| take.filed_at <= deadline), || {
            format!("take {id} was filed after the deadline that was in force")
        })?;
        if let Some(opening) = opening_entry(take) {
            let is_opened = entry.is_some_and(|entry| entry.opened_at.is_some());
            check(!is_opened, || format!("take {id} is sealed, and was filed after the opening"))?;
            let sealed = (id, Digest::of_json(&opening));
            facts.set(Kind::Sealed, &[&in_session, &session.sealed.to_string()], &sealed)?;
            session.sealed += 1;
            facts.set(Kind::Session, &[&in_session], &session)?;
        }
        facts.set(Kind::TakeSession, &[&id.to_string()], &take.session_id)?;
        if let Some(withheld) = &take.withheld {
            let record = Some((withheld.at, withheld.note.clone()));
            let mark = MarkFacts { take: id, line, record, entry: None };
            facts.set(Kind::Mark, &[&id.to_string()], &mark)?;
        }
        let is_new = facts.add(Kind::Nonce, &[author, draft.nonce.as_str()])?;
        check(is_new, || format!("the nonce of take {id} was used before by the same member"))
    }

    fn entry(&mut self, entry: &LogEntry, line: u64, facts: &mut Facts) -> Checked<()> {
        match entry {
            LogEntry::Take(_) => Err("the entry of a take without the take".to_owned()),
            LogEntry::TakeMark(_) => Err("the mark of a take without its session".to_owned()),
            LogEntry::CommitteeTake(_) => {
                Err("the entry of a submission without the submission".to_owned())
            }
            LogEntry::Session(entry) => self.session_entry(entry, line, facts),
            LogEntry::Member(entry) => member_entry(entry, line, facts),
            LogEntry::Memo(entry) => {
                document_entry(Collection::Memos, &entry.id.to_string(), entry.digest, line, facts)
            }
            LogEntry::Subject { id, digest, .. } => {
                document_entry(Collection::Subjects, id.as_str(), *digest, line, facts)
            }
            LogEntry::SubjectSnapshot { id, digest, .. } => {
                document_entry(Collection::SubjectSnapshots, &id.to_string(), *digest, line, facts)
            }
            LogEntry::Regime { date, digest, .. } => {
                document_entry(Collection::Regimes, &date.to_string(), *digest, line, facts)
            }
            LogEntry::Signal { signal_key, date, digest, .. } => {
                let key = format!("{date}{signal_key}");
                document_entry(Collection::Signals, &key, *digest, line, facts)
            }
            LogEntry::Opening(entry) => self.opening(entry),
            LogEntry::Operation(_) | LogEntry::CommitteeDay(_) => Ok(()),
        }
    }

    /// After the act that opens a session, an entry for each of its sealed takes must come, in order.
    fn expect_opening(&self, logged: &Logged, facts: &mut Facts) -> Checked<()> {
        let Some(opening) = &self.opening else { return Ok(()) };
        let (take, expected) = opening.expected(facts)?;
        let found = match logged {
            Logged::Entry(entry) => match &**entry {
                LogEntry::Opening(opening) => Some(Digest::of_json(opening)),
                _ => None,
            },
            Logged::Take(_) | Logged::CommitteeTake(_) | Logged::TakeMark(..) => None,
        };
        check(found == Some(expected), || {
            format!("the entry that opens take {take} must come here")
        })
    }

    /// If an entry is expected, this is the one.
    fn opening(&mut self, entry: &OpeningEntry) -> Checked<()> {
        let opening = self.opening.take();
        let opening = opening.ok_or_else(|| format!("no act opens take {}", entry.id))?;
        self.opening = Opening { next: opening.next + 1, ..opening }.unless_complete();
        Ok(())
    }

    fn session_entry(&mut self, entry: &SessionEntry, line: u64, facts: &mut Facts) -> Checked<()> {
        let id = entry.session.id;
        let name = id.to_string();
        let is_withdrawn = entry.act == SessionAct::Withdrawn;
        let Some(mut session) = facts.get::<SessionFacts>(Kind::Session, &[&name])? else {
            let what = format!("the dump has no session {id}");
            let missing = (!is_withdrawn).then_some((line, what));
            return facts.set(Kind::MissingSession, &[&name], &missing);
        };
        check(!is_withdrawn, || format!("session {id} is withdrawn, and in the dump"))?;
        session.recorded.entry = Some(((entry.version, entry.session.clone()), line));
        if entry.act == SessionAct::Opened {
            let count = std::mem::take(&mut session.sealed);
            self.opening = Opening { session: id, next: 0, count }.unless_complete();
        }
        facts.set(Kind::Session, &[&name], &session)
    }
}

impl Opening {
    fn unless_complete(self) -> Option<Self> {
        (self.next < self.count).then_some(self)
    }

    /// The take that is opened next, and the digest of the entry that opens it.
    fn expected(&self, facts: &mut Facts) -> Checked<(TakeId, Digest)> {
        let place = [&*self.session.to_string(), &*self.next.to_string()];
        let sealed = facts.get(Kind::Sealed, &place)?;
        sealed.ok_or_else(|| format!("the index has no sealed take of session {}", self.session))
    }
}

fn take_mark(
    session: SessionId,
    entry: &LogEntry,
    (at, line): (Timestamp, u64),
    facts: &mut Facts,
) -> Checked<()> {
    let LogEntry::TakeMark(entry) = entry else {
        return Err("the entry is not that of a mark".to_owned());
    };
    let name = entry.id.to_string();
    let of: Option<SessionId> = facts.get(Kind::TakeSession, &[&name])?;
    check(of == Some(session), || format!("session {session} has no take {name} before this"))?;
    let known: Option<MarkFacts> = facts.get(Kind::Mark, &[&name])?;
    let known = known.unwrap_or(MarkFacts { take: entry.id, line, record: None, entry: None });
    let mark = match (entry.act, &known.entry) {
        (TakeMarkAct::Withheld, None) => Some((at, entry.note.clone().unwrap_or_else(Note::none))),
        (TakeMarkAct::Restored, Some(_)) => None,
        _ => return Err(format!("take {name} is {:?} already", entry.act)),
    };
    facts.set(Kind::Mark, &[&name], &MarkFacts { line, entry: mark, ..known })
}

fn member_entry(entry: &MemberEntry, line: u64, facts: &mut Facts) -> Checked<()> {
    let name = [entry.id.as_str()];
    let member: Option<Recorded<LoggedMember>> = facts.get(Kind::Member, &name)?;
    let mut member = member.ok_or_else(|| format!("the dump has no member {}", entry.id))?;
    member.entry = Some((logged_member(entry.status, entry.public_key.as_ref()), line));
    facts.set(Kind::Member, &name, &member)
}

fn document_entry(
    collection: Collection,
    key: &str,
    digest: Digest,
    line: u64,
    facts: &mut Facts,
) -> Checked<()> {
    let name = [collection.as_str(), key];
    let document: Option<Recorded<Digest>> = facts.get(Kind::Document, &name)?;
    let mut document =
        document.ok_or_else(|| format!("the dump has no such document of {collection}"))?;
    document.entry = Some((digest, line));
    facts.set(Kind::Document, &name, &document)
}

fn submission(take: &CommitteeTake, at: Timestamp, facts: &mut Facts) -> Checked<()> {
    facts.check_committee_member(take.member_id.as_str())?;
    facts.check_day(&take.date.to_string())?;
    check(take.received_at == at, || "received_at is not the time of the entry".to_owned())
}

fn logged_member(status: MemberStatus, key: Option<&PublicKey>) -> LoggedMember {
    (status, key.map(PublicKey::to_string))
}

fn status(is_active: bool) -> MemberStatus {
    if is_active { MemberStatus::Active } else { MemberStatus::Inactive }
}
