//! The challenges that token claims sign (API.md, 4.3).

use super::MemberBasis;
use crate::domain::{Challenge, ChallengeSeed, MemberId, Timestamp, TokenClaim, TokenHash};
use crate::proof::ChallengeText;

/// How long a challenge is good, in milliseconds: ten minutes (API.md, 4.3).
pub const CHALLENGE_MILLIS: i64 = 10 * 60 * 1_000;

/// For how long requests for a member's challenge are given the same one, in milliseconds: thirty
/// seconds, so that strangers who keep asking cannot invalidate it before the member's claim.
pub const CHALLENGE_REUSABLE_MILLIS: i64 = 30 * 1_000;

/// A fresh challenge to hand out, unless an earlier one is still reusable.
#[derive(Clone, Debug)]
pub struct ChallengeOffer {
    /// Where the one that was given out before is found.
    pub bucket: ChallengeBucket,
    /// The one to give out, unless the one there is reusable.
    pub fresh: Challenge,
    /// Where the one that is given out is live from then on.
    pub slot: ChallengeSlot,
}

/// One of 65,536 places for reusable challenges, shared by all ids that have its number. So asking
/// for ids that nobody has costs a store no more than these, and what becomes of them is what
/// becomes of a member's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChallengeBucket(pub u16);

/// Where a challenge is live.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChallengeSlot {
    /// The one live challenge of a member.
    Member(MemberId),
    /// The place of challenges for ids that may not have one; a tenant has one such place, and it
    /// is never read.
    Decoy,
}

/// The member's live challenge at the commit must be made from this seed, and the store's clock
/// must not be past its expiry.
#[derive(Clone, Debug)]
pub struct ProvenChallenge(pub ChallengeSeed);

/// The challenge to give to whoever asks for the one of `id`, unless one is reusable. Only an active
/// member gets it live (API.md, 4.3).
pub fn offer_challenge(
    id: &MemberId,
    basis: &MemberBasis,
    seed: ChallengeSeed,
    now: Timestamp,
) -> ChallengeOffer {
    let slot = match &basis.member {
        Some(member) if member.record.state.is_active() => ChallengeSlot::Member(id.clone()),
        _ => ChallengeSlot::Decoy,
    };
    let fresh = Challenge {
        seed,
        reusable_until: now.plus_millis(CHALLENGE_REUSABLE_MILLIS),
        expires_at: now.plus_millis(CHALLENGE_MILLIS),
    };
    ChallengeOffer { bucket: bucket_of(id), fresh, slot }
}

/// Whether a claim names this challenge, as it was given out, in time.
pub(super) fn answers(claim: &TokenClaim, challenge: &Challenge, now: Timestamp) -> bool {
    claim.challenge == ChallengeText::of(&claim.member_id, &challenge.seed).as_str()
        && claim.expires_at == challenge.expires_at.to_string()
        && now <= challenge.expires_at
}

fn bucket_of(id: &MemberId) -> ChallengeBucket {
    let [first, second, ..] = *TokenHash::of(id.as_str().as_bytes()).as_bytes();
    ChallengeBucket(u16::from_be_bytes([first, second]))
}
