//! Deliveries: who tries when, and what is remembered of it (API.md, 7.5).

use swarm_core::domain::{MailState, Message, MessageId};
use swarm_core::rules::{Attempt, MAX_MAIL_ATTEMPTS, MessageChange, lease, settle};
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
fn a_message_that_is_due_is_one_servers_for_two_minutes() {
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
fn what_is_handed_over_has_no_error_any_more() {
    let sent = settled(2, Attempt::Sent);
    let (state, sent_at) = (MailState::Sent, Some(now().plus_millis(5)));
    let expected = Message { state, sent_at, last_error: None, ..leased(1).message };
    assert_eq!(sent, expected);
}

#[test]
fn what_failed_is_tried_again_later_each_time_until_the_last() {
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
fn what_cannot_be_delivered_is_not_tried_again() {
    let settled = settled(1, Attempt::Undeliverable("no address".to_owned()));
    let (state, last_error) = (MailState::Undeliverable, Some("no address".to_owned()));
    assert_eq!(settled, Message { state, last_error, ..leased(0).message });
}
