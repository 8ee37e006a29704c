//! Challenges: those that are given again, and changes that they prove.

use swarm_core::domain::MemberState::{Approved, Claimed};
use swarm_core::domain::{Challenge, Member, Timestamp, TokenHash, Version};
use swarm_core::store::MemberSaved::{Saved, Stale};
use swarm_core::store::{
    ChallengeBucket, ChallengeOffer, ChallengeSlot, MemberChange, MemberSaved, ProvenChallenge,
    Store,
};

use crate::assertions::expect_eq;
use crate::conformance::exact_deadline::meet;
use crate::{
    FIRST, TestTenant, applicant, challenge, count, id, mail, moment, odd_texts, race, secret, seed,
};

pub async fn new_challenge_replaces_the_live_one(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for name in ["ada", "grace"] {
        tenant.create(&applicant(name)).await;
    }
    expect_eq!(tenant.member(&id("ada")).await.challenge, None);
    for challenge in [tenant.live_challenge("first").await, tenant.live_challenge("second").await] {
        tenant.set_challenge(&ChallengeSlot::Member(id("ada")), &challenge).await;
        expect_eq!(tenant.member(&id("ada")).await.challenge, Some(challenge));
    }
    expect_eq!(tenant.member(&id("grace")).await.challenge, None);
}

pub async fn decoy_challenge_is_never_live(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let names = odd_texts();
    for name in &names {
        tenant.create(&applicant(name)).await;
    }
    let decoy = tenant.live_challenge("decoy").await;
    let challenge = tenant.live_challenge("live").await;
    tenant.set_challenge(&ChallengeSlot::Decoy, &decoy).await;
    tenant.set_challenge(&ChallengeSlot::Member(id("ab")), &challenge).await;
    tenant.set_challenge(&ChallengeSlot::Decoy, &decoy).await;
    for name in &names {
        let shown = tenant.member(&id(name)).await.challenge;
        expect_eq!(shown, (name == "ab").then(|| challenge.clone()));
        expect_eq!(claim(&tenant, name, "decoy").await, Stale);
    }
}

/// Otherwise a second claim could not be recognised.
pub async fn challenge_and_member_versions_are_independent(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    let challenge = tenant.live_challenge("challenge").await;
    let judged = tenant.edited(&id("ada"), |ada| ada.state = Approved).await;
    tenant.set_challenge(&ChallengeSlot::Member(id("ada")), &challenge).await;
    expect_eq!(tenant.stored(&id("ada")).await.version, FIRST);
    expect_eq!(tenant.save_member(&judged).await, Saved);
    expect_eq!(claim(&tenant, "ada", "challenge").await, Saved);
    expect_eq!(tenant.member(&id("ada")).await.challenge, Some(challenge));
}

pub async fn only_the_live_challenge_proves_a_change(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for name in ["ada", "grace"] {
        tenant.create(&Member { state: Approved, ..applicant(name) }).await;
    }
    expect_eq!(claim(&tenant, "ada", "absent").await, Stale);
    for text in ["replaced", "live"] {
        tenant
            .set_challenge(&ChallengeSlot::Member(id("ada")), &tenant.live_challenge(text).await)
            .await;
    }
    let another = tenant.live_challenge("another's").await;
    tenant.set_challenge(&ChallengeSlot::Member(id("grace")), &another).await;
    for text in ["absent", "replaced", "another's"] {
        expect_eq!(claim(&tenant, "ada", text).await, Stale);
    }
    expect_eq!(tenant.stored(&id("ada")).await.version, FIRST);
    expect_eq!(tenant.bearer(&secret("token of ada")).await, None);
    expect_eq!(claim(&tenant, "ada", "live").await, Saved);
    expect_eq!(tenant.bearer(&secret("token of ada")).await.unwrap().id, id("ada"));
}

/// The time of the commit is that of the claim's mail.
pub async fn challenge_is_valid_up_to_its_expiry(tenants: Store) {
    let tenant = &TestTenant::fresh(tenants).await;
    let mut round = 0;
    meet(tenant.store(), async |expiries| {
        round += 1;
        let mut claims = Vec::new();
        for (number, expires_at) in expiries.into_iter().enumerate() {
            let member = applicant(&format!("{round}.{number}"));
            tenant.create(&member).await;
            let challenge = challenge("live", expires_at);
            tenant.set_challenge(&ChallengeSlot::Member(member.id.clone()), &challenge).await;
            let mut claim = tenant.edited(&member.id, |member| member.state = Claimed).await;
            claim.proven = Some(ProvenChallenge(seed("live")));
            claim.mail = Some(mail(member.id.as_str()));
            claims.push(claim);
        }
        async move || stamps(tenant, claims).await
    })
    .await;
}

/// Commits all claims concurrently. Returns the time of each commit, or `None` if it was refused.
async fn stamps(tenant: &TestTenant, claims: Vec<MemberChange>) -> Vec<Option<Timestamp>> {
    let names: Vec<_> = claims.iter().map(|claim| claim.member.id.to_string()).collect();
    let commit = |claim: MemberChange| {
        let tenant = tenant.clone();
        async move { tenant.save_member(&claim).await }
    };
    let outcomes = race(claims.into_iter().map(commit)).await;
    let queued = tenant.messages(None, None).await;
    let stamp = |name: &String| {
        let mail = queued.iter().find(|it| it.record.mail.subject == *name);
        mail.map(|it| it.record.queued_at)
    };
    let stamps: Vec<_> = names.iter().map(stamp).collect();
    for (outcome, stamp) in outcomes.iter().zip(&stamps) {
        let expected = if stamp.is_some() { Saved } else { Stale };
        expect_eq!(*outcome, expected, "mail queued with its commit");
    }
    stamps
}

pub async fn expired_challenge_is_stale(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&Member { state: Approved, ..applicant("ada") }).await;
    let expires_at = tenant.now().await.plus_millis(20);
    let challenge = challenge("expired", expires_at);
    tenant.set_challenge(&ChallengeSlot::Member(id("ada")), &challenge).await;
    tenant.pass(expires_at).await;
    expect_eq!(claim(&tenant, "ada", "expired").await, Stale);
    expect_eq!(tenant.stored(&id("ada")).await.version, FIRST);
}

pub async fn concurrent_claims_commit_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&Member { state: Approved, ..applicant("ada") }).await;
    tenant
        .set_challenge(&ChallengeSlot::Member(id("ada")), &tenant.live_challenge("live").await)
        .await;
    let judged = tenant.edited(&id("ada"), |ada| ada.state = Claimed).await;
    let claim = |racer: usize| {
        let (tenant, mut change) = (tenant.clone(), judged.clone());
        change.member.token = Some(token(racer));
        change.proven = Some(ProvenChallenge(seed("live")));
        change.mail = Some(mail("claimed"));
        async move { tenant.save_member(&change).await }
    };
    let outcomes = race((0..64).map(claim)).await;
    expect_eq!((count(&outcomes, &Saved), count(&outcomes, &Stale)), (1, 63));
    let won = outcomes.iter().position(|outcome| *outcome == Saved).unwrap();
    for racer in 0..64 {
        expect_eq!(tenant.bearer(&token(racer)).await.is_some(), racer == won);
    }
    expect_eq!(tenant.stored(&id("ada")).await.version, Version(2));
    expect_eq!(tenant.messages(None, None).await.len(), 1);
}

/// Claims a token for this member with this challenge.
async fn claim(tenant: &TestTenant, name: &str, challenge: &str) -> MemberSaved {
    let mut change = tenant.edited(&id(name), |member| member.state = Claimed).await;
    change.member.token = Some(secret(&format!("token of {name}")));
    change.proven = Some(ProvenChallenge(seed(challenge)));
    tenant.save_member(&change).await
}

fn token(racer: usize) -> TokenHash {
    secret(&format!("token {racer}"))
}

const FAR: i64 = 600_000;

pub async fn reusable_challenge_is_given_again(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let first = reusable(&tenant, "first", FAR).await;
    expect_eq!(asked(&tenant, 1, &first, &ChallengeSlot::Decoy).await, first);
    for name in ["second", "third"] {
        let fresh = reusable(&tenant, name, 2 * FAR).await;
        expect_eq!(asked(&tenant, 1, &fresh, &ChallengeSlot::Decoy).await, first);
    }
}

pub async fn challenge_past_its_reuse_is_replaced(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let first = reusable(&tenant, "first", 20).await;
    expect_eq!(asked(&tenant, 1, &first, &ChallengeSlot::Decoy).await, first);
    tenant.pass(first.reusable_until).await;
    let second = reusable(&tenant, "second", FAR).await;
    expect_eq!(asked(&tenant, 1, &second, &ChallengeSlot::Decoy).await, second);
    expect_eq!(asked(&tenant, 1, &first, &ChallengeSlot::Decoy).await, second);
}

pub async fn challenge_buckets_are_independent(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let buckets = [0, 1, 10, 255, 256, u16::MAX];
    for _ in 0..2 {
        for bucket in buckets {
            let fresh =
                Challenge { reusable_until: far(), ..challenge(&bucket.to_string(), far()) };
            expect_eq!(asked(&tenant, bucket, &fresh, &ChallengeSlot::Decoy).await, fresh);
        }
    }
}

/// This holds even if it was given out as a decoy before the applicant was approved.
pub async fn reused_challenge_becomes_live_in_the_requested_slot(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    let adas = ChallengeSlot::Member(id("ada"));
    let first = reusable(&tenant, "first", FAR).await;
    expect_eq!(asked(&tenant, 1, &first, &ChallengeSlot::Decoy).await, first);
    expect_eq!(tenant.member(&id("ada")).await.challenge, None);
    let second = reusable(&tenant, "second", FAR).await;
    expect_eq!(asked(&tenant, 1, &second, &adas).await, first);
    expect_eq!(tenant.member(&id("ada")).await.challenge, Some(first.clone()));
    expect_eq!(asked(&tenant, 2, &second, &ChallengeSlot::Decoy).await, second);
    expect_eq!(tenant.member(&id("ada")).await.challenge, Some(first));
}

pub async fn concurrent_requests_get_the_same_challenge(tenants: Store) {
    let tenant = &TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    let past = reusable(tenant, "past", 20).await;
    expect_eq!(asked(tenant, 2, &past, &ChallengeSlot::Decoy).await, past);
    tenant.pass(past.reusable_until).await;
    for bucket in [1, 2] {
        let ask = |racer: usize| {
            let tenant = tenant.clone();
            async move {
                let fresh = reusable(&tenant, &racer.to_string(), FAR).await;
                asked(&tenant, bucket, &fresh, &ChallengeSlot::Member(id("ada"))).await
            }
        };
        let given = race((0..32).map(ask)).await;
        let live = tenant.member(&id("ada")).await.challenge.unwrap();
        expect_eq!(given, vec![live; 32]);
    }
}

/// Otherwise a claim that was made once could be made again after the token was taken away.
pub async fn forgotten_challenge_proves_nothing_and_is_not_given_again(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for name in ["ada", "grace"] {
        tenant.create(&Member { state: Approved, ..applicant(name) }).await;
    }
    let (ada, grace) = (ChallengeSlot::Member(id("ada")), ChallengeSlot::Member(id("grace")));
    let first = reusable(&tenant, "first", FAR).await;
    let other = reusable(&tenant, "other", FAR).await;
    expect_eq!(asked(&tenant, 1, &other, &ada).await, other);
    expect_eq!(asked(&tenant, 2, &first, &grace).await, first);
    let reset = tenant.edited(&id("grace"), |grace| grace.token = None).await;
    let reset = MemberChange { forgets: Some(ChallengeBucket(2)), ..reset };
    let stale = MemberChange { expected: Some(FIRST.next()), ..reset.clone() };
    expect_eq!(tenant.save_member(&stale).await, Stale);
    expect_eq!(tenant.member(&id("grace")).await.challenge, Some(first.clone()));
    expect_eq!(tenant.save_member(&reset).await, Saved);
    expect_eq!(tenant.member(&id("grace")).await.challenge, None);
    expect_eq!(claim(&tenant, "grace", "first").await, Stale);
    let second = reusable(&tenant, "second", FAR).await;
    expect_eq!(asked(&tenant, 2, &second, &grace).await, second, "not the first one again");
    // Those of others stay.
    expect_eq!(tenant.member(&id("ada")).await.challenge, Some(other.clone()));
    let third = reusable(&tenant, "third", FAR).await;
    expect_eq!(asked(&tenant, 1, &third, &ada).await, other);
}

/// A challenge with a seed of this name that is reusable for `millis` milliseconds, and valid for
/// longer.
async fn reusable(tenant: &TestTenant, name: &str, millis: i64) -> Challenge {
    let now = tenant.now().await;
    Challenge { reusable_until: now.plus_millis(millis), ..challenge(name, far()) }
}

fn far() -> Timestamp {
    moment("2999-12-31T00:00:00Z")
}

/// The challenge that a request receives.
async fn asked(
    tenant: &TestTenant,
    bucket: u16,
    fresh: &Challenge,
    slot: &ChallengeSlot,
) -> Challenge {
    let (fresh, slot) = (fresh.clone(), slot.clone());
    tenant.give_challenge(&ChallengeOffer { bucket: ChallengeBucket(bucket), fresh, slot }).await
}
