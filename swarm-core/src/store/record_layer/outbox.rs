//! The outbox.

use std::borrow::Cow;

use async_trait::async_trait;

use super::rows::{Outcome, integer, part, small, text, time, time_if_any};
use super::tables::messages;
use super::{Change, TenantRecords};
use crate::domain::{Contact, Invalid, Mail, MailState, Message, MessageId, Timestamp};
use crate::rules::Versioned;
use crate::store::backend::{Backend, Body, Check, Parts, Query, Range, Row, Term, Write};
use crate::store::{MessageChange, MessageQuery, Outbox, Result, Saved};

#[async_trait]
impl<B: Backend> Outbox for TenantRecords<B> {
    async fn messages(&self, query: &MessageQuery) -> Result<Vec<Versioned<Message>>> {
        let all = match query.state {
            Some(state) => {
                Range::index(&messages::TABLE, messages::BY_STATE, vec![state.as_str().into()])
            }
            None => Range::all(&messages::TABLE),
        };
        let after = query.after.map(|id| id.0.into());
        let range = Range { after, limit: query.limit, ..all };
        let mut found = self.read("messages", vec![Query::Rows(range)]).await?;
        let read = |row: &Row| Ok(Versioned { version: row.version, record: read(row)?.into() });
        found.rows().iter().map(read).collect::<Outcome<_>>().map_err(found.corrupt())
    }

    async fn save_message(&self, change: &MessageChange) -> Result<Saved> {
        let MessageChange { message, expected, operator_act } = change;
        let key = vec![message.id.0.into()];
        let checks =
            vec![Check::Version { table: &messages::TABLE, key, expected: Some(*expected) }];
        let columns =
            columns(message, message.id.0.into(), message.queued_at.into(), message.due_at.into());
        let writes = vec![Write::Put { table: &messages::TABLE, columns, body: body(message) }];
        let operator_act = operator_act.clone();
        let change = Change { checks, writes, operator_act, ..Change::default() };
        self.save("save message", change).await
    }
}

/// Queues a mail, with the number of this sequence as its id.
pub(super) fn queue(mail: &Mail, sequence: usize) -> Write {
    let message = mail.queued(MessageId(0), Timestamp::EPOCH);
    let columns = columns(&message, Term::Assigned(sequence), Term::Now, Term::Now);
    Write::Insert { table: &messages::TABLE, columns, body: body(&message) }
}

pub(super) fn columns(message: &Message, id: Term, queued_at: Term, due_at: Term) -> Vec<Term> {
    vec![
        id,
        message.state.as_str().into(),
        queued_at,
        message.sent_at.into(),
        due_at,
        u64::from(message.attempts).into(),
    ]
}

/// The texts of a message.
struct Texts(Mail, Option<String>);

impl Parts for Texts {
    fn part(&self, position: usize) -> Option<Cow<'_, str>> {
        let Self(mail, last_error) = self;
        match position {
            messages::RECIPIENT => (!mail.to.is_erased()).then(|| mail.to.as_str()),
            messages::SUBJECT => Some(&*mail.subject),
            messages::TEXT => Some(&*mail.body),
            messages::LAST_ERROR => last_error.as_deref(),
            _ => None,
        }
        .map(Cow::Borrowed)
    }
}

pub(super) fn body(message: &Message) -> Body {
    Body::of(Texts(message.mail.clone(), message.last_error.clone()))
}

pub(super) fn read(row: &Row) -> Outcome<Message> {
    let state = MailState::parse(text(row, messages::STATE)?);
    let to = match row.body.part(messages::RECIPIENT) {
        Some(to) => Contact::parse(to)?,
        None => Contact::erased(),
    };
    let mail = Mail {
        to,
        subject: part(row, messages::SUBJECT)?.into_owned(),
        body: part(row, messages::TEXT)?.into_owned(),
    };
    Ok(Message {
        id: MessageId(integer(row, messages::ID)?.unsigned_abs()),
        mail,
        state: state.ok_or_else(|| Invalid::new("state", "must be the name of a state"))?,
        queued_at: time(row, messages::QUEUED_AT)?,
        sent_at: time_if_any(row, messages::SENT_AT)?,
        attempts: small(row, messages::ATTEMPTS)?.unwrap_or(0),
        last_error: row.body.part(messages::LAST_ERROR).map(Cow::into_owned),
        due_at: time(row, messages::DUE_AT)?,
    })
}
