//! The members of the committee and their keys.

use std::sync::Arc;

use super::{CommitteeError, CommitteeTenant};
use crate::domain::committee::{
    CommitteeMember, CommitteeMemberDraft, CommitteeMemberId, CommitteeStatus,
};
use crate::proof::ApiKey;
use crate::rules::committee::{self as rules, CommitteeRefusal};
use crate::rules::{Resource, Versioned};
use crate::service::Commit;
use crate::service::retries::until_committed;
use crate::store::{self, CommitteeMemberChange, Saved};

impl CommitteeTenant {
    /// Creates an active member and returns its key, which is not stored (API.md, 8.8).
    ///
    /// # Errors
    /// [`CommitteeRefusal::MemberExists`].
    pub async fn create_member(
        &self,
        draft: &CommitteeMemberDraft,
    ) -> Result<ApiKey, CommitteeError> {
        let (random, now) = (self.entropy.bytes()?, self.store.now().await?);
        let (change, key) = rules::create_member(draft, self.settings.key_prefix(), random, now);
        match self.save_member(&change).await? {
            Saved::Saved => Ok(key),
            Saved::Stale => Err(CommitteeRefusal::MemberExists(draft.id.clone()).into()),
        }
    }

    /// Replaces the key of a member. The old key stops working with the commit.
    ///
    /// # Errors
    /// [`CommitteeRefusal::NotFound`] when there is no such member.
    pub async fn rotate_member_key(
        &self,
        id: &CommitteeMemberId,
    ) -> Result<ApiKey, CommitteeError> {
        until_committed("rotate committee key", || async {
            let (random, member) = (self.entropy.bytes()?, self.load_member(id).await?);
            let (change, key) =
                rules::rotate_member_key(&member, self.settings.key_prefix(), random);
            Ok(self.save_member(&change).await?.committed(key))
        })
        .await
    }

    /// Sets whether a member may submit. Its key does not change. An inactive member has no brief.
    ///
    /// # Errors
    /// [`CommitteeRefusal::NotFound`] when there is no such member.
    pub async fn set_member_status(
        &self,
        id: &CommitteeMemberId,
        status: CommitteeStatus,
    ) -> Result<(), CommitteeError> {
        until_committed("set committee status", || async {
            let change = rules::set_status(&self.load_member(id).await?, status);
            Ok(self.save_member(&change).await?.committed(()))
        })
        .await
    }

    /// All members, of either status, by id.
    ///
    /// # Errors
    /// [`CommitteeError::Store`].
    pub async fn members(&self) -> Result<Vec<Arc<CommitteeMember>>, CommitteeError> {
        let members = self.store.committee_members().await?;
        Ok(members.into_iter().map(|member| member.record).collect())
    }

    async fn save_member(&self, change: &CommitteeMemberChange) -> store::Result<Saved> {
        let saved = self.store.save_committee_member(change).await?;
        if saved == Saved::Saved {
            self.observer.tell(Commit::CommitteeMember(&change.member));
        }
        Ok(saved)
    }

    async fn load_member(
        &self,
        id: &CommitteeMemberId,
    ) -> Result<Versioned<CommitteeMember>, CommitteeError> {
        let member = self.store.committee_member(id).await?;
        Ok(member.ok_or(CommitteeRefusal::NotFound(Resource::Member))?)
    }
}
