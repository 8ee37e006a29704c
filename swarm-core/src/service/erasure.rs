//! Erasure of a member's personal data, and the retention of applications (API.md, 7.8).

use super::retries::until_committed;
use super::{Error, Round, Tenant};
use crate::domain::{Actor, Member, MemberId, MemberState};
use crate::rules;
use crate::store::{MemberQuery, MessageQuery};

/// Number of records read at a time.
const BATCH: usize = 500;

impl Tenant {
    /// Permanently erases name, contact, lens and memos of a member that is not active, and the messages to it.
    /// Returns its state. Its takes stay. A second call erases what an interrupted first call left, and changes
    /// nothing otherwise.
    ///
    /// # Errors
    /// [`Refusal::NotFound`](rules::Refusal::NotFound);
    /// [`Refusal::MemberIs`](rules::Refusal::MemberIs) when it is active.
    pub async fn erase(&self, id: &MemberId, by: &Actor) -> Result<MemberState, Error> {
        let member = self.load_member(id).await?;
        rules::erase(&member, by)?;
        // Erase the record last: the messages are found by its contact.
        if !member.record.is_erased() {
            self.erase_messages(&member.record).await?;
        }
        self.erase_memos(id, by).await?;
        self.review(id, |member, _| rules::erase(member, by)).await
    }

    async fn erase_messages(&self, member: &Member) -> Result<(), Error> {
        let is_shared = self.contact_is_shared(member).await?;
        let mut query = MessageQuery { state: None, after: None, limit: BATCH };
        loop {
            let messages = self.store.messages(&query).await?;
            let Some(last) = messages.last() else { return Ok(()) };
            query.after = Some(last.record.id);
            for message in messages {
                if !rules::is_addressed_to(&message.record.mail, member, is_shared) {
                    continue;
                }
                until_committed("erase message", || async {
                    let message = self.load_message(message.record.id).await?;
                    match rules::erase_message(&message) {
                        Some(change) => Ok(self.saved_message(change).await?.map(drop)),
                        None => Ok(Some(())),
                    }
                })
                .await?;
            }
        }
    }

    /// Whether another member has the same contact.
    async fn contact_is_shared(&self, member: &Member) -> Result<bool, Error> {
        let mut query = MemberQuery::in_states(&MemberState::ALL);
        query.limit = BATCH;
        loop {
            let members = self.store.members(&query).await?;
            let Some(last) = members.last() else { return Ok(false) };
            query.after = Some(last.id.clone());
            if members.iter().any(|it| it.contact == member.contact && it.id != member.id) {
                return Ok(true);
            }
        }
    }

    /// Erases name, contact and lens of applications that were rejected or have been pending for the
    /// [retention period](Self::with_application_retention) of the tenant. Several servers may do this
    /// concurrently. [`Round::done`] is the number of applications.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn erase_old_applications(&self) -> Result<Round, Error> {
        let Some(days) = self.retention_days else { return Ok(Round::default()) };
        let now = self.store.now().await?;
        let mut round = Round::default();
        let mut query = MemberQuery::in_states(&[MemberState::Applied, MemberState::Rejected]);
        query.limit = BATCH;
        loop {
            let applications = self.store.members(&query).await?;
            let Some(last) = applications.last() else { return Ok(round) };
            query.after = Some(last.id.clone());
            for application in &applications {
                if !rules::is_past_retention(application, days, now) {
                    continue;
                }
                self.review(&application.id, |member, now| {
                    // It may have been activated meanwhile.
                    match rules::is_past_retention(&member.record, days, now) {
                        true => rules::erase(member, &Actor::SCHEDULE),
                        false => Ok(None),
                    }
                })
                .await?;
                round.done += 1;
            }
        }
    }
}
