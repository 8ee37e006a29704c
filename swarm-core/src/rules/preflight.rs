//! Preflight: all reasons for which a take would be refused, at once, and the warnings about it
//! (API.md, 9.3).

use super::judge::{Evaluation, checks};
use super::{Basis, Draft, Refusal, Warning, warnings};
use crate::domain::{Day, Revision, SessionId, SubjectId, Timestamp};

/// The result of a preflight: how a submission would be judged at this time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preflight {
    /// The session that the take would be filed in.
    pub session: Option<SessionId>,
    /// The revision that it would get.
    pub revision: Option<Revision>,
    /// How many takes the member may file in that session after this one.
    pub takes_left: Option<u8>,
    /// The deadline of that session.
    pub window_closes_at: Option<Timestamp>,
    /// The milliseconds until the deadline; 0 once it has passed.
    pub millis_left: Option<i64>,
    /// The reasons to refuse it, in the order of the checks. If empty, it would be filed.
    pub findings: Vec<Refusal>,
    /// The warnings that it would get.
    pub warnings: Vec<Warning>,
    /// More about [`Refusal::NotOnRoster`], where that is a finding.
    pub roster: Option<RosterNotice>,
}

/// What a member that is not on the roster of a session is told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RosterNotice {
    /// Since when the roster stands.
    pub since: Timestamp,
    /// The sessions that accept takes and have no roster, newest first.
    pub open: Vec<(Day, SubjectId)>,
}

/// Runs all checks of [`judge`](super::judge), without stopping at the first refusal.
///
/// # Errors
/// [`Refusal::UnknownToken`]: without a valid token nothing else is revealed.
pub fn preflight(basis: &Basis, draft: &Draft) -> Result<Preflight, Refusal> {
    let basis = &without_replacements(basis, draft);
    let mut evaluation = Evaluation::new(basis, &draft.submission);
    let mut findings: Vec<_> =
        draft.faults().iter().cloned().map(Refusal::InvalidSubmission).collect();
    for check in checks() {
        match check(&mut evaluation) {
            Err(Refusal::UnknownToken) => return Err(Refusal::UnknownToken),
            Err(refusal) if !findings.contains(&refusal) && concerns_input(&refusal, draft) => {
                findings.push(refusal);
            }
            _ => {}
        }
    }
    let session = basis.session.as_ref().map(|session| &session.record);
    let window_closes_at = session.and_then(|session| session.window_closes_at);
    let revision = evaluation.revision().ok();
    let takes_left = revision.map_or(0, |_| basis.takes_left().saturating_sub(1));
    let mut warnings = warnings(basis, &draft.submission);
    warnings.retain(|warning| concerns_take(warning, basis, draft));
    Ok(Preflight {
        session: session.map(|session| session.id),
        revision: session.and(revision),
        takes_left: session.map(|_| takes_left),
        window_closes_at,
        millis_left: window_closes_at
            .map(|deadline| deadline.millis().saturating_sub(basis.now.millis()).max(0)),
        findings,
        warnings,
        roster: None,
    })
}

/// Whether a warning concerns a field that was sent, not a replacement, and a take that may be filed. After
/// aggregation only a first take may be.
fn concerns_take(warning: &Warning, basis: &Basis, draft: &Draft) -> bool {
    match warning {
        Warning::UnknownStance => !draft.was_replaced("stance"),
        Warning::MissingWeights => !draft.was_replaced("weights"),
        Warning::AlreadyAggregated => basis.latest.is_none(),
        _ => true,
    }
}

/// The facts without those that were looked up by the replacement of an invalid field.
fn without_replacements(basis: &Basis, draft: &Draft) -> Basis {
    let mut basis = basis.clone();
    if draft.was_replaced("date") || draft.was_replaced("subjectId") {
        basis.session = None;
    }
    if draft.was_replaced("nonce") {
        basis.spent = None;
    }
    basis
}

/// Whether a refusal concerns the input, and not the replacement of an invalid field.
fn concerns_input(refusal: &Refusal, draft: &Draft) -> bool {
    match refusal {
        Refusal::TokenMismatch => !draft.was_replaced("memberId"),
        Refusal::NoSession { .. } => {
            !draft.was_replaced("date") && !draft.was_replaced("subjectId")
        }
        Refusal::BadSignature => draft.invalid.is_empty(),
        Refusal::UndeclaredStance { .. } => !draft.was_replaced("stance"),
        _ => true,
    }
}
