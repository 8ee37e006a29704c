//! Responses about takes.

use serde::Serialize;

use super::{Answer, Problem, hint, warning};
use crate::domain::{Revision, SessionId, Take, TakeDraft, TakeId, TakeOnFile, Timestamp};
use crate::proof::canonical;
use crate::rules::{Preflight, PublicTake, Refusal, RosterNotice, Warning};
use crate::service::TakeListPage;

/// Returns the response with the receipt of a committed take: 201 `{ok, status, recommendationId, verified}`.
pub fn filed(take: &Take) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Receipt {
        recommendation_id: TakeId,
        verified: bool,
    }
    Answer::done(201, &Receipt { recommendation_id: take.id, verified: true })
}

/// Returns the response with a take whose texts are withheld or restored: `{ok, status, take}`.
pub fn marked(take: &TakeOnFile<PublicTake>) -> Answer {
    #[derive(Serialize)]
    struct Marked<'a> {
        take: &'a TakeOnFile<PublicTake>,
    }
    Answer::done(200, &Marked { take })
}

/// Returns the response with a page of the list of takes: `{takes, nextBefore?}`.
pub fn list(page: &TakeListPage) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Takes<'a> {
        takes: &'a [TakeOnFile<PublicTake>],
        #[serde(skip_serializing_if = "Option::is_none")]
        next_before: Option<TakeId>,
    }
    Answer::ok(&Takes { takes: &page.takes, next_before: page.next_before })
}

/// Returns the response with all reasons for which a take would be refused, and all warnings: `{ok, sessionId, revision,
/// takesLeft, windowClosesAt, millisLeft, findings, warnings}`.
pub fn preflight(preflight: &Preflight) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct PreflightBody {
        ok: bool,
        session_id: Option<SessionId>,
        revision: Option<Revision>,
        takes_left: Option<u8>,
        window_closes_at: Option<Timestamp>,
        millis_left: Option<i64>,
        findings: Vec<Found>,
        warnings: Vec<Warned>,
    }
    let found = &preflight.findings;
    Answer::ok(&PreflightBody {
        ok: found.is_empty(),
        session_id: preflight.session,
        revision: preflight.revision,
        takes_left: preflight.takes_left,
        window_closes_at: preflight.window_closes_at,
        millis_left: preflight.millis_left,
        findings: found
            .iter()
            .map(|refusal| Found::of(refusal, preflight.roster.as_ref()))
            .collect(),
        warnings: preflight.warnings.iter().map(Warned::of).collect(),
    })
}

#[derive(Serialize)]
struct Found {
    status: u16,
    error: String,
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// The code of the policy that refuses, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<String>,
}

impl Found {
    fn of(refusal: &Refusal, roster: Option<&RosterNotice>) -> Self {
        let detail = match refusal {
            Refusal::InvalidSubmission(invalid) => Some(invalid.to_string()),
            Refusal::NotOnRoster => roster.map(super::hint::roster_hint),
            _ => hint(refusal),
        };
        let problem = Problem::from(refusal);
        let code = problem.code();
        let policy = refusal.policy_code().map(str::to_owned);
        Self { status: problem.status(), error: refusal.to_string(), code, detail, policy }
    }
}

#[derive(Serialize)]
struct Warned {
    code: &'static str,
    message: String,
}

impl Warned {
    fn of(warning: &Warning) -> Self {
        Self { code: warning::code(warning), message: warning::message(warning) }
    }
}

/// Returns the response with the text that a member has to sign: `{canonical}`.
pub fn signing_payload(draft: &TakeDraft) -> Answer {
    #[derive(Serialize)]
    struct Payload {
        canonical: String,
    }
    Answer::ok(&Payload { canonical: canonical(draft) })
}
