//! The committee: members as `version hash record`, days as `version briefs length subject record`,
//! briefs as `member generated length head length tail`, submissions as `received record`. A text
//! after a `length` has that many bytes, and the next part follows without a space.

use std::sync::Arc;

use swarm_core::domain::Version;
use swarm_core::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeTake,
};
use swarm_core::store::records::Record as _;
use swarm_core::store::{CommitteeFiling, Versioned};

use super::{Corrupt, Decoded, Words, decode_timestamp, encode_hash, text_or_null};

pub(crate) fn encode_committee_member(version: Version, member: &CommitteeMember) -> String {
    format!("{version} {} {}", encode_hash(&member.key), member.to_text())
}

/// The hash in front of the record takes precedence over the one in the record.
pub(crate) fn decode_committee_member(row: &str) -> Decoded<Versioned<CommitteeMember>> {
    let mut words = Words(row);
    let (version, key) = (words.version()?, words.next()?);
    let mut fields = words.object()?;
    fields.set("key", text_or_null(Some(format!("sha256:{key}"))));
    Ok(Versioned { version, record: Arc::new(CommitteeMember::read(&mut fields)?) })
}

/// `briefs` and `subject` are those of the generation; a day without a generation has neither.
pub(crate) fn encode_committee_day(version: Version, day: &CommitteeDay) -> String {
    let made = day.generation.as_ref();
    let about = made.map_or("", |made| made.subject_id.as_str());
    let briefs = made.map_or(0, |made| made.briefs);
    format!("{version} {briefs} {} {about}{}", about.len(), day.to_text())
}

pub(crate) fn decode_committee_day(row: &str) -> Decoded<Versioned<CommitteeDay>> {
    let mut words = Words(row);
    let (version, _, _) = (words.version()?, words.next()?, words.text()?);
    let mut fields = words.object()?;
    Ok(Versioned { version, record: Arc::new(CommitteeDay::read(&mut fields)?) })
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

pub(crate) fn encode_committee_take(take: &CommitteeTake) -> String {
    format!("{} {}", take.received_at.millis(), take.to_text())
}

pub(crate) fn decode_committee_take(row: &str) -> Decoded<Arc<CommitteeTake>> {
    let mut words = Words(row);
    let received_at = words.timestamp()?;
    let mut fields = words.object()?;
    fields.set("received_at", text_or_null(Some(received_at)));
    Ok(Arc::new(CommitteeTake::read(&mut fields)?))
}

/// The record that a filing was committed as, from `time`.
pub(crate) fn decode_committee_filed(
    now: &str,
    filing: &CommitteeFiling,
) -> Decoded<Arc<CommitteeTake>> {
    Ok(Arc::new(filing.take(decode_timestamp(now)?)))
}
