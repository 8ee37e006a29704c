//! Sending the messages that are queued.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Commit, Error, Tenant};
use crate::domain::{Mail, MailState, Message, MessageId};
use crate::rules::{self, Attempt, MessageChange};
use crate::store::{self, Saved};

/// Sends mail.
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Tries once, within [`LEASE_MILLIS`](crate::rules::LEASE_MILLIS): after that another server
    /// may try too.
    async fn send(&self, mail: &Mail) -> Attempt;
}

impl Tenant {
    /// The messages to members, the oldest first.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn outbox(&self) -> Result<Vec<Arc<Message>>, Error> {
        let messages = self.store.messages(None, None).await?;
        Ok(messages.into_iter().map(|message| message.record).collect())
    }

    /// The messages that wait to be sent and have higher ids than `after`, the oldest first.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn queued(&self, after: Option<MessageId>) -> Result<Vec<Arc<Message>>, Error> {
        let messages = self.store.messages(Some(MailState::Queued), after).await?;
        Ok(messages.into_iter().map(|message| message.record).collect())
    }

    /// Sends the messages that are due, one by one; answers how many were handed over. Several
    /// servers may do this at once: each message is leased to one of them at a time, and sent at
    /// least once.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn deliver(&self, mailer: &dyn Mailer) -> Result<usize, Error> {
        let mut sent = 0;
        for message in self.store.messages(Some(MailState::Queued), None).await? {
            let now = self.store.now().await?;
            let Some(leased) = rules::lease(&message, now) else { continue };
            if self.save_message(&leased).await? == Saved::Stale {
                continue;
            }
            let attempt = mailer.send(&leased.message.mail).await;
            sent += usize::from(attempt == Attempt::Sent);
            let settled = rules::settle(&leased, attempt, self.store.now().await?);
            // Stale: the lease expired, and another server has the message now.
            let (Saved::Saved | Saved::Stale) = self.save_message(&settled).await?;
        }
        Ok(sent)
    }

    async fn save_message(&self, change: &MessageChange) -> store::Result<Saved> {
        let saved = self.store.save_message(change).await?;
        if saved == Saved::Saved {
            self.observer.tell(Commit::Message(&change.message));
        }
        Ok(saved)
    }
}
