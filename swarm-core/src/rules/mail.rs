//! The delivery of a message: attempts and retries, by one server at a time (API.md, 7.5).

use super::Versioned;
use crate::domain::{MailState, Message, Timestamp, Version};

/// How long one server has for an attempt, in milliseconds: two minutes. Then another may try, so
/// that a message is sent at least once, whichever server is lost.
pub const LEASE_MILLIS: i64 = 2 * 60 * 1_000;

/// How often a message is tried before it counts as failed.
pub const MAIL_ATTEMPTS: u32 = 10;

/// The wait after the first attempt, in milliseconds: half a minute. It doubles with each one.
const FIRST_WAIT_MILLIS: i64 = 30 * 1_000;

/// The longest wait, in milliseconds: one hour.
const LONGEST_WAIT_MILLIS: i64 = 60 * 60 * 1_000;

/// The write of a message.
#[derive(Clone, Debug)]
pub struct MessageChange {
    /// The whole record to write.
    pub message: Message,
    /// The version that was judged.
    pub expected: Version,
}

/// What came of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The message was handed over.
    Sent,
    /// It was not, and may be tried again.
    Failed(String),
    /// The contact is nothing that mail can be sent to.
    Undeliverable(String),
}

/// Takes a message for an attempt, if it is due.
pub fn lease(message: &Versioned<Message>, now: Timestamp) -> Option<MessageChange> {
    let record = &message.record;
    let due = record.state == MailState::Queued && record.due_at <= now;
    due.then(|| MessageChange {
        message: Message {
            attempts: record.attempts.saturating_add(1),
            due_at: now.plus_millis(LEASE_MILLIS),
            ..Message::clone(record)
        },
        expected: message.version,
    })
}

/// Records what came of the attempt that `leased` took the message for.
pub fn settle(leased: &MessageChange, attempt: Attempt, now: Timestamp) -> MessageChange {
    let message = leased.message.clone();
    let settled = match attempt {
        Attempt::Sent => {
            Message { state: MailState::Sent, sent_at: Some(now), last_error: None, ..message }
        }
        Attempt::Undeliverable(error) => {
            Message { state: MailState::Undeliverable, last_error: Some(error), ..message }
        }
        Attempt::Failed(error) if message.attempts >= MAIL_ATTEMPTS => {
            Message { state: MailState::Failed, last_error: Some(error), ..message }
        }
        Attempt::Failed(error) => {
            let due_at = now.plus_millis(wait(message.attempts));
            Message { due_at, last_error: Some(error), ..message }
        }
    };
    MessageChange { message: settled, expected: leased.expected.next() }
}

/// The wait after so many attempts, in milliseconds.
fn wait(attempts: u32) -> i64 {
    let doubled = 2_i64.saturating_pow(attempts.saturating_sub(1));
    FIRST_WAIT_MILLIS.saturating_mul(doubled).min(LONGEST_WAIT_MILLIS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_an_hour() {
        let minutes: Vec<_> = (1..=9).map(|attempts| wait(attempts) / 30_000).collect();
        assert_eq!(minutes, [1, 2, 4, 8, 16, 32, 64, 120, 120]);
        assert_eq!(wait(u32::MAX), LONGEST_WAIT_MILLIS);
    }
}
