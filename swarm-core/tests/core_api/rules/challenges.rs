//! Challenges and token claims (API.md, 4.3).

use std::sync::Arc;

use swarm_core::domain::{
    Challenge, Digest, Member, MemberState, Signature, Signed, TokenClaim, TokenHash,
};
use swarm_core::proof::{BearerToken, ChallengeText};
use swarm_core::rules::{
    ChallengeSlot, ClaimFault, MemberBasis, MemberChange, claim, offer_challenge,
};
use swarm_core::{Refusal, Timestamp};
use swarm_testing::{applicant, challenge, claimed, id, key, keys, moment, seed};

use super::{JUDGED, entry_text, now, versioned};

const RANDOM: [u8; 16] = [7; 16];

const SERVICE: &str = "https://acme.example";

fn expires_at() -> Timestamp {
    moment("2026-11-21T12:10:00Z")
}

fn of(member: Option<Member>) -> MemberBasis {
    MemberBasis { member: member.map(versioned), challenge: Some(challenge("seed", expires_at())) }
}

fn in_state(state: MemberState) -> Member {
    Member { state, ..applicant("ada") }
}

#[test]
fn challenge_is_valid_for_ten_and_reusable_for_five_minutes() {
    let offer = offer_challenge(&id("ada"), &of(None), seed("fresh"), now());
    let fresh = Challenge {
        seed: seed("fresh"),
        reusable_until: moment("2026-11-21T12:05:00Z"),
        expires_at: moment("2026-11-21T12:10:00Z"),
    };
    assert_eq!(offer.fresh, fresh);
}

#[test]
fn only_active_members_get_a_live_challenge() {
    let slot = |member| offer_challenge(&id("ada"), &of(member), seed("fresh"), now()).slot;
    for state in MemberState::ALL {
        let active = matches!(state, MemberState::Approved | MemberState::Claimed);
        let expected = if active { ChallengeSlot::Member(id("ada")) } else { ChallengeSlot::Decoy };
        assert_eq!(slot(Some(in_state(state))), expected, "{state}");
    }
    assert_eq!(slot(None), ChallengeSlot::Decoy);
}

/// The bucket is the first 16 bits of the SHA-256 of the id, so it does not reveal which ids exist.
#[test]
fn challenge_bucket_depends_on_the_id_only() {
    for name in ["ada", "grace", "nobody"] {
        let places = [None, Some(in_state(MemberState::Approved))]
            .map(|member| offer_challenge(&id(name), &of(member), seed("fresh"), now()).bucket.0);
        let [high, low, ..] = *TokenHash::of(name.as_bytes()).as_bytes();
        assert_eq!(places, [u16::from_be_bytes([high, low]); 2], "{name}");
    }
}

/// The claim of the member.
fn answer() -> TokenClaim {
    TokenClaim {
        member_id: id("ada"),
        challenge: ChallengeText::of(SERVICE, &id("ada"), &seed("seed")).as_str().to_owned(),
        expires_at: "2026-11-21T12:10:00.000Z".to_owned(),
    }
}

/// The digest of the claim.
fn used() -> Digest {
    Digest::of_json(&answer())
}

fn judged(
    claim_of: Signed<TokenClaim>,
    basis: &MemberBasis,
    now: Timestamp,
) -> Result<(MemberChange, BearerToken), Refusal> {
    claim(&Arc::new(claim_of), SERVICE, basis, now, RANDOM)
}

fn refusal(claim_of: Signed<TokenClaim>, basis: &MemberBasis, now: Timestamp) -> Option<Refusal> {
    judged(claim_of, basis, now).err()
}

#[test]
fn valid_claim_gets_the_token() {
    let approved = in_state(MemberState::Approved);
    for moment in [now(), expires_at()] {
        let answer = keys("ada").sign(answer());
        let (change, token) = judged(answer, &of(Some(approved.clone())), moment).unwrap();
        assert_eq!(token, BearerToken::mint(&id("ada"), RANDOM));
        let claimed = Member {
            state: MemberState::Claimed,
            claimed_at: Some(moment),
            token: Some(token.hash()),
            token_claimed_at: Some(moment),
            used_claim: Some(used()),
            ..approved.clone()
        };
        assert_eq!((change.member, change.expected), (claimed, Some(JUDGED)));
        assert_eq!(change.proven.map(|proven| proven.0), Some(seed("seed")));
        assert_eq!((change.mail, change.quota), (None, None));
        let public_key = key("ada");
        let act = format!(
            r#"{{"kind":"member","act":"claimed","by":"member","id":"ada","status":"active","publicKey":"{}"}}"#,
            public_key
        );
        assert_eq!(entry_text(&change.act.unwrap()), act);
    }
}

#[test]
fn claim_without_valid_proof_is_refused() {
    let approved = || of(Some(in_state(MemberState::Approved)));
    let unproven = Some(Refusal::ClaimRefused(ClaimFault::Unproven));
    let signed = |answer| keys("ada").sign(answer);
    let other = ChallengeText::of(SERVICE, &id("grace"), &seed("seed")).as_str().to_owned();
    let [sooner, later] =
        ["2026-11-21T12:09:59.999Z", "2026-11-21T12:10:00.001Z"].map(str::to_owned);
    for wrong in [
        TokenClaim { challenge: other, ..answer() },
        TokenClaim { challenge: format!("{SERVICE} "), ..answer() },
        TokenClaim { expires_at: sooner, ..answer() },
    ] {
        assert_eq!(refusal(signed(wrong.clone()), &approved(), now()), unproven, "{wrong:?}");
    }
    // No challenge expires so late.
    let invented = signed(TokenClaim { expires_at: later, ..answer() });
    let not_an_expiry = Some(Refusal::ClaimRefused(ClaimFault::NotAnExpiry));
    assert_eq!(refusal(invented, &approved(), now()), not_an_expiry);
    let forged = keys("grace").sign(answer());
    assert_eq!(refusal(forged, &approved(), now()), unproven, "signed by another");

    let without_challenge = MemberBasis { challenge: None, ..approved() };
    assert_eq!(refusal(signed(answer()), &without_challenge, now()), unproven, "no challenge");
    assert_eq!(refusal(signed(answer()), &of(None), now()), unproven, "no member");
    let keyless = Member { public_key: None, ..in_state(MemberState::Approved) };
    assert_eq!(refusal(signed(answer()), &of(Some(keyless)), now()), unproven, "no key");
    for state in [MemberState::Applied, MemberState::Rejected, MemberState::Inactive] {
        assert_eq!(refusal(signed(answer()), &of(Some(in_state(state))), now()), unproven);
    }
}

/// The fault does not depend on whether the member exists.
#[test]
fn refused_claim_names_the_faulty_field() {
    let bases = [of(Some(in_state(MemberState::Approved))), of(None)];
    let signed = |answer| keys("ada").sign(answer);
    let random = answer().challenge.split_once(' ').unwrap().1.to_owned();
    let elsewhere = ["https://other.example ", &random].concat();
    let short = "2026-11-21T12:10:00Z".to_owned();
    let unencoded = Signature::parse("ab".repeat(64)).unwrap();
    let other = ClaimFault::OtherService { service: SERVICE.to_owned() };
    for (claim, at, fault) in [
        (signed(TokenClaim { challenge: elsewhere, ..answer() }), now(), other.clone()),
        (signed(TokenClaim { challenge: random, ..answer() }), now(), other),
        (signed(TokenClaim { expires_at: short, ..answer() }), now(), ClaimFault::NotAnExpiry),
        (signed(answer()), expires_at().plus_millis(1), ClaimFault::Expired),
        (Signed { payload: answer(), signature: unencoded }, now(), ClaimFault::Encoding),
    ] {
        for basis in &bases {
            let refused = refusal(claim.clone(), basis, at);
            assert_eq!(refused, Some(Refusal::ClaimRefused(fault.clone())));
        }
    }
}

/// Only the holder of the key learns that the token was claimed.
#[test]
fn second_claim_with_valid_proof_is_already_claimed() {
    let basis = of(Some(claimed("ada")));
    let second = refusal(keys("ada").sign(answer()), &basis, now());
    assert_eq!(second, Some(Refusal::AlreadyClaimed));
    let forged = refusal(keys("grace").sign(answer()), &basis, now());
    assert_eq!(forged, Some(Refusal::ClaimRefused(ClaimFault::Unproven)));
}

/// Anybody may ask for another challenge meanwhile. A member that lost the answer to its claim still learns that the token was given out.
#[test]
fn claim_is_already_claimed_until_its_challenge_expires() {
    let other = Challenge { seed: seed("other"), reusable_until: now(), expires_at: expires_at() };
    let refused = |used_claim, state, moment| {
        let member = Member { used_claim, state, ..claimed("ada") };
        let basis = MemberBasis { challenge: Some(other.clone()), ..of(Some(member)) };
        refusal(keys("ada").sign(answer()), &basis, moment)
    };
    let claimed = MemberState::Claimed;
    assert_eq!(refused(Some(used()), claimed, expires_at()), Some(Refusal::AlreadyClaimed));
    for (used_claim, state, moment) in [
        (None, claimed, now()),
        (Some(used()), claimed, expires_at().plus_millis(1)),
        (Some(used()), MemberState::Approved, now()),
        (Some(used()), MemberState::Inactive, now()),
    ] {
        let refused = refused(used_claim, state, moment);
        assert!(matches!(refused, Some(Refusal::ClaimRefused(_))), "{state}");
    }
}
