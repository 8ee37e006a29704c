//! The digest of a document, as its entry in the log has it.

use crate::domain::{Digest, SubjectId, SubjectSnapshotDraft};
use crate::rules::ERASED;
use crate::service::documents::{kept_memo, read, snapshot};
use crate::store::{Collection, StoredDocument};

/// The digest of the record in the document; `None` where the log has none of its kind, or it is not
/// readable or was erased.
pub(super) fn digest(stored: &StoredDocument) -> Option<Digest> {
    let StoredDocument { collection, group, document } = stored;
    match collection {
        // Their text is that of the record.
        Collection::Subjects | Collection::Regimes | Collection::Signals => {
            Some(Digest::of(document.json.as_bytes()))
        }
        Collection::SubjectSnapshots => {
            let subject = SubjectId::parse(group.clone()).ok()?;
            let draft = read(document, SubjectSnapshotDraft::read).ok()?;
            Some(Digest::of_json(&snapshot(&subject, draft, document)))
        }
        Collection::Memos => {
            let (memo, is_retracted) = kept_memo(document).ok()?;
            let is_erased = is_retracted && memo.draft.body == ERASED;
            (!is_erased).then(|| Digest::of_json(&memo))
        }
        _ => None,
    }
}
