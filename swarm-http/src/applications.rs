//! How many applications each client has made today, in each tenant (API.md, 5.7).
//!
//! The counts are kept in the process, and no address with them: an application adds one to four counters, which a
//! keyed hash of tenant and client selects, and the smallest of the four is the count (a count-min sketch). So the
//! memory is constant, however many clients there are, and a count is never too low. It is too high only for a
//! client that shares each of its four counters with others.

use std::array::from_fn;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use swarm_core::TenantId;
use swarm_core::domain::Day;

const ROWS: usize = 4;

/// The number of counters in a row, a power of two: 256 KiB for all rows.
const COUNTERS: usize = 1 << 14;

/// The counts of one day. The key of the hash is random, and never leaves the process.
pub(crate) struct ApplicationCounts {
    hasher: RandomState,
    counts: Mutex<Counts>,
}

struct Counts {
    day: Option<Day>,
    rows: [Box<[u32]>; ROWS],
}

/// A counted application. Dropping it without a call of `keep` removes it from the count.
pub(crate) struct CountedApplication<'a> {
    counts: &'a ApplicationCounts,
    day: Day,
    hash: u64,
    kept: bool,
}

impl Default for ApplicationCounts {
    fn default() -> Self {
        let rows = from_fn(|_| vec![0; COUNTERS].into_boxed_slice());
        Self { hasher: RandomState::new(), counts: Mutex::new(Counts { day: None, rows }) }
    }
}

impl ApplicationCounts {
    /// Counts an application of this client, or returns `None` if it has made `most` on this day, which is the current
    /// one by the store's clock.
    pub(crate) fn count(
        &self,
        tenant: &TenantId,
        client: u64,
        day: Day,
        most: u32,
    ) -> Option<CountedApplication<'_>> {
        let hash = self.hasher.hash_one((tenant, client));
        let mut counts = self.lock();
        if counts.day != Some(day) {
            counts.begin(day);
        }
        let made = counts.of(hash).map(|count| *count).min().unwrap_or_default();
        (made < most).then(|| {
            counts.of(hash).for_each(|count| *count = count.saturating_add(1));
            CountedApplication { counts: self, day, hash, kept: false }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn begin(&mut self, day: Day) {
        self.day = Some(day);
        self.rows.iter_mut().for_each(|row| row.fill(0));
    }

    /// The counters of this hash: each row is indexed by 14 bits of it.
    fn of(&mut self, hash: u64) -> impl Iterator<Item = &mut u32> {
        let index = move |row: usize| (hash >> (16 * row)) as usize % COUNTERS;
        self.rows.iter_mut().enumerate().filter_map(move |(row, counts)| counts.get_mut(index(row)))
    }
}

impl CountedApplication<'_> {
    /// Keeps the application counted.
    pub(crate) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for CountedApplication<'_> {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        if !self.kept && counts.day == Some(self.day) {
            counts.of(self.hash).for_each(|count| *count = count.saturating_sub(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    #[test]
    fn applications_are_counted_by_tenant_client_and_day() {
        let counts = ApplicationCounts::default();
        let [acme, bolt] = ["acme", "bolt"].map(|id| TenantId::parse(id).unwrap());
        let (today, tomorrow) = (day("2026-11-21"), day("2026-11-22"));
        let count = |tenant, client, day| {
            counts.count(tenant, client, day, 2).map(CountedApplication::keep)
        };
        assert!(count(&acme, 7, today).is_some());
        // One that is refused does not count.
        assert!(counts.count(&acme, 7, today, 2).is_some());
        assert!(count(&acme, 7, today).is_some());
        assert!(count(&acme, 7, today).is_none());
        assert!(count(&acme, 8, today).is_some() && count(&bolt, 7, today).is_some());
        assert!(counts.count(&acme, 9, today, 0).is_none());
        let late = counts.count(&acme, 9, today, 2);
        assert!(count(&acme, 7, tomorrow).is_some());
        drop(late);
        assert!(count(&acme, 9, tomorrow).is_some() && count(&acme, 9, tomorrow).is_some());
        assert!(count(&acme, 9, tomorrow).is_none());
    }

    /// With 1,000 clients at the quota, another one is still counted from zero.
    #[test]
    fn clients_at_their_quota_do_not_fill_the_counters() {
        let counts = ApplicationCounts::default();
        let (acme, today) = (TenantId::parse("acme").unwrap(), day("2026-11-21"));
        for client in 0..1_000 {
            for _ in 0..10 {
                counts.count(&acme, client, today, 10).unwrap().keep();
            }
        }
        let others = (1_000..2_000).filter(|it| counts.count(&acme, *it, today, 10).is_some());
        assert!(others.count() > 990);
    }
}
