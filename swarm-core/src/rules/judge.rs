//! The checks of a submitted take (API.md, 5.2).

use std::sync::Arc;

use super::{Basis, Refusal, Rejection, Submission, Versioned};
use crate::domain::{
    AttemptId, Day, Digest, Member, MemberId, Nonce, PublicKey, Revision, Salt, SessionId,
    SessionState, SessionTerms, Signed, StoredTake, SubjectId, Take, TakeDraft, TakeId, Timestamp,
    Version,
};
use crate::proof::{Verified, verify};

/// A checked take, and the guards under which it may be committed. Only [`judge`] constructs it, so
/// a store cannot receive a take that was not checked.
#[derive(Clone, Debug)]
pub struct Filing {
    take: Verified<TakeDraft>,
    attempt: AttemptId,
    member: Version,
    session: (SessionId, Version),
    session_version: u64,
    commit_deadline: Option<Timestamp>,
    revision: Revision,
    salt: Option<Salt>,
}

impl Filing {
    /// Returns the id of this attempt to commit; it stays the same when the command is sent again.
    pub fn attempt(&self) -> AttemptId {
        self.attempt
    }

    /// Guard: the member, at this version.
    pub fn member(&self) -> (&MemberId, Version) {
        (&self.draft().member_id, self.member)
    }

    /// Guard: the session, at this version.
    pub fn session(&self) -> (SessionId, Version) {
        self.session
    }

    /// Guard: the day and subject of which that session must still be the newest.
    pub fn newest_of(&self) -> (Day, &SubjectId) {
        (self.draft().date, &self.draft().subject_id)
    }

    /// Guard: the last time at which the take may be committed, by the store's clock.
    pub fn commit_deadline(&self) -> Option<Timestamp> {
        self.commit_deadline
    }

    /// Guard: the nonce, which the member must not have used before.
    pub fn nonce(&self) -> &Nonce {
        &self.draft().nonce
    }

    /// Guard: the revision, which must be the one after the member's latest in the session.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the record to store, with the id and the time that the commit assigned.
    pub fn take(&self, id: TakeId, filed_at: Timestamp) -> Take {
        Take {
            id,
            session_id: self.session.0,
            session_version: self.session_version,
            revision: self.revision,
            filed_at,
            signed: Arc::clone(self.take.signed()),
            public_key: self.take.key().clone(),
            salt: self.salt,
            withheld: None,
        }
    }

    /// Returns the verified canonical text, for stores that keep it.
    pub fn canonical(&self) -> &str {
        self.take.canonical()
    }

    fn draft(&self) -> &TakeDraft {
        &self.take.signed().payload
    }
}

/// Checks a submission against the facts, in the order of API.md, 5.2. If the session is sealed, the take is
/// sealed with `salt`, 32 random bytes; otherwise `salt` is not used.
///
/// # Errors
/// The [`Rejection`] of the first check that fails.
pub fn judge(
    basis: &Basis,
    submission: &Submission,
    attempt: AttemptId,
    salt: Salt,
) -> Result<Filing, Rejection> {
    evaluate(Evaluation::new(basis, submission), attempt, salt)
        .map_err(|reason| rejection(reason, basis, submission))
}

/// Attaches the stored take to a conflict, if the submission is a replay of it.
pub(crate) fn rejection(reason: Refusal, basis: &Basis, submission: &Submission) -> Rejection {
    let same = |take: &&StoredTake| is_same(take, &submission.signed);
    let spent = basis.spent.as_ref().filter(|_| reason.is_conflict()).filter(same);
    Rejection { reason, original: spent.map(StoredTake::id) }
}

fn is_same(filed: &StoredTake, submitted: &Signed<TakeDraft>) -> bool {
    match filed {
        StoredTake::Whole(filed) => {
            filed.signed.signature == submitted.signature
                && filed.digest() == Digest::of_json(&submitted.payload)
        }
        // The seal is over both.
        StoredTake::Sealed(filed) => filed.salt.seal(submitted) == filed.shown.sealed,
    }
}

fn evaluate(
    mut evaluation: Evaluation<'_>,
    attempt: AttemptId,
    salt: Salt,
) -> Result<Filing, Refusal> {
    for check in checks() {
        check(&mut evaluation)?;
    }
    evaluation.filing(attempt, salt)
}

/// All checks of a take, in the order of API.md, 5.2.
pub(super) fn checks() -> impl Iterator<Item = Check> {
    STANDING_CHECKS.into_iter().chain(TAKE_CHECKS)
}

/// The checks that do not depend on what the take says, apart from its session: whether the member may file there.
pub(super) const STANDING_CHECKS: [Check; 8] = [
    |evaluation| evaluation.member().map(|_| ()),
    |evaluation| evaluation.session().map(|_| ()),
    |evaluation| within_window(evaluation.session()?, evaluation.basis.now),
    |evaluation| on_roster(evaluation.session()?, &evaluation.member()?.record.id),
    |evaluation| not_excused(evaluation.session()?, &evaluation.member()?.record.id),
    |evaluation| evaluation.key().map(|_| ()),
    |evaluation| evaluation.revision().map(|_| ()),
    |evaluation| amendable(evaluation.session()?, evaluation.basis.latest),
];

/// The checks of stance, signature and nonce.
const TAKE_CHECKS: [Check; 3] = [
    |evaluation| evaluation.has_declared_stance(),
    |evaluation| evaluation.verify(),
    |evaluation| unspent(evaluation.basis),
];

/// A check passes or refuses. If it needs something that an earlier check did not find, it returns
/// the refusal of that check.
pub(super) type Check = fn(&mut Evaluation<'_>) -> Result<(), Refusal>;

/// The state of an evaluation: the facts, and the results of the checks so far.
pub(super) struct Evaluation<'a> {
    basis: &'a Basis,
    /// The take; `None` if only the standing of the member is evaluated.
    submission: Option<&'a Submission>,
    take: Option<Verified<TakeDraft>>,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(basis: &'a Basis, submission: &'a Submission) -> Self {
        Self { basis, submission: Some(submission), take: None }
    }

    pub(super) fn of_standing(basis: &'a Basis) -> Self {
        Self { basis, submission: None, take: None }
    }

    fn filing(self, attempt: AttemptId, salt: Salt) -> Result<Filing, Refusal> {
        let session = self.found()?;
        Ok(Filing {
            attempt,
            member: self.member()?.version,
            session: (session.record.id, session.version),
            session_version: session.record.version,
            commit_deadline: session.record.window_closes_at,
            revision: self.revision()?,
            salt: session.record.sealed.then_some(salt),
            take: self.take.ok_or(Refusal::BadSignature)?,
        })
    }

    fn member(&self) -> Result<&'a Versioned<Member>, Refusal> {
        let member = self.basis.member.as_ref().filter(|member| member.record.state.is_active());
        let member = member.ok_or(Refusal::UnknownToken)?;
        match self.submission {
            Some(take) if member.record.id != take.draft().member_id => Err(Refusal::TokenMismatch),
            _ => Ok(member),
        }
    }

    fn found(&self) -> Result<&'a Versioned<SessionTerms>, Refusal> {
        self.basis.session.as_ref().ok_or_else(Refusal::no_session)
    }

    fn session(&self) -> Result<&'a SessionTerms, Refusal> {
        self.found().map(|session| &*session.record)
    }

    fn key(&self) -> Result<&'a PublicKey, Refusal> {
        self.member()?.record.public_key.as_ref().ok_or(Refusal::NoKey)
    }

    pub(super) fn revision(&self) -> Result<Revision, Refusal> {
        self.basis.next_revision().ok_or_else(|| Refusal::CapReached { cap: self.basis.cap() })
    }

    /// Checks that a session which declares its stances declares that of the take.
    fn has_declared_stance(&self) -> Result<(), Refusal> {
        let declaration = &self.session()?.declaration;
        let stance = self.submission.map(|submission| &submission.draft().stance);
        match &declaration.stances {
            Some(scale) if stance.is_some_and(|stance| !declaration.allows(stance)) => {
                Err(Refusal::undeclared_stance(scale))
            }
            _ => Ok(()),
        }
    }

    fn verify(&mut self) -> Result<(), Refusal> {
        let submission = self.submission.ok_or(Refusal::BadSignature)?;
        let take = verify(&submission.signed, self.key()?);
        self.take = Some(take.ok_or(Refusal::BadSignature)?);
        Ok(())
    }
}

fn within_window(session: &SessionTerms, now: Timestamp) -> Result<(), Refusal> {
    if takes_may_come(session.window_closes_at, now) { Ok(()) } else { Err(Refusal::WindowClosed) }
}

/// Returns whether a session with this deadline accepts first takes. Its state does not matter;
/// without a deadline it always does.
pub(crate) fn takes_may_come(deadline: Option<Timestamp>, now: Timestamp) -> bool {
    deadline.is_none_or(|deadline| now <= deadline)
}

fn on_roster(session: &SessionTerms, member: &MemberId) -> Result<(), Refusal> {
    match &session.roster {
        Some(roster) if roster.entry(member).is_none() => Err(Refusal::NotOnRoster),
        _ => Ok(()),
    }
}

fn not_excused(session: &SessionTerms, member: &MemberId) -> Result<(), Refusal> {
    let entry = session.roster.as_ref().and_then(|roster| roster.entry(member));
    match entry {
        Some(entry) if entry.excused => Err(Refusal::Excused),
        _ => Ok(()),
    }
}

/// After aggregation a first take is still accepted, an amendment is not (API.md, 5.3).
fn amendable(session: &SessionTerms, latest: Option<Revision>) -> Result<(), Refusal> {
    if session.state >= SessionState::Aggregated && latest.is_some() {
        return Err(Refusal::AmendmentClosed);
    }
    Ok(())
}

fn unspent(basis: &Basis) -> Result<(), Refusal> {
    if basis.spent.is_some() { Err(Refusal::NonceUsed) } else { Ok(()) }
}
