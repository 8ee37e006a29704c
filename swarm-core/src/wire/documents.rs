//! Responses about subjects and their snapshots, memos, briefs, regimes and signals.

use serde::Serialize;

use super::Answer;
use super::answer::Nothing;
use crate::domain::{Brief, Memo, MemoId, Subject, SubjectId, SubjectSnapshot};
use crate::service::{MemoPage, SubjectPage, WriteOutcome};

/// Returns the response with a page of subjects: `{subjects}`, and `nextAfter` when there are more.
pub fn subjects(page: &SubjectPage) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Subjects<'a> {
        subjects: &'a [Subject],
        #[serde(skip_serializing_if = "Option::is_none")]
        next_after: Option<&'a SubjectId>,
    }
    Answer::ok(&Subjects { subjects: &page.subjects, next_after: page.next_after.as_ref() })
}

/// Returns the response with a stored subject: 201 when it is new, else 200, `{ok, status, subject}`.
pub fn subject_put(subject: &Subject, written: WriteOutcome) -> Answer {
    #[derive(Serialize)]
    struct Kept<'a> {
        subject: &'a Subject,
    }
    let status = match written {
        WriteOutcome::Created => 201,
        WriteOutcome::Replaced => 200,
    };
    Answer::done(status, &Kept { subject })
}

/// Returns the response with the snapshots of a subject: `{snapshots}`.
pub fn snapshots(snapshots: &[SubjectSnapshot]) -> Answer {
    #[derive(Serialize)]
    struct Snapshots<'a> {
        snapshots: &'a [SubjectSnapshot],
    }
    Answer::ok(&Snapshots { snapshots })
}

/// Returns the response with an added snapshot: 201 `{ok, status, snapshot}`.
pub fn snapshot_added(snapshot: &SubjectSnapshot) -> Answer {
    #[derive(Serialize)]
    struct Added<'a> {
        snapshot: &'a SubjectSnapshot,
    }
    Answer::done(201, &Added { snapshot })
}

/// Returns the response with a page of memos: `{memos, nextBefore?}`.
pub fn memos(page: &MemoPage) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Memos<'a> {
        memos: &'a [Memo],
        #[serde(skip_serializing_if = "Option::is_none")]
        next_before: Option<MemoId>,
    }
    Answer::ok(&Memos { memos: &page.memos, next_before: page.next_before })
}

/// Returns the response with a published memo and its URL: 201 `{ok, status, memoId, url}`.
pub fn memo_published(memo: &Memo, url: &str) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Published<'a> {
        memo_id: MemoId,
        url: &'a str,
    }
    Answer::done(201, &Published { memo_id: memo.id, url })
}

/// Returns the response with a published brief: 201 `{ok, status, brief}`.
pub fn brief_published(brief: &Brief) -> Answer {
    #[derive(Serialize)]
    struct Published<'a> {
        brief: &'a Brief,
    }
    Answer::done(201, &Published { brief })
}

/// Returns the response after a regime, a signal or a retraction was written: `{ok, status}`.
pub fn written() -> Answer {
    Answer::done(200, &Nothing {})
}
