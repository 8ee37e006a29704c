//! Members, their tokens, keys and challenges.

use std::sync::Arc;

use super::rows::{Outcome, time, versioned, whole};
use super::tables::{MESSAGES, challenges, members, reusable_challenges};
use super::{Change, Made, Records, outbox, unexpected};
use crate::domain::{Challenge, ChallengeSeed, Member, MemberId, TokenHash};
use crate::records::Unreadable;
use crate::rules::Versioned;
use crate::store::backend::{Body, Check, Query, Range, Row, Term, Value, Write};
use crate::store::{
    Caller, ChallengeBucket, ChallengeOffer, ChallengeSlot, MemberBasis, MemberChange, MemberQuery,
    MemberRemoval, MemberSaved, Result, Saved, StoreError,
};

/// How often a challenge is given out again because another request was faster.
const MAX_ATTEMPTS: usize = 64;

/// Members, their tokens, keys and challenges.
impl Records {
    /// A member and its live challenge.
    pub async fn member(&self, id: &MemberId) -> Result<MemberBasis> {
        let queries = vec![
            Query::Rows(Range::key(&members::TABLE, key(id))),
            Query::Rows(Range::key(&challenges::TABLE, key(id))),
        ];
        let mut found = self.read("member", queries).await?;
        let (member, challenge) = (found.row(), found.row());
        let corrupt = found.corrupt();
        Ok(MemberBasis {
            member: member.as_ref().map(read).transpose().map_err(&corrupt)?,
            challenge: challenge.as_ref().map(read_challenge).transpose().map_err(&corrupt)?,
        })
    }

    /// The members that match, by id.
    pub async fn members(&self, query: &MemberQuery) -> Result<Vec<Arc<Member>>> {
        let queries = match &query.ids {
            Some(ids) => {
                ids.iter().map(|id| Range::key(&members::TABLE, key(id))).collect::<Vec<_>>()
            }
            None => {
                let in_state = |state: &crate::domain::MemberState| Range {
                    after: query.after.as_ref().map(|id| id.as_str().into()),
                    limit: query.limit,
                    ..Range::index(&members::TABLE, members::BY_STATE, vec![state.as_str().into()])
                };
                query.states.iter().map(in_state).collect()
            }
        };
        let count = queries.len();
        let mut found =
            self.read("members", queries.into_iter().map(Query::Rows).collect()).await?;
        let mut listed = Vec::new();
        for _ in 0..count {
            for row in found.rows() {
                listed.push(read(&row).map_err(found.corrupt())?.record);
            }
        }
        Ok(query.select(listed))
    }

    /// The member whose record has this token hash, in any state.
    pub async fn bearer(&self, token: &TokenHash) -> Result<Option<Arc<Member>>> {
        let mut found = self.read("bearer", vec![with_token(token)]).await?;
        let member = found.row().as_ref().map(read).transpose().map_err(found.corrupt())?;
        Ok(member.map(|member| member.record))
    }

    /// Writes a member. In this order:
    /// - the result is [`MemberSaved::Stale`] unless the stored version is `change.expected` (`None`: no such member) and `change.proven`, if
    ///   given, is still live; a challenge that proved a change stays unchanged;
    /// - it is [`MemberSaved::KeyHeld`] if another member holds [`MemberChange::held_key`];
    /// - it is [`MemberSaved::Full`] if `change.quota` is given and at least that many other members are in the state of `change.member`;
    /// - otherwise the challenges of `change.forgets` are removed, and `change.mail` is queued in the same commit, as [`Mail::queued`](crate::domain::Mail::queued) with the next id and the
    ///   time of the commit. A replaced token stops working with the commit.
    pub async fn save_member(&self, change: &MemberChange) -> Result<MemberSaved> {
        const OP: &str = "save member";
        let MemberChange {
            member,
            expected,
            proven,
            forgets,
            mail,
            quota,
            act,
            notice,
            operator_act,
        } = change;
        let id = &member.id;
        let mut guards = vec![(
            Check::Version { table: &members::TABLE, key: key(id), expected: *expected },
            MemberSaved::Stale,
        )];
        if let Some(proven) = proven {
            let live = Range::key(&challenges::TABLE, key(id));
            let mut found = self.read(OP, vec![Query::Rows(live.clone())]).await?;
            let challenge = found.row().as_ref().map(read_challenge).transpose();
            let Some(challenge) = challenge.map_err(found.corrupt())? else {
                return Ok(MemberSaved::Stale);
            };
            let value = Term::from(proven.0.0.as_slice());
            let same = Check::First { range: live, column: challenges::SEED, value, version: None };
            guards.push((same, MemberSaved::Stale));
            guards.push((Check::NotAfter(challenge.expires_at), MemberSaved::Stale));
        }
        if let Some(held) = change.held_key() {
            let prefix = vec![held.as_bytes().as_slice().into()];
            let range = Range::index(&members::TABLE, members::BY_HELD_KEY, prefix);
            // The outcome names the holder.
            guards.push((Check::None { range, except: key(id) }, MemberSaved::KeyHeld(id.clone())));
        }
        if let Some(quota) = quota {
            let prefix = vec![member.state.as_str().into()];
            let range = Range::index(&members::TABLE, members::BY_STATE, prefix);
            guards.push((at_most(range, key(id), *quota), MemberSaved::Full));
        }
        let mut commit = Change { erases: member.is_erased(), ..Change::default() };
        commit.writes.push(put(member));
        if let Some(bucket) = forgets {
            commit.writes.push(Write::Remove(Range::key(&challenges::TABLE, key(id))));
            let bucket = Range::key(&reusable_challenges::TABLE, bucket_key(*bucket));
            commit.writes.push(Write::Remove(bucket));
        }
        if let Some(mail) = mail {
            commit.sequences.push(MESSAGES);
            commit.writes.push(outbox::queue(mail, id, 0));
        }
        commit.note(notice.as_ref());
        commit.operator_act = operator_act.clone();
        commit.member = Some(id.as_str().into());
        commit.entries.extend(act.as_ref().map(|act| super::acts::entry(act, None)));
        let (checks, outcomes): (Vec<_>, Vec<_>) = guards.into_iter().unzip();
        match self.commit(OP, Change { checks, ..commit }).await? {
            Made::Now(..) => Ok(MemberSaved::Saved),
            Made::Unmet(_, Some(holder)) => {
                let holder = read_id(&holder).map_err(self.damage.corrupt(OP))?;
                Ok(MemberSaved::KeyHeld(holder))
            }
            Made::Unmet(check, None) => {
                outcomes.into_iter().nth(check).ok_or_else(|| unexpected(OP, check))
            }
            Made::Before(_) => Err(unexpected(OP, 0)),
        }
    }

    /// Removes a member that has filed nothing, with its challenge: from then on it is unknown, and its key is free. Nothing is logged. Returns
    /// [`Saved::Stale`] unless its stored version is `removal.expected`.
    pub async fn remove_member(&self, removal: &MemberRemoval) -> Result<Saved> {
        let MemberRemoval { id, expected } = removal;
        let checks = vec![Check::Version {
            table: &members::TABLE,
            key: key(id),
            expected: Some(*expected),
        }];
        let writes = vec![
            Write::Remove(Range::key(&members::TABLE, key(id))),
            Write::Remove(Range::key(&challenges::TABLE, key(id))),
        ];
        self.save("remove member", Change { checks, writes, ..Change::default() }).await
    }

    /// Gives out a challenge. It is the one in `offer.bucket` if the store's clock is
    /// not past its `reusable_until`; otherwise it is `offer.fresh`, which replaces the one in the
    /// bucket. The challenge that is given out also replaces the one in `offer.slot`.
    ///
    /// Both kinds of slot are written in the same way, so that the response time does not reveal
    /// whether the member exists.
    pub async fn give_challenge(&self, offer: &ChallengeOffer) -> Result<Challenge> {
        const OP: &str = "give challenge";
        let bucket = bucket_key(offer.bucket);
        for _ in 0..MAX_ATTEMPTS {
            let last = Range::key(&reusable_challenges::TABLE, bucket.clone());
            let reading = self.backend.read(&self.tenant, OP, vec![Query::Rows(last)]).await?;
            let now = crate::store::time_of_read(reading.clock, reading.head.at);
            let last = super::Answers::new(OP, reading.answers, &self.damage).row();
            let stored =
                last.as_ref().map(read_challenge).transpose().map_err(self.damage.corrupt(OP))?;
            let reusable = stored.filter(|it| now <= it.reusable_until);
            let given = reusable.as_ref().unwrap_or(&offer.fresh);
            let mut checks = vec![Check::Version {
                table: &reusable_challenges::TABLE,
                key: bucket.clone(),
                expected: last.as_ref().map(|row| row.version),
            }];
            checks.extend(reusable.as_ref().map(|it| Check::NotAfter(it.reusable_until)));
            let slot = match &offer.slot {
                ChallengeSlot::Member(id) => id.as_str(),
                ChallengeSlot::Decoy => "",
            };
            let writes = vec![
                put_challenge(&reusable_challenges::TABLE, bucket[..].first().cloned(), given),
                put_challenge(&challenges::TABLE, Some(slot.into()), given),
            ];
            let change = Change { checks, writes, ..Change::default() };
            if let Made::Now(..) = self.commit(OP, change).await? {
                return Ok(given.clone());
            }
        }
        Err(StoreError::contended(OP, "other requests for the same challenge were faster"))
    }
}

impl Records {
    /// Commits a change that is stale unless all of its checks are met.
    pub(super) async fn save(&self, op: &'static str, change: Change) -> Result<Saved> {
        Ok(match self.commit(op, change).await? {
            Made::Now(..) => Saved::Saved,
            Made::Before(_) | Made::Unmet(..) => Saved::Stale,
        })
    }
}

/// A check that fewer than `quota` other records are in the range.
pub(super) fn at_most(range: Range, except: Vec<Term>, quota: u32) -> Check {
    let most = u64::from(quota).checked_sub(1);
    // With a quota of 0, no number is permitted.
    Check::Count { range, except, least: u64::from(most.is_none()), most: most.unwrap_or(0) }
}

pub(super) fn key(id: &MemberId) -> Vec<Term> {
    vec![id.as_str().into()]
}

/// The member with this token.
pub(super) fn calling(caller: Caller<'_>) -> Query {
    match caller {
        Caller::Bearer(token) => with_token(token),
        Caller::Authenticated(id) => Query::Rows(Range::key(&members::TABLE, key(id))),
    }
}

fn with_token(token: &TokenHash) -> Query {
    let prefix = vec![token.as_bytes().as_slice().into()];
    Query::Rows(Range { limit: 1, ..Range::index(&members::TABLE, members::BY_TOKEN, prefix) })
}

pub(super) fn columns(member: &Member) -> Vec<Value> {
    vec![
        member.id.as_str().into(),
        member.state.as_str().into(),
        member.token.as_ref().map(|token| token.as_bytes().as_slice()).into(),
        member.held_key().map(|held| held.as_bytes().as_slice()).into(),
    ]
}

pub(super) fn body(member: Member) -> Body {
    whole(member)
}

fn put(member: &Member) -> Write {
    let columns = columns(member).into_iter().map(Term::Value).collect();
    Write::Put { table: &members::TABLE, columns, body: body(member.clone()) }
}

pub(super) fn read(row: &Row) -> Outcome<Versioned<Member>> {
    versioned(row)
}

fn read_id(row: &Row) -> Outcome<MemberId> {
    Ok(MemberId::parse(super::rows::text(row, members::ID)?)?)
}

fn bucket_key(bucket: ChallengeBucket) -> Vec<Term> {
    vec![Term::from(u64::from(bucket.0))]
}

fn put_challenge(
    table: &'static crate::store::backend::Table,
    slot: Option<Term>,
    challenge: &Challenge,
) -> Write {
    let columns = slot.into_iter().chain([
        challenge.seed.0.as_slice().into(),
        challenge.reusable_until.into(),
        challenge.expires_at.into(),
    ]);
    Write::Put { table, columns: columns.collect(), body: Body::empty() }
}

/// Reads a row of either table of challenges, which have the same columns after the key.
fn read_challenge(row: &Row) -> Outcome<Challenge> {
    let seed = row.columns.get(challenges::SEED).and_then(Value::bytes);
    let seed = seed.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    Ok(Challenge {
        seed: ChallengeSeed(seed.ok_or_else(|| Unreadable::new("a challenge has no seed"))?),
        reusable_until: time(row, challenges::REUSABLE_UNTIL)?,
        expires_at: time(row, challenges::EXPIRES_AT)?,
    })
}
