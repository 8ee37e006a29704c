//! Webhooks, their deliveries, and notices.

use std::borrow::Cow;
use std::sync::Arc;

use super::rows::{Outcome, number, part, small, text, time, time_if_any, versioned, whole};
use super::tables::{DELIVERIES, NOTICES, deliveries, notices, webhooks};
use super::{Change, Made, Records};
use crate::domain::{
    Delivery, DeliveryDraft, DeliveryId, DeliveryState, Invalid, Notice, NoticeDraft, NoticeId,
    Timestamp,
};
use crate::rules::{MAX_QUEUED_DELIVERIES, Versioned};
use crate::store::backend::{
    Assigned, Body, Check, Kind, PartSet, Parts, Query, Range, Row, Term, Value, Write,
};
use crate::store::{DeliveryChange, DeliveryQuery, Result, Saved, WebhookBasis, WebhookChange};

/// How many old records are removed at a time.
const REMOVED: usize = 2_000;

/// How far webhooks have got, their deliveries, and the events that are no entries of the log.
///
/// None of it is part of a dump. A commit here appends nothing to the log, so it succeeds even if the log went back or the
/// clock is wrong, as one of [`save_tree`](Self::save_tree) does: a webhook can then report that the store refuses commits.
/// The time of the commit is that of the store's clock.
impl Records {
    /// What is known of a webhook, in one read.
    pub async fn webhook(&self, url: &str) -> Result<WebhookBasis> {
        const OP: &str = "webhook";
        let in_state = |state: DeliveryState| {
            let prefix = vec![url.into(), state.as_str().into()];
            Range::index(&deliveries::TABLE, deliveries::BY_URL, prefix)
        };
        let one = |range: Range, is_descending| {
            Query::Rows(Range { limit: 1, parts: PartSet::NONE, is_descending, ..range })
        };
        let failed = vec![url.into(), 1_u64.into()];
        let failed = Range::index(&deliveries::TABLE, deliveries::BY_FAILURE, failed);
        let limit = usize::try_from(MAX_QUEUED_DELIVERIES).unwrap_or(usize::MAX);
        let queries = vec![
            Query::Rows(Range::key(&webhooks::TABLE, vec![url.into()])),
            Query::Count(Range { limit, ..in_state(DeliveryState::Queued) }),
            one(in_state(DeliveryState::Queued), false),
            one(failed, true),
            one(in_state(DeliveryState::Delivered), true),
        ];
        let mut found = self.read(OP, queries).await?;
        let corrupt = found.corrupt();
        let webhook = found.row().as_ref().map(versioned).transpose().map_err(&corrupt)?;
        let queued = found.number();
        let oldest = found.row();
        let oldest = oldest.map(|row| time(&row, deliveries::QUEUED_AT));
        let [failed, delivered] = [found.row(), found.row()].map(|newest| {
            newest.map_or(Ok(0), |newest| number(&newest, deliveries::ID)).map_err(&corrupt)
        });
        Ok(WebhookBasis {
            webhook,
            queued,
            oldest: oldest.transpose().map_err(&corrupt)?,
            is_failing: failed? > delivered?,
        })
    }

    /// Writes how far a webhook has got, and queues deliveries, in one step if the stored version is the expected one. The numbers
    /// of deliveries count from 1, in their order. Returns the deliveries; `None` if the stored version is another one.
    pub async fn save_webhook(&self, change: &WebhookChange) -> Result<Option<Vec<Delivery>>> {
        let WebhookChange { webhook, expected, deliveries: drafts, operator_act, wakes } = change;
        let key: Vec<Term> = vec![webhook.url.as_str().into()];
        let table = &webhooks::TABLE;
        let checks = vec![Check::Version { table, key: key.clone(), expected: *expected }];
        let mut writes = vec![Write::Put { table, columns: key, body: whole(webhook.clone()) }];
        writes.extend(drafts.iter().enumerate().map(|(sequence, draft)| {
            let queued = draft.queued(DeliveryId(0), Timestamp::EPOCH);
            let columns = columns(&queued, Term::Assigned(sequence), Term::Now, Term::Now);
            Write::Insert { table: &deliveries::TABLE, columns, body: body(&queued) }
        }));
        let sequences = vec![DELIVERIES; drafts.len()];
        let (operator_act, wakes) = (operator_act.clone(), *wakes);
        let change =
            Change { checks, writes, sequences, operator_act, wakes, ..Change::new(Kind::Aside) };
        Ok(match self.commit("save webhook", change).await? {
            Made::Now(Assigned { at, numbers }, _) => {
                let queued = drafts.iter().zip(numbers);
                Some(queued.map(|(draft, id)| draft.queued(DeliveryId(id), at)).collect())
            }
            Made::Before(_) | Made::Unmet(..) => None,
        })
    }

    /// Up to `limit` notices with higher numbers than `after`, oldest first.
    pub async fn notices(&self, after: NoticeId, limit: usize) -> Result<Vec<Notice>> {
        let after = Some(after.0.into());
        let range = Range { after, limit, ..Range::all(&notices::TABLE) };
        let mut found = self.read("notices", vec![Query::Rows(range)]).await?;
        found.rows().iter().map(notice).collect::<Outcome<_>>().map_err(found.corrupt())
    }

    /// Adds a notice, and reports the tenant as changed in this process. Returns [`Saved::Stale`] if there is one with the
    /// same event and name. Others are added by the commits of
    /// [members](crate::rules::MemberChange::notice) and [messages](crate::rules::MessageChange::notice), in the same step.
    pub async fn save_notice(&self, notice: &NoticeDraft) -> Result<Saved> {
        let named = vec![notice.event.into(), notice.name.as_str().into()];
        let range = Range::index(&notices::TABLE, notices::BY_NAME, named);
        // No feed announces it otherwise, and the next round of deliveries may be minutes away.
        let mut change = Change { wakes: true, ..Change::new(Kind::Aside) };
        change.checks.push(Check::None { range, except: Vec::new() });
        change.note(Some(notice));
        self.save("save notice", change).await
    }

    /// The deliveries that match.
    pub async fn deliveries(&self, query: &DeliveryQuery<'_>) -> Result<Vec<Versioned<Delivery>>> {
        let table = &deliveries::TABLE;
        let range = match *query {
            DeliveryQuery::Due { url, limit } => {
                Range { limit, ..Range::index(table, deliveries::BY_NEXT, vec![url.into()]) }
            }
            DeliveryQuery::Newest { state, before, limit } => {
                let all = match state {
                    Some(state) => {
                        Range::index(table, deliveries::BY_STATE, vec![state.as_str().into()])
                    }
                    None => Range::all(table),
                };
                let before = before.map(|id| id.0.into());
                Range { before, is_descending: true, limit, ..all }
            }
        };
        let mut found = self.read("deliveries", vec![Query::Rows(range)]).await?;
        let read =
            |row: &Row| Ok(Versioned { version: row.version, record: Arc::new(delivery(row)?) });
        found.rows().iter().map(read).collect::<Outcome<_>>().map_err(found.corrupt())
    }

    /// Writes a delivery. Returns [`Saved::Stale`] unless the stored version is `change.expected`.
    pub async fn save_delivery(&self, change: &DeliveryChange) -> Result<Saved> {
        let DeliveryChange { delivery, expected, operator_act, wakes } = change;
        let (table, id) = (&deliveries::TABLE, Term::from(delivery.id.0));
        let (key, expected) = (vec![id.clone()], Some(*expected));
        let checks = vec![Check::Version { table, key, expected }];
        let (queued, due) = (delivery.queued_at.into(), delivery.due_at.into());
        let columns = columns(delivery, id, queued, due);
        let writes = vec![Write::Put { table, columns, body: body(delivery) }];
        let (operator_act, wakes) = (operator_act.clone(), *wakes);
        let change = Change { checks, writes, operator_act, wakes, ..Change::new(Kind::Aside) };
        self.save("save delivery", change).await
    }

    /// Removes deliveries that were queued before this time, and notices from before it: the oldest ones, up to a few thousand
    /// of each.
    pub async fn remove_webhook_records(&self, before: Timestamp) -> Result<()> {
        let old = |table, index| {
            let before = Some(before.into());
            Write::Remove(Range {
                before,
                limit: REMOVED,
                ..Range::index(table, index, Vec::new())
            })
        };
        let writes = vec![
            old(&deliveries::TABLE, deliveries::BY_TIME),
            old(&notices::TABLE, notices::BY_TIME),
        ];
        let change = Change { writes, ..Change::new(Kind::Aside) };
        self.commit("remove webhook records", change).await.map(drop)
    }
}

impl Change {
    /// Adds a notice.
    pub(super) fn note(&mut self, notice: Option<&NoticeDraft>) {
        let Some(NoticeDraft { event, name, data }) = notice else { return };
        let id = Term::Assigned(self.sequences.len());
        self.sequences.push(NOTICES);
        let columns = vec![id, Term::Now, (*event).into(), name.as_str().into()];
        let body = Body::of(NoticeData(data.clone()));
        self.writes.push(Write::Insert { table: &notices::TABLE, columns, body });
    }
}

struct NoticeData(String);

impl Parts for NoticeData {
    fn part(&self, position: usize) -> Option<Cow<'_, str>> {
        (position == notices::DATA).then_some(Cow::Borrowed(&*self.0))
    }
}

fn notice(row: &Row) -> Outcome<Notice> {
    Ok(Notice {
        id: NoticeId(number(row, notices::ID)?),
        at: time(row, notices::NOTED_AT)?,
        event: text(row, notices::EVENT)?.to_owned(),
        name: text(row, notices::NAME)?.to_owned(),
        data: part(row, notices::DATA)?.into_owned(),
    })
}

fn columns(delivery: &Delivery, id: Term, queued_at: Term, due_at: Term) -> Vec<Term> {
    let is_queued = delivery.state == DeliveryState::Queued;
    vec![
        id,
        delivery.draft.url.as_str().into(),
        delivery.state.as_str().into(),
        queued_at,
        delivery.delivered_at.into(),
        due_at.clone(),
        u64::from(delivery.attempts).into(),
        if is_queued { due_at } else { Value::Null.into() },
        Value::from(delivery.last_error.as_ref().map(|_| 1_u64)).into(),
    ]
}

/// The texts of a delivery.
struct Texts(DeliveryDraft, Option<String>);

impl Parts for Texts {
    fn part(&self, position: usize) -> Option<Cow<'_, str>> {
        let Self(draft, last_error) = self;
        match position {
            deliveries::EVENT_ID => Some(&*draft.event_id),
            deliveries::EVENT => Some(&*draft.event),
            deliveries::BODY => Some(&*draft.body),
            deliveries::LAST_ERROR => last_error.as_deref(),
            _ => None,
        }
        .map(Cow::Borrowed)
    }
}

fn body(delivery: &Delivery) -> Body {
    Body::of(Texts(delivery.draft.clone(), delivery.last_error.clone()))
}

fn delivery(row: &Row) -> Outcome<Delivery> {
    let state = DeliveryState::parse(text(row, deliveries::STATE)?);
    Ok(Delivery {
        id: DeliveryId(number(row, deliveries::ID)?),
        draft: DeliveryDraft {
            url: text(row, deliveries::URL)?.to_owned(),
            event_id: part(row, deliveries::EVENT_ID)?.into_owned(),
            event: part(row, deliveries::EVENT)?.into_owned(),
            body: part(row, deliveries::BODY)?.into_owned(),
        },
        state: state.ok_or_else(|| Invalid::new("state", "must be the name of a state"))?,
        queued_at: time(row, deliveries::QUEUED_AT)?,
        delivered_at: time_if_any(row, deliveries::DELIVERED_AT)?,
        attempts: small(row, deliveries::ATTEMPTS)?.unwrap_or(0),
        last_error: row.body.part(deliveries::LAST_ERROR).map(Cow::into_owned),
        due_at: time(row, deliveries::DUE_AT)?,
    })
}
