//! The records of sessions and their snapshots.

use std::borrow::Cow;
use std::sync::Arc;

use super::fields::{
    object, object_if_any, present, revision, time, time_if_any, whole, whole_if_any,
};
use super::{Record, Unreadable};
use crate::domain::json::{self, Json, Object};
use crate::domain::{
    Body, Bucket, BucketWeight, Confidence, Consensus, Day, Invalid, MemberId, Participation,
    Quorum, Quote, Roster, STANCES, Session, SessionId, SessionState, SessionTerms, Snapshot,
    Stance, Stances, SubjectId, TakeId,
};

impl Record for Session {
    fn to_text(&self) -> String {
        json::write(self)
    }

    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        let snapshot = object_if_any(fields, "snapshot");
        Ok(Self {
            id: SessionId(whole(fields, "id")?),
            date: Day::parse(&fields.text("date")?)?,
            subject_id: SubjectId::parse(fields.text("subjectId")?)?,
            state: SessionState::read(fields)?,
            window_closes_at: time_if_any(fields, "windowClosesAt")?,
            convened_at: time(fields, "convenedAt")?,
            quorum: whole_if_any(fields, "quorum")?,
            buckets: fields.list_if_any("buckets", bucket)?,
            roster: Roster::read(fields, "roster")?,
            published_at: time_if_any(fields, "publishedAt")?,
            snapshot: snapshot.map(|mut it| Snapshot::read(&mut it)).transpose()?.map(Arc::new),
        })
    }
}

/// The text before the snapshot in the record of a session. The snapshot is the last field, and
/// quotation marks in strings are escaped, so the first occurrence is the right one.
pub const BEFORE_SNAPSHOT: &str = ",\"snapshot\":";

/// Removes the snapshot, which may be long, from the record of a session.
pub fn without_snapshot(session: &str) -> Cow<'_, str> {
    match session.split_once(BEFORE_SNAPSHOT) {
        Some((before, _)) => Cow::Owned(format!("{before}}}")),
        None => Cow::Borrowed(session),
    }
}

impl SessionTerms {
    /// Reads the terms from the record of a session, with or without its snapshot.
    ///
    /// # Errors
    /// [`Unreadable`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        Ok(Self {
            id: SessionId(whole(fields, "id")?),
            state: SessionState::read(fields)?,
            window_closes_at: time_if_any(fields, "windowClosesAt")?,
            buckets: fields.list_if_any("buckets", bucket)?,
            roster: Roster::read(fields, "roster")?,
        })
    }
}

fn bucket(name: Json) -> Result<Bucket, Invalid> {
    match name {
        Json::Text(name) => Bucket::parse(name),
        _ => Err(Invalid::new("buckets", "must hold names")),
    }
}

impl Record for Snapshot {
    fn to_text(&self) -> String {
        json::write(self)
    }

    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        Ok(Self {
            aggregated_at: time(fields, "aggregatedAt")?,
            participation: participation(&mut object(fields, "participation")?)?,
            quorum: object_if_any(fields, "quorum").map(quorum).transpose()?,
            stances: stances(&mut object(fields, "stances")?)?,
            consensus: object_if_any(fields, "consensus").map(consensus).transpose()?,
            weights: fields.list_if_any("weights", weight)?,
            quotes: present("quotes", fields.list_if_any("quotes", quote)?)?,
        })
    }
}

fn participation(fields: &mut Object) -> Result<Participation, Invalid> {
    Ok(Participation {
        members: whole(fields, "members")?,
        expected: whole_if_any(fields, "expected")?,
        rate: fields.number_if_any("rate")?,
    })
}

fn quorum(mut fields: Object) -> Result<Quorum, Invalid> {
    let met = present("met", fields.bool_if_any("met")?)?;
    Ok(Quorum { required: whole(&mut fields, "required")?, met })
}

fn stances(fields: &mut Object) -> Result<Stances, Invalid> {
    Ok(Stances {
        bearish: whole(fields, "bearish")?,
        cautious: whole(fields, "cautious")?,
        neutral: whole(fields, "neutral")?,
        constructive: whole(fields, "constructive")?,
        bullish: whole(fields, "bullish")?,
        other: whole(fields, "other")?,
    })
}

fn consensus(mut fields: Object) -> Result<Consensus, Invalid> {
    let stance = fields.text("stance")?;
    let known = STANCES.iter().find(|(name, _)| *name == stance);
    let (stance, _) = known.ok_or_else(|| Invalid::new("stance", "must be a known one"))?;
    let (score, confidence) = (fields.number("score")?, fields.number("confidence")?);
    Ok(Consensus { stance, score, confidence })
}

fn weight(entry: Json) -> Result<BucketWeight, Invalid> {
    let mut fields = entry.into_object();
    let bucket = Bucket::parse(fields.text("bucket")?)?;
    Ok(BucketWeight { bucket, weight: fields.number("weight")? })
}

fn quote(entry: Json) -> Result<Quote, Invalid> {
    let mut fields = entry.into_object();
    Ok(Quote {
        take_id: TakeId(whole(&mut fields, "takeId")?),
        member_id: MemberId::parse(fields.text("memberId")?)?,
        revision: revision(&mut fields)?,
        stance: Stance::parse(fields.text("stance")?)?,
        confidence: Confidence::parse(fields.number("confidence")?)?,
        body: Body::parse(fields.text("body")?)?,
    })
}
