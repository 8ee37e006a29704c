//! Responses about takes.

use serde::Serialize;

use super::{Answer, Problem, hint, warning};
use crate::answers::{PreflightAnswer, PreflightFinding, PreflightWarning};
use crate::domain::{Take, TakeDraft, TakeId, TakeOnFile};
use crate::proof::canonical;
use crate::rules::{Preflight, PublicTake, Refusal, RosterNotice, Warning};
use crate::service::TakeListPage;

/// Returns the response with the receipt of a committed take: 201 `{ok, status, recommendationId, verified}`.
pub fn filed(take: &Take) -> Answer {
    Answer::done(201, &Receipt { recommendation_id: take.id, verified: true })
}

/// The take is committed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Receipt {
    /// The id of the take.
    recommendation_id: TakeId,
    /// Whether its signature was verified, which it always was.
    #[cfg_attr(feature = "schema", schemars(extend("const" = true)))]
    verified: bool,
}

/// Returns the response with a take whose texts are withheld or restored: `{ok, status, take}`.
pub fn marked(take: &TakeOnFile<PublicTake>) -> Answer {
    Answer::done(200, &TakeMarked { take })
}

/// The texts of a take are withheld, or shown again.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct TakeMarked<'a> {
    /// The take.
    #[cfg_attr(feature = "schema", schemars(with = "PublicTake"))]
    take: &'a TakeOnFile<PublicTake>,
}

/// Returns the response with a page of the list of takes: `{takes, nextBefore?}`.
pub fn list(page: &TakeListPage) -> Answer {
    Answer::ok(&Takes { takes: &page.takes, next_before: page.next_before })
}

/// A page of the list of takes. It may have fewer takes than its limit, or none, and lead on.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Takes<'a> {
    /// The takes, the newest first.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<PublicTake>"))]
    takes: &'a [TakeOnFile<PublicTake>],
    /// The value of before for the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before: Option<TakeId>,
}

/// Returns the response with all reasons for which a take would be refused, and all warnings: `{ok, sessionId, revision,
/// takesLeft, windowClosesAt, millisLeft, findings, warnings}`.
pub fn preflight(preflight: &Preflight) -> Answer {
    let found = &preflight.findings;
    Answer::ok(&PreflightAnswer {
        ok: found.is_empty(),
        session_id: preflight.session,
        revision: preflight.revision,
        takes_left: preflight.takes_left,
        window_closes_at: preflight.window_closes_at,
        millis_left: preflight.millis_left,
        findings: found.iter().map(|it| finding(it, preflight.roster.as_ref())).collect(),
        warnings: preflight.warnings.iter().map(warned).collect(),
    })
}

fn finding(refusal: &Refusal, roster: Option<&RosterNotice>) -> PreflightFinding {
    let detail = match refusal {
        Refusal::InvalidSubmission(invalid) => Some(invalid.to_string()),
        Refusal::NotOnRoster => roster.map(super::hint::roster_hint),
        _ => hint(refusal),
    };
    let problem = Problem::from(refusal);
    PreflightFinding {
        status: problem.status(),
        error: refusal.to_string(),
        code: problem.code().to_owned(),
        detail,
        policy: refusal.policy_code().map(str::to_owned),
    }
}

fn warned(warning: &Warning) -> PreflightWarning {
    PreflightWarning { code: warning::code(warning), message: warning::message(warning) }
}

/// Returns the response with the text that a member has to sign: `{canonical}`.
pub fn signing_payload(draft: &TakeDraft) -> Answer {
    Answer::ok(&Canonical { canonical: canonical(draft) })
}

/// What a member signs.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Canonical {
    /// The text whose UTF-8 bytes are signed.
    canonical: String,
}
