//! From a row of the log to the entry that the public reads.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::mark;
use crate::domain::committee::{CommitteeMemberId, CommitteeTake};
use crate::domain::json::{Json, write};
use crate::domain::{
    Day, LogRow, Logged, MemberId, MemoId, PublicKey, Revision, SessionId, Signature, SubjectId,
    SubjectSnapshotId, Take, TakeId,
};
use crate::proof::{canonical, commit_reference, hex};

/// The text of an entry: a JSON object. `digest` is that of the record that [`digest_source`]
/// names, where it names one.
pub fn entry(row: &LogRow, digest: Option<&str>) -> String {
    let text = match &row.logged {
        Logged::Take(take) => take_text(take),
        Logged::CommitteeTake(take) => committee_take_text(take),
        Logged::Act { text, minted } => {
            let id = minted.map(|id| id.to_string()).unwrap_or_default();
            text.replace(mark::ID, &id)
                .replace(mark::TIME, &row.at.to_string())
                .replace(mark::DIGEST, digest.unwrap_or_default())
        }
    };
    let fields = text.strip_prefix('{').unwrap_or(&text);
    format!(r#"{{"seq":{},"at":"{}",{fields}"#, row.seq, row.at)
}

/// A record that carries the id and the time of its commit, and whose digest stands in the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DigestSource {
    /// A memo.
    Memo(MemoId),
    /// A snapshot of this subject.
    SubjectSnapshot(SubjectId, SubjectSnapshotId),
}

/// The record whose digest the entry of this row needs, if it needs one.
pub fn digest_source(row: &LogRow) -> Option<DigestSource> {
    let Logged::Act { text, minted } = &row.logged else { return None };
    let id = minted.filter(|_| text.contains(mark::DIGEST))?;
    let plain = text.replace(mark::ID, "0").replace(mark::DIGEST, "");
    let mut fields = Json::read(plain.as_bytes()).ok()?.into_object();
    match fields.text("subjectId") {
        Err(_) => Some(DigestSource::Memo(MemoId(id))),
        Ok(subject) => {
            let subject = SubjectId::parse(subject).ok()?;
            Some(DigestSource::SubjectSnapshot(subject, SubjectSnapshotId(id)))
        }
    }
}

/// `sha256:` and the hexadecimal digest of the JSON text of `record`.
pub fn digest<T: Serialize + ?Sized>(record: &T) -> String {
    digest_of(&write(record))
}

fn digest_of(text: &str) -> String {
    format!("sha256:{}", hex(&Sha256::digest(text.as_bytes())))
}

fn take_text(take: &Take) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Entry<'a> {
        kind: &'static str,
        id: TakeId,
        session_id: SessionId,
        member_id: &'a MemberId,
        revision: Revision,
        digest: String,
        signature: &'a Signature,
        public_key: &'a PublicKey,
    }
    write(&Entry {
        kind: "take",
        id: take.id,
        session_id: take.session_id,
        member_id: &take.draft().member_id,
        revision: take.revision,
        digest: digest_of(&canonical(take.draft())),
        signature: &take.signed.signature,
        public_key: &take.public_key,
    })
}

fn committee_take_text(take: &CommitteeTake) -> String {
    #[derive(Serialize)]
    struct Entry<'a> {
        kind: &'static str,
        member_id: &'a CommitteeMemberId,
        date: Day,
        subject_id: &'a SubjectId,
        commit: String,
    }
    write(&Entry {
        kind: "committee-take",
        member_id: &take.member_id,
        date: take.date,
        subject_id: &take.subject_id,
        commit: commit_reference(take),
    })
}
