//! Applications, reviews, challenges, token claims, key rotation, and the erasure of personal data.

use std::sync::Arc;

use super::retries::until_committed;
use super::{Commit, CommittedRecord, Error, Round, Tenant};
#[cfg(doc)]
use crate::domain::Quotas;
use crate::domain::{
    Actor, Application, Challenge, ChallengeSeed, Enrolment, KeyReplacementRequest, Links, Member,
    MemberId, MemberPatch, MemberState, PublicKey, Signed, Timestamp, TokenClaim, TokenHash,
};
use crate::proof::{BearerToken, ChallengeText};
use crate::rules::{self, Quota, QuotaReached, Refusal, Resource};
use crate::store::{
    self, Caller, MemberChange, MemberQuery, MemberSaved, MessageQuery, Records, Saved, Versioned,
};

/// The number of records read at a time by background work and erasures.
const BATCH: usize = 500;

/// A challenge and its expiry.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IssuedChallenge {
    /// The challenge to sign.
    pub challenge: ChallengeText,
    /// The last time at which a claim with it can succeed.
    pub expires_at: Timestamp,
}

/// A page of applications.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApplicationPage {
    /// The members that applied, by id, with their current state.
    pub applications: Vec<Arc<Member>>,
    /// The cursor of the next page; `None` on the last page.
    pub next_after: Option<MemberId>,
}

/// Applications.
impl Tenant {
    /// Records an application and returns the id of the future member (API.md, 4.2).
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::BadApplication`] when the signature does not verify, [`Refusal::KeyRegistered`]
    /// when a live application has the key, [`Refusal::QuotaReached`] when too many applications
    /// await review.
    pub async fn apply(&self, application: Signed<Application>) -> Result<MemberId, Error> {
        let pending = self.quotas.pending_applications;
        self.admit(application, pending, |_| {
            QuotaReached::until_changed(Quota::PendingApplications)
        })
        .await
    }

    /// Refuses the application of a client that has made as many applications today as
    /// [`Quotas::applications_per_address`] allows: with the quota, if it is valid
    /// otherwise. A front end counts the applications of each client, and calls this beyond the quota.
    ///
    /// If the future is dropped, nothing has changed.
    ///
    /// # Errors
    /// Always: the errors of [`apply`](Self::apply), or [`Refusal::QuotaReached`].
    pub async fn apply_over_quota(
        &self,
        application: Signed<Application>,
    ) -> Result<MemberId, Error> {
        let reached = |now| QuotaReached::today(Quota::ApplicationsPerAddress, now);
        self.admit(application, 0, reached).await
    }

    async fn admit(
        &self,
        application: Signed<Application>,
        quota: u32,
        reached: impl Fn(Timestamp) -> QuotaReached + Send + Sync,
    ) -> Result<MemberId, Error> {
        let application = Arc::new(application);
        until_committed("apply", || async {
            let now = self.store.now().await?;
            let change = rules::admit(&application, self.entropy.bytes()?, now)?;
            let notice = self.noted(|| Some(rules::application_received(&change.member)));
            let change = MemberChange { quota: Some(quota), notice, ..change };
            let (saved, member) = self.commit_member(change).await?;
            match saved {
                MemberSaved::Saved => Ok(Some(member.id)),
                MemberSaved::Stale => Ok(None),
                MemberSaved::KeyHeld(holder) => Err(Refusal::KeyRegistered(holder).into()),
                MemberSaved::Full => Err(Refusal::QuotaReached(reached(now)).into()),
            }
        })
        .await
    }

    /// Removes the applications that nobody reviewed within [`Quotas::pending_days`]. Several servers
    /// may do this concurrently. [`Round::done`] is the number of applications.
    ///
    /// If the future is dropped, [some of the changes](crate::service#dropping-a-future) may be made. The next call
    /// makes the others.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn expire_applications(&self) -> Result<Round, Error> {
        let (now, days) = (self.store.now().await?, self.quotas.pending_days);
        let (mut round, mut after) = (Round::default(), None);
        loop {
            let page = self.applications(Some(MemberState::Applied), after, BATCH).await?;
            let expired = page.applications.iter();
            for member in expired.filter(|member| rules::has_expired(member, days, now)) {
                // Judged again with its version; one that changes meanwhile was reviewed.
                let member = self.store.member(&member.id).await?.member;
                let removal = member.and_then(|member| rules::expire(&member, days, now));
                let Some(removal) = removal else { continue };
                let removed = |store: Records| async move {
                    Ok((store.remove_member(&removal).await?, removal.id))
                };
                let (saved, _) = self
                    .observer
                    .commit(&self.store, removed, |(saved, id)| {
                        saved.committed(Commit::unlisted(CommittedRecord::ApplicationExpired(id)))
                    })
                    .await?;
                round.done += usize::from(saved == Saved::Saved);
            }
            after = page.next_after;
            if after.is_none() {
                return Ok(round);
            }
        }
    }

    /// Returns the member of an application, in any state.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn application(&self, id: &MemberId) -> Result<Arc<Member>, Error> {
        let member = self.store.member(id).await?.member;
        Ok(member.ok_or(Refusal::NotFound(Resource::Application))?.record)
    }

    /// Returns up to `limit` applications with ids higher than `after`, by id; with `state`, only
    /// those in that state.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn applications(
        &self,
        state: Option<MemberState>,
        after: Option<MemberId>,
        limit: usize,
    ) -> Result<ApplicationPage, Error> {
        let states = MemberState::ALL.into_iter().filter(|it| state.is_none_or(|one| one == *it));
        let (applications, next_after) = self.in_states(states.collect(), after, limit).await?;
        Ok(ApplicationPage { applications, next_after })
    }
}

/// Reading members.
impl Tenant {
    /// Returns up to `limit` active members with ids higher than `after`, by id, and the cursor of the next page, if
    /// there is one.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn member_page(
        &self,
        after: Option<MemberId>,
        limit: usize,
    ) -> Result<(Vec<Arc<Member>>, Option<MemberId>), Error> {
        let active = MemberState::ALL.into_iter().filter(|state| state.is_active());
        self.in_states(active.collect(), after, limit).await
    }

    /// A page of the members in these states, and the cursor of the next page.
    async fn in_states(
        &self,
        states: Vec<MemberState>,
        after: Option<MemberId>,
        limit: usize,
    ) -> Result<(Vec<Arc<Member>>, Option<MemberId>), Error> {
        // Load one more than the page holds, to learn whether there is a next page.
        let query = MemberQuery { states, ids: None, after, limit: limit.saturating_add(1) };
        let mut members = self.store.members(&query).await?;
        let is_last = members.len() <= limit;
        members.truncate(limit);
        let next = members.last().filter(|_| !is_last).map(|last| last.id.clone());
        Ok((members, next))
    }

    /// Returns the active members, oldest first.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn members(&self) -> Result<Vec<Arc<Member>>, Error> {
        let active = MemberState::ALL.into_iter().filter(|state| state.is_active());
        let active = MemberQuery::in_states(&active.collect::<Vec<_>>());
        let mut members = self.store.members(&active).await?;
        members.sort_by(|a, b| (a.joined_at, &a.id).cmp(&(b.joined_at, &b.id)));
        Ok(members)
    }

    /// Returns the members with these ids that are or were active, by id. Each id is given once.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn members_among(&self, ids: Vec<MemberId>) -> Result<Vec<Arc<Member>>, Error> {
        let any = MemberQuery { ids: Some(ids), ..MemberQuery::in_states(&MemberState::ALL) };
        let mut members = self.store.members(&any).await?;
        members.retain(|member| rules::may_be_read(member));
        Ok(members)
    }

    /// Returns a member that is or was active.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn member(&self, id: &MemberId) -> Result<Arc<Member>, Error> {
        let member = self.store.member(id).await?.member.map(|member| member.record);
        let public = member.filter(|member| rules::may_be_read(member));
        Ok(public.ok_or(Refusal::NotFound(Resource::Member))?)
    }

    /// Returns the active member that a bearer token belongs to.
    ///
    /// # Errors
    /// [`Refusal::UnknownToken`] when there is none.
    pub async fn bearer(&self, token: &TokenHash) -> Result<Arc<Member>, Error> {
        let member = self.store.bearer(token).await?;
        Ok(member.filter(|member| member.state.is_active()).ok_or(Refusal::UnknownToken)?)
    }

    /// Returns the active member that calls.
    ///
    /// # Errors
    /// [`Refusal::UnknownToken`] when there is none.
    pub async fn calling(
        &self,
        caller: impl Into<Caller<'_>> + Send,
    ) -> Result<Arc<Member>, Error> {
        let caller = caller.into();
        match caller {
            Caller::Bearer(token) => self.bearer(token).await,
            Caller::Authenticated(_) => Ok(self.calling_at(caller).await?.record),
        }
    }

    /// The active member that calls, with its version to guard a write.
    pub(super) async fn calling_at(&self, caller: Caller<'_>) -> Result<Versioned<Member>, Error> {
        let (id, token) = match caller {
            Caller::Bearer(token) => (self.bearer(token).await?.id.clone(), Some(*token)),
            Caller::Authenticated(id) => (id.clone(), None),
        };
        let member = self.store.member(&id).await?.member;
        let calls = |member: &Versioned<Member>| {
            let bears = token.is_none() || member.record.token == token;
            bears && member.record.state.is_active()
        };
        Ok(member.filter(calls).ok_or(Refusal::UnknownToken)?)
    }

    pub(super) async fn load_member(&self, id: &MemberId) -> Result<Versioned<Member>, Error> {
        Ok(self.store.member(id).await?.member.ok_or(Refusal::NotFound(Resource::Member))?)
    }
}

/// Members that an embedding program brings.
impl Tenant {
    /// Makes a member of somebody that the embedding program knows: active at once, without an application, a mail or a
    /// token. It files takes as [`Caller::Authenticated`], and can still claim a token with a proof of its key. A pending
    /// application with the same key is rejected.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::MemberExists`] when there is a member with this id; [`Refusal::KeyRegistered`] when another member has
    /// the key.
    pub async fn enrol(&self, enrolment: &Enrolment, by: &Actor) -> Result<Arc<Member>, Error> {
        until_committed("enrol", || async {
            let now = self.store.now().await?;
            let known = self.store.member(&enrolment.id).await?.member;
            let change = rules::enrol(enrolment, known.as_ref(), now, by)?;
            self.save_holder(change, now, by).await
        })
        .await
    }
}

/// Reviews by operators.
impl Tenant {
    /// Activates a member and returns its state. The mail at its first activation, if the
    /// [texts](super::Swarm::with_mail_text) have one, contains addresses from `links`, for example an origin
    /// such as `https://acme.example`. A pending application with the same key is rejected.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::KeyRegistered`] when another member has its key by now;
    /// [`Refusal::MemberErased`].
    pub async fn activate(
        &self,
        id: &MemberId,
        links: &(impl Links + Sync + ?Sized),
        by: &Actor,
    ) -> Result<MemberState, Error> {
        let approval = |member: &Member| self.mail_text.approval(member, &links);
        until_committed("activate", || async {
            let now = self.store.now().await?;
            let member = self.load_member(id).await?;
            let Some(change) = rules::activate(&member, approval, now, by)? else {
                return Ok(Some(member.record.state));
            };
            Ok(self.save_holder(change, now, by).await?.map(|member| member.state))
        })
        .await
    }

    /// Writes a member that becomes active, after rejecting a pending application with the same key. `None` when the facts
    /// had changed.
    async fn save_holder(
        &self,
        change: MemberChange,
        now: Timestamp,
        by: &Actor,
    ) -> Result<Option<Arc<Member>>, Error> {
        let (saved, member) = self.commit_member(change).await?;
        match saved {
            MemberSaved::Saved => Ok(Some(Arc::new(member))),
            MemberSaved::Stale | MemberSaved::Full => Ok(None),
            MemberSaved::KeyHeld(holder) => {
                let holder = self.load_member(&holder).await?;
                let rejection = rules::reject_competing_application(&holder, now, by)?;
                // Ignore whether this was committed: the next attempt loads the result.
                let _ = self.commit_member(rejection).await?;
                Ok(None)
            }
        }
    }

    /// Rejects an applicant and returns its state.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::MemberIs`] when its state does not allow it.
    pub async fn reject(&self, id: &MemberId, by: &Actor) -> Result<MemberState, Error> {
        self.review(id, |member, now| rules::reject(member, now, by).map(Some)).await
    }

    /// Changes what operators keep about a member, in any state, and returns its state.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::MemberErased`].
    pub async fn update_member(
        &self,
        id: &MemberId,
        patch: &MemberPatch,
        by: &Actor,
    ) -> Result<MemberState, Error> {
        self.review(id, |member, _| rules::update(member, patch, by)).await
    }

    /// Deactivates a member and returns its state.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::MemberIs`] when its state does not allow it.
    pub async fn deactivate(&self, id: &MemberId, by: &Actor) -> Result<MemberState, Error> {
        self.review(id, |member, _| rules::deactivate(member, by).map(Some)).await
    }

    pub(super) async fn review(
        &self,
        id: &MemberId,
        judge: impl Fn(&Versioned<Member>, Timestamp) -> Result<Option<MemberChange>, Refusal>
        + Send
        + Sync,
    ) -> Result<MemberState, Error> {
        until_committed("review", || async {
            let now = self.store.now().await?;
            let member = self.load_member(id).await?;
            let Some(change) = judge(&member, now)? else { return Ok(Some(member.record.state)) };
            Ok(self.save(change).await?.map(|member| member.state))
        })
        .await
    }
}

/// Challenges, bearer tokens and keys.
impl Tenant {
    /// Gives out a challenge (API.md, 4.3). Every id gets the same kind of response, after the same
    /// reads and writes, whether or not a claim can succeed. Requests for the same id within five
    /// minutes get the same challenge.
    ///
    /// `service` is the origin that the challenge names, such as `https://acme.example`. If a
    /// tenant is served at several, it is the one that its members know.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::Entropy`].
    pub async fn challenge(&self, id: &MemberId, service: &str) -> Result<IssuedChallenge, Error> {
        let now = self.store.now().await?;
        let basis = self.store.member(id).await?;
        let seed = ChallengeSeed(self.entropy.bytes()?);
        let offer = rules::offer_challenge(id, &basis, seed, now);
        let Challenge { seed, expires_at, .. } = self.store.give_challenge(&offer).await?;
        Ok(IssuedChallenge { challenge: ChallengeText::of(service, id, &seed), expires_at })
    }

    /// Claims a member's bearer token with a proof of its key, once. The token is returned only
    /// here. `service` is the origin that the challenge must name.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future), and the
    /// secret that it would have returned is lost.
    ///
    /// # Errors
    /// [`Refusal::ClaimRefused`] when the proof is not valid, [`Refusal::AlreadyClaimed`] when the
    /// token was claimed before.
    pub async fn claim(
        &self,
        claim: Signed<TokenClaim>,
        service: &str,
    ) -> Result<BearerToken, Error> {
        let claim = Arc::new(claim);
        until_committed("claim", || async {
            // Read the clock after the record: whatever was filed before the record changed is older than the claim.
            let basis = self.store.member(&claim.payload.member_id).await?;
            let now = self.store.now().await?;
            let (change, token) =
                rules::claim(&claim, service, &basis, now, self.entropy.bytes()?)?;
            match self.commit_member(change).await?.0 {
                MemberSaved::Saved => Ok(Some(token)),
                MemberSaved::Stale | MemberSaved::KeyHeld(_) | MemberSaved::Full => Ok(None),
            }
        })
        .await
    }

    /// Replaces the bearer token of a member, and its key if one is given. The old token stops
    /// working with the commit.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future), and the
    /// secret that it would have returned is lost.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::MemberIs`] unless it has claimed its token;
    /// [`Refusal::KeyRegistered`] when another member holds the key.
    pub async fn rotate_key(
        &self,
        id: &MemberId,
        key: Option<&PublicKey>,
        by: &Actor,
    ) -> Result<(Arc<Member>, BearerToken), Error> {
        until_committed("rotate key", || async {
            let member = self.load_member(id).await?;
            let (change, token) = rules::rotate(&member, key.cloned(), self.entropy.bytes()?, by)?;
            Ok(self.save(change).await?.map(|member| (Arc::new(member), token)))
        })
        .await
    }

    /// Replaces the key of the member that calls, as it asks for. Its token stays.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::UnknownToken`]; [`Refusal::BadKeyReplacement`] unless the old and the new key signed it;
    /// [`Refusal::KeyRegistered`] when another member holds the new key.
    pub async fn replace_own_key(
        &self,
        caller: impl Into<Caller<'_>> + Send,
        request: &KeyReplacementRequest,
    ) -> Result<Arc<Member>, Error> {
        let caller = caller.into();
        until_committed("replace key", || async {
            let member = self.calling_at(caller).await?;
            match rules::replace_own_key(&member, request)? {
                Some(change) => Ok(self.save(change).await?.map(Arc::new)),
                None => Ok(Some(member.record)),
            }
        })
        .await
    }

    /// Puts a member back from claimed to approved, and returns that state. Its token stops working with
    /// the commit; it claims a new one with a proof of its key.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::MemberIs`] unless it has claimed its token.
    pub async fn reset_claim(&self, id: &MemberId, by: &Actor) -> Result<MemberState, Error> {
        self.review(id, |member, _| rules::reset_claim(member, by).map(Some)).await
    }

    /// The written member; `None` when the facts had changed.
    async fn save(&self, change: MemberChange) -> Result<Option<Member>, Error> {
        let (saved, member) = self.commit_member(change).await?;
        match saved {
            MemberSaved::Saved => Ok(Some(member)),
            MemberSaved::Stale | MemberSaved::Full => Ok(None),
            MemberSaved::KeyHeld(holder) => Err(Refusal::KeyRegistered(holder).into()),
        }
    }

    async fn commit_member(&self, change: MemberChange) -> store::Result<(MemberSaved, Member)> {
        let commit =
            |store: Records| async move { Ok((store.save_member(&change).await?, change)) };
        let (saved, change) = self
            .observer
            .commit(&self.store, commit, |(saved, change)| {
                (*saved == MemberSaved::Saved).then(|| Commit::member(change))
            })
            .await?;
        Ok((saved, change.member))
    }
}

/// Erasure of personal data, and the retention of applications (API.md, 7.8).
impl Tenant {
    /// Permanently erases name, contact, lens and memos of a member that is not active, the messages to it, and its name in what
    /// webhooks were told. Returns its state. Its takes stay; with `texts`, their write-ups and memo addresses are withheld and
    /// erased. A second call erases what an interrupted first call left, and changes nothing otherwise.
    ///
    /// If the future is dropped, [some of the changes](crate::service#dropping-a-future) may be made. The next call
    /// makes the others.
    ///
    /// # Errors
    /// [`Refusal::NotFound`];
    /// [`Refusal::MemberIs`] when it is active.
    /// [`Refusal::TakesSealed`] when a memo of its is held until a session with sealed takes is opened; with `texts`, when a take of its is
    /// sealed.
    pub async fn erase(
        &self,
        id: &MemberId,
        texts: bool,
        by: &Actor,
    ) -> Result<MemberState, Error> {
        let member = self.load_member(id).await?;
        rules::erase(&member, by)?;
        self.check_held_memos(id).await?;
        if texts {
            self.erase_takes(&member, by).await?;
        }
        // The record is erased last: test mails are found by its contact.
        self.erase_messages(&member.record).await?;
        self.erase_memos(id, by).await?;
        self.erase_from_deliveries(id).await?;
        self.review(id, |member, _| rules::erase(member, by)).await
    }

    async fn erase_messages(&self, member: &Member) -> Result<(), Error> {
        let mut query = MessageQuery { state: None, after: None, limit: BATCH };
        loop {
            let messages = self.store.messages(&query).await?;
            let Some(last) = messages.last() else { return Ok(()) };
            query.after = Some(last.record.id);
            for message in messages {
                if !rules::is_message_to(&message.record, member) {
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

    /// Erases name, contact and lens of applications that were rejected or have been pending for the
    /// [retention period](Self::with_application_retention) of the tenant. Several servers may do this
    /// concurrently. [`Round::done`] is the number of applications.
    ///
    /// If the future is dropped, [some of the changes](crate::service#dropping-a-future) may be made. The next call
    /// makes the others.
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
