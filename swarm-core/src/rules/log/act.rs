//! The entry of a commit, some of whose fields may be known only when it is made.

use std::sync::Arc;

use crate::domain::{
    Actor, Attribution, Digest, LogBefore, LogEntry, LoggedSession, MemberId, Memo, MemoAct,
    MemoDraft, MemoEntry, MemoId, Operation, Session, SessionAct, SessionDraft, SessionEntry,
    SessionId, SubjectId, SubjectSnapshot, SubjectSnapshotDraft, SubjectSnapshotId, Timestamp,
};

/// What a change appends to the log, made by the rules that judged it.
///
/// Most entries are [known](Self::known) before the commit. Those of what the commit gives an id
/// and a time are made by it, with [`entry`](Self::entry): a store appends what that returns.
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

    /// The entry, where nothing in it is left to the commit.
    pub fn known(&self) -> Option<&Arc<LogEntry>> {
        match &self.0 {
            Kind::Known(entry) => Some(entry),
            _ => None,
        }
    }

    /// The entry of a commit at this time that mints this id: of a session or a document, or the
    /// number of the log that begins. Where the entry is [known](Self::known), neither matters.
    pub fn entry(&self, minted: u64, at: Timestamp) -> Arc<LogEntry> {
        let entry = match &self.0 {
            Kind::Known(entry) => return Arc::clone(entry),
            Kind::Convened(draft, by) => convened(draft, by, SessionId(minted), at),
            Kind::MemoPublished(author, draft) => memo_published(author, draft, minted, at),
            Kind::SnapshotAdded(subject, draft, by) => {
                snapshot_added(subject, draft, by, minted, at)
            }
            Kind::StoreAccepted(before, by) => LogEntry::Operation(Operation::StoreAccepted {
                by: by.clone(),
                log: minted,
                before: before.clone(),
            }),
        };
        Arc::new(entry)
    }

    /// The session that is acted on, where it has an id already.
    pub fn session(&self) -> Option<SessionId> {
        self.known().and_then(|entry| entry.session())
    }
}

impl From<LogEntry> for Act {
    fn from(entry: LogEntry) -> Self {
        Self(Kind::Known(Arc::new(entry)))
    }
}

fn convened(draft: &SessionDraft, by: &Attribution, id: SessionId, at: Timestamp) -> LogEntry {
    LogEntry::Session(Box::new(SessionEntry {
        act: SessionAct::Convened,
        by: by.by.clone(),
        note: by.note.clone(),
        session: logged(&draft.convened(id, at)),
        excuse: None,
    }))
}

/// The record of a session as the log has it: digests in place of what may be long.
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
        published_at: session.published_at,
        snapshot_digest: session.snapshot.as_ref().map(Digest::of_json),
    }
}

fn memo_published(author: &MemberId, draft: &MemoDraft, id: u64, at: Timestamp) -> LogEntry {
    let (id, member_id) = (MemoId(id), author.clone());
    let memo = Memo { id, member_id, draft: draft.clone(), published_at: at };
    LogEntry::Memo(MemoEntry {
        act: MemoAct::Published,
        by: None,
        id,
        digest: Digest::of_json(&memo),
        member_id: memo.member_id,
    })
}

fn snapshot_added(
    subject: &SubjectId,
    draft: &SubjectSnapshotDraft,
    by: &Actor,
    id: u64,
    at: Timestamp,
) -> LogEntry {
    let (id, subject_id) = (SubjectSnapshotId(id), subject.clone());
    let snapshot = SubjectSnapshot { id, subject_id, draft: draft.clone(), created_at: at };
    LogEntry::SubjectSnapshot {
        by: by.clone(),
        id,
        digest: Digest::of_json(&snapshot),
        subject_id: snapshot.subject_id,
    }
}
