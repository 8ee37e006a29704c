//! Sessions.

use std::sync::Arc;

use swarm_core::domain::{
    Body, Bucket, BucketWeight, Confidence, Consensus, Day, Participation, Quorum, Quote, Revision,
    Roster, STANCES, Session, SessionState, Snapshot, Stance, Stances, SubjectId, TakeId,
};
use swarm_core::json::{self, Json, Object};
use swarm_core::{Invalid, MemberId, SessionId};

use super::{object, object_if_any, timestamp_if_any, timestamp_in, whole, whole_if_any};
use crate::failure::{Failure, Outcome};

pub(crate) fn session_text(session: &Session) -> String {
    json::write(session)
}

pub(crate) fn session(text: &str) -> Outcome<Session> {
    let mut fields = object(text)?;
    Ok(Session {
        id: SessionId(whole(&mut fields, "id")?),
        date: Day::parse(&fields.text("date")?)?,
        subject_id: SubjectId::parse(fields.text("subjectId")?)?,
        state: SessionState::read(&mut fields)?,
        window_closes_at: timestamp_if_any(&mut fields, "windowClosesAt")?,
        convened_at: timestamp_in(&mut fields, "convenedAt")?,
        quorum: whole_if_any(&mut fields, "quorum")?,
        buckets: fields.list_if_any("buckets", bucket)?,
        roster: Roster::read(&mut fields, "roster")?,
        published_at: timestamp_if_any(&mut fields, "publishedAt")?,
        snapshot: object_if_any(&mut fields, "snapshot").map(snapshot).transpose()?.map(Arc::new),
    })
}

fn bucket(name: Json) -> Result<Bucket, Invalid> {
    match name {
        Json::Text(name) => Bucket::parse(name),
        _ => Err(Invalid::new("buckets", "must hold names")),
    }
}

fn snapshot(mut fields: Object) -> Outcome<Snapshot> {
    let missing = |field| Failure::from(Invalid::missing(field));
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

fn participation(mut fields: Object) -> Outcome<Participation> {
    Ok(Participation {
        members: whole(&mut fields, "members")?,
        expected: whole_if_any(&mut fields, "expected")?,
        rate: fields.number_if_any("rate")?,
    })
}

fn quorum(mut fields: Object) -> Outcome<Quorum> {
    let met = fields.bool_if_any("met")?.ok_or_else(|| Invalid::missing("met"))?;
    Ok(Quorum { required: whole(&mut fields, "required")?, met })
}

fn stances(mut fields: Object) -> Outcome<Stances> {
    Ok(Stances {
        bearish: whole(&mut fields, "bearish")?,
        cautious: whole(&mut fields, "cautious")?,
        neutral: whole(&mut fields, "neutral")?,
        constructive: whole(&mut fields, "constructive")?,
        bullish: whole(&mut fields, "bullish")?,
        other: whole(&mut fields, "other")?,
    })
}

fn consensus(mut fields: Object) -> Outcome<Consensus> {
    let stance = fields.text("stance")?;
    let known = STANCES.iter().find(|(name, _)| *name == stance);
    let (stance, _) = known.ok_or_else(|| Failure::garbled("no known stance"))?;
    let (score, confidence) = (fields.number("score")?, fields.number("confidence")?);
    Ok(Consensus { stance, score, confidence })
}

fn weight(mut fields: Object) -> Outcome<BucketWeight> {
    let bucket = Bucket::parse(fields.text("bucket")?)?;
    Ok(BucketWeight { bucket, weight: fields.number("weight")? })
}

fn quote(mut fields: Object) -> Outcome<Quote> {
    let revision = Revision::new(whole(&mut fields, "revision")?);
    Ok(Quote {
        take_id: TakeId(whole(&mut fields, "takeId")?),
        member_id: MemberId::parse(fields.text("memberId")?)?,
        revision: revision.ok_or_else(|| Failure::garbled("no revision"))?,
        stance: Stance::parse(fields.text("stance")?)?,
        confidence: Confidence::parse(fields.number("confidence")?)?,
        body: Body::parse(fields.text("body")?)?,
    })
}

/// A list of objects that may be absent.
fn list<T>(
    fields: &mut Object,
    field: &'static str,
    read: impl Fn(Object) -> Outcome<T>,
) -> Outcome<Option<Vec<T>>> {
    let items = fields.list_if_any(field, Ok)?;
    let read_all = |items: Vec<Json>| items.into_iter().map(|item| read(item.into_object()));
    items.map(|items| read_all(items).collect()).transpose()
}
