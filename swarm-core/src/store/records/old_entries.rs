//! Log entries as an earlier version kept them, for the migrations of stores.
//!
//! Control characters stood in place of what the commit assigned: an id, a time and the digest of a document. JSON
//! text contains none of them.

use super::Unreadable;
use crate::domain::json::Json;
use crate::domain::{
    Digest, LogEntry, MemberId, Memo, MemoDraft, MemoId, SubjectId, SubjectSnapshot,
    SubjectSnapshotDraft, SubjectSnapshotId, Timestamp,
};
use crate::store::{Collection, Document};

const ID: char = '\u{1}';
const TIME: char = '\u{2}';
const DIGEST: char = '\u{3}';

/// An entry as an earlier version kept it.
#[derive(Clone, Copy, Debug)]
pub struct OldEntry<'a> {
    /// The text of the entry.
    pub text: &'a str,
    /// The id that the commit minted, if any.
    pub minted: Option<u64>,
    /// The time of the commit.
    pub at: Timestamp,
}

impl OldEntry<'_> {
    /// Returns the key of the document whose digest the entry contains, if it is missing in the
    /// text.
    pub fn document(&self) -> Option<(Collection, String)> {
        if !self.text.contains(DIGEST) {
            return None;
        }
        let is_memo = self.text.starts_with(r#"{"kind":"memo""#);
        let collection = if is_memo { Collection::Memos } else { Collection::SubjectSnapshots };
        Some((collection, self.minted?.to_string()))
    }

    /// Returns the whole entry. `document` is the one that [`document`](Self::document) names.
    ///
    /// # Errors
    /// [`Unreadable`] when the text is not an entry, or the document is missing or not of that kind.
    pub fn complete(&self, document: Option<&Document>) -> Result<LogEntry, Unreadable> {
        let id = self.minted.map(|id| id.to_string()).unwrap_or_default();
        let text = self.text.replace(ID, &id).replace(TIME, &self.at.to_string());
        let digest = match (self.document(), document) {
            (None, _) => return Ok(LogEntry::from_text(&text)?),
            (Some((Collection::Memos, _)), Some(memo)) => Digest::of_json(&read_memo(memo)?),
            (Some(_), Some(snapshot)) => {
                let fields = Json::read(text.replace(DIGEST, "").as_bytes())?;
                let subject = SubjectId::parse(fields.into_object().text("subjectId")?)?;
                Digest::of_json(&read_snapshot(subject, snapshot)?)
            }
            (Some((collection, key)), None) => {
                return Err(Unreadable(format!("document {key} of {collection} is missing")));
            }
        };
        Ok(LogEntry::from_text(&text.replace(DIGEST, &digest.to_string()))?)
    }
}

fn read_memo(document: &Document) -> Result<Memo, Unreadable> {
    let mut fields = Json::read(document.json.as_bytes())?.into_object();
    let member_id = MemberId::parse(fields.text("memberId")?)?;
    let draft = MemoDraft::read(&mut fields)?;
    Ok(Memo { id: MemoId(document.id), member_id, draft, published_at: document.created_at })
}

fn read_snapshot(
    subject_id: SubjectId,
    document: &Document,
) -> Result<SubjectSnapshot, Unreadable> {
    let mut fields = Json::read(document.json.as_bytes())?.into_object();
    let draft = SubjectSnapshotDraft::read(&mut fields)?;
    let id = SubjectSnapshotId(document.id);
    Ok(SubjectSnapshot { id, subject_id, draft, created_at: document.created_at })
}
