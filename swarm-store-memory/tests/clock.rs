//! The memory store goes by the clock it is given, to the millisecond.

#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use swarm_core::domain::{
    AttemptId, Attribution, Challenge, Day, MemberState, PublicKey, SecretHash, SessionDraft,
    SessionState, SubjectId,
};
use swarm_core::json::Json;
use swarm_core::proof::KeyPair;
use swarm_core::rules::{convene, judge};
use swarm_core::store::{
    BasisQuery, ChallengeOffer, Convocation, Filed, MemberChange, MemberSaved, Proven, Slot, Stand,
    Store, Versioned,
};
use swarm_core::testing::{challenge, seed};
use swarm_core::{Member, MemberId, Submission, TakeDraft, TenantId, Tenants, Timestamp};
use swarm_store_memory::MemoryStore;

const DEADLINE: i64 = 1_795_301_100_000;

#[tokio::test]
async fn a_take_lands_at_its_deadline_and_is_late_a_millisecond_after() {
    let (clock, store) = store_at(DEADLINE);
    let keys = KeyPair::from_seed(&[7; 32]);
    let member = member(&keys);
    assert_eq!(save(&*store, member.clone(), None).await, MemberSaved::Saved);
    store.convene(&closing_at(DEADLINE)).await.unwrap();

    for (millis, nonce) in [(DEADLINE, "in time"), (DEADLINE + 1, "late")] {
        clock.store(DEADLINE, Ordering::Relaxed);
        let submission = take(&keys, nonce);
        let TakeDraft { date, subject_id, nonce, .. } = submission.draft();
        let token = &member.token.unwrap();
        let query = BasisQuery { token, date: *date, subject_id, nonce };
        let basis = store.basis(&query).await.unwrap();
        let filing = judge(&basis, &submission, AttemptId([0; 16])).unwrap();
        clock.store(millis, Ordering::Relaxed);
        match store.file(&filing).await.unwrap() {
            Filed::Filed(take) => assert_eq!((take.filed_at, millis), (at(DEADLINE), DEADLINE)),
            outcome => assert_eq!((outcome, millis), (Filed::Late, DEADLINE + 1)),
        }
    }
}

#[tokio::test]
async fn a_challenge_proves_until_it_expires_and_not_a_millisecond_longer() {
    let (clock, store) = store_at(DEADLINE);
    let member = member(&KeyPair::from_seed(&[7; 32]));
    assert_eq!(save(&*store, member.clone(), None).await, MemberSaved::Saved);
    let fresh = challenge("challenge", at(DEADLINE));
    let slot = Slot::Member(member.id.clone());
    let proven = Proven(fresh.seed);
    store.give_challenge(&ChallengeOffer { stand: Stand(0), fresh, slot }).await.unwrap();

    for (millis, outcome) in [(DEADLINE, MemberSaved::Saved), (DEADLINE + 1, MemberSaved::Stale)] {
        clock.store(millis, Ordering::Relaxed);
        assert_eq!(save(&*store, member.clone(), Some(proven.clone())).await, outcome);
    }
}

#[tokio::test]
async fn a_challenge_stands_up_to_its_moment_and_not_a_millisecond_longer() {
    let (clock, store) = store_at(DEADLINE - 1);
    for (millis, name, given) in
        [(-1, "first", "first"), (0, "second", "first"), (1, "third", "third")]
    {
        clock.store(DEADLINE + millis, Ordering::Relaxed);
        let fresh = Challenge { stands_until: at(DEADLINE), ..challenge(name, at(DEADLINE)) };
        let offer = ChallengeOffer { stand: Stand(0), fresh, slot: Slot::Decoy };
        assert_eq!(store.give_challenge(&offer).await.unwrap().seed, seed(given));
    }
}

/// A store whose clock shows what stands in the number.
fn store_at(millis: i64) -> (Arc<AtomicI64>, Arc<dyn Store>) {
    let clock = Arc::new(AtomicI64::new(millis));
    let shown = Arc::clone(&clock);
    let store = MemoryStore::with_clock(move || at(shown.load(Ordering::Relaxed)));
    (clock, store.open(&TenantId::parse("test").unwrap()))
}

async fn save(store: &dyn Store, member: Member, proven: Option<Proven>) -> MemberSaved {
    let on_file = store.member(&member.id).await.unwrap().member;
    let expected = on_file.map(|Versioned { version, .. }| version);
    store
        .save_member(&MemberChange { member, expected, proven, mail: None, quota: None, act: None })
        .await
        .unwrap()
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

fn member(keys: &KeyPair) -> Member {
    use swarm_core::domain::{Contact, Lens, Name};
    Member {
        id: MemberId::parse("ada").unwrap(),
        name: Name::parse("Ada").unwrap(),
        contact: Contact::parse("ada@example.org").unwrap(),
        lens: Lens::parse("").unwrap(),
        public_key: Some(PublicKey::parse(&keys.public_key()).unwrap()),
        state: MemberState::Claimed,
        applied_at: Timestamp::EPOCH,
        reviewed_at: None,
        joined_at: None,
        claimed_at: None,
        token: Some(SecretHash::of(b"token")),
    }
}

fn closing_at(millis: i64) -> Convocation {
    let draft = SessionDraft {
        date: Day::parse("2026-11-21").unwrap(),
        subject_id: SubjectId::parse("subject").unwrap(),
        state: SessionState::Collecting,
        window_closes_at: Some(at(millis)),
        quorum: None,
        buckets: None,
        roster: None,
    };
    convene(&draft, &Attribution::SCHEDULE)
}

fn take(keys: &KeyPair, nonce: &str) -> Submission {
    let fields = format!(
        r#"{{"memberId":"ada","date":"2026-11-21","subjectId":"subject","nonce":"{nonce}","stance":"bullish","confidence":1}}"#
    );
    let draft = TakeDraft::read(&mut Json::read(fields.as_bytes()).unwrap().into_object());
    Submission::new(keys.sign(draft.unwrap()))
}
