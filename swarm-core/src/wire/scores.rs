//! Responses about scores, records and the ranking (API.md, 6.11).

use serde::Serialize;

use super::Answer;
use crate::domain::MemberId;
use crate::rules::{MemberRecord, RankedMember, ScoreFigures, SessionScores};
use crate::service::NamedRanking;

/// Returns the response with the scores of a session.
pub fn of_session(scores: &SessionScores) -> Answer {
    Answer::ok(scores)
}

/// Returns the response with the record of a member.
pub fn record(member_id: &MemberId, record: &MemberRecord) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Record<'a> {
        member_id: &'a MemberId,
        #[serde(flatten)]
        record: &'a MemberRecord,
    }
    Answer::ok(&Record { member_id, record })
}

/// Returns the response with the ranking.
pub fn ranking(named: &NamedRanking) -> Answer {
    #[derive(Serialize)]
    struct Baseline {
        loss: Option<f64>,
    }
    #[derive(Serialize)]
    struct Ranked<'a> {
        min: usize,
        sessions: usize,
        crowd: Baseline,
        neutral: Baseline,
        ranking: Vec<Row<'a>>,
        unranked: Vec<Row<'a>>,
    }
    let ranking = &named.ranking;
    let row = |member| Row::of(named, member);
    Answer::ok(&Ranked {
        min: ranking.min,
        sessions: ranking.sessions(),
        crowd: Baseline { loss: ranking.crowd.loss },
        neutral: Baseline { loss: ranking.neutral.loss },
        ranking: ranking.ranked.iter().map(row).collect(),
        unranked: ranking.unranked.iter().map(row).collect(),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<usize>,
    member_id: &'a MemberId,
    name: &'a str,
    #[serde(flatten)]
    figures: ScoreFigures,
}

impl<'a> Row<'a> {
    fn of(named: &'a NamedRanking, member: &'a RankedMember) -> Self {
        let RankedMember { place, member_id, figures } = member;
        Self { place: *place, member_id, name: named.name(member_id), figures: *figures }
    }
}
