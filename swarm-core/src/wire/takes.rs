//! Responses about takes.

use serde::Serialize;

use super::{Answer, Problem};
use crate::domain::{Revision, SessionId, Take, TakeDraft, TakeId, Timestamp};
use crate::proof::canonical;
use crate::rules::{Preflight, Refusal};

/// The receipt of a committed take: 201 `{ok, status, recommendationId, verified}`.
pub fn filed(take: &Take) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Receipt {
        recommendation_id: TakeId,
        verified: bool,
    }
    Answer::done(201, &Receipt { recommendation_id: take.id, verified: true })
}

/// All reasons for which a take would be refused: `{ok, sessionId, revision, windowClosesAt,
/// millisLeft, findings}`.
pub fn preflight(preflight: &Preflight) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Flight {
        ok: bool,
        session_id: Option<SessionId>,
        revision: Option<Revision>,
        window_closes_at: Option<Timestamp>,
        millis_left: Option<i64>,
        findings: Vec<Found>,
    }
    let Preflight { session, revision, window_closes_at, millis_left, findings } = preflight;
    Answer::ok(&Flight {
        ok: findings.is_empty(),
        session_id: *session,
        revision: *revision,
        window_closes_at: *window_closes_at,
        millis_left: *millis_left,
        findings: findings.iter().map(Found::of).collect(),
    })
}

#[derive(Serialize)]
struct Found {
    status: u16,
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl Found {
    fn of(refusal: &Refusal) -> Self {
        let detail = match refusal {
            Refusal::InvalidSubmission(invalid) => Some(invalid.to_string()),
            _ => None,
        };
        Self { status: Problem::from(refusal).status(), error: refusal.to_string(), detail }
    }
}

/// The text that a member has to sign: `{canonical}`.
pub fn signing_payload(draft: &TakeDraft) -> Answer {
    #[derive(Serialize)]
    struct Payload {
        canonical: String,
    }
    Answer::ok(&Payload { canonical: canonical(draft) })
}
