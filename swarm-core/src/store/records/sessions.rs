//! The records of sessions and their snapshots.

use std::borrow::Cow;
use std::sync::Arc;

use super::fields::{
    object, object_if_any, present, revision, time, time_if_any, whole, whole_if_any,
};
use super::{Record, Unreadable};
use crate::domain::json::{self, Json, Object};
use crate::domain::{
    Body, Bucket, BucketWeight, Confidence, Consensus, Day, Figures, Invalid, MemberId,
    Participation, Quorum, Quote, Roster, RosterEntry, STANCES, Session, SessionId, SessionState,
    SessionSummary, SessionTerms, Snapshot, Stance, Stances, SubjectId, TakeId,
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
            blind: fields.bool_if_any("blind")?.unwrap_or(false),
            opened_at: time_if_any(fields, "openedAt")?,
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

/// The text before the buckets in the record of a session. The roster follows them.
pub const BEFORE_BUCKETS: &str = ",\"buckets\":";

/// The text before the first member of a roster, if there is one.
pub const BEFORE_ROSTER: &str = ",\"roster\":[";

/// The entry of a roster that expects this member, as it is in the record of a session. No other part of the
/// record contains it: quotation marks in strings are escaped.
pub fn expecting(member: &MemberId) -> String {
    json::write(&RosterEntry { member_id: member.clone(), excused: false })
}

/// The text before the time of publication, if any, which follows the roster.
pub const BEFORE_PUBLICATION: &str = ",\"publishedAt\":";

/// The text before the weights in a snapshot. The figures come before them, the quotes after them.
pub const BEFORE_WEIGHTS: &str = ",\"weights\":";

/// Maximum size in bytes of a session's record before its buckets, and of its snapshot before its weights.
pub const MAX_SUMMARY_PART: usize = 2_000;

impl Record for SessionSummary {
    fn to_text(&self) -> String {
        json::write(self)
    }

    /// Reads the record of a session as well, with any of the fields that a summary lacks.
    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        let figures = object_if_any(fields, "snapshot");
        let has_roster = match fields.bool_if_any("hasRoster")? {
            Some(has_roster) => has_roster,
            None => fields.take("roster").is_some(),
        };
        Ok(Self {
            has_roster,
            id: SessionId(whole(fields, "id")?),
            date: Day::parse(&fields.text("date")?)?,
            subject_id: SubjectId::parse(fields.text("subjectId")?)?,
            state: SessionState::read(fields)?,
            window_closes_at: time_if_any(fields, "windowClosesAt")?,
            convened_at: time(fields, "convenedAt")?,
            quorum: whole_if_any(fields, "quorum")?,
            published_at: time_if_any(fields, "publishedAt")?,
            figures: figures.map(|mut it| read_figures(&mut it)).transpose()?,
        })
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
            sealed: fields.bool_if_any("blind")?.unwrap_or(false)
                && time_if_any(fields, "openedAt")?.is_none(),
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
            figures: read_figures(fields)?,
            weights: fields.list_if_any("weights", weight)?,
            quotes: present("quotes", fields.list_if_any("quotes", quote)?)?,
        })
    }
}

fn read_figures(fields: &mut Object) -> Result<Figures, Unreadable> {
    Ok(Figures {
        aggregated_at: time(fields, "aggregatedAt")?,
        participation: participation(&mut object(fields, "participation")?)?,
        quorum: object_if_any(fields, "quorum").map(quorum).transpose()?,
        stances: stances(&mut object(fields, "stances")?)?,
        consensus: object_if_any(fields, "consensus").map(consensus).transpose()?,
    })
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
