//! A scenario that appends every kind of log entry. It appends the same entries in every store.

use std::sync::atomic::{AtomicU64, Ordering};

use super::records::{day, key, keys, moment, object, session_draft};
use crate::Author;
use crate::committee::{draft as committee_draft, posted};
use swarm_core::domain::committee::{
    CommitteeSettings, GenerationOrder, SubjectOrder, SynthesisOrder,
};
use swarm_core::domain::{
    Actor, Application, Attribution, Bucket, Contact, Lens, MemberId, MemoDraft, Name, Note,
    Regime, Roster, RosterEntry, Session, SessionDraft, SessionPatch, SessionState, Signal,
    Subject, SubjectSnapshotDraft, TenantId, Timestamp, TokenClaim,
};
use swarm_core::proof::BearerToken;
use swarm_core::rules::Submission;
use swarm_core::service::{CommitteeTenant, Committees, Swarm, Tenant};
use swarm_core::{Entropy, NoEntropy, Store};

/// Bytes that are the same in each run, and in `vectors/log`.
#[derive(Debug, Default)]
struct Numbered(AtomicU64);

impl Entropy for Numbered {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        let number = self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        bytes.iter_mut().zip(number.iter().cycle()).for_each(|(byte, digit)| *byte = *digit);
        Ok(())
    }
}

/// Commits every act, and takes of both interfaces, in the tenant `acme`. Calls `tick` between the acts, so that a
/// test can advance its clock.
pub async fn log_scenario(store: Store, tick: impl Fn()) {
    let id = TenantId::parse("acme").unwrap();
    log_scenario_in(&id, store, tick).await;
}

/// As [`log_scenario`], in this tenant.
pub async fn log_scenario_in(id: &TenantId, store: Store, tick: impl Fn()) {
    let tenant = Swarm::new(store.clone(), Numbered::default()).tenant(id);
    let committee = Committees::new(store, Numbered::default());
    let committee = committee.tenant(id, CommitteeSettings::default());
    let (ada, token) = member_acts(&tenant, &tick).await;
    document_acts(&tenant, &token, &tick).await;
    session_acts(&tenant, &ada, &token, &tick).await;
    committee_acts(&tenant, &committee, &tick).await;
    tenant.accept_clock(&Actor::OPERATOR).await.unwrap();
    tick();
    tenant.accept_store(&Actor::OPERATOR).await.unwrap();
    tick();
    tenant.convene(&session_draft("aurora"), &Attribution::SCHEDULE).await.unwrap();
}

fn operator() -> Actor {
    Actor::operator("ada \"λ\" \u{1f680}").unwrap()
}

fn noted(note: &str) -> Attribution {
    Attribution { by: operator(), note: Some(Note::parse(note).unwrap()) }
}

async fn member_acts(tenant: &Tenant, tick: &impl Fn()) -> (MemberId, BearerToken) {
    let application = Application {
        name: Name::parse("Ada").unwrap(),
        contact: Contact::parse("ada@example.org").unwrap(),
        lens: Lens::parse("").unwrap(),
        public_key: keys("ada").public_key().to_string(),
    };
    let ada = tenant.apply(keys("ada").sign(application)).await.unwrap();
    tenant.activate(&ada, "https://acme.example", &operator()).await.unwrap();
    tick();
    let given = tenant.challenge(&ada, "https://acme.example").await.unwrap();
    let claim = TokenClaim {
        member_id: ada.clone(),
        challenge: given.challenge.as_str().to_owned(),
        expires_at: given.expires_at.to_string(),
    };
    tenant.claim(keys("ada").sign(claim), "https://acme.example").await.unwrap();
    tick();
    tenant.rotate_key(&ada, Some(&key("grace")), &Actor::OPERATOR).await.unwrap();
    tick();
    tenant.deactivate(&ada, &Actor::OPERATOR).await.unwrap();
    tick();
    tenant.activate(&ada, "https://acme.example", &Actor::OPERATOR).await.unwrap();
    let (_, token) = tenant.rotate_key(&ada, Some(&key("ada")), &operator()).await.unwrap();
    tick();
    (ada, token)
}

async fn document_acts(tenant: &Tenant, token: &BearerToken, tick: &impl Fn()) {
    let aurora = Subject::read(&mut object(r#"{"id":"aurora","name":"Aurora"}"#)).unwrap();
    tenant.put_subject(&aurora, &operator()).await.unwrap();
    tick();
    tenant.put_subject(&aurora, &Actor::OPERATOR).await.unwrap();
    let odd = r#"{"id":"odd \"\u0001\n é \ud83d\ude80","name":"Odd","wallets":[{"b":1.50,"a":1}]}"#;
    let odd = Subject::read(&mut object(odd)).unwrap();
    tenant.put_subject(&odd, &operator()).await.unwrap();
    tick();
    let snapshot = r#"{"date":"2026-11-20","totalValueUsd":0.1,"notable":["\"\u0003\""],
        "positions":[{"token":"t","pct":1e-7}]}"#;
    for subject in [&aurora.id, &odd.id] {
        let snapshot = SubjectSnapshotDraft::read(&mut object(snapshot)).unwrap();
        tenant.add_snapshot(subject, snapshot, &operator()).await.unwrap();
        tick();
    }
    let regime = r#"{"date":"2026-11-20","regime":"calm","composite":0.5,"extra":{"b":1.0}}"#;
    let regime = Regime::read(&mut object(regime)).unwrap();
    tenant.put_regime(&regime, &operator()).await.unwrap();
    let signal = r#"{"signal_key":"k\"\u0002","date":"2026-11-20","payload":[1.0]}"#;
    let signal = Signal::read(&mut object(signal)).unwrap();
    tenant.put_signal(&signal, &operator()).await.unwrap();
    tick();
    for memo in [
        r#"{"title":"A","body":"\u0001\u0002\u0003 é"}"#,
        r#"{"title":"B","body":"b","subjectId":"aurora"}"#,
    ] {
        let memo = MemoDraft::read(&mut object(memo)).unwrap();
        tenant.publish_memo(&token.hash(), memo).await.unwrap();
        tick();
    }
    tenant.retract_memo(swarm_core::domain::MemoId(1), &operator()).await.unwrap();
}

async fn session_acts(tenant: &Tenant, ada: &MemberId, token: &BearerToken, tick: &impl Fn()) {
    let buckets = ["cash", "\u{1}"].map(|name| Bucket::parse(name).unwrap()).to_vec();
    let draft = SessionDraft {
        state: SessionState::Scheduled,
        window_closes_at: Some(moment("2999-11-21T13:00:00Z")),
        quorum: Some(2),
        buckets: Some(buckets),
        ..session_draft("aurora")
    };
    let session = tenant.convene(&draft, &noted("a \"note\"\n\u{1}\u{2}\u{3} \u{1f680}")).await;
    let session = session.unwrap();
    let (on, plain) = (session.id, Attribution::from(Actor::OPERATOR));
    tick();
    tenant.advance(on, SessionState::Collecting, &noted("")).await.unwrap();
    tick();
    file(tenant, ada, token, &session, "first").await;
    tick();
    file(tenant, ada, token, &session, "second").await;
    tick();
    let moved = Some(Some(moment("2999-11-21T14:00:00Z")));
    let quorum = Some(None);
    let patch = SessionPatch { window_closes_at: moved, quorum: None, ..SessionPatch::default() };
    tenant.amend_session(on, &patch, &noted("later")).await.unwrap();
    tenant
        .amend_session(on, &SessionPatch { quorum, ..SessionPatch::default() }, &plain)
        .await
        .unwrap();
    let roster = vec![RosterEntry { member_id: ada.clone(), excused: false }];
    tenant.freeze_roster(on, &Roster::parse(roster).unwrap(), &plain).await.unwrap();
    tick();
    for excused in [true, false] {
        tenant.excuse(on, ada, excused, &noted("why")).await.unwrap();
    }
    tenant.publish_brief(on, None, &noted("brief")).await.unwrap();
    tick();
    for state in [SessionState::WindowClosed, SessionState::Aggregated, SessionState::Published] {
        tenant.advance(on, state, &plain).await.unwrap();
        tick();
    }
}

async fn file(
    tenant: &Tenant,
    ada: &MemberId,
    token: &BearerToken,
    session: &Session,
    nonce: &str,
) {
    let author = Author { id: ada.clone(), token: token.hash(), keys: keys("ada") };
    let take = author.keys.sign(author.draft(session, nonce));
    tenant.submit(&token.hash(), &Submission::new(take)).await.unwrap();
}

async fn committee_acts(tenant: &Tenant, committee: &CommitteeTenant, tick: &impl Fn()) {
    let now: Timestamp = tenant.now().await.unwrap();
    let (date, subject_id) = (now.day(), crate::subject("aurora"));
    let key = committee.create_member(&committee_draft("grace"), &Actor::OPERATOR).await.unwrap();
    let order = SubjectOrder { date, subject_id: subject_id.clone() };
    committee.set_subject(&order, &operator()).await.unwrap();
    tick();
    let deadline = Some(now.plus_millis(3_600_000));
    let order = GenerationOrder { subject_id: None, deadline };
    committee.generate(&order, &Actor::SCHEDULE).await.unwrap();
    tick();
    committee.submit(&key, &posted("first")).await.unwrap();
    tick();
    let synthesis = object(&format!(r#"{{"date":"{date}","synthesis":"Neutral."}}"#));
    let synthesis = SynthesisOrder::read(&mut synthesis.clone()).unwrap();
    committee.set_synthesis(&synthesis, &operator()).await.unwrap();
    tick();
    committee.withdraw(date, &operator()).await.unwrap();
    let other = SubjectOrder { date: day("2030-01-01"), subject_id };
    committee.set_subject(&other, &operator()).await.unwrap();
    tick();
}
