//! The digest of a document, as its log entry contains it.

use crate::domain::{Digest, SubjectId, SubjectSnapshotDraft};
use crate::rules::ERASED;
use crate::service::documents::{StoredMemo, read, snapshot};
use crate::store::{Collection, StoredDocument};

/// The digest of the record in the document; `None` if log entries of its collection have no digest, or if the
/// document is unreadable or erased.
pub(super) fn digest(stored: &StoredDocument) -> Option<Digest> {
    let StoredDocument { collection, group, document } = stored;
    match collection {
        // The text of these documents is the text of the record.
        Collection::Subjects | Collection::Regimes | Collection::Signals => {
            Some(Digest::of(document.json.as_bytes()))
        }
        Collection::SubjectSnapshots => {
            let subject = SubjectId::parse(group.clone()).ok()?;
            let draft = read(document, SubjectSnapshotDraft::read).ok()?;
            Some(Digest::of_json(&snapshot(&subject, draft, document)))
        }
        Collection::Memos => {
            let StoredMemo { memo, retracted: is_retracted, .. } =
                StoredMemo::read(document).ok()?;
            let is_erased = is_retracted && memo.draft.body == ERASED;
            (!is_erased).then(|| Digest::of_json(&memo))
        }
        _ => None,
    }
}
