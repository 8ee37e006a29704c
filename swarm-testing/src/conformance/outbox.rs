//! Messages to members.

use std::sync::Arc;

use crate::assertions::{ensure, expect_eq};
use crate::{FIRST, TestTenant, applicant, count, creation, id, key, mail, race, seed};
use swarm_core::domain::{Mail, MailState, Member, Message, MessageId, Timestamp};
use swarm_core::rules::Reminder;
use swarm_core::store::{
    MemberChange, MemberSaved, MessageChange, MessageQuery, ProvenChallenge, Queued, QueuedMail,
    Saved, Store, Versioned,
};

pub async fn mail_is_queued_in_commit_order(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    expect_eq!(tenant.messages(None, None).await, []);
    let before = tenant.now().await;
    let subjects = ["first", "\u{0}\r\n", "", "\u{1f680}", "5", "6", "7", "8", "9", "10", "11"];
    for subject in subjects {
        let mail = Some(Mail { body: subject.repeat(3), ..mail(subject) });
        let change = MemberChange { mail, ..creation(&applicant(&format!("member {subject}"))) };
        expect_eq!(tenant.save_member(&change).await, MemberSaved::Saved);
        tenant.edit(&change.member.id, |_| {}).await;
    }
    let after = tenant.now().await;
    let queued = tenant.messages(None, None).await;
    expect_eq!(queued.len(), subjects.len());
    for ((place, queued), subject) in (1..).zip(&queued).zip(subjects) {
        let mail = Mail { body: subject.repeat(3), ..mail(subject) };
        expect_eq!(queued.version, FIRST);
        ensure!(
            (before..=after).contains(&queued.record.queued_at),
            "a time by the store\'s clock, during the call",
            queued.record.queued_at
        );
        let member = Some(id(&format!("member {subject}")));
        let expected = mail.queued(MessageId(place), queued.record.queued_at);
        expect_eq!(*queued.record, Message { member, ..expected });
    }
}

pub async fn refused_change_queues_no_mail(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    let again = creation(&applicant("ada"));
    let unproven = MemberChange {
        proven: Some(ProvenChallenge(seed("challenge"))),
        ..tenant.edited(&id("ada"), |_| {}).await
    };
    let intruder = creation(&Member { public_key: Some(key("ada")), ..applicant("grace") });
    let refused = [
        (again, MemberSaved::Stale),
        (unproven, MemberSaved::Stale),
        (intruder, MemberSaved::KeyHeld(id("ada"))),
    ];
    for (change, outcome) in refused {
        let change = MemberChange { mail: Some(mail("lost")), ..change };
        expect_eq!(tenant.save_member(&change).await, outcome);
    }
    expect_eq!(tenant.messages(None, None).await, []);
}

pub async fn saved_message_round_trips(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let queued = queued(&tenant, "ada").await;
    let at = |millis| Timestamp::EPOCH.plus_millis(millis);
    let record = &queued.record;
    let leased = Message { attempts: 1, due_at: at(1), ..Message::clone(record) };
    let failed = Message { last_error: Some("\u{0}\r\n\u{1f680}".to_owned()), ..leased.clone() };
    let sent = Message { state: MailState::Sent, sent_at: Some(at(2)), ..failed.clone() };
    let mut expected = queued.version;
    for message in [leased, failed, sent] {
        let change = MessageChange::new(message.clone(), expected);
        expect_eq!(tenant.save_message(&change).await, Saved::Saved);
        expected = expected.next();
        let written = Versioned { version: expected, record: Arc::new(message) };
        expect_eq!(tenant.messages(None, None).await, [written]);
    }
}

pub async fn message_change_at_another_version_is_stale(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let queued = queued(&tenant, "ada").await;
    let message = Message::clone(&queued.record);
    let unknown = Message { id: MessageId(9), ..message.clone() };
    for (message, expected) in [
        (message.clone(), queued.version.next()),
        (unknown, queued.version),
        (Message { id: MessageId(0), ..message }, queued.version),
    ] {
        let change = MessageChange::new(message, expected);
        expect_eq!(tenant.save_message(&change).await, Saved::Stale);
    }
    expect_eq!(tenant.messages(None, None).await, [queued]);
}

pub async fn messages_are_found_by_latest_state(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let states = [MailState::Queued, MailState::Sent, MailState::Failed, MailState::Undeliverable];
    for (number, state) in states.into_iter().cycle().take(12).enumerate() {
        let queued = queued(&tenant, &format!("member {number}")).await;
        let message = Message { state, ..Message::clone(&queued.record) };
        let change = MessageChange::new(message, queued.version);
        expect_eq!(tenant.save_message(&change).await, Saved::Saved);
    }
    for (first, state) in (1..).zip(states) {
        let found = tenant.messages(Some(state), None).await;
        let ids: Vec<_> = found.iter().map(|message| message.record.id.0).collect();
        expect_eq!(ids, [first, first + 4, first + 8], "{state:?}");
    }
}

pub async fn messages_are_found_after_any_id(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for number in 1..=12 {
        let queued = queued(&tenant, &format!("member {number}")).await;
        let state = if number % 3 == 0 { MailState::Sent } else { MailState::Queued };
        let message = Message { state, ..Message::clone(&queued.record) };
        let change = MessageChange::new(message, queued.version);
        expect_eq!(tenant.save_message(&change).await, Saved::Saved);
    }
    for after in [0, 1, 2, 9, 10, 11, 12, 13, u64::MAX] {
        let found = |state| {
            let tenant = tenant.clone();
            async move {
                let found = tenant.messages(state, Some(MessageId(after))).await;
                found.iter().map(|message| message.record.id.0).collect::<Vec<_>>()
            }
        };
        let later = || (1..=12).filter(|id| *id > after);
        expect_eq!(found(None).await, later().collect::<Vec<_>>());
        let sent: Vec<u64> = later().filter(|id| id % 3 == 0).collect();
        expect_eq!(found(Some(MailState::Sent)).await, sent);
        let queued: Vec<u64> = later().filter(|id| id % 3 != 0).collect();
        expect_eq!(found(Some(MailState::Queued)).await, queued);
    }
}

pub async fn message_pages_are_complete(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for (number, state) in (1..=10).zip(MailState::ALL.into_iter().cycle()) {
        let queued = queued(&tenant, &format!("member {number}")).await;
        let message = Message { state, ..Message::clone(&queued.record) };
        let change = MessageChange::new(message, queued.version);
        expect_eq!(tenant.save_message(&change).await, Saved::Saved);
    }
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let page = MessageQuery { after, limit: 3, ..MessageQuery::ALL };
        let page = tenant.found_messages(&page).await;
        expect_eq!(page.len(), 3.min(10 - ids.len()), "after {after:?}");
        let Some(last) = page.last() else { break };
        after = Some(last.record.id);
        ids.extend(page.iter().map(|message| message.record.id.0));
    }
    expect_eq!(ids, (1..=10).collect::<Vec<_>>());
    let queued = MessageQuery { state: Some(MailState::Queued), limit: 1, ..MessageQuery::ALL };
    expect_eq!(tenant.found_messages(&queued).await.len(), 1);
}

pub async fn concurrent_leases_of_a_message_commit_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let queued = queued(&tenant, "ada").await;
    let lease = |racer: u32| {
        let message = Message { attempts: racer, ..Message::clone(&queued.record) };
        let (tenant, expected) = (tenant.clone(), queued.version);
        async move { tenant.save_message(&MessageChange::new(message, expected)).await }
    };
    let outcomes = race((0..32).map(lease)).await;
    expect_eq!((count(&outcomes, &Saved::Saved), count(&outcomes, &Saved::Stale)), (1, 31));
}

pub async fn reminder_is_queued_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("aurora").await;
    let expected = tenant.session(session.id).await.unwrap().version;
    let remind = |racer: u32| {
        // The text differs, as that of another server may.
        let mail = mail(&format!("reminder {racer}"));
        let reminder = Some(Reminder { member: id("ada"), session: session.id, expected });
        let tenant = tenant.clone();
        async move { tenant.queue_message(&QueuedMail { mail, reminder, operator_act: None }).await }
    };
    let outcomes = race((0..16).map(remind)).await;
    expect_eq!(count(&outcomes, &Queued::Before), 15);
    let reminder = |name: &str| Reminder { member: id(name), session: session.id, expected };
    let grace = QueuedMail {
        mail: mail("to grace"),
        reminder: Some(reminder("grace")),
        operator_act: None,
    };
    let _ = tenant.queue_message(&grace).await;
    let test = QueuedMail { mail: mail("test"), reminder: None, operator_act: None };
    let tests = [tenant.queue_message(&test).await, tenant.queue_message(&test).await];
    let queued = tenant.messages(None, None).await;
    let ids: Vec<_> = queued.iter().map(|message| message.record.id.0).collect();
    expect_eq!(ids, [1, 2, 3, 4]);
    let of =
        |message: &Versioned<Message>| Queued::Queued(message.record.id, message.record.queued_at);
    expect_eq!(count(&outcomes, &of(&queued[0])), 1);
    expect_eq!(tests, [of(&queued[2]), of(&queued[3])]);
    let members: Vec<_> = queued.iter().map(|message| message.record.member.clone()).collect();
    expect_eq!(members, [Some(id("ada")), Some(id("grace")), None, None]);
    let occasions: Vec<_> = queued.iter().map(|message| message.record.occasion.clone()).collect();
    let occasion = |name: &str| Some(reminder(name).occasion());
    expect_eq!(occasions, [occasion("ada"), occasion("grace"), None, None]);
    // It stays the only one once it is sent.
    let message = Message { state: MailState::Sent, ..Message::clone(&queued[1].record) };
    let sent = MessageChange::new(message, queued[1].version);
    expect_eq!(tenant.save_message(&sent).await, Saved::Saved);
    expect_eq!(tenant.queue_message(&grace).await, Queued::Before);
}

pub async fn reminder_is_guarded_by_its_session_and_by_takes(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("aurora").await;
    let author = tenant.author("ada").await;
    tenant.filed(&author, &session, "nonce").await;
    let reminder = |name: &str, expected| QueuedMail {
        mail: mail("reminder"),
        reminder: Some(Reminder { member: id(name), session: session.id, expected }),
        operator_act: None,
    };
    let version = tenant.session(session.id).await.unwrap().version;
    let filed = reminder(author.member().id.as_str(), version);
    expect_eq!(tenant.queue_message(&filed).await, Queued::Stale);
    let other = reminder("grace", version.next());
    expect_eq!(tenant.queue_message(&other).await, Queued::Stale);
    expect_eq!(tenant.messages(None, None).await, []);
    let (other, bob) = (tenant.convened("basalt").await, tenant.author("bob").await);
    tenant.filed(&bob, &other, "nonce").await;
    let elsewhere = tenant.queue_message(&reminder(bob.id.as_str(), version)).await;
    ensure!(matches!(elsewhere, Queued::Queued(..)), "who filed in another session", elsewhere);
}

/// Creates a member with a message, and returns the message.
async fn queued(tenant: &TestTenant, name: &str) -> Versioned<Message> {
    let change = MemberChange { mail: Some(mail("hello")), ..creation(&applicant(name)) };
    expect_eq!(tenant.save_member(&change).await, MemberSaved::Saved);
    tenant.messages(None, None).await.pop().unwrap()
}
