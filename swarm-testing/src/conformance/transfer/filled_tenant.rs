//! A tenant with records of every kind.

use std::sync::Arc;

use crate::assertions::{ensure, expect_eq};
use crate::committee::{self, TestCommittee};
use crate::{
    Author, TestTenant, act, applicant, creation, id, log_scenario_in, mail, odd_texts,
    session_draft,
};
use swarm_core::Take;
use swarm_core::domain::{
    Actor, Attribution, Day, MailState, Member, MemberState, Message, Note, Session, SessionDraft,
    SessionId,
};
use swarm_core::proof::ApiKey;
use swarm_core::rules;
use swarm_core::rules::Reminder;
use swarm_core::store::{
    Aggregation, Collection, DocumentDraft, MemberChange, MemberSaved, MessageChange, Put, Queued,
    QueuedMail, Saved, Store,
};

pub(super) struct FilledTenant {
    pub(super) tenant: TestTenant,
    /// A member that has filed takes.
    pub(super) author: Author,
    /// The newest session, with takes of two members.
    pub(super) session: Arc<Session>,
    /// The last take of the author in it.
    pub(super) last: Arc<Take>,
    /// The key of a member of the committee.
    pub(super) seat: ApiKey,
    /// The latest day of the committee.
    pub(super) day: Day,
}

impl FilledTenant {
    pub(super) async fn of(store: &Store) -> Self {
        let tenant = TestTenant::fresh(store.clone()).await;
        log_scenario_in(&tenant.id, store.clone(), || ()).await;
        people(&tenant).await;
        reminder(&tenant).await;
        let author = tenant.author("author").await;
        let other = tenant.author("other author").await;
        blind_sessions(&tenant, &author).await;
        marked_takes(&tenant).await;
        let session = tenant.convened("filled").await;
        tenant.filed(&author, &session, "1").await;
        tenant.filed(&other, &session, "1").await;
        let last = tenant.filed(&author, &session, "2").await;
        let committee = TestCommittee::open(store.clone(), tenant.id.clone());
        let seat = committee.seat("seat").await;
        let day = committee.generated(committee::far()).await;
        committee.filed(&seat, day, "first").await;
        committee.filed(&seat, day, "second").await;
        // Last, since the service cannot read them.
        documents(&tenant).await;
        Self { tenant, author, session, last, seat, day }
    }
}

/// A blind session that is opened, and one that is sealed.
async fn blind_sessions(tenant: &TestTenant, author: &Author) {
    for subject in ["opened", "sealed"] {
        let draft = SessionDraft { blind: true, ..session_draft(subject) };
        let session = tenant.convene(&draft).await;
        for nonce in ["first", "second"] {
            tenant.filed(author, &session, &format!("{subject} {nonce}")).await;
        }
        if subject == "opened" {
            let aggregation = Aggregation { session: session.id, by: Attribution::SCHEDULE };
            tenant.aggregate(&aggregation).await.unwrap();
        }
    }
}

/// Takes whose texts are withheld, restored and erased, in a blind and in another session.
async fn marked_takes(tenant: &TestTenant) {
    let by = Attribution::from(Actor::OPERATOR);
    for blind in [false, true] {
        let draft = SessionDraft { blind, ..session_draft("marked") };
        let session = tenant.convene(&draft).await;
        let authors = ["withheld", "restored", "erased"];
        for name in authors {
            let author = Author::named(&format!("{name} {blind}"));
            tenant.create(&author.member()).await;
            tenant.filed(&author, &session, "said").await;
        }
        let aggregation = Aggregation { session: session.id, by: by.clone() };
        tenant.aggregate(&aggregation).await.unwrap();
        for (name, take) in authors.iter().zip(tenant.takes(session.id).await) {
            let note = Note::parse(*name).unwrap();
            let session = tenant.session(session.id).await.unwrap();
            let withheld = rules::withhold(&session, &take, note, &by).unwrap();
            ensure!(tenant.mark_takes(&withheld).await.is_some(), "withheld", withheld);
            let session = tenant.session(session.record.id).await.unwrap();
            let take = tenant.take(take.id).await.unwrap().take.whole().cloned().unwrap();
            let marks = match *name {
                "restored" => rules::restore(&session, &take, &by).unwrap(),
                "erased" => {
                    let member = tenant.stored(&take.draft().member_id).await;
                    let member = (member.record.id.clone(), member.version);
                    rules::erase_texts(&session, &[take], member, &by).unwrap().unwrap()
                }
                _ => continue,
            };
            ensure!(tenant.mark_takes(&marks).await.is_some(), "marked", marks);
        }
    }
}

/// Members in every state, and messages in every state.
async fn people(tenant: &TestTenant) {
    for state in MemberState::ALL {
        tenant.create(&Member { state, ..applicant(state.as_str()) }).await;
    }
    tenant.create(&Member { public_key: None, ..applicant("without key") }).await;
    for state in MailState::ALL {
        let name = format!("with mail {}", state.as_str());
        let change = MemberChange { mail: Some(mail(&name)), ..creation(&applicant(&name)) };
        expect_eq!(tenant.save_member(&change).await, MemberSaved::Saved);
        let queued = tenant.messages(None, None).await.pop().unwrap();
        let message = Message { state, attempts: 3, ..Message::clone(&queued.record) };
        let change = MessageChange::new(message, queued.version);
        expect_eq!(tenant.save_message(&change).await, Saved::Saved);
    }
}

/// A reminder, which is queued once, also after the tenant was moved.
async fn reminder(tenant: &TestTenant) {
    let session = tenant.convened("reminded").await;
    let expected = tenant.session(session.id).await.unwrap().version;
    let reminder = Some(Reminder { member: id("ada"), session: session.id, expected });
    let queued = tenant
        .queue_message(&QueuedMail { mail: mail("reminder"), reminder, operator_act: None })
        .await;
    ensure!(matches!(queued, Queued::Queued(..)), "queued", queued);
}

/// Documents with odd keys and groups, some of them replaced.
async fn documents(tenant: &TestTenant) {
    for text in odd_texts() {
        let put = tenant.put_document(Collection::Signals, &document(&text, &text)).await;
        ensure!(matches!(put, Put::Created(_)), "created", put);
    }
    let _ = tenant.put_document(Collection::Signals, &document("odd", "group")).await;
    let held = DocumentDraft { held_until: Some(SessionId(1)), ..document("held", "group") };
    let put = tenant.put_document(Collection::Memos, &held).await;
    ensure!(matches!(put, Put::Created(_)), "created", put);
    for collection in Collection::ALL {
        for key in ["first replaced", "second"] {
            let _ = tenant.put_document(collection, &document(key, "group")).await;
        }
        let json = " {\"replaced\": \"\u{1f680}\\n\"} ".to_owned();
        let draft = DocumentDraft { replace: true, json, ..document("first replaced", "group") };
        let _ = tenant.put_document(collection, &draft).await;
    }
}

pub(super) fn document(key: &str, group: &str) -> DocumentDraft {
    DocumentDraft {
        held_until: None,
        key: Some(key.to_owned()),
        group: group.to_owned(),
        json: format!("{{\"of\":{}}}", key.len()),
        replace: false,
        guard: None,
        quota: None,
        act: Some(act("filled")),
    }
}
