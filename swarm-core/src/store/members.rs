//! Members, their tokens, keys and challenges.

use std::sync::Arc;

use async_trait::async_trait;

use super::Result;
use crate::domain::{Challenge, Member, MemberId, MemberState, TokenHash};
use crate::rules::{ChallengeOffer, MemberBasis, MemberChange};

/// The part of the port that keeps members.
#[async_trait]
pub trait Members: Send + Sync {
    /// One member and its live challenge.
    async fn member(&self, id: &MemberId) -> Result<MemberBasis>;

    /// The members that match, by id. A store should read hardly any others: anybody may apply, as
    /// often as they like, so those in other states may be many.
    async fn members(&self, query: &MemberQuery) -> Result<Vec<Arc<Member>>>;

    /// The member whose record carries this token hash, whatever its state.
    async fn bearer(&self, token: &TokenHash) -> Result<Option<Arc<Member>>>;

    /// Writes a member, atomically.
    ///
    /// To ensure correctness:
    /// - commit nothing unless the stored version is `change.expected` (`None`: no such member)
    ///   and `change.proven`, where given, still holds; otherwise answer [`MemberSaved::Stale`];
    ///   a challenge stays as it is when a change was proven by it;
    /// - when the index of held keys names another member for [`MemberChange::held_key`], answer
    ///   [`MemberSaved::KeyHeld`]; the index names for each key the member whose last change held
    ///   it, so that a member leaves it with a change that holds no key, or another;
    /// - answer [`MemberSaved::Full`] where `change.quota` is given and as many others are in the
    ///   state of `change.member`;
    /// - keep the index of tokens equal to the records: a replaced token stops working with the
    ///   commit;
    /// - queue `change.mail` in the same commit, as [`Mail::queued`](crate::domain::Mail::queued)
    ///   with the next id and the store's clock, version 1.
    async fn save_member(&self, change: &MemberChange) -> Result<MemberSaved>;

    /// Gives out a challenge, atomically: the one in `offer.bucket` unless the store's clock is past
    /// its `reusable_until`, and else `offer.fresh`, which takes its place there. The one that is
    /// given out takes the place of what is in `offer.slot`.
    ///
    /// Both kinds of slot are written in the same way, so that the response time reveals nothing.
    /// A store may delete a challenge once it has expired.
    async fn give_challenge(&self, offer: &ChallengeOffer) -> Result<Challenge>;
}

/// Which members are asked for.
#[derive(Clone, Debug)]
pub struct MemberQuery {
    /// Only those in these states, each named once.
    pub states: Vec<MemberState>,
    /// Only those with a higher id, in the order of its UTF-8 bytes.
    pub after: Option<MemberId>,
    /// At most so many.
    pub limit: usize,
}

impl MemberQuery {
    /// All members in these states.
    pub fn in_states(states: &[MemberState]) -> Self {
        Self { states: states.to_vec(), after: None, limit: usize::MAX }
    }
}

/// What became of the write of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum MemberSaved {
    /// It is committed.
    Saved,
    /// The facts have changed since they were judged: load and judge again.
    Stale,
    /// This other member holds the key.
    KeyHeld(MemberId),
    /// There are as many in its state as there may be.
    Full,
}
