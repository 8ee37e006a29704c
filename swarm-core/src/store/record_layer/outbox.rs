//! The outbox.

use std::borrow::Cow;

use super::rows::{Outcome, integer, part, small, text, text_if_any, time, time_if_any};
use super::tables::{MESSAGES, messages, sessions, takes};
use super::{Change, Made, Records};
use crate::domain::{Contact, Invalid, Mail, MailState, MemberId, Message, MessageId, Timestamp};
use crate::rules::{QueuedMail, Versioned};
use crate::store::backend::{Body, Check, Parts, Query, Range, Row, Term, Value, Write};
use crate::store::{MessageChange, MessageQuery, Queued, Result, Saved};

/// The messages to members. A message is created by the change of a member, with
/// [`MemberChange::mail`](crate::rules::MemberChange::mail), or by [`queue_message`](Self::queue_message).
impl Records {
    /// The messages that match, by id.
    pub async fn messages(&self, query: &MessageQuery) -> Result<Vec<Versioned<Message>>> {
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

    /// Writes a message. Returns [`Saved::Stale`] unless the stored version is
    /// `change.expected`.
    pub async fn save_message(&self, change: &MessageChange) -> Result<Saved> {
        let MessageChange { message, expected, notice, operator_act } = change;
        let key = vec![message.id.0.into()];
        let checks =
            vec![Check::Version { table: &messages::TABLE, key, expected: Some(*expected) }];
        let columns =
            columns(message, message.id.0.into(), message.queued_at.into(), message.due_at.into());
        let writes = vec![Write::Put { table: &messages::TABLE, columns, body: body(message) }];
        let operator_act = operator_act.clone();
        let mut commit = Change { checks, writes, operator_act, ..Change::default() };
        commit.note(notice.as_ref());
        self.save("save message", commit).await
    }

    /// Queues a message. The guards of a reminder are those that [`Queued`] names.
    pub async fn queue_message(&self, mail: &QueuedMail) -> Result<Queued> {
        let QueuedMail { mail, reminder, operator_act } = mail;
        let mut checks = Vec::new();
        let mut message = mail.queued(MessageId(0), Timestamp::EPOCH);
        if let Some(reminder) = reminder {
            let session = Term::from(reminder.session.0);
            let member = Term::from(reminder.member.as_str());
            let occasion = reminder.occasion();
            let table = &sessions::TABLE;
            let expected = Some(reminder.expected);
            checks.push(Check::Version { table, key: vec![session.clone()], expected });
            let filed = vec![member, session];
            let same = vec![occasion.as_str().into()];
            for range in [
                Range::index(&takes::TABLE, takes::BY_REVISION, filed),
                Range::index(&messages::TABLE, messages::BY_OCCASION, same),
            ] {
                checks.push(Check::None { range, except: Vec::new() });
            }
            message.member = Some(reminder.member.clone());
            message.occasion = Some(occasion);
        }
        let (sequences, writes) = (vec![MESSAGES], vec![insert(&message, 0)]);
        let operator_act = operator_act.clone();
        let change = Change { checks, sequences, writes, operator_act, ..Change::default() };
        // The last check of a reminder is that of its occasion.
        let last = change.checks.len().checked_sub(1);
        Ok(match self.commit("queue message", change).await? {
            Made::Now(assigned, _) => {
                let id = assigned.numbers.first().copied().unwrap_or(0);
                Queued::Queued(MessageId(id), assigned.at)
            }
            Made::Unmet(check, _) if Some(check) == last => Queued::Before,
            Made::Before(_) | Made::Unmet(..) => Queued::Stale,
        })
    }
}

/// Queues a mail to a member, with the number of this sequence as its id.
pub(super) fn queue(mail: &Mail, member: &MemberId, sequence: usize) -> Write {
    let queued = mail.queued(MessageId(0), Timestamp::EPOCH);
    insert(&Message { member: Some(member.clone()), ..queued }, sequence)
}

fn insert(message: &Message, sequence: usize) -> Write {
    let columns = columns(message, Term::Assigned(sequence), Term::Now, Term::Now);
    Write::Insert { table: &messages::TABLE, columns, body: body(message) }
}

pub(super) fn columns(message: &Message, id: Term, queued_at: Term, due_at: Term) -> Vec<Term> {
    vec![
        id,
        message.state.as_str().into(),
        queued_at,
        message.sent_at.into(),
        due_at,
        u64::from(message.attempts).into(),
        Value::from(message.member.as_ref().map(MemberId::as_str)).into(),
        Value::from(message.occasion.as_deref()).into(),
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
        member: text_if_any(row, messages::MEMBER).map(MemberId::parse).transpose()?,
        occasion: text_if_any(row, messages::OCCASION).map(str::to_owned),
        state: state.ok_or_else(|| Invalid::new("state", "must be the name of a state"))?,
        queued_at: time(row, messages::QUEUED_AT)?,
        sent_at: time_if_any(row, messages::SENT_AT)?,
        attempts: small(row, messages::ATTEMPTS)?.unwrap_or(0),
        last_error: row.body.part(messages::LAST_ERROR).map(Cow::into_owned),
        due_at: time(row, messages::DUE_AT)?,
    })
}
