//! How the members compare, over the newest results.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::recent::Recent;
use crate::domain::{Day, Member, MemberId, Session, SessionId, SessionState};
use crate::rules::{RankedPosition, distance_from_others, is_against};
use crate::service::{Error, Tenant};
use crate::store::SessionQuery;

/// Maximum number of members that are compared: those with the lowest ids.
pub const MAX_COMPARED: usize = 10_000;

/// Number of results over which members are compared.
pub const MAX_RESULTS: usize = 500;

/// Number of sessions read with their snapshots, and of members read, at a time.
const SESSIONS_AT_ONCE: usize = 16;
const MEMBERS_AT_ONCE: usize = 500;

/// Distances are counted in whole parts of this size, so that taking a result away leaves what was before it was added.
const PARTS: f64 = 1e9;

/// The active members, in the order in which they joined.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MemberComparison {
    /// The members.
    pub members: Vec<ComparedMember>,
    /// The number of results that they are compared over.
    pub results: usize,
    /// Whether there are more members.
    pub is_cut: bool,
}

impl MemberComparison {
    /// Returns the figures of this member; `None` of one that is not active, or not compared.
    pub fn get(&self, id: &MemberId) -> Option<&ComparedMember> {
        self.members.iter().find(|compared| compared.member.id == *id)
    }
}

/// A member with its figures over the newest results.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ComparedMember {
    /// The member.
    pub member: Arc<Member>,
    /// The number of results in which it counts.
    pub counted: usize,
    /// The number of results whose roster expects it.
    pub expected: usize,
    /// The number of those in which it counts.
    pub filed: usize,
    /// The mean distance from the score of the others.
    pub distance: Option<f64>,
    /// The number of results whose consensus has another side.
    pub decided: usize,
    /// The number of those in which it is on the other side.
    pub against: usize,
    /// The day of the latest session that it filed in, of these results and the newest entries of the log.
    pub last: Option<Day>,
}

/// The comparison in the making: members, results, and the sums over them.
#[derive(Debug, Default)]
pub(super) struct Comparing {
    members: BTreeMap<MemberId, Arc<Member>>,
    is_cut: bool,
    results: BTreeMap<SessionId, ResultOfMembers>,
    sums: HashMap<MemberId, Sums>,
    last: HashMap<MemberId, Day>,
    /// What was made of it, while that is current.
    made: Option<Arc<MemberComparison>>,
}

/// What a result says of each member.
#[derive(Debug)]
struct ResultOfMembers {
    date: Day,
    sums: Vec<(MemberId, Sums)>,
}

/// Sums over some results.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    counted: usize,
    expected: usize,
    filed: usize,
    /// The sum of the distances, in parts, and their number.
    distance: i64,
    distances: usize,
    decided: usize,
    against: usize,
}

impl Comparing {
    pub(super) async fn read(tenant: &Tenant, recent: &Recent) -> Result<Self, Error> {
        let mut comparing = Self::default();
        let mut after = None;
        loop {
            let (members, next) = tenant.member_page(after, MEMBERS_AT_ONCE).await?;
            comparing.members.extend(members.into_iter().map(|it| (it.id.clone(), it)));
            comparing.is_cut = next.is_some();
            after = next;
            if after.is_none() || comparing.members.len() >= MAX_COMPARED {
                break;
            }
        }
        // A session that is published meanwhile is in the second list.
        for state in [SessionState::Aggregated, SessionState::Published] {
            comparing.read_results(tenant, state).await?;
        }
        for (member, day) in recent.filed() {
            comparing.note_filed(member, day);
        }
        Ok(comparing)
    }

    /// Reads the newest results in this state.
    async fn read_results(&mut self, tenant: &Tenant, state: SessionState) -> Result<(), Error> {
        let state = Some(state);
        let mut query = SessionQuery { state, limit: SESSIONS_AT_ONCE, ..SessionQuery::default() };
        let mut read = 0;
        while read < MAX_RESULTS {
            let sessions = tenant.store.sessions(&query).await?;
            for session in sessions.iter().filter(|session| session.counts()) {
                self.put(session);
                read += 1;
            }
            query.before = sessions.last().map(|last| last.id);
            if sessions.len() < SESSIONS_AT_ONCE {
                break;
            }
        }
        Ok(())
    }

    /// Applies what appended entries changed.
    pub(super) async fn apply(
        &mut self,
        tenant: &Tenant,
        filed: &[(MemberId, Day)],
        members: &BTreeSet<MemberId>,
        results: &BTreeSet<SessionId>,
    ) -> Result<(), Error> {
        for (member, day) in filed {
            self.note_filed(member, *day);
        }
        if !members.is_empty() {
            let found = tenant.members_among(members.iter().cloned().collect()).await?;
            self.made = None;
            for member in found {
                match member.state.is_active() {
                    true => drop(self.members.insert(member.id.clone(), member)),
                    false => drop(self.members.remove(&member.id)),
                }
            }
            while self.members.len() > MAX_COMPARED {
                self.members.pop_last();
                self.is_cut = true;
            }
        }
        for id in results {
            if let Some(session) = tenant.store.session(*id).await?
                && session.record.counts()
            {
                self.put(&session.record);
            }
        }
        Ok(())
    }

    fn note_filed(&mut self, member: &MemberId, day: Day) {
        match self.last.get_mut(member) {
            Some(last) if *last >= day => return,
            Some(last) => *last = day,
            None => drop(self.last.insert(member.clone(), day)),
        }
        self.made = None;
    }

    /// Adds the result of a session that counts, if it has one.
    fn put(&mut self, session: &Session) {
        if let Some(result) = ResultOfMembers::of(session) {
            self.put_result(session.id, result);
        }
    }

    /// Adds a result, unless it is among the results already, or older than so many.
    fn put_result(&mut self, id: SessionId, result: ResultOfMembers) {
        let is_old = self.results.len() >= MAX_RESULTS
            && self.results.first_key_value().is_some_and(|(oldest, _)| id < *oldest);
        if is_old || self.results.contains_key(&id) {
            return;
        }
        for (member, sums) in &result.sums {
            self.sums.entry(member.clone()).or_default().add(sums);
            if sums.counted > 0 {
                self.note_filed(member, result.date);
            }
        }
        self.results.insert(id, result);
        self.made = None;
        if self.results.len() > MAX_RESULTS
            && let Some((_, oldest)) = self.results.pop_first()
        {
            for (member, sums) in &oldest.sums {
                if let Some(total) = self.sums.get_mut(member) {
                    total.take_away(sums);
                }
            }
        }
    }

    pub(super) fn comparison(&mut self) -> Arc<MemberComparison> {
        if let Some(made) = &self.made {
            return Arc::clone(made);
        }
        let row = |member: &Arc<Member>| {
            let sums = self.sums.get(&member.id).copied().unwrap_or_default();
            let last = self.last.get(&member.id).copied();
            sums.of_member(Arc::clone(member), last)
        };
        let mut members: Vec<_> = self.members.values().map(row).collect();
        members.sort_by(|a, b| {
            let joined = a.member.joined_at.cmp(&b.member.joined_at);
            joined.then_with(|| a.member.id.cmp(&b.member.id))
        });
        let made = MemberComparison { members, results: self.results.len(), is_cut: self.is_cut };
        Arc::clone(self.made.insert(Arc::new(made)))
    }
}

impl ResultOfMembers {
    /// `None` without a snapshot.
    fn of(session: &Session) -> Option<Self> {
        let snapshot = session.snapshot.as_deref()?;
        let figures = &snapshot.figures;
        let expected: HashSet<_> =
            session.roster.iter().flat_map(|roster| roster.expected()).collect();
        let scale = session.declaration.scale();
        let counted = snapshot.quotes.iter().map(|quote| {
            let mut sums = Sums { counted: 1, ..Sums::default() };
            let is_expected = expected.contains(&quote.member_id);
            sums.expected = usize::from(is_expected);
            sums.filed = sums.expected;
            let Some(position) = RankedPosition::of_quote(scale, quote) else {
                return (quote.member_id.clone(), sums);
            };
            if let Some(distance) = distance_from_others(position, figures) {
                sums.distance = parts(distance.abs());
                sums.distances = 1;
            }
            if let Some(against) = is_against(position, figures) {
                sums.decided = 1;
                sums.against = usize::from(against);
            }
            (quote.member_id.clone(), sums)
        });
        let mut sums: Vec<_> = counted.collect();
        let quoted: HashSet<_> = snapshot.quotes.iter().map(|quote| &quote.member_id).collect();
        let missing = expected.into_iter().filter(|member| !quoted.contains(member));
        sums.extend(missing.map(|id| (id.clone(), Sums { expected: 1, ..Sums::default() })));
        Some(Self { date: session.date, sums })
    }
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.counted += other.counted;
        self.expected += other.expected;
        self.filed += other.filed;
        self.distance += other.distance;
        self.distances += other.distances;
        self.decided += other.decided;
        self.against += other.against;
    }

    /// Takes away what was added.
    fn take_away(&mut self, other: &Self) {
        self.counted -= other.counted;
        self.expected -= other.expected;
        self.filed -= other.filed;
        self.distance -= other.distance;
        self.distances -= other.distances;
        self.decided -= other.decided;
        self.against -= other.against;
    }

    fn of_member(self, member: Arc<Member>, last: Option<Day>) -> ComparedMember {
        let Self { counted, expected, filed, distance, distances, decided, against } = self;
        let distance = mean(distance, distances);
        ComparedMember { member, counted, expected, filed, distance, decided, against, last }
    }
}

/// A distance, 0 to 4, in parts.
#[allow(clippy::cast_possible_truncation, reason = "at most four times the parts")]
fn parts(distance: f64) -> i64 {
    (distance.clamp(0.0, 4.0) * PARTS).round() as i64
}

/// The mean of so many distances; `None` if there is none.
#[allow(clippy::cast_precision_loss, reason = "a mean of a few digits")]
fn mean(sum: i64, count: usize) -> Option<f64> {
    (count > 0).then(|| sum as f64 / PARTS / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums are those of the newest results, in whatever order they came.
    #[test]
    fn older_results_are_taken_away() {
        let ada = MemberId::parse("ada").unwrap();
        let result = |id: u64| {
            let distance = parts(0.1) * i64::try_from(id % 7).unwrap();
            let sums = Sums { counted: 1, distance, distances: 1, ..Sums::default() };
            let date = Day::parse("2026-11-21").unwrap();
            ResultOfMembers { date, sums: vec![(ada.clone(), sums)] }
        };
        let ids: Vec<_> = (1..=MAX_RESULTS as u64 + 20).collect();
        let of = |ids: &[u64]| {
            let mut comparing = Comparing::default();
            ids.iter().for_each(|id| comparing.put_result(SessionId(*id), result(*id)));
            comparing.sums.get(&ada).copied().unwrap()
        };
        let newest = of(&ids[20..]);
        assert_eq!(newest.counted, MAX_RESULTS);
        let backwards: Vec<_> = ids.iter().rev().copied().collect();
        let twice = [&ids[..], &ids[..]].concat();
        for order in [&ids, &backwards, &twice] {
            assert_eq!(of(order), newest);
        }
    }
}
