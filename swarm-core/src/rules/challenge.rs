//! The rules for challenges, which token claims sign (API.md, 4.3).

use super::{ClaimFault, MemberBasis, Refusal};
use crate::domain::{Challenge, ChallengeSeed, MemberId, Signed, Timestamp, TokenClaim, TokenHash};
use crate::proof::ChallengeText;

/// The validity of a challenge, in milliseconds: ten minutes (API.md, 4.3).
pub const CHALLENGE_MILLIS: i64 = 10 * 60 * 1_000;

/// How long requests for a member's challenge get the same one, in milliseconds: five minutes. So strangers who
/// keep requesting it cannot replace it before the member has claimed, and a challenge stays valid for at least
/// five minutes after it was last given out.
const CHALLENGE_REUSABLE_MILLIS: i64 = 5 * 60 * 1_000;

/// What a store needs to give out a challenge: a fresh one, and the places of the one that it gives out.
#[derive(Clone, Debug)]
pub struct ChallengeOffer {
    /// The bucket of the last challenge that was given out.
    pub bucket: ChallengeBucket,
    /// The challenge to give out unless the one in the bucket is still reusable.
    pub fresh: Challenge,
    /// The slot of the challenge that is given out: it becomes the live one there.
    pub slot: ChallengeSlot,
}

/// One of 65,536 buckets for reusable challenges. All member ids with the same hash prefix share a
/// bucket. So requests for unknown ids cannot fill a store, and they are treated like those for
/// members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChallengeBucket(pub u16);

/// The slot in which a challenge is live.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChallengeSlot {
    /// The one live challenge of a member.
    Member(MemberId),
    /// A slot that is written but never read, for ids that may not have a challenge. Each tenant
    /// has one.
    Decoy,
}

/// A guard: at the commit, the member's live challenge must have this seed and must not have
/// expired.
#[derive(Clone, Debug)]
pub struct ProvenChallenge(pub ChallengeSeed);

/// Offers a challenge for `id`. It becomes live only for an active member, but the response is the
/// same for every id (API.md, 4.3).
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

/// Whether a claim contains this challenge with its expiry, and is in time.
pub(super) fn answers(
    claim: &TokenClaim,
    service: &str,
    challenge: &Challenge,
    now: Timestamp,
) -> bool {
    claim.challenge == ChallengeText::of(service, &claim.member_id, &challenge.seed).as_str()
        && claim.expires_at == challenge.expires_at.to_string()
        && now <= challenge.expires_at
}

/// The refusal of a claim.
pub(super) fn refusal(claim: &Signed<TokenClaim>, service: &str, now: Timestamp) -> Refusal {
    let TokenClaim { challenge, expires_at, .. } = &claim.payload;
    let expiry = Timestamp::parse("expiresAt", expires_at).ok();
    let expiry = expiry.filter(|expiry| expiry.to_string() == *expires_at);
    Refusal::ClaimRefused(match expiry {
        _ if ChallengeText::service(challenge) != Some(service) => {
            ClaimFault::OtherService { service: service.to_owned() }
        }
        None => ClaimFault::NotAnExpiry,
        Some(expiry) if expiry > now.plus_millis(CHALLENGE_MILLIS) => ClaimFault::NotAnExpiry,
        Some(expiry) if now > expiry => ClaimFault::Expired,
        Some(_) if claim.signature.decoded().is_none() => ClaimFault::Encoding,
        Some(_) => ClaimFault::Unproven,
    })
}

pub(super) fn bucket_of(id: &MemberId) -> ChallengeBucket {
    let [first, second, ..] = *TokenHash::of(id.as_str().as_bytes()).as_bytes();
    ChallengeBucket(u16::from_be_bytes([first, second]))
}
