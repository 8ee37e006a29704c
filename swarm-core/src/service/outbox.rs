//! Delivery of queued messages.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;

use super::retries::until_committed;
use super::sessions::BEFORE_RESULT;
use super::{Commit, CommittedRecord, Error, Round, Tenant};
use crate::domain::{
    Actor, Contact, Invalid, Links, MailState, MemberId, Message, MessageId, OperatorAct, SessionId,
};
use crate::rules::{self, Attempt, MessageChange, QueuedMail, Refusal, Reminder, Resource};
use crate::store::{
    self, MessageQuery, Queued, Records, Saved, SessionAuthors, StoreError, Versioned,
};

/// Sends mail.
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Makes one attempt, within [`LEASE_MILLIS`](crate::rules::LEASE_MILLIS). After that another
    /// server may try too.
    async fn send(&self, message: &Message) -> Attempt;
}

/// The queued messages.
const QUEUED: MessageQuery =
    MessageQuery { state: Some(MailState::Queued), after: None, limit: usize::MAX };

/// The reminders that are known to be queued, of sessions whose windows are open.
#[derive(Clone, Debug, Default)]
pub struct Reminded(HashSet<(SessionId, MemberId)>);

/// A page of messages.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OutboxPage {
    /// The messages, oldest first.
    pub messages: Vec<Arc<Message>>,
    /// The cursor of the next page; `None` on the last page.
    pub next_after: Option<MessageId>,
}

impl Tenant {
    /// Returns up to `limit` messages with ids higher than `after`, oldest first.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn outbox(
        &self,
        after: Option<MessageId>,
        limit: usize,
    ) -> Result<OutboxPage, Error> {
        // Load one more than the page holds, to learn whether there is a next page.
        let query = MessageQuery { state: None, after, limit: limit.saturating_add(1) };
        let found = self.store.messages(&query).await?;
        let mut messages: Vec<_> = found.into_iter().map(|message| message.record).collect();
        let is_last = messages.len() <= limit;
        messages.truncate(limit);
        let next_after = messages.last().filter(|_| !is_last).map(|last| last.id);
        Ok(OutboxPage { messages, next_after })
    }

    /// Returns the `limit` oldest messages in this state.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn messages_in(
        &self,
        state: MailState,
        limit: usize,
    ) -> Result<Vec<Arc<Message>>, Error> {
        let query = MessageQuery { state: Some(state), after: None, limit };
        let found = self.store.messages(&query).await?;
        Ok(found.into_iter().map(|message| message.record).collect())
    }

    /// Queues an unsent message again, for an attempt at once.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::MessageIs`] when it is sent.
    pub async fn retry_message(&self, id: MessageId, by: &Actor) -> Result<Arc<Message>, Error> {
        until_committed("retry message", || async {
            let message = self.load_message(id).await?;
            self.saved_message(rules::retry(&message, self.store.now().await?, by)?).await
        })
        .await
    }

    /// Cancels an unsent message.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::MessageIs`] when it is sent.
    pub async fn cancel_message(&self, id: MessageId, by: &Actor) -> Result<Arc<Message>, Error> {
        until_committed("cancel message", || async {
            self.saved_message(rules::cancel(&self.load_message(id).await?, by)?).await
        })
        .await
    }

    pub(super) async fn load_message(&self, id: MessageId) -> Result<Versioned<Message>, Error> {
        let after = id.0.checked_sub(1).map(MessageId);
        let query = MessageQuery { state: None, after, limit: 1 };
        let found = self.store.messages(&query).await?.into_iter().next();
        let message = found.filter(|message| message.record.id == id);
        Ok(message.ok_or(Refusal::NotFound(Resource::Message))?)
    }

    pub(super) async fn saved_message(
        &self,
        change: MessageChange,
    ) -> Result<Option<Arc<Message>>, Error> {
        let (saved, message) = self.save_message(change).await?;
        Ok(saved.committed(message).map(Arc::new))
    }

    /// Returns the queued messages with ids higher than `after`, oldest first.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn queued(&self, after: Option<MessageId>) -> Result<Vec<Arc<Message>>, Error> {
        let messages = self.store.messages(&MessageQuery { after, ..QUEUED }).await?;
        Ok(messages.into_iter().map(|message| message.record).collect())
    }

    /// Sends the messages that are due, one after another; [`Round::done`] counts those that were
    /// sent. Several servers may do this at once: each message is leased to one of them at a time,
    /// and is sent at least once.
    ///
    /// If the future is dropped, [some of the changes](crate::service#dropping-a-future) may be made. The next call
    /// makes the others.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn deliver(&self, mailer: &dyn Mailer) -> Result<Round, Error> {
        let mut round = Round::default();
        for message in self.store.messages(&QUEUED).await? {
            let now = self.store.now().await?;
            let Some(leased) = rules::lease(&message, now) else {
                round.wait_for(Some(message.record.due_at), now);
                continue;
            };
            if self.save_message(leased.clone()).await?.0 == Saved::Stale {
                round.wait_for(Some(now), now);
                continue;
            }
            let attempt = mailer.send(&leased.message).await;
            round.done += usize::from(attempt == Attempt::Sent);
            let now = self.store.now().await?;
            let settled = rules::settle(&leased, attempt, now);
            let notice = self.noted(|| rules::mail_undelivered(&settled.message));
            let settled = MessageChange { notice, ..settled };
            // Stale: the lease expired, and another server has the message now.
            let (Saved::Saved | Saved::Stale, message) = self.save_message(settled).await?;
            let waits = message.state == MailState::Queued;
            round.wait_for(waits.then_some(message.due_at), now);
        }
        Ok(round)
    }

    /// Queues a reminder for each expected member of an open session that has an e-mail address and has not filed, so long
    /// before the deadline (API.md, 7.5). `known` is kept from one round to the next. Any number of servers may call this at
    /// any time: a member gets one reminder of a session. The mails contain addresses from `links`.
    ///
    /// If the future is dropped, [some of the changes](crate::service#dropping-a-future) may be made. The next call
    /// makes the others.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn remind(
        &self,
        before_millis: i64,
        links: &(impl Links + Sync + ?Sized),
        known: &mut Reminded,
    ) -> Result<Round, Error> {
        let (now, mut round) = (self.store.now().await?, Round::default());
        let mut open = HashSet::new();
        for state in BEFORE_RESULT {
            for session in self.in_state(state).await? {
                let Some(due) = rules::reminder_due(&session, before_millis) else { continue };
                if session.window_closes_at.is_none_or(|deadline| now > deadline) {
                    continue;
                }
                if now < due {
                    round.wait_for(Some(due), now);
                    continue;
                }
                // Takes go to the newest session of a day and subject: nobody can file in this one.
                let (date, subject) = (session.date, &session.subject_id);
                if self.newest_of_day(date, subject).await? != Some(session.id) {
                    continue;
                }
                open.insert(session.id);
                round.done += self.remind_members(session.id, &links, known).await?;
            }
        }
        known.0.retain(|(session, _)| open.contains(session));
        Ok(round)
    }

    /// Returns how many reminders were queued.
    async fn remind_members(
        &self,
        id: SessionId,
        links: &(dyn Links + Sync),
        known: &mut Reminded,
    ) -> Result<usize, Error> {
        let found = self.store.session_authors(id).await?;
        let Some(SessionAuthors { session, authors }) = found else { return Ok(0) };
        let filed: HashSet<_> = authors.iter().collect();
        let missing = rules::missing(&session.record, |member| filed.contains(member));
        let mut queued = 0;
        for member_id in missing {
            let key = (id, member_id.clone());
            if known.0.contains(&key) {
                continue;
            }
            let Some(member) = self.store.member(member_id).await?.member else { continue };
            if !member.record.state.is_active() || rules::address(&member.record.contact).is_none()
            {
                continue;
            }
            let mail = self.mail_text.reminder(&member.record, &session.record, links);
            let (member, expected) = (member_id.clone(), session.version);
            let reminder = Some(Reminder { member, session: id, expected });
            match self
                .store
                .queue_message(&QueuedMail { mail, reminder, operator_act: None })
                .await?
            {
                Queued::Queued(..) => queued += 1,
                Queued::Before => {}
                Queued::Stale => continue,
            }
            known.0.insert(key);
        }
        Ok(queued)
    }

    /// Queues a message that tests the delivery to this address, and returns it.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::InvalidRequest`] unless it is an e-mail address.
    pub async fn test_mail(
        &self,
        to: &Contact,
        links: &(impl Links + Sync + ?Sized),
        by: &Actor,
    ) -> Result<Arc<Message>, Error> {
        if rules::address(to).is_none() {
            let invalid = Invalid::new("address", "must be an e-mail address");
            return Err(Refusal::InvalidRequest(invalid).into());
        }
        let mail = self.mail_text.test(to, &links);
        let operator_act = OperatorAct::of_new(by, "message.tested");
        let queued = QueuedMail { mail: mail.clone(), reminder: None, operator_act };
        match self.store.queue_message(&queued).await? {
            Queued::Queued(id, at) => Ok(Arc::new(mail.queued(id, at))),
            // A test has no guard.
            Queued::Before | Queued::Stale => {
                Err(StoreError::contended("test mail", "a test has no guard").into())
            }
        }
    }

    async fn save_message(&self, change: MessageChange) -> store::Result<(Saved, Message)> {
        let commit = |store: Records| async move {
            Ok((store.save_message(&change).await?, change.message))
        };
        self.observer
            .commit(&self.store, commit, |(saved, message)| {
                saved.committed(Commit::unlisted(CommittedRecord::Message(message)))
            })
            .await
    }
}
