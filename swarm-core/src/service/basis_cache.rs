//! A cache of the facts that takes are judged on, so that a take usually costs one call of the
//! store.
//!
//! Cached facts may be out of date, so they can only accept a take: the commit then checks every
//! fact that the decision relied on ([`Filing`](crate::rules::Filing)). If cached facts refuse a
//! take, or the commit fails, the take is judged again on fresh facts.
//!
//! There is one exception. Of two concurrent takes of a member in a session, which race for a
//! revision, one must be refused (API.md, 5.4). If another one was filed since this one began, the
//! commit failed because of the race, not because of an outdated cache.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::{
    Day, Member, MemberId, Revision, SessionId, SessionTerms, SubjectId, Take, TenantId, Timestamp,
    TokenHash,
};
use crate::store::{Basis, BasisQuery, Caller, LogIdentity, Versioned};

/// The maximum number of sessions for which the latest revision of a member is cached.
const MAX_SESSIONS_PER_MEMBER: usize = 8;

/// The maximum size of a generation in bytes. There are two generations.
const MAX_GENERATION_BYTES: usize = 16 << 20;

/// The cache of one tenant; without effect when caching is off.
#[derive(Clone)]
pub(super) struct BasisCache {
    tenant: TenantId,
    facts: Option<SharedFacts>,
}

/// The cache of all tenants.
pub(super) type SharedFacts = Arc<Mutex<Facts>>;

#[derive(Default)]
pub(super) struct Facts {
    members: Recent<MemberKey, CachedMember>,
    sessions: Recent<SessionKey, CachedSession>,
    in_progress: SubmitsInProgress,
}

/// The key of a member: tenant and caller.
type MemberKey = (TenantId, CallerKey);

#[derive(Clone, PartialEq, Eq, Hash)]
enum CallerKey {
    Bearer(TokenHash),
    Authenticated(MemberId),
}

/// The key of a session: tenant, day and subject.
type SessionKey = (TenantId, Day, SubjectId);

struct CachedMember {
    /// The log from which the facts were loaded.
    log: LogIdentity,
    member: Versioned<Member>,
    /// Its latest revision in each session, ordered by last use. In a session that is not listed,
    /// it is assumed to have no take.
    latest: Vec<(SessionId, Revision)>,
}

struct CachedSession {
    /// The log from which the facts were loaded.
    log: LogIdentity,
    terms: Versioned<SessionTerms>,
    /// The latest known time of the store.
    now: Timestamp,
}

impl BasisCache {
    pub(super) fn new(tenant: &TenantId, facts: Option<&SharedFacts>) -> Self {
        Self { tenant: tenant.clone(), facts: facts.cloned() }
    }

    /// Whether caching is on.
    pub(super) fn is_enabled(&self) -> bool {
        self.facts.is_some()
    }

    /// Begins a submission, which is in progress until the returned guard is dropped; `None` when
    /// caching is off.
    pub(super) fn begin(
        &self,
        query: &BasisQuery<'_>,
        author: &MemberId,
    ) -> Option<SubmitInProgress> {
        let all = self.edit(|facts| facts.in_progress.clone())?;
        Some(all.begin((author.clone(), self.session_key(query))))
    }

    /// The cached facts, which may be out of date. They never contain a used nonce. Facts from
    /// another log are ignored, because there the same versions may stand for other facts.
    pub(super) fn recall(&self, query: &BasisQuery<'_>, log: LogIdentity) -> Option<Basis> {
        self.edit(|facts| {
            let session = facts.sessions.get(&self.session_key(query))?;
            let (now, session) =
                (session.now, (session.log == log).then(|| session.terms.clone())?);
            let known = facts.members.get(&self.member_key(query)).filter(|it| it.log == log)?;
            let latest = known.latest(session.record.id);
            let member = Some(known.member.clone());
            Some(Basis { now, member, session: Some(session), latest, spent: None })
        })?
    }

    /// Caches facts that were loaded from this log or a later one.
    pub(super) fn loaded(&self, query: &BasisQuery<'_>, log: LogIdentity, basis: &Basis) {
        self.edit(|facts| {
            let (member_key, session_key) = (self.member_key(query), self.session_key(query));
            match &basis.session {
                Some(terms) => {
                    let session = CachedSession { log, terms: terms.clone(), now: basis.now };
                    facts.sessions.put(session_key, session);
                }
                None => facts.sessions.remove(&session_key),
            }
            let Some(member) = &basis.member else {
                return facts.members.remove(&member_key);
            };
            let known = facts.members.get(&member_key).filter(|known| known.log == log);
            let latest = known.map(|known| std::mem::take(&mut known.latest)).unwrap_or_default();
            let mut known = CachedMember { log, member: member.clone(), latest };
            if let Some(session) = &basis.session {
                known.set_latest(session.record.id, basis.latest);
            }
            facts.members.put(member_key, known);
        });
    }

    /// Updates the cache after a take was filed.
    pub(super) fn filed(&self, query: &BasisQuery<'_>, take: &Take) {
        self.edit(|facts| {
            if let Some(session) = facts.sessions.get(&self.session_key(query)) {
                session.now = session.now.max(take.filed_at);
            }
            if let Some(known) = facts.members.get(&self.member_key(query)) {
                known.set_latest(take.session_id, Some(take.revision));
            }
        });
    }

    fn member_key(&self, query: &BasisQuery<'_>) -> MemberKey {
        let caller = match query.caller {
            Caller::Bearer(token) => CallerKey::Bearer(*token),
            Caller::Authenticated(id) => CallerKey::Authenticated(id.clone()),
        };
        (self.tenant.clone(), caller)
    }

    fn session_key(&self, query: &BasisQuery<'_>) -> SessionKey {
        (self.tenant.clone(), query.date, query.subject_id.clone())
    }

    fn edit<T>(&self, edit: impl FnOnce(&mut Facts) -> T) -> Option<T> {
        let facts = self.facts.as_ref()?;
        // After a panic, ignore the poison: an inconsistent entry is no worse than an outdated one.
        Some(edit(&mut facts.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl CachedMember {
    fn latest(&self, session: SessionId) -> Option<Revision> {
        let (_, revision) = self.latest.iter().find(|(id, _)| *id == session)?;
        Some(*revision)
    }

    fn set_latest(&mut self, session: SessionId, revision: Option<Revision>) {
        self.latest.retain(|(id, _)| *id != session);
        if let Some(revision) = revision {
            if self.latest.len() == MAX_SESSIONS_PER_MEMBER {
                self.latest.remove(0);
            }
            self.latest.push((session, revision));
        }
    }
}

impl Bytes for CachedMember {
    fn bytes(&self) -> usize {
        let member = &self.member.record;
        let texts = [member.name.as_str(), member.contact.as_str(), member.lens.as_str()];
        1_024 + texts.map(str::len).iter().sum::<usize>()
    }
}

impl Bytes for CachedSession {
    fn bytes(&self) -> usize {
        let roster = self.terms.record.roster.iter().flat_map(|roster| roster.entries());
        let roster = roster.map(|entry| 64 + entry.member_id.as_str().len()).sum::<usize>();
        let buckets = self.terms.record.buckets.iter().flatten();
        let stances = self.terms.record.declaration.stances.iter().flat_map(|it| it.stances());
        let stances = stances.map(|stance| 64 + stance.name.as_str().len()).sum::<usize>();
        512 + roster + stances + buckets.map(|bucket| 64 + bucket.as_str().len()).sum::<usize>()
    }
}

/// The key of submissions that may race with each other: the author, and the session.
type Race = (MemberId, SessionKey);

#[derive(Clone, Default)]
struct SubmitsInProgress(Arc<Mutex<HashMap<Race, Submits>>>);

/// The submissions of one key, since the last time that none was in progress.
#[derive(Default)]
struct Submits {
    count: usize,
    /// The number of those that were filed.
    filed: u64,
}

/// A guard for a submission in progress.
pub(super) struct SubmitInProgress {
    all: SubmitsInProgress,
    race: Race,
    /// The number of submissions that were filed before it began.
    filed_before: u64,
}

impl SubmitsInProgress {
    fn begin(self, race: Race) -> SubmitInProgress {
        let mut all = self.lock();
        let submits = all.entry(race.clone()).or_default();
        submits.count += 1;
        let filed_before = submits.filed;
        drop(all);
        SubmitInProgress { all: self, race, filed_before }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Race, Submits>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SubmitInProgress {
    /// Records that this submission was filed.
    pub(super) fn note_filed(&self) {
        if let Some(submits) = self.all.lock().get_mut(&self.race) {
            submits.filed += 1;
        }
    }

    /// Whether another submission of the member in this session was filed since this one began.
    pub(super) fn another_was_filed(&self) -> bool {
        self.all.lock().get(&self.race).is_some_and(|submits| submits.filed > self.filed_before)
    }
}

impl Drop for SubmitInProgress {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        if let Some(submits) = all.get_mut(&self.race) {
            submits.count -= 1;
            if submits.count == 0 {
                all.remove(&self.race);
            }
        }
    }
}

/// The approximate memory use of a value with its key.
trait Bytes {
    fn bytes(&self) -> usize;
}

/// A cache of two generations. An entry that is used moves to the younger one. When that is full,
/// it replaces the older one, which is evicted.
struct Recent<K, V> {
    younger: HashMap<K, V>,
    older: HashMap<K, V>,
    /// The size of the younger generation.
    bytes: usize,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self { younger: HashMap::new(), older: HashMap::new(), bytes: 0 }
    }
}

impl<K: Eq + Hash, V: Bytes> Recent<K, V> {
    fn get(&mut self, key: &K) -> Option<&mut V> {
        // Skip the second lookup while there is no older generation.
        if !self.older.is_empty()
            && let Some((key, value)) = self.older.remove_entry(key)
        {
            self.put(key, value);
        }
        self.younger.get_mut(key)
    }

    fn put(&mut self, key: K, value: V) {
        self.remove(&key);
        let bytes = value.bytes();
        if self.bytes + bytes > MAX_GENERATION_BYTES {
            self.older = std::mem::take(&mut self.younger);
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.younger.insert(key, value);
    }

    fn remove(&mut self, key: &K) {
        self.older.remove(key);
        if let Some(value) = self.younger.remove(key) {
            self.bytes = self.bytes.saturating_sub(value.bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tenth(usize);

    impl Bytes for Tenth {
        fn bytes(&self) -> usize {
            MAX_GENERATION_BYTES / 10
        }
    }

    #[test]
    fn used_entries_stay_and_others_are_evicted() {
        let mut recent = Recent::default();
        for key in 0..1_000 {
            recent.put(key, Tenth(key));
            assert_eq!(recent.get(&0).map(|value| value.0), Some(0));
            assert_eq!(recent.get(&key).map(|value| value.0), Some(key));
            assert!(recent.younger.len() <= 10 && recent.older.len() <= 10);
        }
        assert!(recent.get(&500).is_none());
    }

    #[test]
    fn replaced_entry_is_counted_once() {
        let mut recent = Recent::default();
        recent.put(0, Tenth(0));
        for value in 0..1_000 {
            recent.put(1, Tenth(value));
        }
        assert!(recent.older.is_empty());
        recent.remove(&1);
        recent.remove(&0);
        assert_eq!(recent.bytes, 0);
        assert!(recent.get(&1).is_none());
    }
}
