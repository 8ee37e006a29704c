//! The records of the committee: its members, days, briefs and takes.

use super::fields::{
    hash, hash_if_any, number, object_if_any, present, text, time, time_if_any, whole,
};
use super::{Record, Unreadable};
use crate::domain::committee::{
    CommitteeBody, CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId,
    CommitteeStance, CommitteeTake, Generation, Model, Synthesis, Voice,
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

impl Record for CommitteeDay {
    fn to_text(&self) -> String {
        json::write(&Json::from([
            ("date", text(Some(self.date))),
            ("subject", text(self.subject.as_ref())),
            ("generation", self.generation.as_ref().map_or(Json::Null, generation)),
            ("synthesis", text(self.synthesis.as_ref())),
        ]))
    }

    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        Ok(Self {
            date: Day::parse(&fields.text("date")?)?,
            subject: fields.text_if_any("subject")?.map(SubjectId::parse).transpose()?,
            generation: object_if_any(fields, "generation").map(read_generation).transpose()?,
            synthesis: fields.text_if_any("synthesis")?.map(Synthesis::parse).transpose()?,
        })
    }
}

fn generation(made: &Generation) -> Json {
    Json::from([
        ("subject_id", Json::from(made.subject_id.as_str())),
        ("withdrawn", number(u64::try_from(made.withdrawn).unwrap_or(u64::MAX))),
        ("deadline", text(Some(made.deadline))),
        ("generated_at", text(Some(made.generated_at))),
        ("briefs", number(u64::try_from(made.briefs).unwrap_or(u64::MAX))),
    ])
}

fn read_generation(mut fields: Object) -> Result<Generation, Invalid> {
    Ok(Generation {
        subject_id: SubjectId::parse(fields.text("subject_id")?)?,
        withdrawn: whole(&mut fields, "withdrawn")?,
        deadline: time(&mut fields, "deadline")?,
        generated_at: time(&mut fields, "generated_at")?,
        briefs: whole(&mut fields, "briefs")?,
    })
}

impl Record for CommitteeBrief {
    fn to_text(&self) -> String {
        json::write(&Json::from([
            ("member_id", Json::from(self.member_id.as_str())),
            ("generated_at", text(Some(self.generated_at))),
            ("head", Json::from(self.head.as_str())),
            ("tail", Json::from(self.tail.as_str())),
        ]))
    }

    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        Ok(Self {
            member_id: CommitteeMemberId::parse(fields.text("member_id")?)?,
            generated_at: time(fields, "generated_at")?,
            head: fields.text("head")?,
            tail: fields.text("tail")?,
        })
    }
}

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
