//! The judgement of a submitted take (specification, section 4A, submit; contract, section 3).

use std::sync::Arc;

use super::{Basis, Refusal, Rejection, Versioned};
use crate::domain::json::Object;
use crate::domain::{
    AttemptId, Day, Invalid, Member, MemberId, Nonce, PublicKey, Revision, Session, SessionId,
    SessionState, Signature, Signed, SubjectId, Take, TakeDraft, TakeId, Timestamp, Version,
};
use crate::proof::{Verified, canonical, verify};

/// A take as submitted: its fields are valid, its signature is not verified yet.
#[derive(Clone, Debug)]
pub struct Submission(Arc<Signed<TakeDraft>>);

impl Submission {
    /// A take that its member has signed.
    pub fn new(signed: Signed<TakeDraft>) -> Self {
        Self(Arc::new(signed))
    }

    /// Reads a submission.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        let payload = TakeDraft::read(fields)?;
        let signature = Signature::parse(fields.text("signature")?)?;
        Ok(Self::new(Signed { payload, signature }))
    }

    /// The fields.
    pub fn draft(&self) -> &TakeDraft {
        &self.0.payload
    }
}

/// A take that may be filed while the facts it was judged by still hold. Only [`judge`] makes one,
/// so that no store can be given a take that was not judged.
#[derive(Clone, Debug)]
pub struct Filing {
    take: Verified<TakeDraft>,
    attempt: AttemptId,
    member: Version,
    session: (SessionId, Version),
    land_by: Option<Timestamp>,
    revision: Revision,
}

impl Filing {
    /// The attempt that this filing is, however often it is sent.
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

    /// Guard: the last moment at which the take may be committed, by the store's clock.
    pub fn land_by(&self) -> Option<Timestamp> {
        self.land_by
    }

    /// Guard: the nonce, which must be unspent by the member.
    pub fn nonce(&self) -> &Nonce {
        &self.draft().nonce
    }

    /// Guard: the revision, which must be the one after the member's latest in the session.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The record to keep, once the commit has given it an id and a time.
    pub fn take(&self, id: TakeId, filed_at: Timestamp) -> Take {
        Take {
            id,
            session_id: self.session.0,
            revision: self.revision,
            filed_at,
            signed: Arc::clone(self.take.signed()),
            public_key: self.take.key().clone(),
        }
    }

    fn draft(&self) -> &TakeDraft {
        &self.take.signed().payload
    }
}

/// Judges a submission by the facts, in the order of the contract, section 3.
///
/// # Errors
/// [`Rejection`]: the first rule that says no.
pub fn judge(
    basis: &Basis,
    submission: &Submission,
    attempt: AttemptId,
) -> Result<Filing, Rejection> {
    weigh(basis, submission, attempt).map_err(|reason| rejection(reason, basis, submission))
}

/// Attaches to a conflict the take that is already on file, if it is the very same one.
pub(crate) fn rejection(reason: Refusal, basis: &Basis, submission: &Submission) -> Rejection {
    let same = |take: &&Arc<Take>| is_same(&take.signed, &submission.0);
    let spent = basis.spent.as_ref().filter(|_| reason.is_conflict()).filter(same);
    Rejection { reason, original: spent.map(|take| take.id) }
}

fn is_same(filed: &Signed<TakeDraft>, submitted: &Signed<TakeDraft>) -> bool {
    filed.signature == submitted.signature
        && canonical(&filed.payload) == canonical(&submitted.payload)
}

fn weigh(basis: &Basis, submission: &Submission, attempt: AttemptId) -> Result<Filing, Refusal> {
    let draft = submission.draft();
    let member = bearer(basis, &draft.member_id)?;
    let session = basis.session.as_ref().ok_or(Refusal::NoSession)?;
    within_window(&session.record, basis.now)?;
    on_roster(&session.record, &draft.member_id)?;
    let key = member.record.public_key.as_ref().ok_or(Refusal::NoKey)?;
    let revision = Revision::after(basis.latest).ok_or(Refusal::CapReached)?;
    amendable(&session.record, revision)?;
    let take = signed_by(key, submission)?;
    if basis.spent.is_some() {
        return Err(Refusal::NonceUsed);
    }
    Ok(Filing {
        take,
        attempt,
        member: member.version,
        session: (session.record.id, session.version),
        land_by: session.record.window_closes_at,
        revision,
    })
}

fn bearer<'a>(basis: &'a Basis, named: &MemberId) -> Result<&'a Versioned<Member>, Refusal> {
    let member = basis.member.as_ref().filter(|member| member.record.state.is_active());
    let member = member.ok_or(Refusal::UnknownToken)?;
    if member.record.id != *named {
        return Err(Refusal::TokenMismatch);
    }
    Ok(member)
}

fn within_window(session: &Session, now: Timestamp) -> Result<(), Refusal> {
    match session.window_closes_at {
        Some(deadline) if now > deadline => Err(Refusal::WindowClosed),
        _ => Ok(()),
    }
}

fn on_roster(session: &Session, member: &MemberId) -> Result<(), Refusal> {
    let Some(roster) = &session.roster else { return Ok(()) };
    match roster.entry(member) {
        None => Err(Refusal::NotOnRoster),
        Some(entry) if entry.excused => Err(Refusal::Excused),
        Some(_) => Ok(()),
    }
}

/// After aggregation a first take may still come, an amendment may not (specification, section
/// 3A, rule 3).
fn amendable(session: &Session, revision: Revision) -> Result<(), Refusal> {
    if session.state >= SessionState::Aggregated && revision > Revision::FIRST {
        return Err(Refusal::AmendmentClosed);
    }
    Ok(())
}

fn signed_by(key: &PublicKey, submission: &Submission) -> Result<Verified<TakeDraft>, Refusal> {
    verify(&submission.0, key).ok_or(Refusal::BadSignature)
}
