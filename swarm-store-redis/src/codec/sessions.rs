//! Sessions: `version state id convened json`.

use std::sync::Arc;

use swarm_core::domain::{
    Body, Bucket, BucketWeight, Confidence, Consensus, Day, Participation, Quorum, Quote, Revision,
    Roster, STANCES, Session, SessionDraft, SessionState, Snapshot, Stance, Stances, SubjectId,
    TakeId, Version,
};
use swarm_core::json::{self, Json, Object};
use swarm_core::store::Versioned;
use swarm_core::{Invalid, MemberId, SessionId, Timestamp};

use super::{
    Corrupt, Decoded, Words, object_if_any, timestamp_if_any, timestamp_in, whole, whole_if_any,
};

pub(crate) fn encode_session(version: Version, session: &Session) -> Decoded<String> {
    let Session { id, state, convened_at, .. } = session;
    Ok(format!("{version} {state} {id} {} {}", convened_at.millis(), text_of(session)?))
}

/// The text of a session that is yet to be convened.
pub(crate) fn encode_session_draft(draft: &SessionDraft) -> Decoded<String> {
    text_of(&draft.convened(SessionId(0), Timestamp::EPOCH))
}

/// The session that a draft became: `convened id time`.
pub(crate) fn decode_convened(outcome: &str, draft: &SessionDraft) -> Decoded<Session> {
    let parts = outcome.strip_prefix("convened ").and_then(|rest| rest.split_once(' '));
    let (id, now) = parts.ok_or_else(|| Corrupt::new(outcome))?;
    Ok(draft.convened(SessionId(super::number(id)?), super::decode_timestamp(now)?))
}

pub(crate) fn decode_session(row: &str) -> Decoded<Versioned<Session>> {
    let mut words = Words(row);
    let version = words.version()?;
    let state = SessionState::parse(words.next()?).ok_or_else(|| Corrupt::new("no state"))?;
    let id = SessionId(words.number()?);
    let convened_at = words.timestamp()?;
    let mut fields = words.object()?;
    let session = Session {
        id,
        date: Day::parse(&fields.text("date")?)?,
        subject_id: SubjectId::parse(fields.text("subjectId")?)?,
        state,
        window_closes_at: timestamp_if_any(&mut fields, "windowClosesAt")?,
        convened_at,
        quorum: whole_if_any(&mut fields, "quorum")?,
        buckets: fields.list_if_any("buckets", bucket)?,
        roster: Roster::read(&mut fields, "roster")?,
        published_at: timestamp_if_any(&mut fields, "publishedAt")?,
        snapshot: object_if_any(&mut fields, "snapshot").map(snapshot).transpose()?.map(Arc::new),
    };
    Ok(Versioned { version, record: Arc::new(session) })
}

/// As everyone gets it to see, without what stands in words.
fn text_of(session: &Session) -> Decoded<String> {
    let mut fields = Json::read(json::write(session).as_bytes())?.into_object();
    for word in ["id", "state", "convenedAt"] {
        fields.take(word);
    }
    Ok(json::write(&fields))
}

fn bucket(name: Json) -> Result<Bucket, Invalid> {
    match name {
        Json::Text(name) => Bucket::parse(name),
        _ => Err(Invalid::new("buckets", "must hold names")),
    }
}

fn snapshot(mut fields: Object) -> Decoded<Snapshot> {
    let missing = |field| Corrupt::from(Invalid::missing(field));
    let part =
        |fields: &mut Object, field| object_if_any(fields, field).ok_or_else(|| missing(field));
    Ok(Snapshot {
        aggregated_at: timestamp_in(&mut fields, "aggregatedAt")?,
        participation: participation(part(&mut fields, "participation")?)?,
        quorum: object_if_any(&mut fields, "quorum").map(quorum).transpose()?,
        stances: stances(part(&mut fields, "stances")?)?,
        consensus: object_if_any(&mut fields, "consensus").map(consensus).transpose()?,
        weights: list(&mut fields, "weights", weight)?,
        quotes: list(&mut fields, "quotes", quote)?.ok_or_else(|| missing("quotes"))?,
    })
}

fn participation(mut fields: Object) -> Decoded<Participation> {
    Ok(Participation {
        members: whole(&mut fields, "members")?,
        expected: whole_if_any(&mut fields, "expected")?,
        rate: fields.number_if_any("rate")?,
    })
}

fn quorum(mut fields: Object) -> Decoded<Quorum> {
    let met = fields.bool_if_any("met")?.ok_or_else(|| Invalid::missing("met"))?;
    Ok(Quorum { required: whole(&mut fields, "required")?, met })
}

fn stances(mut fields: Object) -> Decoded<Stances> {
    Ok(Stances {
        bearish: whole(&mut fields, "bearish")?,
        cautious: whole(&mut fields, "cautious")?,
        neutral: whole(&mut fields, "neutral")?,
        constructive: whole(&mut fields, "constructive")?,
        bullish: whole(&mut fields, "bullish")?,
        other: whole(&mut fields, "other")?,
    })
}

fn consensus(mut fields: Object) -> Decoded<Consensus> {
    let stance = fields.text("stance")?;
    let known = STANCES.iter().find(|(name, _)| *name == stance);
    let (stance, _) = known.ok_or_else(|| Corrupt::new("no known stance"))?;
    let (score, confidence) = (fields.number("score")?, fields.number("confidence")?);
    Ok(Consensus { stance, score, confidence })
}

fn weight(mut fields: Object) -> Decoded<BucketWeight> {
    let bucket = Bucket::parse(fields.text("bucket")?)?;
    Ok(BucketWeight { bucket, weight: fields.number("weight")? })
}

fn quote(mut fields: Object) -> Decoded<Quote> {
    let revision = Revision::new(whole(&mut fields, "revision")?);
    Ok(Quote {
        take_id: TakeId(whole(&mut fields, "takeId")?),
        member_id: MemberId::parse(fields.text("memberId")?)?,
        revision: revision.ok_or_else(|| Corrupt::new("no revision"))?,
        stance: Stance::parse(fields.text("stance")?)?,
        confidence: Confidence::parse(fields.number("confidence")?)?,
        body: Body::parse(fields.text("body")?)?,
    })
}

/// A list of objects that may be absent.
fn list<T>(
    fields: &mut Object,
    field: &'static str,
    read: impl Fn(Object) -> Decoded<T>,
) -> Decoded<Option<Vec<T>>> {
    let items = fields.list_if_any(field, Ok)?;
    let read_all = |items: Vec<Json>| items.into_iter().map(|item| read(item.into_object()));
    items.map(|items| read_all(items).collect()).transpose()
}
