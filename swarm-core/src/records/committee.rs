//! The records of the committee: its members, days, briefs and takes.

use super::fields::{hash, hash_if_any, present, text, time, time_if_any};
use super::{Record, Unreadable};
use crate::domain::committee::{
    CommitteeBody, CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId,
    CommitteeStance, CommitteeTake, Model, Voice,
};
use crate::domain::json::{self, Json, Object};
use crate::domain::{Confidence, Day, Invalid, Lens, Name, SubjectId};

impl Record for CommitteeMember {
    fn to_text(&self) -> String {
        json::write(&Json::from([
            ("id", Json::from(self.id.as_str())),
            ("name", Json::from(self.name.as_str())),
            ("lens", Json::from(self.lens.as_str())),
            ("voice", Json::from(self.voice.as_str())),
            ("status", Json::from(self.status.as_str())),
            ("created_at", text(Some(self.created_at))),
            ("key", hash(Some(&self.key))),
        ]))
    }

    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        Ok(Self {
            id: CommitteeMemberId::parse(fields.text("id")?)?,
            name: Name::parse(fields.text("name")?)?,
            lens: Lens::parse(fields.text("lens")?)?,
            voice: Voice::parse(fields.text("voice")?)?,
            status: fields.text("status")?.parse()?,
            created_at: time(fields, "created_at")?,
            key: present("key", hash_if_any(fields, "key")?)?,
        })
    }
}

derived!(CommitteeBrief, CommitteeDay);

impl Record for CommitteeTake {
    fn to_text(&self) -> String {
        json::write(self)
    }

    /// If `generated_at` is absent, it is the time at which the take was received.
    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        let received_at = time(fields, "received_at")?;
        let stance = CommitteeStance::parse(&fields.text("stance")?);
        let body = CommitteeBody::parse(fields.text("body")?);
        Ok(Self {
            member_id: CommitteeMemberId::parse(fields.text("member_id")?)?,
            date: Day::parse(&fields.text("date")?)?,
            subject_id: SubjectId::parse(fields.text("subject_id")?)?,
            stance: stance.ok_or_else(|| Invalid::new("stance", "must be a known one"))?,
            confidence: Confidence::parse(fields.number("confidence")?)?,
            body: body.map_err(|fault| Invalid::new("body", format!("is no body: {fault:?}")))?,
            model: fields.text_if_any("model")?.map(Model::parse).transpose()?,
            generated_at: time_if_any(fields, "generated_at")?.unwrap_or(received_at),
            received_at,
        })
    }
}
