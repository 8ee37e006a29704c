//! Responses about takes.

use serde::Serialize;

use super::warning::{self, WarningCode};
use super::{Answer, Problem, hint};
use crate::domain::{Revision, SessionId, Take, TakeDraft, TakeId, TakeOnFile, Timestamp};
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

/// Everything that would refuse the take now, and why some of it would not count.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Preflight"))]
#[serde(rename_all = "camelCase")]
pub(super) struct PreflightBody {
    /// Whether nothing would refuse it.
    ok: bool,
    /// The session that it is for, if there is one.
    session_id: Option<SessionId>,
    /// The revision that it would get, if it may be filed.
    revision: Option<Revision>,
    /// The number of takes that may be filed after this one.
    #[cfg_attr(feature = "schema", schemars(range(max = 5)))]
    takes_left: Option<u8>,
    /// The deadline, if there is one.
    window_closes_at: Option<Timestamp>,
    /// The milliseconds until the deadline.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    millis_left: Option<i64>,
    /// What would refuse it, in the order of the checks.
    findings: Vec<Found>,
    /// Why some of the take would not count.
    warnings: Vec<Warned>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
struct Found {
    /// The status.
    #[cfg_attr(feature = "schema", schemars(range(min = 400, max = 599)))]
    status: u16,
    /// The text of the error.
    error: String,
    /// The code, as in Swarm-Error.
    code: &'static str,
    /// The text of Swarm-Hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// The code of the rule of this desk that refuses the take, if one does; error is its text.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
struct Warned {
    /// The code.
    code: WarningCode,
    /// A sentence, on one line.
    message: String,
}

impl Warned {
    fn of(warning: &Warning) -> Self {
        Self { code: warning::code(warning), message: warning::message(warning) }
    }
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
