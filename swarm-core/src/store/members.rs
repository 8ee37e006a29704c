//! Members, their tokens, keys, challenges and mail.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Result, Versioned};
use crate::domain::{
    Challenge, Mail, Member, MemberId, PublicKey, QueuedMail, SecretHash, Version,
};

/// The part of the port that keeps members.
#[async_trait]
pub trait Members: Send + Sync {
    /// One member and its live challenge.
    async fn member(&self, id: &MemberId) -> Result<MemberBasis>;

    /// All members, whatever their state, in any order.
    async fn members(&self) -> Result<Vec<Arc<Member>>>;

    /// The member whose record carries this token hash, whatever its state.
    async fn bearer(&self, token: &SecretHash) -> Result<Option<Arc<Member>>>;

    /// Writes a member, atomically.
    ///
    /// To ensure correctness:
    /// - commit nothing unless the stored version is `change.expected` (`None`: no such member)
    ///   and `change.proven`, where given, still holds; otherwise answer [`MemberSaved::Moved`];
    /// - when the index of held keys names another member for [`MemberChange::held_key`], answer
    ///   [`MemberSaved::KeyHeld`]; the index names for each key the member whose last change held
    ///   it, so that a member leaves it with a change that holds no key, or another;
    /// - keep the index of tokens equal to the records: a replaced token is dead with the commit;
    /// - queue `change.mail` in the same commit, stamped with the store's clock.
    async fn save_member(&self, change: &MemberChange) -> Result<MemberSaved>;

    /// Writes a challenge into its slot; it replaces the one that was there. Both kinds of slot
    /// are written alike, so that the time it takes tells nothing. A store may forget a challenge
    /// once it has expired.
    async fn set_challenge(&self, slot: &Slot, challenge: &Challenge) -> Result<()>;

    /// All messages of the outbox, the oldest first.
    async fn outbox(&self) -> Result<Vec<QueuedMail>>;
}

/// What the rules need to know of a member to judge what becomes of it.
#[derive(Clone, Debug)]
pub struct MemberBasis {
    /// The member, where there is one.
    pub member: Option<Versioned<Member>>,
    /// Its live challenge, where it has one. An expired one may still be shown.
    pub challenge: Option<Challenge>,
}

/// The write of a member.
#[derive(Clone, Debug)]
pub struct MemberChange {
    /// The whole record to write.
    pub member: Member,
    /// The version that was judged; `None`: there must be no such member.
    pub expected: Option<Version>,
    /// The proof that the change relies on.
    pub proven: Option<Proven>,
    /// A message to queue with the commit.
    pub mail: Option<Mail>,
}

impl MemberChange {
    /// The key that no other member may hold once this change is committed, if any.
    pub fn held_key(&self) -> Option<&PublicKey> {
        self.member.public_key.as_ref().filter(|_| self.member.state.holds_key())
    }
}

/// The member's challenge at the commit must have this hash, and the store's clock must not be
/// past its expiry.
#[derive(Clone, Debug)]
pub struct Proven(pub SecretHash);

/// Where a challenge goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// The one live challenge of a member.
    Member(MemberId),
    /// The challenge that nobody can use, given to whoever may not have one; all of a tenant's
    /// share one place and are never read.
    Decoy,
}

/// What became of the write of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum MemberSaved {
    /// It is committed.
    Saved,
    /// The facts have moved since they were judged: load and judge again.
    Moved,
    /// This other member holds the key.
    KeyHeld(MemberId),
}
