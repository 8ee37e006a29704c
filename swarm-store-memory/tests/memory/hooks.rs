//! Hooks of an embedder: an observer, other texts, other paths.
#![allow(clippy::unwrap_used, reason = "a test panics")]

use std::sync::{Arc, Mutex};

use swarm_core::domain::{
    Actor, Attribution, Contact, Links, Mail, Member, MemberState, Seq, Session, SessionDraft,
    Subject,
};
use swarm_core::json::{Json, Object};
use swarm_core::rules::MailText;
use swarm_core::{Commit, CommittedRecord, MemberId, Swarm, SystemEntropy, Tenant, TenantId};
use swarm_store_memory::MemoryStore;
use swarm_testing::application;

#[tokio::test]
async fn observer_sees_exactly_the_commits() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&told);
    let observer = move |tenant: &TenantId, commit: Commit<'_>| {
        let what = match commit.record {
            CommittedRecord::Session(session) => format!("session {}", session.id),
            CommittedRecord::Member(member) => format!("member {}", member.state),
            CommittedRecord::Document(collection, document) => {
                format!("{collection} {}", document.key)
            }
            other => format!("{other:?}"),
        };
        let by = commit.by.as_ref().map_or("-", Actor::as_str);
        let act = commit.act.as_deref().unwrap_or("-");
        seen.lock().unwrap().push(format!("{tenant}: {what}: {act} by {by}"));
    };
    let swarm = Swarm::new(MemoryStore::new(), SystemEntropy)
        .observed_by(observer, |task| drop(tokio::spawn(task)));
    let tenant = swarm.tenant(&TenantId::parse("acme").unwrap());
    let session = || SessionDraft::read(&mut object(r#"{"date":"2026-11-21","subjectId":"s"}"#));
    assert!(
        tenant.convene(&session().unwrap(), &Attribution::from(Actor::OPERATOR)).await.is_err(),
        "there is no subject yet"
    );
    let subject = Subject::read(&mut object(r#"{"id":"s","name":"S"}"#)).unwrap();
    let _ = tenant.put_subject(&subject, &Actor::OPERATOR).await.unwrap();
    tenant.convene(&session().unwrap(), &Attribution::from(Actor::OPERATOR)).await.unwrap();
    let member = apply(&tenant).await;
    tenant.activate(&member, "https://acme.example", &Actor::OPERATOR).await.unwrap();
    tenant.activate(&member, "https://acme.example", &Actor::OPERATOR).await.unwrap();
    assert!(tenant.reject(&member, &Actor::OPERATOR).await.is_err(), "it is active");
    assert_eq!(
        *told.lock().unwrap(),
        [
            "acme: subjects s: subject by operator",
            "acme: session 1: session.convened by operator",
            "acme: member applied: - by -",
            "acme: member approved: member.activated by operator",
        ]
    );
}

#[tokio::test]
async fn commit_has_the_number_of_its_log_entry() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&told);
    let observer = move |_: &TenantId, commit: Commit<'_>| {
        let act = commit.act.map(|act| act.into_owned());
        seen.lock().unwrap().push((commit.entry, act));
    };
    let swarm = Swarm::new(MemoryStore::new(), SystemEntropy)
        .observed_by(observer, |task| drop(tokio::spawn(task)));
    let tenant = swarm.tenant(&TenantId::parse("acme").unwrap());
    let subject = Subject::read(&mut object(r#"{"id":"s","name":"S"}"#)).unwrap();
    let _ = tenant.put_subject(&subject, &Actor::OPERATOR).await.unwrap();
    let session = SessionDraft::read(&mut object(r#"{"date":"2026-11-21","subjectId":"s"}"#));
    let by = Attribution::from(Actor::OPERATOR);
    tenant.convene(&session.unwrap(), &by).await.unwrap();
    let member = apply(&tenant).await;
    tenant.activate(&member, "https://acme.example", &Actor::OPERATOR).await.unwrap();

    let entries = tenant.entries_after(Seq(0), 10).await.unwrap();
    assert_eq!(entries.len(), 3);
    let logged = entries.iter().map(|it| (Some(it.line.seq), Some(it.line.entry.event())));
    let mut expected: Vec<_> = logged.collect();
    // An application has no entry in the log.
    expected.insert(2, (None, None));
    assert_eq!(*told.lock().unwrap(), expected);
}

#[tokio::test]
async fn commit_stands_where_the_observer_panics() {
    let observer = |_: &TenantId, _: Commit<'_>| panic!("a defect of the observer");
    let swarm = Swarm::new(MemoryStore::new(), SystemEntropy)
        .observed_by(observer, |task| drop(tokio::spawn(task)));
    let tenant = swarm.tenant(&TenantId::parse("acme").unwrap());
    let member = apply(&tenant).await;
    tenant.activate(&member, "https://acme.example", &Actor::OPERATOR).await.unwrap();
}

#[tokio::test]
async fn activation_sends_no_mail_without_a_text() {
    let tenant = Swarm::new(MemoryStore::new(), SystemEntropy)
        .with_mail_text(Silent)
        .tenant(&TenantId::parse("acme").unwrap());
    let member = apply(&tenant).await;
    let state = tenant.activate(&member, &Paths, &Actor::OPERATOR).await.unwrap();
    assert_eq!(state, MemberState::Approved);
    assert!(tenant.outbox(None, 1).await.unwrap().messages.is_empty());
    tenant
        .test_mail(&Contact::parse("ada@example.org").unwrap(), &Paths, &Actor::OPERATOR)
        .await
        .unwrap();
    assert_eq!(tenant.outbox(None, 2).await.unwrap().messages.len(), 1, "other mails are sent");
}

/// The program itself tells members that they are active.
struct Silent;

impl MailText for Silent {
    fn approval(&self, _: &Member, _: &dyn Links) -> Option<Mail> {
        None
    }

    fn reminder(&self, member: &Member, session: &Session, links: &dyn Links) -> Mail {
        Terse.reminder(member, session, links)
    }

    fn test(&self, to: &Contact, links: &dyn Links) -> Mail {
        Terse.test(to, links)
    }
}

#[tokio::test]
async fn mail_uses_custom_text_and_links() {
    let swarm = Swarm::new(MemoryStore::new(), SystemEntropy).with_mail_text(Terse);
    let tenant = swarm.tenant(&TenantId::parse("acme").unwrap());
    let member = apply(&tenant).await;
    let state = tenant.activate(&member, &Paths, &Actor::OPERATOR).await.unwrap();
    assert_eq!(state, MemberState::Approved);
    let mail = &tenant.outbox(None, 1).await.unwrap().messages[0].mail;
    assert_eq!((mail.subject.as_str(), mail.body.as_str()), ("Welcome", "desk: ask, then claim"));
}

struct Terse;

impl MailText for Terse {
    fn approval(&self, member: &Member, links: &dyn Links) -> Option<Mail> {
        let (origin, challenge, claim) = (links.origin(), links.challenge(), links.token_claim());
        let body = format!("{origin}: {challenge}, then {claim}");
        Some(Mail { to: member.contact.clone(), subject: "Welcome".to_owned(), body })
    }

    fn reminder(&self, member: &Member, session: &Session, links: &dyn Links) -> Mail {
        let body = format!("{}: session {}", links.origin(), session.id);
        Mail { to: member.contact.clone(), subject: "Reminder".to_owned(), body }
    }

    fn test(&self, to: &Contact, links: &dyn Links) -> Mail {
        Mail { to: to.clone(), subject: "Test".to_owned(), body: links.origin() }
    }
}

struct Paths;

impl Links for Paths {
    fn origin(&self) -> String {
        "desk".to_owned()
    }

    fn challenge(&self) -> String {
        "ask".to_owned()
    }

    fn token_claim(&self) -> String {
        "claim".to_owned()
    }

    fn committee_submit(&self) -> String {
        "submit".to_owned()
    }
}

async fn apply(tenant: &Tenant) -> MemberId {
    tenant.apply(application("ada")).await.unwrap()
}

fn object(text: &str) -> Object {
    Json::read(text.as_bytes()).unwrap().into_object()
}
