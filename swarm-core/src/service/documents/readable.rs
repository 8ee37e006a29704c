//! Whether the service can read a stored document.

use super::memos::{StoredMemo, check_held_memo};
use super::{briefs, convened_session};
use crate::domain::{Regime, Signal, Subject, SubjectSnapshotDraft};
use crate::service::signed_log::{EndedLog, StoredTimestamp};
use crate::service::stored_document::read;
use crate::store::{Collection, Document, StoreError};

/// Checks that the service can read a document of this collection.
pub(in crate::service) fn check_readable(
    collection: Collection,
    document: &Document,
) -> Result<(), StoreError> {
    match collection {
        Collection::Subjects => read(document, Subject::read).map(drop),
        Collection::SubjectSnapshots => read(document, SubjectSnapshotDraft::read).map(drop),
        Collection::Memos => StoredMemo::read(document).map(drop),
        Collection::Regimes => read(document, Regime::read).map(drop),
        Collection::Signals => read(document, Signal::read).map(drop),
        Collection::Briefs => briefs::body(document).map(drop),
        Collection::Occasions => convened_session(document).map(drop),
        Collection::HeldMemos => check_held_memo(document),
        Collection::Timestamps => read(document, StoredTimestamp::read).map(drop),
        Collection::EndedLogs => read(document, EndedLog::read).map(drop),
    }
}
