//! The wait after wrong tokens of operators, counted per client and tenant: the guesses of one client delay no other (API.md, 4.5).
//!
//! People may choose such a token, so it may be guessed. Those of members are random, and their routes have no wait. The console and the
//! API share one count, so that neither is a way around the wait of the other. A token that this client has sent before is no guess: it
//! is checked during a wait too, and it is counted once if it is wrong. So a wait delays neither those who share an address with a guesser,
//! nor a program that goes on with a token which was replaced.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use swarm_core::TenantId;
use tokio::time::Instant;

use crate::fairness::ClientShare;

/// Maximum number of clients whose wrong tokens are remembered. Beyond it, the one whose wait ends first is evicted.
const MAX_CLIENTS: usize = 4_096;

/// How long after its wait a client's wrong tokens still count.
const MEMORY: Duration = Duration::from_secs(60 * 60);

/// Maximum number of checked tokens of all clients in a generation. Two generations are remembered.
const MAX_CHECKED: usize = 32_768;

/// The longest time in which tokens join a generation.
const GENERATION: Duration = Duration::from_secs(24 * 60 * 60);

/// Where a token is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// The sign-in of the console, and a form that asks for the token again.
    #[cfg(feature = "pages")]
    Console,
    /// The API.
    Api,
}

impl Entrance {
    /// The number of wrong tokens after which the next new one is checked without a wait.
    fn free(self) -> u32 {
        match self {
            #[cfg(feature = "pages")]
            Self::Console => 0,
            Self::Api => 1_000,
        }
    }

    /// The first wait, which doubles with each further wrong token, and the longest one, in seconds.
    fn waits(self) -> (u64, u64) {
        match self {
            #[cfg(feature = "pages")]
            Self::Console => (1, 15 * 60),
            Self::Api => (5, 60),
        }
    }

    /// The wait after so many wrong tokens.
    fn wait(self, count: u32) -> Duration {
        let Some(doublings) = count.checked_sub(self.free() + 1) else { return Duration::ZERO };
        let (first, longest) = self.waits();
        Duration::from_secs((first << doublings.min(16)).min(longest))
    }
}

/// The wrong tokens of each client in each tenant, and the tokens that were checked.
///
/// Only keyed hashes of tokens are kept. The key is random, and never leaves the process.
#[derive(Default)]
pub(crate) struct TokenAttempts {
    hasher: RandomState,
    failures: Mutex<HashMap<u64, Failures>>,
    checked: Mutex<Checked>,
}

#[derive(Clone, Copy)]
struct Failures {
    count: u32,
    last: Instant,
}

impl Failures {
    /// When the count is forgotten.
    fn end(self) -> Instant {
        let wait = Entrance::Api.wait(self.count);
        #[cfg(feature = "pages")]
        let wait = wait.max(Entrance::Console.wait(self.count));
        self.last + wait + MEMORY
    }
}

/// A client in a tenant.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    tenant: &'a TenantId,
    client: u64,
}

impl<'a> Asker<'a> {
    /// The client of the current task. If the front end knows no addresses, all are one client.
    pub(crate) fn current(tenant: &'a TenantId) -> Self {
        Self { tenant, client: ClientShare::current().map_or(0, |client| client.key()) }
    }
}

/// A token that may be checked now.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'a> {
    attempts: &'a TokenAttempts,
    asker: u64,
    /// The hash of the token, unless this client has sent it before.
    new: Option<u64>,
}

/// An attempt at the console. It counts as wrong until it [succeeds](Self::succeed), so that concurrent attempts cannot
/// share a wait.
#[cfg(feature = "pages")]
pub(crate) struct SignInAttempt<'a> {
    attempts: &'a TokenAttempts,
    asker: u64,
    token: u64,
}

impl TokenAttempts {
    /// Begins an attempt at the console, or returns the wait that is left, even if the token is right.
    #[cfg(feature = "pages")]
    pub(crate) fn begin_sign_in(
        &self,
        asker: Asker<'_>,
        token: &[u8],
        now: Instant,
    ) -> Result<SignInAttempt<'_>, Duration> {
        let (token, asker) = (self.token(asker, token), self.asker(asker));
        if let Some(left) = self.wait_left(asker, Entrance::Console, now) {
            return Err(left);
        }
        self.count(asker, now);
        Ok(SignInAttempt { attempts: self, asker, token })
    }

    /// Begins an attempt at the API, or returns the wait that is left if this client has not sent the token before.
    pub(crate) fn begin(
        &self,
        asker: Asker<'_>,
        token: &[u8],
        now: Instant,
    ) -> Result<Attempt<'_>, Duration> {
        let (token, asker) = (self.token(asker, token), self.asker(asker));
        let new = (!self.checked().contains(token, now)).then_some(token);
        match self.wait_left(asker, Entrance::Api, now).filter(|_| new.is_some()) {
            Some(left) => Err(left),
            None => Ok(Attempt { attempts: self, asker, new }),
        }
    }

    fn wait_left(&self, asker: u64, entrance: Entrance, now: Instant) -> Option<Duration> {
        let failures = self.failures().get(&asker).copied()?;
        let until = failures.last + entrance.wait(failures.count);
        Some(until.saturating_duration_since(now)).filter(|left| !left.is_zero())
    }

    /// Counts a wrong token.
    fn count(&self, asker: u64, now: Instant) {
        let mut failures = self.failures();
        let known = failures.get(&asker).copied().filter(|known| now < known.end());
        if known.is_none() && failures.len() >= MAX_CLIENTS {
            let first = failures.iter().min_by_key(|(_, failures)| failures.end());
            if let Some(first) = first.map(|(asker, _)| *asker) {
                failures.remove(&first);
            }
        }
        let count = known.map_or(0, |known| known.count).saturating_add(1);
        failures.insert(asker, Failures { count, last: now });
    }

    fn asker(&self, Asker { tenant, client }: Asker<'_>) -> u64 {
        self.hasher.hash_one((tenant, client))
    }

    fn token(&self, Asker { tenant, client }: Asker<'_>, token: &[u8]) -> u64 {
        self.hasher.hash_one((tenant, client, token))
    }

    fn failures(&self) -> MutexGuard<'_, HashMap<u64, Failures>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn checked(&self) -> MutexGuard<'_, Checked> {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt<'_> {
    /// Records that the token was right. The count stays: a client that guesses tokens may have a valid one of its own.
    pub(crate) fn succeed(self, now: Instant) {
        if let Some(token) = self.new {
            self.attempts.checked().insert(token, now);
        }
    }

    /// Records that the token was wrong.
    pub(crate) fn fail(self, now: Instant) {
        if let Some(token) = self.new {
            self.attempts.checked().insert(token, now);
            self.attempts.count(self.asker, now);
        }
    }
}

#[cfg(feature = "pages")]
impl SignInAttempt<'_> {
    /// Records that the token was right, and forgets the wrong tokens before it.
    pub(crate) fn succeed(self, now: Instant) {
        self.attempts.failures().remove(&self.asker);
        self.attempts.checked().insert(self.token, now);
    }
}

/// Hashes of tokens, with the clients that sent them.
#[derive(Default)]
struct Checked {
    /// When the current generation began.
    began: Option<Instant>,
    current: HashSet<u64>,
    before: HashSet<u64>,
}

impl Checked {
    /// Whether the token is remembered, which is then extended.
    fn contains(&mut self, token: u64, now: Instant) -> bool {
        if self.current.contains(&token) {
            return true;
        }
        let is_known = self.before.contains(&token);
        if is_known {
            self.insert(token, now);
        }
        is_known
    }

    fn insert(&mut self, token: u64, now: Instant) {
        let began = *self.began.get_or_insert(now);
        if self.current.len() >= MAX_CHECKED || now >= began + GENERATION {
            self.before = take(&mut self.current);
            self.began = Some(now);
        }
        self.current.insert(token);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn tenant() -> TenantId {
        TenantId::parse("acme").unwrap()
    }

    /// Sends a wrong token for each number.
    fn fail(attempts: &TokenAttempts, asker: Asker<'_>, tokens: std::ops::Range<u32>) {
        let now = Instant::now();
        for token in tokens {
            let known = attempts.failures().get(&attempts.asker(asker)).copied();
            let now = known.map_or(now, |known| known.last + Entrance::Api.wait(known.count));
            attempts.begin(asker, &token.to_le_bytes(), now).unwrap().fail(now);
        }
    }

    fn left(attempts: &TokenAttempts, asker: Asker<'_>) -> Option<Duration> {
        let last = attempts.failures().values().map(|it| it.last).max().unwrap();
        attempts.begin(asker, b"new", last).err()
    }

    #[test]
    fn new_tokens_wait_once_the_free_ones_are_used_up() {
        let (attempts, tenant) = (TokenAttempts::default(), tenant());
        let asker = Asker { tenant: &tenant, client: 1 };
        fail(&attempts, asker, 0..1_000);
        assert_eq!(left(&attempts, asker), None);
        for (token, wait) in (1_000..).zip([5, 10, 20, 40, 60, 60]) {
            fail(&attempts, asker, token..token + 1);
            assert_eq!(left(&attempts, asker), Some(wait * SECOND));
        }
        let other = Asker { tenant: &tenant, client: 2 };
        assert_eq!(left(&attempts, other), None);
        let tenant = TenantId::parse("bolt").unwrap();
        let elsewhere = Asker { tenant: &tenant, client: 1 };
        assert_eq!(left(&attempts, elsewhere), None);
    }

    #[test]
    fn known_tokens_do_not_wait_and_count_once() {
        let (attempts, tenant) = (TokenAttempts::default(), tenant());
        let asker = Asker { tenant: &tenant, client: 1 };
        let now = Instant::now();
        let begin = |token: &[u8]| attempts.begin(asker, token, now);
        begin(b"right").unwrap().succeed(now);
        for _ in 0..100 {
            begin(b"stale").unwrap().fail(now);
        }
        assert_eq!(left(&attempts, asker), None);
        fail(&attempts, asker, 0..1_010);
        assert!(left(&attempts, asker).is_some());
        for token in [&b"right"[..], b"stale"] {
            assert!(begin(token).is_ok());
        }
        // Of the same client alone.
        fail(&attempts, Asker { tenant: &tenant, client: 2 }, 0..1_010);
        let other = Asker { tenant: &tenant, client: 2 };
        assert!(attempts.begin(other, b"right", now).is_err());
    }

    #[test]
    fn checked_tokens_are_bounded_and_forgotten() {
        let (mut checked, now) = (Checked::default(), Instant::now());
        checked.insert(u64::MAX, now);
        for token in 0..2 * MAX_CHECKED as u64 {
            checked.insert(token, now);
            assert!(checked.contains(u64::MAX, now));
        }
        assert!(checked.current.len() + checked.before.len() <= 2 * MAX_CHECKED);
        checked.insert(1, now + GENERATION);
        checked.insert(2, now + 2 * GENERATION);
        assert!(!checked.contains(u64::MAX, now + 2 * GENERATION));
    }

    #[cfg(feature = "pages")]
    mod sign_ins {
        use super::*;

        fn begin(
            attempts: &TokenAttempts,
            client: u64,
            now: Instant,
        ) -> Result<SignInAttempt<'_>, Duration> {
            attempts.begin_sign_in(Asker { tenant: &tenant(), client }, b"token", now)
        }

        #[test]
        fn wait_doubles_with_each_wrong_token_up_to_a_quarter_of_an_hour() {
            let attempts = TokenAttempts::default();
            let mut now = Instant::now();
            for wait in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900] {
                assert!(begin(&attempts, 1, now).is_ok());
                assert_eq!(begin(&attempts, 1, now).err(), Some(wait * SECOND));
                now += wait * SECOND;
            }
        }

        #[test]
        fn wrong_tokens_of_the_api_count() {
            let (attempts, tenant) = (TokenAttempts::default(), tenant());
            fail(&attempts, Asker { tenant: &tenant, client: 1 }, 0..4);
            let last = attempts.failures().values().next().unwrap().last;
            assert_eq!(begin(&attempts, 1, last).err(), Some(8 * SECOND));
        }

        #[test]
        fn others_do_not_wait() {
            let (attempts, now) = (TokenAttempts::default(), Instant::now());
            assert!(begin(&attempts, 1, now).is_ok());
            assert!(begin(&attempts, 2, now).is_ok());
            assert!(begin(&attempts, 1, now).is_err());
        }

        #[test]
        fn right_token_and_time_clear_the_count() {
            let (attempts, now) = (TokenAttempts::default(), Instant::now());
            drop(begin(&attempts, 1, now));
            begin(&attempts, 1, now + SECOND).ok().unwrap().succeed(now);
            drop(begin(&attempts, 1, now + SECOND));
            assert_eq!(begin(&attempts, 1, now + SECOND).err(), Some(SECOND));
            let later = now + 2 * SECOND + MEMORY;
            drop(begin(&attempts, 1, later));
            assert_eq!(begin(&attempts, 1, later).err(), Some(SECOND));
        }

        #[test]
        fn table_is_bounded() {
            let (attempts, now) = (TokenAttempts::default(), Instant::now());
            for client in 0..2 * MAX_CLIENTS as u64 {
                drop(begin(&attempts, client, now + client as u32 * SECOND));
            }
            assert_eq!(attempts.failures().len(), MAX_CLIENTS);
        }
    }
}
