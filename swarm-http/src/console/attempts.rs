//! The delay after a wrong token, counted per client: the guesses of one client delay no other.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::fairness::Client;

/// Maximum number of clients that are remembered. Beyond it, the one whose wait ends first is evicted.
const MAX_CLIENTS: usize = 4_096;

/// The wait after the first wrong token. It doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The longest wait.
const MAX_WAIT: Duration = Duration::from_secs(15 * 60);

/// How long after its wait a client's wrong tokens still count.
const MEMORY: Duration = Duration::from_secs(60 * 60);

/// The wrong tokens of each client.
#[derive(Default)]
pub(crate) struct Attempts(Mutex<HashMap<u64, Failures>>);

#[derive(Clone, Copy)]
struct Failures {
    count: u32,
    until: Instant,
}

/// An attempt. It counts as wrong until it [succeeds](Self::succeed), so that concurrent attempts cannot share a wait.
pub(crate) struct Attempt<'a> {
    attempts: &'a Attempts,
    client: u64,
}

impl Attempts {
    /// Begins an attempt of this client, or returns the wait that is left.
    pub(crate) fn begin(&self, client: u64, now: Instant) -> Result<Attempt<'_>, Duration> {
        let mut failures = self.lock();
        let known = failures.get(&client).copied().filter(|known| now < known.until + MEMORY);
        if let Some(known) = known
            && now < known.until
        {
            return Err(known.until - now);
        }
        if known.is_none() && failures.len() >= MAX_CLIENTS {
            let first = failures.iter().min_by_key(|(_, failures)| failures.until);
            if let Some(first) = first.map(|(client, _)| *client) {
                failures.remove(&first);
            }
        }
        let count = known.map_or(0, |known| known.count);
        let wait = FIRST_WAIT.saturating_mul(1 << count.min(16)).min(MAX_WAIT);
        failures.insert(client, Failures { count: count.saturating_add(1), until: now + wait });
        Ok(Attempt { attempts: self, client })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Failures>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt<'_> {
    /// Records that the token was right, and forgets the wrong tokens before it.
    pub(crate) fn succeed(self) {
        self.attempts.lock().remove(&self.client);
    }
}

/// The client of the current task. If the front end knows no addresses, all are one client.
pub(crate) fn client() -> u64 {
    Client::current().map_or(0, |client| client.key())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn wait_doubles_with_each_wrong_token_up_to_a_quarter_of_an_hour() {
        let attempts = Attempts::default();
        let mut now = Instant::now();
        for wait in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900] {
            assert!(attempts.begin(1, now).is_ok());
            assert_eq!(attempts.begin(1, now).err(), Some(wait * SECOND));
            now += wait * SECOND;
        }
    }

    #[test]
    fn others_do_not_wait() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        assert!(attempts.begin(1, now).is_ok());
        assert!(attempts.begin(2, now).is_ok());
        assert!(attempts.begin(1, now).is_err());
    }

    #[test]
    fn right_token_and_time_clear_the_count() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        drop(attempts.begin(1, now));
        attempts.begin(1, now + SECOND).ok().unwrap().succeed();
        drop(attempts.begin(1, now + SECOND));
        assert_eq!(attempts.begin(1, now + SECOND).err(), Some(SECOND));
        let later = now + 2 * SECOND + MEMORY;
        drop(attempts.begin(1, later));
        assert_eq!(attempts.begin(1, later).err(), Some(SECOND));
    }

    #[test]
    fn table_is_bounded() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        for client in 0..2 * MAX_CLIENTS as u64 {
            drop(attempts.begin(client, now + client as u32 * SECOND));
        }
        assert_eq!(attempts.lock().len(), MAX_CLIENTS);
    }
}
