//! Webhooks: queues their deliveries and makes the requests (API.md, 15).
//!
//! The log is the queue: an entry is in the same commit as its change, and a webhook has a cursor over the log. Events that are no
//! entries of the log are notices, which the cursor passes too (docs/decisions/027-webhooks.md).

use std::collections::HashSet;
use std::iter;
use std::sync::Arc;

use async_trait::async_trait;

use super::retries::until_committed;
use super::sessions::BEFORE_RESULT;
use super::{Error, Round, Tenant, log_rows};
use crate::answers::WebhookStatus;
use crate::domain::{
    Actor, Delivery, DeliveryDraft, DeliveryId, DeliveryState, MemberId, Notice, NoticeDraft,
    NoticeId, OperatorAct, Session, Timestamp, ToldClosing, Version, Webhook, WebhookSettings,
};
use crate::proof::{hex, log_line, webhook_signature};
use crate::rules::{
    self, CLOSING_EVENT, DeliveryFault, MAX_QUEUED_DELIVERIES, Refusal, Resource, STORE_REFUSED,
    WebhookChange,
};
use crate::store::{DeliveryQuery, LogPosition, Saved, StoreErrorKind, Versioned, WebhookBasis};

/// How many entries of the log, and how many notices, are read at a time.
const EVENTS: usize = 100;

/// The most deliveries that one commit queues. A commit queues a power of two of them, so that a store that compiles
/// transactions has few to compile.
const DELIVERIES: usize = 32;

/// How many deliveries that are due are read at a time.
const DUE: usize = 20;

/// How many deliveries are searched at a time for the name of a member that is erased.
const BATCH: usize = 200;

/// Posts to webhooks.
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Makes one attempt, within [`LEASE_MILLIS`](crate::rules::LEASE_MILLIS). After that another server may try too.
    async fn send(&self, request: WebhookRequest) -> Result<(), DeliveryFault>;
}

/// A request to a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookRequest {
    /// The address.
    pub url: String,
    /// `webhook-id`.
    pub id: String,
    /// `webhook-timestamp`: the time of the attempt, in seconds since 1970.
    pub timestamp: i64,
    /// `webhook-signature`.
    pub signature: String,
    /// The body, which is JSON.
    pub body: String,
}

/// What a round of deliveries to a webhook did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WebhookRound {
    /// How many deliveries the receiver accepted, and when the next one is due.
    pub round: Round,
    /// Why the last one failed, if it did.
    pub fault: Option<DeliveryFault>,
}

/// A page of deliveries.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeliveryPage {
    /// The deliveries, newest first.
    pub deliveries: Vec<Arc<Delivery>>,
    /// The cursor of the next page; `None` on the last page.
    pub next_before: Option<DeliveryId>,
}

/// What is known of whether the store takes commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StoreCondition {
    /// It was not asked yet.
    #[default]
    Unknown,
    /// It takes them.
    Ready,
    /// It refuses them, for this reason.
    Refused(String),
}

/// The events after a cursor: each delivery with the cursor after it.
struct Events {
    deliveries: Vec<(DeliveryDraft, Webhook)>,
    /// The cursor after all of them.
    end: Webhook,
}

impl Tenant {
    /// Returns the webhooks.
    pub fn webhooks(&self) -> &[WebhookSettings] {
        &self.webhooks
    }

    /// The notice, if a webhook wants its event.
    pub(super) fn noted(
        &self,
        notice: impl FnOnce() -> Option<NoticeDraft>,
    ) -> Option<NoticeDraft> {
        if self.webhooks.is_empty() {
            return None;
        }
        notice().filter(|notice| self.wants(notice.event))
    }

    /// Returns whether a webhook is told this event.
    pub fn wants(&self, event: &str) -> bool {
        self.webhooks.iter().any(|webhook| webhook.wants(event))
    }

    /// Begins the webhooks that are new: each is told what is committed from here on.
    ///
    /// If the future is dropped, [some of the changes](crate::service#dropping-a-future) may be made. The next call
    /// makes the others.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn begin_webhooks(&self) -> Result<(), Error> {
        for settings in self.webhooks.iter() {
            if self.store.webhook(&settings.url).await?.webhook.is_none() {
                self.begin_webhook(settings).await?;
            }
        }
        Ok(())
    }

    async fn begin_webhook(&self, settings: &WebhookSettings) -> Result<(), Error> {
        let webhook = self.beginning(settings).await?;
        let change = WebhookChange {
            webhook,
            expected: None,
            deliveries: Vec::new(),
            operator_act: None,
            wakes: false,
        };
        // `None`: another server began it.
        self.store.save_webhook(&change).await?;
        Ok(())
    }

    /// A webhook that is told what is committed from here on.
    async fn beginning(&self, settings: &WebhookSettings) -> Result<Webhook, Error> {
        let notices = self.store.notices(NoticeId(0), usize::MAX).await?;
        let position = self.store.log_position().await?;
        Ok(Webhook {
            url: settings.url.clone(),
            log: position.log,
            seq: position.size,
            notice: notices.last().map_or(NoticeId(0), |notice| notice.id),
            closing: Vec::new(),
        })
    }

    /// Queues the deliveries of what was committed since the last call, for each webhook. [`Round::done`] counts them. Any number
    /// of servers may call this at any time: each delivery is queued once.
    ///
    /// If the future is dropped, [some of the changes](crate::service#dropping-a-future) may be made. The next call
    /// makes the others.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn queue_deliveries(&self) -> Result<Round, Error> {
        let mut round = Round::default();
        let now = self.store.now().await?;
        let closing = self.closing_sessions(now, &mut round).await?;
        for settings in self.webhooks.iter() {
            loop {
                let basis = self.store.webhook(&settings.url).await?;
                let Some(webhook) = &basis.webhook else {
                    self.begin_webhook(settings).await?;
                    continue;
                };
                let room = MAX_QUEUED_DELIVERIES.saturating_sub(basis.queued);
                let room = usize::try_from(room).unwrap_or(usize::MAX).min(DELIVERIES);
                if room == 0 {
                    break;
                }
                let events = self.events_for(settings, &webhook.record, &closing, now).await?;
                let Some(change) = next_change(webhook, events, room) else { break };
                let queued = self.store.save_webhook(&change).await?;
                round.done += queued.map_or(0, |queued| queued.len());
            }
        }
        Ok(round)
    }

    /// The events after the cursor of a webhook.
    async fn events_for(
        &self,
        settings: &WebhookSettings,
        webhook: &Webhook,
        closing: &[Arc<Session>],
        now: Timestamp,
    ) -> Result<Events, Error> {
        let position = self.store.log_position().await?;
        let mut end = webhook.clone();
        let mut deliveries = Vec::new();
        let mut add = |draft: DeliveryDraft, end: &Webhook| {
            if settings.wants(&draft.event) {
                deliveries.push((draft, end.clone()));
            }
        };
        end.log = position.log;
        // Shorter: the store went back without its webhooks.
        end.seq = end.seq.min(position.size);
        let mut rows = log_rows::rows(&self.store, end.seq, EVENTS).await?;
        let mut notices = self.store.notices(end.notice, EVENTS).await?;
        keep_common_time(&mut rows, &mut notices);
        for event in in_order(rows, notices) {
            match event {
                Event::Row(row) => {
                    end.seq = log_rows::seq(&row);
                    let Ok(row) = row else { continue };
                    if !rules::is_past_delivery(row.at, now) {
                        add(rules::entry_delivery(&settings.url, end.log, &log_line(&row)), &end);
                    }
                }
                Event::Notice(notice) => {
                    end.notice = notice.id;
                    if !rules::is_past_delivery(notice.at, now) {
                        add(rules::notice_delivery(&settings.url, &notice), &end);
                    }
                }
            }
        }
        end.closing.retain(|told| told.deadline >= now);
        for session in closing {
            let Some((lead, deadline)) = settings.closing.zip(session.window_closes_at) else {
                continue;
            };
            let told = ToldClosing { session: session.id, deadline };
            if deadline.plus_millis(-lead) > now || end.closing.contains(&told) {
                continue;
            }
            // Takes go to the newest session of a day and subject: nobody can file in this one.
            if self.newest_of_day(session.date, &session.subject_id).await? != Some(session.id) {
                continue;
            }
            let draft = self.closing_delivery(settings, session, now).await?;
            end.closing.push(told);
            add(draft, &end);
        }
        Ok(Events { deliveries, end })
    }

    /// The open sessions that close soon enough for one of the webhooks.
    async fn closing_sessions(
        &self,
        now: Timestamp,
        round: &mut Round,
    ) -> Result<Vec<Arc<Session>>, Error> {
        let told = self.webhooks.iter().filter(|webhook| webhook.wants(CLOSING_EVENT));
        let leads: Vec<_> = told.filter_map(|webhook| webhook.closing).collect();
        let Some(longest) = leads.iter().copied().max() else { return Ok(Vec::new()) };
        let mut closing = Vec::new();
        for state in BEFORE_RESULT {
            for session in self.in_state(state).await? {
                let Some(deadline) = session.window_closes_at.filter(|deadline| *deadline >= now)
                else {
                    continue;
                };
                for due in leads.iter().map(|lead| deadline.plus_millis(-lead)) {
                    round.wait_for((due > now).then_some(due), now);
                }
                if deadline.plus_millis(-longest) <= now {
                    closing.push(session);
                }
            }
        }
        Ok(closing)
    }

    async fn closing_delivery(
        &self,
        settings: &WebhookSettings,
        session: &Session,
        now: Timestamp,
    ) -> Result<DeliveryDraft, Error> {
        let found = self.store.session_authors(session.id).await?;
        let authors = found.map(|found| found.authors).unwrap_or_default();
        let has_filed: HashSet<_> = authors.iter().collect();
        let missing = rules::missing(session, |member| has_filed.contains(member));
        let missing = missing.into_iter().cloned().collect();
        let names = self.members_among(missing).await?;
        let missing: Vec<_> =
            names.iter().map(|member| (member.id.clone(), member.name.clone())).collect();
        let filed = rules::filed(session, &authors);
        Ok(rules::closing_delivery(&settings.url, session, filed, &missing, now))
    }

    /// Adds a notice, unless it was added before or no webhook wants it.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn note(&self, notice: NoticeDraft) -> Result<(), Error> {
        if let Some(notice) = self.noted(|| Some(notice)) {
            let (Saved::Saved | Saved::Stale) = self.store.save_notice(&notice).await?;
        }
        Ok(())
    }

    /// Adds a notice when the store begins to refuse commits, and when it takes them again; once each, by any number of
    /// servers. Returns whether there may be a new one. `known` is kept from one call to the next.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`] when the store does not answer.
    pub async fn note_store_condition(&self, known: &mut StoreCondition) -> Result<bool, Error> {
        let condition = match self.store.may_commit().await {
            Ok(()) => StoreCondition::Ready,
            Err(error)
                if matches!(
                    error.kind(),
                    StoreErrorKind::WentBack | StoreErrorKind::ClockBehind
                ) =>
            {
                let reason = std::error::Error::source(&error).map(ToString::to_string);
                StoreCondition::Refused(reason.unwrap_or_else(|| error.to_string()))
            }
            Err(error) => return Err(error.into()),
        };
        let is_new = std::mem::discriminant(&condition) != std::mem::discriminant(known);
        if !is_new {
            return Ok(false);
        }
        match &condition {
            StoreCondition::Refused(reason) => {
                // Nothing is committed meanwhile, so the position names the refusal.
                let LogPosition { log, size, commit } = self.store.log_position().await?;
                let last = commit.map(|commit| hex(&commit.0)).unwrap_or_default();
                let notice = rules::store_condition(false, &format!("{log} {size} {last}"), reason);
                let (Saved::Saved | Saved::Stale) = self.store.save_notice(&notice).await?;
            }
            _ => {
                let notices = self.store.notices(NoticeId(0), usize::MAX).await?;
                let last = notices.iter().rfind(|notice| notice.event == STORE_REFUSED);
                if let Some(refused) = last {
                    let reason = "the store takes commits again";
                    let notice = rules::store_condition(true, &refused.name, reason);
                    let (Saved::Saved | Saved::Stale) = self.store.save_notice(&notice).await?;
                }
            }
        }
        *known = condition;
        Ok(true)
    }

    /// Returns the request that tells a webhook that the store does not answer, or is not ready, since this time, at the time `now`.
    /// It is the same for each attempt but for the time and the reason. The store, which would keep it, is not asked.
    pub fn outage_request(
        settings: &WebhookSettings,
        since: Timestamp,
        reason: &str,
        now: Timestamp,
    ) -> WebhookRequest {
        request(settings, &rules::outage_delivery(&settings.url, since, reason), now)
    }

    /// Adds the notice `store.ready` after an outage for which webhooks got `store.refused`.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn note_store_answers(&self, since: Timestamp) -> Result<(), Error> {
        self.note(rules::store_answers(since)).await
    }

    /// Sends the deliveries to a webhook that are due, one after another, until one fails. Several servers may do this at once: each
    /// delivery is leased to one of them at a time, and is made at least once.
    ///
    /// If the future is dropped, [some of the changes](crate::service#dropping-a-future) may be made. The next call
    /// makes the others.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn deliver_to_webhook(
        &self,
        settings: &WebhookSettings,
        sender: &dyn WebhookSender,
    ) -> Result<WebhookRound, Error> {
        let mut did = WebhookRound::default();
        loop {
            let query = DeliveryQuery::Due { url: &settings.url, limit: DUE };
            let due = self.store.deliveries(&query).await?;
            for delivery in &due {
                let now = self.store.now().await?;
                let Some(leased) = rules::lease_delivery(delivery, now) else {
                    did.round.wait_for(Some(delivery.record.due_at), now);
                    return Ok(did);
                };
                if self.store.save_delivery(&leased).await? == Saved::Stale {
                    // Another server has it, and goes on.
                    did.round.wait_for(Some(now), now);
                    return Ok(did);
                }
                let outcome = sender.send(request(settings, &leased.delivery.draft, now)).await;
                did.fault = outcome.clone().err();
                did.round.done += usize::from(did.fault.is_none());
                let now = self.store.now().await?;
                let settled = rules::settle_delivery(&leased, outcome, now);
                // Stale: the lease expired, and another server has the delivery now.
                let (Saved::Saved | Saved::Stale) = self.store.save_delivery(&settled).await?;
                if did.fault.is_some() {
                    // The others are tried in the next round, so that a receiver that is down is asked once a round.
                    did.round.wait_for(Some(now), now);
                    return Ok(did);
                }
            }
            if due.len() < DUE {
                return Ok(did);
            }
        }
    }

    /// Erases the name of a member from the deliveries that have it.
    pub(super) async fn erase_from_deliveries(&self, member: &MemberId) -> Result<(), Error> {
        let newest = |before, limit| DeliveryQuery::Newest { state: None, before, limit };
        let mut before = None;
        loop {
            let deliveries = self.store.deliveries(&newest(before, BATCH)).await?;
            let Some(last) = deliveries.last() else { return Ok(()) };
            before = Some(last.record.id);
            for delivery in &deliveries {
                if rules::erase_from_delivery(delivery, member).is_none() {
                    continue;
                }
                let next = Some(DeliveryId(delivery.record.id.0.saturating_add(1)));
                until_committed("erase delivery", || async {
                    // It may be leased or removed meanwhile.
                    let found = self.store.deliveries(&newest(next, 1)).await?;
                    let found = found.first().filter(|it| it.record.id == delivery.record.id);
                    let change = found.and_then(|it| rules::erase_from_delivery(it, member));
                    let Some(change) = change else { return Ok(Some(())) };
                    let saved = self.store.save_delivery(&change).await?;
                    Ok((saved == Saved::Saved).then_some(()))
                })
                .await?;
            }
        }
    }

    /// Removes deliveries and notices that are older than seven days.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn remove_old_deliveries(&self) -> Result<(), Error> {
        let now = self.store.now().await?;
        let before = now.plus_millis(-rules::WEBHOOK_RETENTION_MILLIS);
        Ok(self.store.remove_webhook_records(before).await?)
    }

    /// Returns up to `limit` deliveries with numbers below `before`, newest first.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn webhook_deliveries(
        &self,
        state: Option<DeliveryState>,
        before: Option<DeliveryId>,
        limit: usize,
    ) -> Result<DeliveryPage, Error> {
        // Load one more than the page holds, to learn whether there is a next page.
        let query = DeliveryQuery::Newest { state, before, limit: limit.saturating_add(1) };
        let found = self.store.deliveries(&query).await?;
        let mut deliveries: Vec<_> = found.into_iter().map(|delivery| delivery.record).collect();
        let is_last = deliveries.len() <= limit;
        deliveries.truncate(limit);
        let next_before = deliveries.last().filter(|_| !is_last).map(|last| last.id);
        Ok(DeliveryPage { deliveries, next_before })
    }

    /// Returns the state of each webhook.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn webhook_status(&self) -> Result<Vec<WebhookStatus>, Error> {
        let mut all = Vec::with_capacity(self.webhooks.len());
        for settings in self.webhooks.iter() {
            let WebhookBasis { oldest, is_failing, .. } = self.store.webhook(&settings.url).await?;
            all.push(WebhookStatus { url: settings.url.clone(), failing: is_failing, oldest });
        }
        Ok(all)
    }

    /// Queues an event that tests a webhook, whatever events it wants, and returns its delivery.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`] unless a webhook with this URL is configured.
    pub async fn test_webhook(&self, url: &str, by: &Actor) -> Result<Delivery, Error> {
        let settings = self.webhooks.iter().find(|webhook| webhook.url == url);
        let settings = settings.ok_or(Refusal::NotFound(Resource::Webhook))?;
        let now = self.store.now().await?;
        until_committed("test webhook", || async {
            let (webhook, expected) = match self.store.webhook(&settings.url).await?.webhook {
                Some(stored) => (Webhook::clone(&stored.record), Some(stored.version)),
                None => (self.beginning(settings).await?, None),
            };
            let deliveries = vec![rules::test_delivery(url, expected.unwrap_or(Version(0)), now)];
            let operator_act = OperatorAct::of_new(by, "webhook.tested");
            let change = WebhookChange { webhook, expected, deliveries, operator_act, wakes: true };
            Ok(self.store.save_webhook(&change).await?.and_then(|queued| queued.into_iter().next()))
        })
        .await
    }

    /// Queues a delivery again, in any state, for an attempt at once, and returns it.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn retry_delivery(&self, id: DeliveryId, by: &Actor) -> Result<Delivery, Error> {
        until_committed("retry delivery", || async {
            let delivery = self.load_delivery(id).await?;
            let change = rules::retry_delivery(&delivery, self.store.now().await?, by);
            Ok(self.store.save_delivery(&change).await?.committed(change.delivery))
        })
        .await
    }

    async fn load_delivery(&self, id: DeliveryId) -> Result<Versioned<Delivery>, Error> {
        let before = Some(DeliveryId(id.0.saturating_add(1)));
        let query = DeliveryQuery::Newest { state: None, before, limit: 1 };
        let found = self.store.deliveries(&query).await?.into_iter().next();
        let delivery = found.filter(|delivery| delivery.record.id == id);
        Ok(delivery.ok_or(Refusal::NotFound(Resource::Delivery))?)
    }
}

/// An event that a webhook may be told.
enum Event {
    Row(log_rows::Row),
    Notice(Notice),
}

/// The rows and the notices, each in their order. A notice precedes rows of the same time: an application precedes what becomes of it.
fn in_order(rows: Vec<log_rows::Row>, notices: Vec<Notice>) -> impl Iterator<Item = Event> {
    let (mut rows, mut notices) = (rows.into_iter().peekable(), notices.into_iter().peekable());
    iter::from_fn(move || {
        let notice = match rows.peek().map(time_of) {
            Some(at) => notices.next_if(|notice| at.is_some_and(|at| notice.at <= at)),
            None => notices.next(),
        };
        notice.map(Event::Notice).or_else(|| rows.next().map(Event::Row))
    })
}

/// The time of a row of the log, unless it is unreadable.
fn time_of(row: &log_rows::Row) -> Option<Timestamp> {
    row.as_ref().ok().map(|row| row.at)
}

/// Leaves out what is later than the end of the other list, if that has more to come.
fn keep_common_time(rows: &mut Vec<log_rows::Row>, notices: &mut Vec<Notice>) {
    let last_row = rows.last().filter(|_| rows.len() >= EVENTS).and_then(time_of);
    let last_notice = notices.last().filter(|_| notices.len() >= EVENTS).map(|notice| notice.at);
    if let Some(end) = last_row {
        notices.truncate(notices.partition_point(|notice| notice.at <= end));
    } else if let Some(end) = last_notice {
        rows.truncate(rows.partition_point(|row| time_of(row).is_none_or(|at| at <= end)));
    }
}

/// The next commit for a webhook: a power of two of the deliveries, at most `room`, and the cursor after them. `None` if there is
/// nothing new.
fn next_change(webhook: &Versioned<Webhook>, events: Events, room: usize) -> Option<WebhookChange> {
    let Events { mut deliveries, end } = events;
    let most = deliveries.len().min(room);
    let count = most.checked_ilog2().map_or(0, |power| 1 << power);
    let is_all = count == deliveries.len();
    deliveries.truncate(count);
    let webhook_now = match deliveries.last() {
        Some((_, after)) if !is_all => after.clone(),
        _ => end,
    };
    let deliveries: Vec<_> = deliveries.into_iter().map(|(delivery, _)| delivery).collect();
    let is_new = webhook_now != *webhook.record;
    let expected = Some(webhook.version);
    let operator_act = None;
    let change =
        WebhookChange { webhook: webhook_now, expected, deliveries, operator_act, wakes: false };
    is_new.then_some(change)
}

fn request(settings: &WebhookSettings, delivery: &DeliveryDraft, now: Timestamp) -> WebhookRequest {
    let DeliveryDraft { url, event_id, body, .. } = delivery;
    let timestamp = now.millis().div_euclid(1_000);
    WebhookRequest {
        url: url.clone(),
        id: event_id.clone(),
        timestamp,
        signature: webhook_signature(&settings.secret, event_id, timestamp, body),
        body: body.clone(),
    }
}
