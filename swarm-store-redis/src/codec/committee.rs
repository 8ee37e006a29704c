//! The committee: members as `version hash json`, days as `version briefs length subject json`,
//! briefs as `member generated length head length tail`, submissions as `received json`. What
//! stands behind a length has so many bytes, and what comes next follows at once.

use std::sync::Arc;

use swarm_core::domain::committee::{
    CommitteeBody, CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId,
    CommitteeStance, CommitteeStatus, CommitteeTake, Generation, Model, Synthesis, Voice,
};
use swarm_core::domain::{Confidence, Day, Lens, Name, SubjectId, Version};
use swarm_core::json::{self, Json, Object};
use swarm_core::store::{CommitteeFiling, Versioned};

use super::{
    Corrupt, Decoded, Words, decode_hash, decode_timestamp, encode_hash, text_or_null,
    timestamp_if_any, timestamp_in,
};

pub(crate) fn encode_committee_member(version: Version, member: &CommitteeMember) -> String {
    format!("{version} {} {}", encode_hash(&member.key), json::write(member))
}

pub(crate) fn decode_committee_member(row: &str) -> Decoded<Versioned<CommitteeMember>> {
    let mut words = Words(row);
    let (version, key) = (words.version()?, decode_hash(words.next()?)?);
    let mut fields = words.object()?;
    let member = CommitteeMember {
        id: CommitteeMemberId::parse(fields.text("id")?)?,
        name: Name::parse(fields.text("name")?)?,
        lens: Lens::parse(fields.text("lens")?)?,
        voice: Voice::parse(fields.text("voice")?)?,
        status: CommitteeStatus::read(&mut fields)?,
        created_at: timestamp_in(&mut fields, "created_at")?,
        key,
    };
    Ok(Versioned { version, record: Arc::new(member) })
}

/// The subject is that of the generation, and so many briefs it has; without one there is none.
pub(crate) fn encode_committee_day(version: Version, day: &CommitteeDay) -> String {
    let CommitteeDay { date, subject, generation, synthesis } = day;
    let made = generation.as_ref();
    let about = made.map_or("", |made| made.subject_id.as_str());
    let (briefs, length) = (made.map_or(0, |made| made.briefs), about.len());
    let rest = json::write(&Json::from([
        ("date", text_or_null(Some(date))),
        ("subject", text_or_null(subject.as_ref())),
        ("deadline", text_or_null(made.map(|made| made.deadline))),
        ("generatedAt", text_or_null(made.map(|made| made.generated_at))),
        ("synthesis", text_or_null(synthesis.as_ref())),
    ]));
    format!("{version} {briefs} {length} {about}{rest}")
}

pub(crate) fn decode_committee_day(row: &str) -> Decoded<Versioned<CommitteeDay>> {
    let mut words = Words(row);
    let (version, briefs, about) = (words.version()?, words.number()?, words.text()?);
    let mut fields = words.object()?;
    let day = CommitteeDay {
        date: Day::parse(&fields.text("date")?)?,
        subject: fields.text_if_any("subject")?.map(SubjectId::parse).transpose()?,
        generation: match about {
            "" => None,
            about => Some(generation(briefs, about, &mut fields)?),
        },
        synthesis: fields.text_if_any("synthesis")?.map(Synthesis::parse).transpose()?,
    };
    Ok(Versioned { version, record: Arc::new(day) })
}

fn generation(briefs: usize, about: &str, fields: &mut Object) -> Decoded<Generation> {
    Ok(Generation {
        subject_id: SubjectId::parse(about)?,
        deadline: timestamp_in(fields, "deadline")?,
        generated_at: timestamp_in(fields, "generatedAt")?,
        briefs,
    })
}

pub(crate) fn encode_committee_brief(brief: &CommitteeBrief) -> String {
    let CommitteeBrief { member_id, generated_at, head, tail } = brief;
    let generated = generated_at.millis();
    format!("{member_id} {generated} {} {head}{} {tail}", head.len(), tail.len())
}

pub(crate) fn decode_committee_brief(row: &str) -> Decoded<Arc<CommitteeBrief>> {
    let mut words = Words(row);
    let brief = CommitteeBrief {
        member_id: CommitteeMemberId::parse(words.next()?)?,
        generated_at: words.timestamp()?,
        head: words.text()?.to_owned(),
        tail: words.text()?.to_owned(),
    };
    match words.rest() {
        "" => Ok(Arc::new(brief)),
        _ => Err(Corrupt::new("a brief goes on after its end")),
    }
}

pub(crate) fn decode_committee_take(row: &str) -> Decoded<Arc<CommitteeTake>> {
    let mut words = Words(row);
    let received_at = words.timestamp()?;
    let mut fields = words.object()?;
    let stance = CommitteeStance::parse(&fields.text("stance")?);
    let body = CommitteeBody::parse(fields.text("body")?);
    Ok(Arc::new(CommitteeTake {
        member_id: CommitteeMemberId::parse(fields.text("member_id")?)?,
        date: Day::parse(&fields.text("date")?)?,
        subject_id: SubjectId::parse(fields.text("subject_id")?)?,
        stance: stance.ok_or_else(|| Corrupt::new("no stance of the committee"))?,
        confidence: Confidence::parse(fields.number("confidence")?)?,
        body: body.map_err(|fault| Corrupt::new(format!("no body: {fault:?}")))?,
        model: fields.text_if_any("model")?.map(Model::parse).transpose()?,
        generated_at: timestamp_if_any(&mut fields, "generated_at")?.unwrap_or(received_at),
        received_at,
    }))
}

/// The record that a filing became: `time`.
pub(crate) fn decode_committee_filed(
    now: &str,
    filing: &CommitteeFiling,
) -> Decoded<Arc<CommitteeTake>> {
    Ok(Arc::new(filing.take(decode_timestamp(now)?)))
}
