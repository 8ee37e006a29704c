//! Erasure, and the retention of applications (API.md, 7.8).

use swarm_core::Refusal;
use swarm_core::domain::{
    Actor, Contact, Lens, Mail, MailState, Member, MemberState, Message, MessageId, Name,
};
use swarm_core::rules::{activate, erase, erase_message, is_message_to, is_past_retention, retry};
use swarm_testing::{applicant, claimed, id, mail};

use super::{JUDGED, entry_text, now, versioned};

use MemberState::{Applied, Approved, Claimed, Inactive, Rejected};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

#[test]
fn erasure_keeps_key_and_times() {
    for (state, becomes) in [(Applied, Rejected), (Rejected, Rejected), (Inactive, Inactive)] {
        let member = match state {
            Inactive => Member { state, ..claimed("ada") },
            state => Member { state, ..applicant("ada") },
        };
        let change = erase(&versioned(member.clone()), &Actor::OPERATOR).unwrap().unwrap();
        let erased = Member {
            name: Name::parse("erased").unwrap(),
            contact: Contact::erased(),
            lens: Lens::none(),
            token: None,
            token_claimed_at: None,
            state: becomes,
            ..member
        };
        assert_eq!((&change.member, change.expected), (&erased, Some(JUDGED)));
        // Only what was public leaves an entry.
        let entry = change.act.as_ref().map(entry_text);
        assert_eq!(entry.is_some(), state == Inactive);
        assert!(entry.is_none_or(|entry| entry.contains(r#""act":"erased""#)));

        let erased = versioned(erased);
        assert!(erase(&erased, &Actor::OPERATOR).unwrap().is_none());
        let activated = activate(&erased, |_| None, now(), &Actor::OPERATOR);
        assert_eq!(activated.unwrap_err(), Refusal::MemberErased);
    }
    for state in [Approved, Claimed] {
        let active = versioned(Member { state, ..claimed("ada") });
        let refused = erase(&active, &Actor::OPERATOR).unwrap_err();
        assert_eq!(refused, Refusal::MemberIs(state));
    }
}

/// The contact may have been changed after the message was queued, and another member may have the same one.
#[test]
fn message_belongs_to_the_member_that_it_is_for() {
    let ada = applicant("ada");
    let message = |member: Option<&str>, to: &str| {
        let mail = Mail { to: Contact::parse(to).unwrap(), ..mail("a body") };
        Message { member: member.map(id), ..mail.queued(MessageId(1), now()) }
    };
    let contact = ada.contact.as_str().to_owned();
    for (message, is_hers) in [
        (message(Some("ada"), "before@example.org"), true),
        (message(Some("grace"), &contact), false),
        (message(None, &contact), true),
        (message(None, "else@example.org"), false),
    ] {
        assert_eq!(is_message_to(&message, &ada), is_hers, "{message:?}");
    }
}

#[test]
fn erased_message_is_cancelled() {
    let queued = mail("a body").queued(MessageId(1), now());
    let failed = Message { last_error: Some("550 <ada@example.org>".to_owned()), ..queued };
    for state in MailState::ALL {
        let change = erase_message(&versioned(Message { state, ..failed.clone() })).unwrap();
        let becomes = if state == MailState::Sent { state } else { MailState::Cancelled };
        let erased = change.message;
        assert_eq!((erased.state, &erased.last_error), (becomes, &None));
        assert_eq!((erased.mail.subject.as_str(), erased.mail.body.as_str()), ("erased", "erased"));
        assert!(erased.mail.to.is_erased());
        let erased = versioned(erased);
        assert!(erase_message(&erased).is_none());
        assert_eq!(
            retry(&erased, now(), &Actor::OPERATOR).unwrap_err(),
            Refusal::MessageIs(becomes)
        );
    }
}

/// To the millisecond; of a rejected one from its review on.
#[test]
fn retention_counts_from_application_or_review() {
    let since = now();
    let pending = Member { applied_at: since, ..applicant("ada") };
    let rejected = Member {
        state: Rejected,
        applied_at: since.plus_millis(-9 * DAY_MILLIS),
        reviewed_at: Some(since),
        ..applicant("ada")
    };
    for application in [&pending, &rejected] {
        let after = |millis| is_past_retention(application, 3, since.plus_millis(millis));
        assert!(!after(0) && !after(3 * DAY_MILLIS - 1) && after(3 * DAY_MILLIS));
    }
    let later = since.plus_millis(1_000 * DAY_MILLIS);
    for state in [Approved, Claimed, Inactive] {
        let member = Member { state, ..claimed("ada") };
        assert!(!is_past_retention(&member, 1, later), "{state}");
    }
    let erased = erase(&versioned(pending), &Actor::OPERATOR).unwrap().unwrap().member;
    assert!(!is_past_retention(&erased, 1, later));
}
