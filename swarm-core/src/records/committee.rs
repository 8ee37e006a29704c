//! The records of the committee: its members, days, briefs and takes.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::Record;
use crate::domain::committee::{
    CommitteeBody, CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId,
    CommitteeStance, CommitteeStatus, CommitteeTake, Model, Voice,
};
use crate::domain::{ApiKeyHash, Confidence, Day, Lens, Name, SubjectId, Timestamp, json};

derived!(CommitteeBrief, CommitteeDay, CommitteeTake);

/// The fields of a member.
#[derive(Serialize, Deserialize)]
struct MemberText<'a> {
    id: Cow<'a, CommitteeMemberId>,
    name: Cow<'a, Name>,
    lens: Cow<'a, Lens>,
    voice: Cow<'a, Voice>,
    status: CommitteeStatus,
    created_at: Timestamp,
    #[serde(with = "super::secret_hash")]
    key: Option<ApiKeyHash>,
}

impl Record for CommitteeMember {
    fn to_text(&self) -> String {
        json::write(&MemberText {
            id: Cow::Borrowed(&self.id),
            name: Cow::Borrowed(&self.name),
            lens: Cow::Borrowed(&self.lens),
            voice: Cow::Borrowed(&self.voice),
            status: self.status,
            created_at: self.created_at,
            key: Some(self.key),
        })
    }
}

impl<'de> Deserialize<'de> for CommitteeMember {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let it = MemberText::deserialize(deserializer)?;
        Ok(Self {
            id: it.id.into_owned(),
            name: it.name.into_owned(),
            lens: it.lens.into_owned(),
            voice: it.voice.into_owned(),
            status: it.status,
            created_at: it.created_at,
            key: it.key.ok_or_else(|| D::Error::missing_field("key"))?,
        })
    }
}

/// The fields of a take.
#[derive(Deserialize)]
struct TakeText {
    member_id: CommitteeMemberId,
    date: Day,
    subject_id: SubjectId,
    stance: CommitteeStance,
    confidence: Confidence,
    body: String,
    model: Option<Model>,
    generated_at: Option<Timestamp>,
    received_at: Timestamp,
}

/// If `generated_at` is absent, it is the time at which the take was received.
impl<'de> Deserialize<'de> for CommitteeTake {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let it = TakeText::deserialize(deserializer)?;
        let body = CommitteeBody::parse(it.body);
        Ok(Self {
            member_id: it.member_id,
            date: it.date,
            subject_id: it.subject_id,
            stance: it.stance,
            confidence: it.confidence,
            body: body.map_err(|fault| D::Error::custom(format!("body is none: {fault:?}")))?,
            model: it.model,
            generated_at: it.generated_at.unwrap_or(it.received_at),
            received_at: it.received_at,
        })
    }
}
