//! Responses about scores, records and the ranking (API.md, 6.11).

use serde::Serialize;

use super::Answer;
use crate::domain::MemberId;
use crate::rules::{self, SessionScores};
use crate::service::NamedRanking;

/// Returns the response with the scores of a session.
pub fn of_session(scores: &SessionScores) -> Answer {
    Answer::ok(scores)
}

/// Returns the response with the record of a member.
pub fn record(member_id: &MemberId, record: &rules::MemberRecord) -> Answer {
    Answer::ok(&MemberRecord { member_id, record })
}

/// The record of a member over its scored sessions.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct MemberRecord<'a> {
    /// The member.
    member_id: &'a MemberId,
    #[serde(flatten)]
    record: &'a rules::MemberRecord,
}

/// Returns the response with the ranking.
pub fn ranking(named: &NamedRanking) -> Answer {
    let ranking = &named.ranking;
    let row = |member| UnrankedMember::of(named, member);
    let ranked = |member| RankedMember::of(named, member);
    Answer::ok(&Ranking {
        min: ranking.min,
        sessions: ranking.sessions(),
        crowd: MeanLoss { loss: ranking.crowd.loss },
        neutral: MeanLoss { loss: ranking.neutral.loss },
        ranking: ranking.ranked.iter().map(ranked).collect(),
        unranked: ranking.unranked.iter().map(row).collect(),
    })
}

/// The ranking of members by the skill of their forecasts.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Ranking<'a> {
    /// The number of scored sessions that a place takes.
    #[cfg_attr(feature = "schema", schemars(range(min = 2, max = 1000)))]
    min: usize,
    /// The number of sessions that count.
    sessions: usize,
    /// What the crowd lost, whose forecast is the mean of all.
    crowd: MeanLoss,
    /// What always filing neutral lost.
    neutral: MeanLoss,
    /// By low, then skill, both descending, then memberId.
    ranking: Vec<RankedMember<'a>>,
    /// Members with fewer scored sessions than min, by their number, descending, then memberId.
    unranked: Vec<UnrankedMember<'a>>,
}

/// A mean loss.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct MeanLoss {
    /// The mean loss; null without sessions.
    loss: Option<f64>,
}

/// A member with enough scored sessions for a place.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = ranked))]
struct RankedMember<'a> {
    /// Its place.
    #[cfg_attr(feature = "schema", schemars(with = "usize", range(min = 1)))]
    place: Option<usize>,
    #[serde(flatten)]
    member: UnrankedMember<'a>,
}

impl<'a> RankedMember<'a> {
    fn of(named: &'a NamedRanking, member: &'a rules::RankedMember) -> Self {
        Self { place: member.place, member: UnrankedMember::of(named, member) }
    }
}

/// A member with scored sessions, but too few for a place.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct UnrankedMember<'a> {
    /// The member.
    member_id: &'a MemberId,
    /// The name.
    name: &'a str,
    /// The number of scored sessions.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    scored: usize,
    /// The mean loss.
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    loss: Option<f64>,
    /// The mean skill.
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    skill: Option<f64>,
    /// The lower bound of the mean skill; null under two sessions.
    low: Option<f64>,
    /// The upper bound of the mean skill; null under two sessions.
    high: Option<f64>,
}

impl<'a> UnrankedMember<'a> {
    fn of(named: &'a NamedRanking, member: &'a rules::RankedMember) -> Self {
        let rules::RankedMember { member_id, figures, .. } = member;
        let rules::ScoreFigures { scored, loss, skill, low, high } = *figures;
        Self { member_id, name: named.name(member_id), scored, loss, skill, low, high }
    }
}

/// A place takes two sessions, so each figure is given.
#[cfg(feature = "schema")]
fn ranked(schema: &mut schemars::Schema) {
    for (place, value) in [
        ("/properties/scored/minimum", serde_json::json!(2)),
        ("/properties/low/type", "number".into()),
        ("/properties/high/type", "number".into()),
    ] {
        schema.pointer_mut(place).into_iter().for_each(|it| *it = value.clone());
    }
}
