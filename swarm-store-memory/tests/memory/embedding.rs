//! A program that authenticates its members itself: no application, no token.
#![allow(clippy::unwrap_used, reason = "a test panics")]

use swarm_core::domain::{
    Actor, Contact, Enrolment, KeyReplacement, KeyReplacementRequest, Lens, LogEntry, MemberAct,
    MemberState, MemoDraft, Name, Seq,
};
use swarm_core::json::{Json, Object};
use swarm_core::rules::Draft;
use swarm_core::store::Caller;
use swarm_core::{Error, Refusal};
use swarm_testing::{Author, TestTenant, id};

const HOST: Actor = Actor::OPERATOR;

async fn tenant() -> TestTenant {
    TestTenant::fresh(swarm_store_memory::MemoryStore::new()).await
}

pub(crate) fn enrolment(author: &Author) -> Enrolment {
    let (name, contact) = (Name::parse("Ada").unwrap(), Contact::parse("customer 7").unwrap());
    Enrolment::new(author.id.clone(), name, contact, author.key())
}

#[tokio::test]
async fn enrolled_member_files_without_a_token() {
    for cached in [false, true] {
        let tenant = tenant().await;
        let desk = if cached { tenant.cached_service() } else { tenant.service() };
        let (ada, session) = (Author::named("ada"), tenant.convened("aurora").await);
        let member = desk.enrol(&enrolment(&ada), &HOST).await.unwrap();
        assert_eq!((member.state, member.token), (MemberState::Approved, None));
        assert!(tenant.messages(None, None).await.is_empty(), "no mail");
        let entry = desk.entries_after(Seq(0), 10).await.unwrap().pop().unwrap().line.entry;
        let LogEntry::Member(entry) = entry else { panic!("{entry:?}") };
        assert_eq!((entry.act, entry.public_key), (MemberAct::Enrolled, Some(ada.key())));

        let caller = Caller::Authenticated(&ada.id);
        let draft = Draft::from(ada.submission(&session, "1"));
        assert!(desk.preflight(caller, &draft).await.unwrap().findings.is_empty());
        for revision in 1..=3 {
            let take = ada.submission(&session, &format!("{revision}"));
            assert_eq!(desk.submit(caller, &take).await.unwrap().revision.get(), revision);
        }
        assert_eq!(desk.standings(caller).await.unwrap().sessions.len(), 1);
        let memo = Json::read(br#"{"title":"t","body":"b"}"#).unwrap().into_object();
        let memo = MemoDraft::read(&mut Object::clone(&memo)).unwrap();
        assert_eq!(desk.publish_memo(caller, memo).await.unwrap().member_id, ada.id);
    }
}

#[tokio::test]
async fn authenticated_member_replaces_its_own_key() {
    let tenant = tenant().await;
    let (desk, ada, successor) =
        (tenant.service(), Author::named("ada"), Author::named("successor"));
    let session = tenant.convened("aurora").await;
    desk.enrol(&enrolment(&ada), &HOST).await.unwrap();
    let replacement = KeyReplacement {
        member_id: ada.id.clone(),
        public_key: successor.key().to_string(),
        replaces: ada.key().to_string(),
    };
    let by = |author: &Author| author.keys.sign(replacement.clone()).signature;
    let request = |endorser: &Author| KeyReplacementRequest {
        public_key: replacement.public_key.clone(),
        endorsement: by(endorser),
        proof: by(&successor),
    };
    let caller = Caller::Authenticated(&ada.id);
    // The host does not vouch for the key.
    let forged = desk.replace_own_key(caller, &request(&successor)).await;
    assert!(matches!(forged, Err(Error::Refused(Refusal::BadKeyReplacement { .. }))), "{forged:?}");
    let stranger = desk.replace_own_key(Caller::Authenticated(&successor.id), &request(&ada)).await;
    assert!(matches!(stranger, Err(Error::Refused(Refusal::UnknownToken))), "{stranger:?}");

    let member = desk.replace_own_key(caller, &request(&ada)).await.unwrap();
    assert_eq!(member.public_key, Some(successor.key()));
    let signed_by = |keys: &Author, nonce| keys.sign(ada.draft(&session, nonce));
    let old = desk.submit(caller, &signed_by(&ada, "old")).await;
    assert!(
        matches!(old, Err(Error::Refused(rejection)) if rejection.reason == Refusal::BadSignature)
    );
    desk.submit(caller, &signed_by(&successor, "new")).await.unwrap();
}

/// The host vouches for who calls, for nothing else.
#[tokio::test]
async fn authenticated_member_passes_all_other_checks() {
    let tenant = tenant().await;
    let desk = tenant.service();
    let (ada, bob) = (Author::named("ada"), Author::named("bob"));
    let session = tenant.convened("aurora").await;
    for author in [&ada, &bob] {
        desk.enrol(&enrolment(author), &HOST).await.unwrap();
    }
    let refused = async |caller: &Author, by: &Author| {
        let take = by.sign(caller.draft(&session, "one"));
        match desk.submit(Caller::Authenticated(&caller.id), &take).await {
            Err(Error::Refused(rejection)) => rejection.reason,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(refused(&ada, &bob).await, Refusal::BadSignature));
    let of_bob = bob.submission(&session, "one");
    let mismatch = desk.submit(Caller::Authenticated(&ada.id), &of_bob).await;
    assert!(
        matches!(mismatch, Err(Error::Refused(rejection)) if rejection.reason == Refusal::TokenMismatch)
    );
    desk.deactivate(&ada.id, &HOST).await.unwrap();
    assert_eq!(refused(&ada, &ada).await, Refusal::UnknownToken);
    assert_eq!(refused(&Author::named("eve"), &ada).await, Refusal::UnknownToken);
}

#[tokio::test]
async fn enrolment_of_a_known_id_or_key_is_refused() {
    let tenant = tenant().await;
    let (desk, ada) = (tenant.service(), Author::named("ada"));
    desk.enrol(&enrolment(&ada), &HOST).await.unwrap();
    let again = desk.enrol(&enrolment(&ada), &HOST).await;
    assert!(matches!(again, Err(Error::Refused(Refusal::MemberExists))));
    let mut twin = enrolment(&ada);
    twin.id = id("twin");
    let held = desk.enrol(&twin, &HOST).await;
    assert!(
        matches!(held, Err(Error::Refused(Refusal::KeyRegistered(holder))) if holder == ada.id)
    );
}

/// The owner of the key signed the application, so it makes way.
#[tokio::test]
async fn enrolment_rejects_a_pending_application_with_its_key() {
    let tenant = tenant().await;
    let (desk, ada) = (tenant.service(), Author::named("ada"));
    let application = swarm_core::domain::Application {
        name: Name::parse("Ada").unwrap(),
        contact: Contact::parse("ada@example.org").unwrap(),
        lens: Lens::none(),
        public_key: ada.key().to_string(),
    };
    let applicant = desk.apply(ada.keys.sign(application)).await.unwrap();
    desk.enrol(&enrolment(&ada), &HOST).await.unwrap();
    assert_eq!(desk.application(&applicant).await.unwrap().state, MemberState::Rejected);
}
