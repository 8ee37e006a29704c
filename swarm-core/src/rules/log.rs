//! The log: the entry that each change carries (API.md, 11.2). It may contain values that only the commit assigns.

use std::sync::Arc;

use crate::domain::{
    Actor, Attribution, Digest, EndorsedKey, Excuse, LogBefore, LogEntry, LoggedSession, Member,
    MemberAct, MemberEntry, MemberId, MemberStatus, Memo, MemoAct, MemoDraft, MemoEntry, MemoId,
    Operation, Regime, Session, SessionAct, SessionDraft, SessionEntry, SessionId, Signal, Subject,
    SubjectId, SubjectSnapshotDraft, SubjectSnapshotId, TakeId, TakeMarkAct, TakeMarkEntry,
    Timestamp,
};
use crate::proof::note::VerifierKey;

/// What a change appends to the log, made by the rules that judged it.
///
/// Most entries are [known](Self::known) before the commit. An entry that contains an id or a time which the
/// commit assigns is made by [`entry`](Self::entry) once both are known. No digest in it covers either.
#[derive(Clone, Debug, PartialEq)]
pub struct Act(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Known(Arc<LogEntry>),
    Convened(SessionDraft, Attribution),
    MemoPublished(MemberId, Digest),
    SnapshotAdded(SubjectId, Digest, Actor),
    StoreAccepted(LogBefore, Actor),
}

impl Act {
    fn new(kind: Kind) -> Self {
        Self(kind)
    }

    /// Returns the entry, if it contains nothing that the commit assigns.
    pub fn known(&self) -> Option<&Arc<LogEntry>> {
        match &self.0 {
            Kind::Known(entry) => Some(entry),
            _ => None,
        }
    }

    /// Returns the entry of a commit at the time `at` that assigned the number `minted`: the id of a session
    /// or of a document, or the number of a new log. A [known](Self::known) entry depends on neither.
    pub fn entry(&self, minted: u64, at: Timestamp) -> Arc<LogEntry> {
        match &self.0 {
            Kind::Known(entry) => Arc::clone(entry),
            Kind::Convened(draft, by) => {
                let session = logged(&draft.convened(SessionId(minted), at));
                Arc::new(convened_entry(session, by))
            }
            Kind::MemoPublished(author, digest) => {
                Arc::new(memo_published_entry(author, minted, *digest))
            }
            Kind::SnapshotAdded(subject, digest, by) => {
                Arc::new(snapshot_added_entry(subject, by, minted, *digest))
            }
            Kind::StoreAccepted(before, by) => {
                let (by, before) = (by.clone(), before.clone());
                let accepted = Operation::StoreAccepted { by, log: minted, before };
                Arc::new(LogEntry::Operation(accepted))
            }
        }
    }

    /// The session that is acted on, if it has an id already.
    pub fn session(&self) -> Option<SessionId> {
        self.known().and_then(|entry| entry.session())
    }
}

impl From<LogEntry> for Act {
    fn from(entry: LogEntry) -> Self {
        Self(Kind::Known(Arc::new(entry)))
    }
}

/// Returns the act: a session is convened.
pub(super) fn convened(draft: &SessionDraft, by: &Attribution) -> Act {
    Act::new(Kind::Convened(draft.clone(), by.clone()))
}

pub(super) fn session_changed(act: SessionAct, session: &Session, by: &Attribution) -> Act {
    session_entry(act, session, by, None, None)
}

/// Returns the act: a session is aggregated when this number of takes is on file, counting all revisions.
pub(super) fn aggregated(session: &Session, takes: usize, by: &Attribution) -> Act {
    let takes = u64::try_from(takes).ok();
    session_entry(SessionAct::State, session, by, takes, None)
}

pub(super) fn excused(
    session: &Session,
    member: &MemberId,
    excused: bool,
    by: &Attribution,
) -> Act {
    let excuse = Excuse { member_id: member.clone(), excused };
    session_entry(SessionAct::Excuse, session, by, None, Some(excuse))
}

/// Returns the act: the brief of a session is published. `session` is the session after the act.
pub fn brief_published(session: &Session, by: &Attribution) -> Act {
    session_entry(SessionAct::Brief, session, by, None, None)
}

fn session_entry(
    act: SessionAct,
    session: &Session,
    by: &Attribution,
    takes: Option<u64>,
    excuse: Option<Excuse>,
) -> Act {
    let entry = SessionEntry::new(session.version, act, by, logged(session));
    LogEntry::Session(Box::new(SessionEntry { takes, excuse, ..entry })).into()
}

/// Returns the act: a member is changed, by an operator or, as [`Actor::MEMBER`], by itself.
pub(super) fn member_changed(act: MemberAct, member: &Member, by: &Actor) -> Act {
    let status =
        if member.state.is_active() { MemberStatus::Active } else { MemberStatus::Inactive };
    let (after, key) = ((member.id.clone(), status), member.public_key.clone());
    LogEntry::Member(MemberEntry::new(act, Some(by.clone()), after, key)).into()
}

/// Returns the act: a member has replaced its own key, which the key before endorsed.
pub(super) fn own_key_replaced(member: &Member, endorsed: EndorsedKey) -> Act {
    LogEntry::Member(MemberEntry {
        act: MemberAct::KeyRotated,
        by: Some(Actor::MEMBER),
        id: member.id.clone(),
        status: MemberStatus::Active,
        public_key: member.public_key.clone(),
        endorsed: Some(endorsed),
    })
    .into()
}

/// Returns the act: a memo is published.
pub fn memo_published(member: &MemberId, draft: &MemoDraft) -> Act {
    Act::new(Kind::MemoPublished(member.clone(), draft.digest(member)))
}

/// Returns the act: a memo is shown that was held while its session was sealed.
pub(crate) fn memo_shown(memo: &Memo) -> Act {
    LogEntry::Memo(MemoEntry {
        act: MemoAct::Published,
        by: None,
        id: memo.id,
        member_id: memo.member_id.clone(),
        digest: memo.draft.digest(&memo.member_id),
    })
    .into()
}

/// Returns the act: a memo is retracted.
pub fn memo_retracted(memo: &Memo, by: &Actor) -> Act {
    LogEntry::Memo(MemoEntry {
        act: MemoAct::Retracted,
        by: Some(by.clone()),
        id: memo.id,
        member_id: memo.member_id.clone(),
        digest: memo.draft.digest(&memo.member_id),
    })
    .into()
}

/// Returns the act: the texts of a take are withheld or restored.
pub(super) fn take_marked(act: TakeMarkAct, id: TakeId, by: &Attribution) -> Act {
    let Attribution { by, note } = by.clone();
    LogEntry::TakeMark(TakeMarkEntry { act, by, note, id }).into()
}

/// Returns the act: a subject is created or replaced.
pub fn subject_put(subject: &Subject, by: &Actor) -> Act {
    let (id, digest) = (subject.id.clone(), Digest::of_json(subject));
    LogEntry::Subject { by: by.clone(), id, digest }.into()
}

/// Returns the act: a snapshot of a subject is added.
pub fn snapshot_added(subject: &SubjectId, draft: &SubjectSnapshotDraft, by: &Actor) -> Act {
    Act::new(Kind::SnapshotAdded(subject.clone(), draft.digest(subject), by.clone()))
}

/// Returns the act: the regime of a day is recorded.
pub(crate) fn regime_put(regime: &Regime, by: &Actor) -> Act {
    let (date, digest) = (regime.date, Digest::of_json(regime));
    LogEntry::Regime { by: by.clone(), date, digest }.into()
}

/// Returns the act: a research signal is recorded.
pub(crate) fn signal_put(signal: &Signal, by: &Actor) -> Act {
    let (signal_key, date) = (signal.signal_key.clone(), signal.date);
    let digest = Digest::of_json(signal);
    LogEntry::Signal { by: by.clone(), signal_key, date, digest }.into()
}

/// Returns the act: an operator accepts the store's clock as it is.
pub fn clock_accepted(by: &Actor) -> Act {
    LogEntry::Operation(Operation::ClockAccepted { by: by.clone() }).into()
}

/// Returns the act: an operator accepts the store as it is, and a new log begins. The commit assigns its number.
/// `before` describes the previous log.
pub fn store_accepted(before: LogBefore, by: &Actor) -> Act {
    Act::new(Kind::StoreAccepted(before, by.clone()))
}

/// Returns the act: an operator accepts the key that signs the log from now on.
pub(crate) fn key_accepted(key: &VerifierKey, by: &Actor) -> Act {
    LogEntry::Operation(Operation::KeyAccepted { by: by.clone(), log_key: key.to_string() }).into()
}

/// Returns the record of a session in the log, with digests in place of the fields that may be
/// long.
pub fn logged(session: &Session) -> LoggedSession {
    LoggedSession {
        id: session.id,
        date: session.date,
        subject_id: session.subject_id.clone(),
        state: session.state,
        window_closes_at: session.window_closes_at,
        convened_at: session.convened_at,
        quorum: session.quorum,
        buckets_digest: session.buckets.as_ref().map(Digest::of_json),
        roster_digest: session.roster.as_ref().map(Digest::of_json),
        blind: session.blind,
        practice: session.practice,
        finish: session.finish,
        question: session.question.clone(),
        declaration: session.declaration.clone(),
        opened_at: session.opened_at,
        published_at: session.published_at,
        outcome: session.outcome.clone(),
        voided: session.voided.clone(),
        snapshot_digest: session.snapshot.as_ref().map(|snapshot| snapshot.digest()),
    }
}

fn convened_entry(session: LoggedSession, by: &Attribution) -> LogEntry {
    LogEntry::Session(Box::new(SessionEntry::new(1, SessionAct::Convened, by, session)))
}

fn memo_published_entry(author: &MemberId, id: u64, digest: Digest) -> LogEntry {
    let (id, member_id) = (MemoId(id), author.clone());
    LogEntry::Memo(MemoEntry { act: MemoAct::Published, by: None, id, digest, member_id })
}

fn snapshot_added_entry(subject: &SubjectId, by: &Actor, id: u64, digest: Digest) -> LogEntry {
    let (id, subject_id) = (SubjectSnapshotId(id), subject.clone());
    LogEntry::SubjectSnapshot { by: by.clone(), id, digest, subject_id }
}
