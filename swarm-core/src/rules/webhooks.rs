//! Events for webhooks, and their delivery with attempts and retries, by one server at a time (API.md, 15).

use serde::Serialize;

use super::erasure::ERASED;
use super::mail::{LEASE_MILLIS, MAX_BACKOFF_MILLIS, MAX_MAIL_ATTEMPTS, backoff};
use super::{ScheduledWindow, Versioned};
use crate::domain::json::{Json, write};
use crate::domain::{
    Actor, Day, Delivery, DeliveryDraft, DeliveryState, Digest, LogLine, MailState, Member,
    MemberId, Message, MessageId, Name, Notice, NoticeDraft, OperatorAct, Session, SubjectId,
    Timestamp, Version, Webhook, hex,
};

/// How long deliveries and notices are kept, in milliseconds: seven days. An event that is older is not delivered.
pub const WEBHOOK_RETENTION_MILLIS: i64 = 7 * Timestamp::DAY_MILLIS;

/// The most deliveries to a webhook that wait. Later events wait in the log.
pub(crate) const MAX_QUEUED_DELIVERIES: u64 = 10_000;

/// The event that tests a webhook.
const TEST_EVENT: &str = "webhook.test";

/// The event that a session closes soon.
pub const CLOSING_EVENT: &str = "session.closing";

/// The event that the store begins to refuse commits.
pub const STORE_REFUSED: &str = "store.refused";

/// The event that the store takes commits again.
pub const STORE_READY: &str = "store.ready";

/// A change of a webhook's progress, with the deliveries that it queues.
#[derive(Clone, Debug)]
pub struct WebhookChange {
    /// The complete new record.
    pub webhook: Webhook,
    /// Guard: the version that was read; `None`: there must be none.
    pub expected: Option<Version>,
    /// Deliveries to queue with the commit.
    pub deliveries: Vec<DeliveryDraft>,
    /// The act of the operator who makes the change, if any. The first delivery is its target.
    pub operator_act: Option<OperatorAct>,
    /// Whether this process reports the tenant as changed, so that the deliveries are made at once.
    pub wakes: bool,
}

/// A change of a delivery.
#[derive(Clone, Debug)]
pub struct DeliveryChange {
    /// The complete new record.
    pub delivery: Delivery,
    /// Guard: the version that was judged.
    pub expected: Version,
    /// The act of the operator who makes the change, if any.
    pub operator_act: Option<OperatorAct>,
    /// Whether this process reports the tenant as changed, so that the delivery is made at once.
    pub wakes: bool,
}

/// Why an attempt to deliver failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeliveryFault {
    /// It failed for this reason, and is repeated.
    Failed(String),
    /// It failed for this reason, and the receiver asks that it is not repeated for so many milliseconds.
    Busy(String, i64),
    /// It failed for this reason, and the receiver wants no repetition.
    Refused(String),
}

impl DeliveryFault {
    /// Returns the reason.
    pub fn why(&self) -> &str {
        match self {
            Self::Failed(why) | Self::Busy(why, _) | Self::Refused(why) => why,
        }
    }

    /// How long the next attempt waits after so many of them, in milliseconds: no longer than the longest backoff, whatever the receiver
    /// asks for. `None` if there is none.
    fn wait(&self, attempts: u32) -> Option<i64> {
        let planned = (attempts < MAX_MAIL_ATTEMPTS).then(|| backoff(attempts))?;
        match self {
            Self::Failed(_) => Some(planned),
            Self::Busy(_, asked) => Some(planned.max(*asked).min(MAX_BACKOFF_MILLIS)),
            Self::Refused(_) => None,
        }
    }
}

/// Returns whether an event of this time is too old to be delivered.
pub(crate) fn is_past_delivery(at: Timestamp, now: Timestamp) -> bool {
    at.plus_millis(WEBHOOK_RETENTION_MILLIS) < now
}

/// Returns the delivery of an entry of the log with this number. The same entry always has the same id, and another entry
/// another one, also after a store went back.
pub(crate) fn entry_delivery(url: &str, log: u64, line: &LogLine) -> DeliveryDraft {
    let text = line.text();
    delivery(url, &format!("log {log} {text}"), &line.entry.event(), line.at, &text)
}

/// Returns the delivery of a notice.
pub(crate) fn notice_delivery(url: &str, notice: &Notice) -> DeliveryDraft {
    let Notice { at, event, name, data, .. } = notice;
    delivery(url, &format!("notice {event} {name}"), event, *at, data)
}

/// Returns the delivery that tests a webhook. The version of the webhook makes it unique: queueing it gives the webhook the next
/// one.
pub(crate) fn test_delivery(url: &str, version: Version, now: Timestamp) -> DeliveryDraft {
    delivery(url, &format!("test {version} {now}"), TEST_EVENT, now, "{}")
}

/// Returns the delivery: a session closes soon. `missing` are the expected members that have not filed.
pub(crate) fn closing_delivery(
    url: &str,
    session: &Session,
    filed: usize,
    missing: &[(MemberId, Name)],
    now: Timestamp,
) -> DeliveryDraft {
    #[derive(Serialize)]
    struct Closing<'a> {
        session: &'a Session,
        filed: usize,
        missing: Vec<Missing<'a>>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Missing<'a> {
        member_id: &'a MemberId,
        name: &'a Name,
    }
    let missing = missing.iter().map(|(member_id, name)| Missing { member_id, name }).collect();
    let data = write(&Closing { session, filed, missing });
    let deadline = session.window_closes_at.unwrap_or(Timestamp::EPOCH);
    delivery(url, &format!("closing {} {deadline}", session.id), CLOSING_EVENT, now, &data)
}

fn delivery(url: &str, cause: &str, event: &str, at: Timestamp, data: &str) -> DeliveryDraft {
    let digest = Digest::of(format!("{url}\n{cause}").as_bytes());
    let event_id = format!("evt_{}", hex(digest.as_bytes().get(..16).unwrap_or_default()));
    let (name, at) = (write(event), write(&at));
    let body = format!("{{\"type\":{name},\"timestamp\":{at},\"data\":{data}}}");
    DeliveryDraft { url: url.to_owned(), event_id, event: event.to_owned(), body }
}

/// Erases the name of a member from a delivery that has it. `None` if it has not.
pub(crate) fn erase_from_delivery(
    delivery: &Versioned<Delivery>,
    member: &MemberId,
) -> Option<DeliveryChange> {
    let draft = &delivery.record.draft;
    if draft.event != CLOSING_EVENT {
        return None;
    }
    let mut body = Json::read(draft.body.as_bytes()).ok()?.into_object();
    let Json::Object(data) = body.get_mut("data")? else { return None };
    let Json::List(missing) = data.get_mut("missing")? else { return None };
    let mut is_changed = false;
    for row in missing {
        let Json::Object(row) = row else { continue };
        if row.get_mut("memberId") != Some(&mut Json::from(member.as_str())) {
            continue;
        }
        let name = row.get_mut("name")?;
        is_changed |= *name != Json::from(ERASED);
        *name = Json::from(ERASED);
    }
    is_changed.then(|| DeliveryChange {
        delivery: Delivery {
            draft: DeliveryDraft { body: write(&body), ..draft.clone() },
            ..Delivery::clone(&delivery.record)
        },
        expected: delivery.version,
        operator_act: None,
        wakes: false,
    })
}

/// Returns the notice: somebody applied.
pub(crate) fn application_received(member: &Member) -> NoticeDraft {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Received<'a> {
        member_id: &'a MemberId,
    }
    let data = write(&Received { member_id: &member.id });
    NoticeDraft { event: "application.received", name: member.id.to_string(), data }
}

/// Returns the notice: a message is not delivered, and is not tried again by itself. `None` in other states.
pub(crate) fn mail_undelivered(message: &Message) -> Option<NoticeDraft> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Undelivered<'a> {
        message_id: MessageId,
        member_id: Option<&'a MemberId>,
        state: MailState,
    }
    let Message { id, state, member, due_at, .. } = message;
    if !matches!(state, MailState::Failed | MailState::Undeliverable) {
        return None;
    }
    let data = write(&Undelivered { message_id: *id, member_id: member.as_ref(), state: *state });
    // Queued again by an operator, it may be undelivered again.
    Some(NoticeDraft { event: "mail.undelivered", name: format!("{id} {due_at}"), data })
}

/// Returns the notice: the schedule convened no session for a window.
pub(crate) fn schedule_skipped(window: &ScheduledWindow<'_>, reason: &str) -> NoticeDraft {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Skipped<'a> {
        subject_id: &'a SubjectId,
        date: Day,
        reason: &'a str,
    }
    let data = write(&Skipped { subject_id: window.subject_id, date: window.day, reason });
    NoticeDraft { event: "schedule.skipped", name: window.name(), data }
}

/// Returns the notice: the store refuses commits, or takes them again. `occasion` names the refusal.
pub(crate) fn store_condition(is_ready: bool, occasion: &str, reason: &str) -> NoticeDraft {
    #[derive(Serialize)]
    struct Condition<'a> {
        reason: &'a str,
    }
    let event = if is_ready { STORE_READY } else { STORE_REFUSED };
    NoticeDraft { event, name: occasion.to_owned(), data: write(&Condition { reason }) }
}

/// Returns a delivery of `store.refused` for a store that does not answer, or is not ready, since this time. The delivery is kept in
/// memory, since no store can keep it.
pub(crate) fn outage_delivery(url: &str, since: Timestamp, reason: &str) -> DeliveryDraft {
    let notice = store_condition(false, "", reason);
    delivery(url, &format!("outage {since}"), STORE_REFUSED, since, &notice.data)
}

/// Returns the notice: the store is ready again, after an outage since this time.
pub(crate) fn store_answers(since: Timestamp) -> NoticeDraft {
    store_condition(true, &format!("outage {since}"), "the store is ready again")
}

/// Leases a delivery for an attempt, if it is due.
pub(crate) fn lease_delivery(
    delivery: &Versioned<Delivery>,
    now: Timestamp,
) -> Option<DeliveryChange> {
    let record = &delivery.record;
    let due = record.state == DeliveryState::Queued && record.due_at <= now;
    due.then(|| DeliveryChange {
        delivery: Delivery {
            attempts: record.attempts.saturating_add(1),
            due_at: now.plus_millis(LEASE_MILLIS),
            ..Delivery::clone(record)
        },
        expected: delivery.version,
        operator_act: None,
        wakes: false,
    })
}

/// Records the outcome of the attempt that the delivery was leased for.
pub(crate) fn settle_delivery(
    leased: &DeliveryChange,
    outcome: Result<(), DeliveryFault>,
    now: Timestamp,
) -> DeliveryChange {
    let delivery = leased.delivery.clone();
    let settled = match outcome {
        Ok(()) => Delivery {
            state: DeliveryState::Delivered,
            delivered_at: Some(now),
            last_error: None,
            ..delivery
        },
        Err(fault) => {
            let (wait, last_error) = (fault.wait(delivery.attempts), Some(fault.why().to_owned()));
            match wait {
                Some(wait) => Delivery { due_at: now.plus_millis(wait), last_error, ..delivery },
                None => Delivery { state: DeliveryState::Failed, last_error, ..delivery },
            }
        }
    };
    DeliveryChange {
        delivery: settled,
        expected: leased.expected.next(),
        operator_act: None,
        wakes: false,
    }
}

/// Queues a delivery again, in any state, for its first attempt now. The receiver recognizes it by its id.
pub(crate) fn retry_delivery(
    delivery: &Versioned<Delivery>,
    now: Timestamp,
    by: &Actor,
) -> DeliveryChange {
    let queued = Delivery {
        state: DeliveryState::Queued,
        delivered_at: None,
        attempts: 0,
        due_at: now,
        ..Delivery::clone(&delivery.record)
    };
    let operator_act = OperatorAct::new(by, "webhook.retried", queued.id.0);
    DeliveryChange { delivery: queued, expected: delivery.version, operator_act, wakes: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receiver_delays_the_next_attempt_within_the_longest_backoff() {
        let why = || "answered 503".to_owned();
        for (fault, attempts, wait) in [
            (DeliveryFault::Failed(why()), 1, Some(30_000)),
            (DeliveryFault::Busy(why(), 0), 1, Some(30_000)),
            (DeliveryFault::Busy(why(), 90_000), 1, Some(90_000)),
            (DeliveryFault::Busy(why(), 90_000), 3, Some(120_000)),
            (DeliveryFault::Busy(why(), i64::MAX), 1, Some(MAX_BACKOFF_MILLIS)),
            (DeliveryFault::Busy(why(), 90_000), MAX_MAIL_ATTEMPTS, None),
            (DeliveryFault::Failed(why()), MAX_MAIL_ATTEMPTS, None),
            (DeliveryFault::Refused(why()), 1, None),
        ] {
            assert_eq!(fault.wait(attempts), wait, "{fault:?} after {attempts}");
        }
    }
}
