//! The part of the port for members, their tokens, keys and challenges.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Result, Saved};
use crate::domain::{Challenge, Member, MemberId, MemberState, TokenHash};
use crate::rules::{ChallengeOffer, MemberBasis, MemberChange, MemberRemoval};

/// Members, their tokens, keys and challenges.
#[async_trait]
pub trait Members: Send + Sync {
    /// A member and its live challenge.
    async fn member(&self, id: &MemberId) -> Result<MemberBasis>;

    /// The members that match, by id. A store should use an index and not scan all members:
    /// anybody may apply, so members in other states can be many.
    async fn members(&self, query: &MemberQuery) -> Result<Vec<Arc<Member>>>;

    /// The member whose record has this token hash, in any state.
    async fn bearer(&self, token: &TokenHash) -> Result<Option<Arc<Member>>>;

    /// Writes a member, atomically.
    ///
    /// To ensure correctness, check in this order and write nothing before the last check:
    /// - return [`MemberSaved::Stale`] unless the stored version is `change.expected` (`None`: no
    ///   such member) and `change.proven`, if given, still holds; a challenge that proved a change
    ///   stays unchanged;
    /// - return [`MemberSaved::KeyHeld`] when the index of held keys names another member for
    ///   [`MemberChange::held_key`]; the index maps each key to the member whose last change held it,
    ///   so a change that holds no key, or another one, removes the old entry;
    /// - return [`MemberSaved::Full`] when `change.quota` is given and at least that many other
    ///   members are in the state of `change.member`;
    /// - keep the index of tokens consistent with the records: a replaced token stops working with
    ///   the commit;
    /// - queue `change.mail` in the same commit, as [`Mail::queued`](crate::domain::Mail::queued)
    ///   with the next id and the store's clock, version 1.
    async fn save_member(&self, change: &MemberChange) -> Result<MemberSaved>;

    /// Removes a member that has filed nothing, atomically, with its challenge and its entries in all
    /// indexes: from then on it is unknown, and its key is free. Nothing is logged. Returns
    /// [`Saved::Stale`] unless its stored version is `removal.expected`.
    async fn remove_member(&self, removal: &MemberRemoval) -> Result<Saved>;

    /// Gives out a challenge, atomically. It is the one in `offer.bucket` if the store's clock is
    /// not past its `reusable_until`; otherwise it is `offer.fresh`, which replaces the one in the
    /// bucket. The challenge that is given out also replaces the one in `offer.slot`.
    ///
    /// Both kinds of slot are written in the same way, so that the response time does not reveal
    /// whether the member exists. A store may delete expired challenges.
    async fn give_challenge(&self, offer: &ChallengeOffer) -> Result<Challenge>;
}

/// A filter for members.
#[derive(Clone, Debug)]
pub struct MemberQuery {
    /// Only members in these states. Each state is listed once.
    pub states: Vec<MemberState>,
    /// Only members with one of these ids. Each id is listed once.
    pub ids: Option<Vec<MemberId>>,
    /// Only members with a higher id, in the order of the UTF-8 bytes.
    pub after: Option<MemberId>,
    /// The maximum number of results.
    pub limit: usize,
}

impl MemberQuery {
    /// All members in these states.
    pub fn in_states(states: &[MemberState]) -> Self {
        Self { states: states.to_vec(), ids: None, after: None, limit: usize::MAX }
    }

    /// Returns the members that match, of these: those with the [`ids`](Self::ids) of the query, in
    /// any order.
    pub fn select(&self, mut members: Vec<Arc<Member>>) -> Vec<Arc<Member>> {
        members.retain(|member| {
            self.states.contains(&member.state)
                && self.after.as_ref().is_none_or(|after| member.id > *after)
        });
        members.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        members.truncate(self.limit);
        members
    }
}

/// The outcome of a write of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum MemberSaved {
    /// The change is committed.
    Saved,
    /// The facts have changed since they were judged: load and judge again.
    Stale,
    /// This other member holds the key.
    KeyHeld(MemberId),
    /// The quota of members in its state is reached.
    Full,
}
