//! Delivery of messages: leases, retries and outcomes (API.md, 7.5).

use swarm_core::domain::{Actor, MailState, Message, MessageId};
use swarm_core::rules::{
    Attempt, MAX_MAIL_ATTEMPTS, MessageChange, Refusal, cancel, lease, retry, settle,
};
use swarm_testing::mail;

use super::{JUDGED, now, versioned};

fn queued() -> Message {
    mail("Hello").queued(MessageId(1), now())
}

fn leased(attempts: u32) -> MessageChange {
    let last_error = Some("before".to_owned());
    lease(&versioned(Message { attempts, last_error, ..queued() }), now()).unwrap()
}

fn settled(attempts: u32, attempt: Attempt) -> Message {
    let leased = leased(attempts - 1);
    let change = settle(&leased, attempt, now().plus_millis(5));
    assert_eq!(change.expected, leased.expected.next());
    change.message
}

#[test]
fn due_message_is_leased_for_two_minutes() {
    let change = lease(&versioned(queued()), now()).unwrap();
    let due_at = now().plus_millis(120_000);
    assert_eq!(change.message, Message { attempts: 1, due_at, ..queued() });
    assert_eq!(change.expected, JUDGED);
    assert!(lease(&versioned(queued()), now().plus_millis(-1)).is_none());
    for state in [MailState::Sent, MailState::Failed, MailState::Undeliverable] {
        assert!(lease(&versioned(Message { state, ..queued() }), now()).is_none(), "{state}");
    }
}

#[test]
fn sent_message_has_no_error() {
    let sent = settled(2, Attempt::Sent);
    let (state, sent_at) = (MailState::Sent, Some(now().plus_millis(5)));
    let expected = Message { state, sent_at, last_error: None, ..leased(1).message };
    assert_eq!(sent, expected);
}

#[test]
fn failed_attempts_back_off_until_the_last() {
    let why = || Some("why".to_owned());
    for (attempts, seconds) in [
        (1, 30),
        (2, 60),
        (3, 120),
        (4, 240),
        (5, 480),
        (6, 960),
        (7, 1_920),
        (8, 3_600),
        (9, 3_600),
    ] {
        let due_at = now().plus_millis(5 + seconds * 1_000);
        let expected = Message { due_at, last_error: why(), ..leased(attempts - 1).message };
        assert_eq!(settled(attempts, Attempt::Failed("why".to_owned())), expected);
    }
    assert_eq!(MAX_MAIL_ATTEMPTS, 10);
    for attempts in [10, 11] {
        let expected =
            Message { state: MailState::Failed, last_error: why(), ..leased(attempts - 1).message };
        assert_eq!(settled(attempts, Attempt::Failed("why".to_owned())), expected);
    }
}

#[test]
fn undeliverable_message_is_not_retried() {
    let settled = settled(1, Attempt::Undeliverable("no address".to_owned()));
    let (state, last_error) = (MailState::Undeliverable, Some("no address".to_owned()));
    assert_eq!(settled, Message { state, last_error, ..leased(0).message });
}

#[test]
fn unsent_message_is_queued_again_or_cancelled() {
    let later = now().plus_millis(5);
    for state in MailState::ALL {
        let message = versioned(Message { state, attempts: 10, ..queued() });
        let (queued_again, given_up) =
            (retry(&message, later, &Actor::OPERATOR), cancel(&message, &Actor::OPERATOR));
        if state == MailState::Sent {
            assert_eq!(queued_again.unwrap_err(), Refusal::MessageIs(state));
            assert_eq!(given_up.unwrap_err(), Refusal::MessageIs(state));
            continue;
        }
        let queued_again = queued_again.unwrap();
        assert_eq!(queued_again.message, Message { due_at: later, ..queued() });
        assert_eq!(queued_again.expected, JUDGED);
        let last_error = Some("cancelled by an operator".to_owned());
        let cancelled =
            Message { state: MailState::Cancelled, attempts: 10, last_error, ..queued() };
        assert_eq!(given_up.unwrap().message, cancelled);
    }
}
