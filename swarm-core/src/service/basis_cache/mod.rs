//! Facts that takes were judged by lately, so that the next take costs one call of the store.
//!
//! A cached basis may be out of date, and so it can only let a take through: the commit then checks
//! every fact that the judgement relied on ([`Filing`](crate::rules::Filing)). Whatever it forbids,
//! and whatever a commit turns down, is judged again by facts that are loaded. But of two takes of a
//! member in a session that are under way at once and race for a revision, one is refused
//! (API.md, 5.4): where another was filed since this one began, the commit turned it
//! down because of the other, not because the cache was out of date.

mod recent;
mod under_way;

use std::sync::{Arc, Mutex, PoisonError};

pub(super) use self::under_way::UnderWay;

use self::recent::{Bytes, Recent};
use self::under_way::{SessionKey, SubmitsUnderWay};
use crate::domain::{
    Member, Revision, SessionId, SessionTerms, Take, TenantId, Timestamp, TokenHash,
};
use crate::store::{Basis, BasisQuery, Versioned};

/// How many sessions of a member it is remembered for which revision was its latest.
const SESSIONS_OF_A_MEMBER: usize = 8;

/// The cached facts of one tenant; none where nothing is cached.
#[derive(Clone)]
pub(super) struct BasisCache {
    tenant: TenantId,
    facts: Option<SharedFacts>,
}

/// The cached facts of all tenants.
pub(super) type SharedFacts = Arc<Mutex<Facts>>;

#[derive(Default)]
pub(super) struct Facts {
    members: Recent<MemberKey, CachedMember>,
    sessions: Recent<SessionKey, CachedSession>,
    under_way: SubmitsUnderWay,
}

/// A member of a tenant, by its token.
type MemberKey = (TenantId, TokenHash);

struct CachedMember {
    /// The number of the log whose store said so.
    log: u64,
    member: Versioned<Member>,
    /// Its latest revisions, that of the session used last at the end. None is taken to be there of
    /// a session that is not listed.
    latest: Vec<(SessionId, Revision)>,
}

struct CachedSession {
    /// The number of the log whose store said so.
    log: u64,
    terms: Versioned<SessionTerms>,
    /// The latest time of the store that is known.
    now: Timestamp,
}

impl BasisCache {
    pub(super) fn new(tenant: &TenantId, facts: Option<&SharedFacts>) -> Self {
        Self { tenant: tenant.clone(), facts: facts.cloned() }
    }

    /// Whether anything is cached.
    pub(super) fn is_kept(&self) -> bool {
        self.facts.is_some()
    }

    /// A submit begins, and is under way until what this returns is dropped; none where nothing is
    /// cached.
    pub(super) fn begin(&self, query: &BasisQuery<'_>) -> Option<UnderWay> {
        let all = self.edit(|facts| facts.under_way.clone())?;
        Some(all.begin((*query.token, self.session_key(query))))
    }

    /// What is known to have been so in this log, and perhaps is no longer. It never has a spent
    /// nonce. In another log, the same versions may stand for other facts.
    pub(super) fn recall(&self, query: &BasisQuery<'_>, log: u64) -> Option<Basis> {
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

    /// The store has said this, in this log or a later one.
    pub(super) fn loaded(&self, query: &BasisQuery<'_>, log: u64, basis: &Basis) {
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

    /// This take was filed.
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
        (self.tenant.clone(), *query.token)
    }

    fn session_key(&self, query: &BasisQuery<'_>) -> SessionKey {
        (self.tenant.clone(), query.date, query.subject_id.clone())
    }

    fn edit<T>(&self, edit: impl FnOnce(&mut Facts) -> T) -> Option<T> {
        let facts = self.facts.as_ref()?;
        // Each entry is right by itself, or as good as one that is out of date.
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
            if self.latest.len() == SESSIONS_OF_A_MEMBER {
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
        512 + roster.map(|entry| 64 + entry.member_id.as_str().len()).sum::<usize>()
    }
}
