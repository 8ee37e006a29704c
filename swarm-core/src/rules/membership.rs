//! The rules for changes of a member: application, review, token claim (API.md, 4 and 7.2).

use std::sync::Arc;

use super::challenge::{ChallengeBucket, ProvenChallenge, answers, bucket_of, refusal};
use super::log::{self, Act};
use super::{MemberBasis, Refusal, Versioned};
use crate::domain::{
    Actor, Application, Digest, Enrolment, Mail, Member, MemberAct, MemberId, MemberPatch,
    MemberState, NoticeDraft, OperatorAct, PublicKey, Signed, Timestamp, TokenClaim, Version,
};
use crate::proof::{BearerToken, canonical, verify};

/// A change of a member.
#[derive(Clone, Debug)]
pub struct MemberChange {
    /// The complete new record.
    pub member: Member,
    /// Guard: the version that was judged; `None`: the member must not exist.
    pub expected: Option<Version>,
    /// Guard: the challenge that proves the change.
    pub proven: Option<ProvenChallenge>,
    /// The live challenge of the member, and the last one in this bucket, are removed: what was signed before proves nothing any more.
    pub forgets: Option<ChallengeBucket>,
    /// A mail to queue with the commit.
    pub mail: Option<Mail>,
    /// Guard: the maximum number of members in the state of this one, including this one.
    pub quota: Option<u32>,
    /// Its entry in the log, if the change is public.
    pub act: Option<Act>,
    /// What webhooks are told of it, if it has no entry in the log.
    pub notice: Option<NoticeDraft>,
    /// The act of the operator who makes the change, if any. It has no entry in the log.
    pub operator_act: Option<OperatorAct>,
}

impl MemberChange {
    /// The change that creates a member and nothing else: no mail, no entry in the log, no limit.
    pub fn creation(member: Member) -> Self {
        Self {
            member,
            expected: None,
            proven: None,
            forgets: None,
            mail: None,
            quota: None,
            act: None,
            notice: None,
            operator_act: None,
        }
    }

    /// Returns the key that the member holds after this change, if any: no other member may hold
    /// it.
    pub fn held_key(&self) -> Option<&PublicKey> {
        self.member.held_key()
    }
}

/// The removal of a member that was never public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberRemoval {
    /// The member.
    pub id: MemberId,
    /// Guard: the version that was judged.
    pub expected: Version,
}

/// Checks an application and creates the member, with a UUID made from `random`.
///
/// # Errors
/// [`Refusal::BadApplication`] when its signature does not verify, or its key may not be
/// registered.
pub fn admit(
    application: &Arc<Signed<Application>>,
    random: [u8; 16],
    now: Timestamp,
) -> Result<MemberChange, Refusal> {
    let fields = &application.payload;
    let key = PublicKey::parse(&fields.public_key).ok();
    let verified = key.and_then(|key| verify(application, &key));
    let verified =
        verified.ok_or_else(|| Refusal::BadApplication { expected_payload: canonical(fields) })?;
    let member = Member {
        id: MemberId::from(uuid::Builder::from_random_bytes(random).into_uuid()),
        name: fields.name.clone(),
        contact: fields.contact.clone(),
        lens: fields.lens.clone(),
        public_key: Some(verified.key().clone()),
        state: MemberState::Applied,
        applied_at: now,
        reviewed_at: None,
        joined_at: None,
        claimed_at: None,
        token: None,
        token_claimed_at: None,
        used_claim: None,
    };
    Ok(MemberChange::creation(member))
}

/// Makes an active member of somebody that the embedding program knows.
///
/// # Errors
/// [`Refusal::MemberExists`] when there is a member with this id.
pub(crate) fn enrol(
    enrolment: &Enrolment,
    known: Option<&Versioned<Member>>,
    now: Timestamp,
    by: &Actor,
) -> Result<MemberChange, Refusal> {
    if known.is_some() {
        return Err(Refusal::MemberExists);
    }
    let Enrolment { id, name, contact, lens, public_key } = enrolment.clone();
    let member = Member {
        id,
        name,
        contact,
        lens,
        public_key: Some(public_key),
        state: MemberState::Approved,
        applied_at: now,
        reviewed_at: Some(now),
        joined_at: Some(now),
        claimed_at: None,
        token: None,
        token_claimed_at: None,
        used_claim: None,
    };
    let act = Some(log::member_changed(MemberAct::Enrolled, &member, by));
    Ok(MemberChange { act, ..MemberChange::creation(member) })
}

/// Returns whether the member is public: it has been activated at some time.
pub fn may_be_read(member: &Member) -> bool {
    member.joined_at.is_some()
}

/// Activates a member that applied, was rejected, or was deactivated. The first activation queues
/// the mail that `approval` writes, if any. `None` when it is already active.
///
/// # Errors
/// [`Refusal::MemberErased`] when its personal data was erased.
pub fn activate(
    member: &Versioned<Member>,
    approval: impl FnOnce(&Member) -> Option<Mail>,
    now: Timestamp,
    by: &Actor,
) -> Result<Option<MemberChange>, Refusal> {
    let record = &member.record;
    if record.is_erased() {
        return Err(Refusal::MemberErased);
    }
    let state = match record.state {
        MemberState::Approved | MemberState::Claimed => return Ok(None),
        MemberState::Inactive if record.claimed_at.is_some() => MemberState::Claimed,
        MemberState::Applied | MemberState::Rejected | MemberState::Inactive => {
            MemberState::Approved
        }
    };
    let first = record.joined_at.is_none();
    let activated = Member {
        state,
        reviewed_at: Some(now),
        joined_at: record.joined_at.or(Some(now)),
        ..Member::clone(record)
    };
    Ok(Some(MemberChange {
        mail: first.then(|| approval(record)).flatten(),
        ..public(member, activated, MemberAct::Activated, by)
    }))
}

/// Changes what operators keep about a member, in any state. Its takes keep what they were signed with. `None` when nothing
/// changes.
///
/// # Errors
/// [`Refusal::MemberErased`] when its personal data was erased.
pub(crate) fn update(
    member: &Versioned<Member>,
    patch: &MemberPatch,
    by: &Actor,
) -> Result<Option<MemberChange>, Refusal> {
    let record = &member.record;
    if record.is_erased() {
        return Err(Refusal::MemberErased);
    }
    let mut updated = Member::clone(record);
    let MemberPatch { name, contact, lens } = patch.clone();
    updated.name = name.unwrap_or(updated.name);
    updated.contact = contact.unwrap_or(updated.contact);
    updated.lens = lens.unwrap_or(updated.lens);
    // A member that was never public has no entries in the log, so its change adds none.
    Ok((updated != **record).then(|| match may_be_read(record) {
        true => public(member, updated, MemberAct::Updated, by),
        false => applicant_changed(member, updated, "application.updated", by),
    }))
}

/// Rejects an applicant.
///
/// # Errors
/// [`Refusal::MemberIs`] when it is not in the state `applied`.
pub fn reject(
    member: &Versioned<Member>,
    now: Timestamp,
    by: &Actor,
) -> Result<MemberChange, Refusal> {
    let record = &member.record;
    if record.state != MemberState::Applied {
        return Err(Refusal::MemberIs(record.state));
    }
    let state = MemberState::Rejected;
    let rejected = Member { state, reviewed_at: Some(now), ..Member::clone(record) };
    Ok(applicant_changed(member, rejected, "application.rejected", by))
}

/// Rejects an application with the key of a member that is being activated. The owner of the key
/// signed both, but anybody who saw an application can send it again.
///
/// # Errors
/// [`Refusal::KeyRegistered`] when it is no longer in the state `applied`.
pub fn reject_competing_application(
    holder: &Versioned<Member>,
    now: Timestamp,
    by: &Actor,
) -> Result<MemberChange, Refusal> {
    reject(holder, now, by).map_err(|_| Refusal::KeyRegistered(holder.record.id.clone()))
}

/// Returns whether an application has waited for review for more than `days`.
pub(crate) fn has_expired(member: &Member, days: u32, now: Timestamp) -> bool {
    let end = member.applied_at.plus_millis(i64::from(days) * Timestamp::DAY_MILLIS);
    member.state == MemberState::Applied && now > end
}

/// Removes an application that has waited for review for more than `days`: its key may apply again.
/// `None` when it has not, or was reviewed.
pub(crate) fn expire(
    member: &Versioned<Member>,
    days: u32,
    now: Timestamp,
) -> Option<MemberRemoval> {
    let Versioned { version, record } = member;
    let removal = MemberRemoval { id: record.id.clone(), expected: *version };
    has_expired(record, days, now).then_some(removal)
}

/// Deactivates an active member: its token stops working.
///
/// # Errors
/// [`Refusal::MemberIs`] when it is not active.
pub fn deactivate(member: &Versioned<Member>, by: &Actor) -> Result<MemberChange, Refusal> {
    let record = &member.record;
    if !record.state.is_active() {
        return Err(Refusal::MemberIs(record.state));
    }
    let inactive = Member { state: MemberState::Inactive, ..Member::clone(record) };
    Ok(public(member, inactive, MemberAct::Deactivated, by))
}

/// Checks a token claim at the service with this origin. The first valid claim gets a token made
/// from `random`.
///
/// # Errors
/// [`Refusal::ClaimRefused`] when the claim is not valid, [`Refusal::AlreadyClaimed`] when it is,
/// but the token was claimed before.
pub fn claim(
    claim: &Arc<Signed<TokenClaim>>,
    service: &str,
    basis: &MemberBasis,
    now: Timestamp,
    random: [u8; 16],
) -> Result<(MemberChange, BearerToken), Refusal> {
    let member = basis.member.as_ref().filter(|member| member.record.state.is_active());
    let Some(member) = member else { return Err(refusal(claim, service, now)) };
    let challenge = basis.challenge.as_ref();
    let challenge = challenge.filter(|it| answers(&claim.payload, service, it, now));
    let is_claimed = member.record.state == MemberState::Claimed;
    let is_live =
        challenge.is_some() || is_claimed && was_used(&claim.payload, &member.record, now);
    if !(is_live && proves(claim, &member.record)) {
        return Err(refusal(claim, service, now));
    }
    let Some(challenge) = challenge.filter(|_| !is_claimed) else {
        return Err(Refusal::AlreadyClaimed);
    };
    let token = BearerToken::mint(&member.record.id, random);
    let claimed = Member {
        state: MemberState::Claimed,
        claimed_at: Some(now),
        token: Some(token.hash()),
        token_claimed_at: Some(now),
        used_claim: Some(Digest::of_json(&claim.payload)),
        ..Member::clone(&member.record)
    };
    let proven = Some(ProvenChallenge(challenge.seed));
    let claimed = public(member, claimed, MemberAct::Claimed, &Actor::MEMBER);
    Ok((MemberChange { proven, ..claimed }, token))
}

/// Returns whether the member got its token by this claim, and its challenge has not expired. Another one may have been given out since.
fn was_used(claim: &TokenClaim, member: &Member, now: Timestamp) -> bool {
    let expiry = Timestamp::parse("expiresAt", &claim.expires_at);
    expiry.is_ok_and(|expiry| now <= expiry) && member.used_claim == Some(Digest::of_json(claim))
}

/// Replaces the token of a member by one made from `random`, and its key if one is given. Stored
/// takes can still be verified with the key that they contain.
///
/// # Errors
/// [`Refusal::MemberIs`] unless the member has claimed its token.
pub fn rotate(
    member: &Versioned<Member>,
    key: Option<PublicKey>,
    random: [u8; 16],
    by: &Actor,
) -> Result<(MemberChange, BearerToken), Refusal> {
    let record = &member.record;
    if record.state != MemberState::Claimed {
        return Err(Refusal::MemberIs(record.state));
    }
    let token = BearerToken::mint(&record.id, random);
    let rotated = Member {
        public_key: key.or_else(|| record.public_key.clone()),
        token: Some(token.hash()),
        token_claimed_at: None,
        ..Member::clone(record)
    };
    Ok((public(member, rotated, MemberAct::KeyRotated, by), token))
}

/// Returns a member from claimed to approved: its token stops working, and it claims a new one with a proof of
/// its key.
///
/// # Errors
/// [`Refusal::MemberIs`] when it is in any other state.
pub fn reset_claim(member: &Versioned<Member>, by: &Actor) -> Result<MemberChange, Refusal> {
    let record = &member.record;
    if record.state != MemberState::Claimed {
        return Err(Refusal::MemberIs(record.state));
    }
    let approved = Member {
        state: MemberState::Approved,
        claimed_at: None,
        token: None,
        token_claimed_at: None,
        used_claim: None,
        ..Member::clone(record)
    };
    let reset = public(member, approved, MemberAct::ClaimReset, by);
    // A recorded claim must not be replayed: it would mint the next token.
    Ok(MemberChange { forgets: Some(bucket_of(&record.id)), ..reset })
}

fn proves(claim: &Arc<Signed<TokenClaim>>, member: &Member) -> bool {
    member.public_key.as_ref().is_some_and(|key| verify(claim, key).is_some())
}

/// A change that an operator makes of a member that was never public.
pub(super) fn applicant_changed(
    judged: &Versioned<Member>,
    member: Member,
    act: &'static str,
    by: &Actor,
) -> MemberChange {
    let operator_act = OperatorAct::new(by, act, &member.id);
    MemberChange { operator_act, ..change(judged, member) }
}

pub(super) fn change(judged: &Versioned<Member>, member: Member) -> MemberChange {
    MemberChange { expected: Some(judged.version), ..MemberChange::creation(member) }
}

/// A public change, with its entry in the log.
pub(super) fn public(
    judged: &Versioned<Member>,
    member: Member,
    act: MemberAct,
    by: &Actor,
) -> MemberChange {
    let act = Some(log::member_changed(act, &member, by));
    MemberChange { act, ..change(judged, member) }
}
