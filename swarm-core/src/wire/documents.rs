//! Responses about subjects and their snapshots, memos, briefs, regimes and signals.

use serde::Serialize;

use super::Answer;
use super::answer::Written;
use crate::domain::{Brief, Memo, MemoId, Subject, SubjectId, SubjectSnapshot};
use crate::service::{MemoPage, SubjectPage, WriteOutcome};

/// Returns the response with a page of subjects: `{subjects}`, and `nextAfter` when there are more.
pub fn subjects(page: &SubjectPage) -> Answer {
    Answer::ok(&Subjects { subjects: &page.subjects, next_after: page.next_after.as_ref() })
}

/// A page of subjects.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Subjects<'a> {
    /// The subjects.
    subjects: &'a [Subject],
    /// The value of after for the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_after: Option<&'a SubjectId>,
}

/// Returns the response with a stored subject: 201 when it is new, else 200, `{ok, status, subject}`.
pub fn subject_put(subject: &Subject, written: WriteOutcome) -> Answer {
    let status = match written {
        WriteOutcome::Created => 201,
        WriteOutcome::Replaced => 200,
    };
    Answer::done(status, &SubjectWritten { subject })
}

/// The subject is created or replaced.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct SubjectWritten<'a> {
    /// The subject.
    subject: &'a Subject,
}

/// Returns the response with the snapshots of a subject: `{snapshots}`.
pub fn snapshots(snapshots: &[SubjectSnapshot]) -> Answer {
    Answer::ok(&SubjectSnapshots { snapshots })
}

/// The snapshots of a subject.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct SubjectSnapshots<'a> {
    /// The snapshots.
    snapshots: &'a [SubjectSnapshot],
}

/// Returns the response with an added snapshot: 201 `{ok, status, snapshot}`.
pub fn snapshot_added(snapshot: &SubjectSnapshot) -> Answer {
    Answer::done(201, &SnapshotAdded { snapshot })
}

/// The snapshot is added.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct SnapshotAdded<'a> {
    /// The snapshot.
    snapshot: &'a SubjectSnapshot,
}

/// Returns the response with a page of memos: `{memos, nextBefore?}`.
pub fn memos(page: &MemoPage) -> Answer {
    Answer::ok(&Memos { memos: &page.memos, next_before: page.next_before })
}

/// A page of memos. It may have fewer memos than its limit, or none, and lead on.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Memos<'a> {
    /// The memos, the newest first.
    memos: &'a [Memo],
    /// The value of before for the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before: Option<MemoId>,
}

/// Returns the response with a published memo and its URL: 201 `{ok, status, memoId, url}`.
pub fn memo_published(memo: &Memo, url: &str) -> Answer {
    Answer::done(201, &MemoReceipt { memo_id: memo.id, url })
}

/// The memo is published.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct MemoReceipt<'a> {
    /// The id of the memo.
    memo_id: MemoId,
    /// The path of its page.
    url: &'a str,
}

/// Returns the response with a published brief: 201 `{ok, status, brief}`.
pub fn brief_published(brief: &Brief) -> Answer {
    Answer::done(201, &BriefPublished { brief })
}

/// The brief is published.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct BriefPublished<'a> {
    /// The brief.
    brief: &'a Brief,
}

/// Returns the response after a regime, a signal or a retraction was written: `{ok, status}`.
pub fn written() -> Answer {
    Answer::done(200, &Written {})
}
