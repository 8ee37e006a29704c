//! The log entry of a commit, which may contain values that only the commit assigns.

use std::sync::Arc;

use crate::domain::json::write;
use crate::domain::{
    Actor, Attribution, Digest, LogBefore, LogEntry, LoggedSession, MemberId, Memo, MemoAct,
    MemoDraft, MemoEntry, MemoId, Operation, RunningDigest, Session, SessionAct, SessionDraft,
    SessionEntry, SessionId, SubjectId, SubjectSnapshot, SubjectSnapshotDraft, SubjectSnapshotId,
    Timestamp,
};

/// What a change appends to the log, made by the rules that judged it.
///
/// Most entries are [known](Self::known) before the commit. An entry that contains an id or a time which the
/// commit assigns is made during the commit, by [`entry`](Self::entry), or for each possible time before it, by
/// [`entry_at`](Self::entry_at). A store appends what that returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Act(Kind);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Known(Arc<LogEntry>),
    Convened(SessionDraft, Attribution),
    MemoPublished(MemberId, MemoDraft),
    SnapshotAdded(SubjectId, SubjectSnapshotDraft, Actor),
    StoreAccepted(LogBefore, Actor),
}

impl Act {
    pub(super) fn new(kind: Kind) -> Self {
        Self(kind)
    }

    /// The entry, if it contains nothing that the commit assigns.
    pub fn known(&self) -> Option<&Arc<LogEntry>> {
        match &self.0 {
            Kind::Known(entry) => Some(entry),
            _ => None,
        }
    }

    /// The entry of a commit at the time `at` that assigned the number `minted`: the id of a session or of a
    /// document, or the number of a new log. A [known](Self::known) entry depends on neither.
    pub fn entry(&self, minted: u64, at: Timestamp) -> Arc<LogEntry> {
        self.entry_at(minted)(at)
    }

    /// The [entry](Self::entry) as a function of the time. What the entries of all times have in common is hashed
    /// once, because a store that proposes an entry for each millisecond must be done before they have passed.
    pub fn entry_at(&self, minted: u64) -> Box<dyn Fn(Timestamp) -> Arc<LogEntry> + '_> {
        match &self.0 {
            Kind::Known(entry) => Box::new(move |_| Arc::clone(entry)),
            Kind::Convened(draft, by) => {
                let session = logged(&draft.convened(SessionId(minted), Timestamp::EPOCH));
                Box::new(move |at| Arc::new(convened(&session, by, at)))
            }
            Kind::MemoPublished(author, draft) => {
                let digest = digest_at(&write(&memo(author, draft, minted, Timestamp::EPOCH)));
                Box::new(move |at| Arc::new(memo_published(author, minted, digest(at))))
            }
            Kind::SnapshotAdded(subject, draft, by) => {
                let digest = digest_at(&write(&snapshot(subject, draft, minted, Timestamp::EPOCH)));
                Box::new(move |at| Arc::new(snapshot_added(subject, by, minted, digest(at))))
            }
            Kind::StoreAccepted(before, by) => {
                let (by, before) = (by.clone(), before.clone());
                let accepted = Operation::StoreAccepted { by, log: minted, before };
                let entry = Arc::new(LogEntry::Operation(accepted));
                Box::new(move |_| Arc::clone(&entry))
            }
        }
    }

    /// The JSON text whose digest is in the [entry](Self::entry), where that text has the id and the time
    /// of the commit. A store whose commits assign both can complete text and entry by itself.
    pub fn digested(&self, minted: u64, at: Timestamp) -> Option<String> {
        match &self.0 {
            Kind::MemoPublished(author, draft) => Some(write(&memo(author, draft, minted, at))),
            Kind::SnapshotAdded(subject, draft, _) => {
                Some(write(&snapshot(subject, draft, minted, at)))
            }
            _ => None,
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

fn convened(session: &LoggedSession, by: &Attribution, at: Timestamp) -> LogEntry {
    LogEntry::Session(Box::new(SessionEntry {
        act: SessionAct::Convened,
        by: by.by.clone(),
        note: by.note.clone(),
        session: LoggedSession { convened_at: at, ..session.clone() },
        excuse: None,
    }))
}

/// The record of a session in the log, with digests in place of the fields that may be long.
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
        opened_at: session.opened_at,
        published_at: session.published_at,
        snapshot_digest: session.snapshot.as_ref().map(Digest::of_json),
    }
}

fn memo(author: &MemberId, draft: &MemoDraft, id: u64, at: Timestamp) -> Memo {
    let (id, member_id) = (MemoId(id), author.clone());
    Memo { id, member_id, draft: draft.clone(), published_at: at }
}

fn memo_published(author: &MemberId, id: u64, digest: Digest) -> LogEntry {
    let (id, member_id) = (MemoId(id), author.clone());
    LogEntry::Memo(MemoEntry { act: MemoAct::Published, by: None, id, digest, member_id })
}

fn snapshot(
    subject: &SubjectId,
    draft: &SubjectSnapshotDraft,
    id: u64,
    at: Timestamp,
) -> SubjectSnapshot {
    let (id, subject_id) = (SubjectSnapshotId(id), subject.clone());
    SubjectSnapshot { id, subject_id, draft: draft.clone(), created_at: at }
}

fn snapshot_added(subject: &SubjectId, by: &Actor, id: u64, digest: Digest) -> LogEntry {
    let (id, subject_id) = (SubjectSnapshotId(id), subject.clone());
    LogEntry::SubjectSnapshot { by: by.clone(), id, digest, subject_id }
}

/// The digest of a record's JSON text as a function of the time of its commit. `text` is that of
/// [`Timestamp::EPOCH`]; the time is its last member.
fn digest_at(text: &str) -> impl Fn(Timestamp) -> Digest + use<> {
    let end_at = |at: Timestamp| write(&at) + "}";
    let mut head = RunningDigest::default();
    head.update(text.strip_suffix(&end_at(Timestamp::EPOCH)).unwrap_or(text).as_bytes());
    move |at| {
        let mut whole = head.clone();
        whole.update(end_at(at).as_bytes());
        whole.digest()
    }
}
