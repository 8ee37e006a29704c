//! Limits the memory for bodies and answers in flight, in total and per client. Small ones are not
//! counted: they are part of the cost of a connection.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::fairness::ClientShare;
use crate::memory_share::{ANSWERS, BODIES, CLIENT_ANSWERS, UNIT, semaphore};

/// Bodies and answers up to this size, in bytes, are not counted.
pub(crate) const SMALL: usize = 64 << 10;

/// Maximum memory for bodies of requests without a known credential, in bytes.
const MAX_ANONYMOUS_BODIES: usize = BODIES / 2;

/// Maximum that is counted for one answer, in bytes, so that larger ones can be sent too.
const MAX_COUNTED: usize = CLIENT_ANSWERS / 2;

/// Maximum time that a body waits for memory.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// The memory available to all clients.
pub(crate) struct Budget {
    bodies: Arc<Semaphore>,
    anonymous: Arc<Semaphore>,
    answers: Arc<Semaphore>,
}

/// No memory is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BudgetExhausted;

impl Default for Budget {
    fn default() -> Self {
        Self {
            bodies: semaphore(BODIES),
            anonymous: semaphore(MAX_ANONYMOUS_BODIES),
            answers: semaphore(ANSWERS),
        }
    }
}

/// Memory for a body, reserved at once: a body that waits for memory holds none, and one that has memory never
/// waits for more.
pub(crate) struct BodyReservation {
    client: Option<Arc<ClientShare>>,
    /// The semaphores to acquire from. The client's share comes first, so that a client over its share
    /// holds nothing that others need while it waits.
    from: Vec<Arc<Semaphore>>,
    permits: Vec<OwnedSemaphorePermit>,
}

impl Budget {
    /// An empty reservation for a body of this client. `is_known`: the credential belongs to a member or
    /// an operator.
    pub(crate) fn body(&self, client: Option<Arc<ClientShare>>, is_known: bool) -> BodyReservation {
        let share = client.as_ref().map(|client| Arc::clone(&client.memory().bodies));
        let anonymous = (!is_known).then(|| Arc::clone(&self.anonymous));
        let from = share.into_iter().chain(anonymous).chain([Arc::clone(&self.bodies)]).collect();
        BodyReservation { client, from, permits: Vec::new() }
    }

    /// Counts an answer while its bytes are being sent to this client. An answer sent to many clients
    /// counts once for each client, and once in total.
    ///
    /// # Errors
    /// [`BudgetExhausted`]; the answer is then dropped rather than queued, because it already takes memory.
    pub(crate) fn hold(
        &self,
        bytes: Bytes,
        answer: &InFlight,
        client: Option<Arc<ClientShare>>,
    ) -> Result<Bytes, BudgetExhausted> {
        if bytes.len() <= SMALL {
            return Ok(bytes);
        }
        let mut sent = answer.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let units = units(answer.size.max(bytes.len()).min(MAX_COUNTED));
        let acquire = |from: &Arc<Semaphore>| {
            let permit = Arc::clone(from).try_acquire_many_owned(units);
            permit.map(Arc::new).map_err(|_| BudgetExhausted)
        };
        sent.to.retain(|(_, permit)| permit.strong_count() > 0);
        let mut permits = Vec::with_capacity(2);
        if let Some(client) = &client {
            let known = sent.to.iter().find(|(key, _)| *key == client.key());
            let share = match known.and_then(|(_, permit)| permit.upgrade()) {
                Some(share) => share,
                None => {
                    let share = acquire(&client.memory().answers)?;
                    sent.to.push((client.key(), Arc::downgrade(&share)));
                    share
                }
            };
            permits.push(share);
        }
        let all = sent.all.upgrade().map_or_else(|| acquire(&self.answers), Ok)?;
        sent.all = Arc::downgrade(&all);
        permits.push(all);
        Ok(Bytes::from_owner(BudgetedBytes { bytes, _permits: permits, _client: client }))
    }
}

impl BodyReservation {
    /// Waits for memory for the whole body, of at most `bytes`. Later calls do nothing.
    ///
    /// # Errors
    /// [`BudgetExhausted`] after [`MAX_WAIT`].
    pub(crate) async fn reserve(&mut self, bytes: usize) -> Result<(), BudgetExhausted> {
        if !self.permits.is_empty() {
            return Ok(());
        }
        let acquired = async {
            let mut acquired = Vec::with_capacity(self.from.len());
            for semaphore in &self.from {
                acquired.push(Arc::clone(semaphore).acquire_many_owned(units(bytes)).await.ok()?);
            }
            Some(acquired)
        };
        self.permits = timeout(MAX_WAIT, acquired).await.ok().flatten().ok_or(BudgetExhausted)?;
        Ok(())
    }

    /// Counts a body until the last clone of its bytes is dropped, and releases what is reserved beyond it.
    pub(crate) fn hold(mut self, bytes: Bytes) -> Bytes {
        if self.permits.is_empty() {
            return bytes;
        }
        let needed = units(bytes.len()) as usize;
        for permit in &mut self.permits {
            drop(permit.split(permit.num_permits().saturating_sub(needed)));
        }
        let permits = self.permits.into_iter().map(Arc::new).collect();
        Bytes::from_owner(BudgetedBytes { bytes, _permits: permits, _client: self.client })
    }
}

/// The clients that an answer is being sent to, with their permits.
pub(crate) struct InFlight {
    /// Uncompressed size of the answer, in bytes.
    size: usize,
    sent: Mutex<Sent>,
}

#[derive(Default)]
struct Sent {
    all: Weak<OwnedSemaphorePermit>,
    /// Permits by client key.
    to: Vec<(u64, Weak<OwnedSemaphorePermit>)>,
}

impl InFlight {
    pub(crate) fn new(size: usize) -> Self {
        Self { size, sent: Mutex::default() }
    }
}

/// Bytes with their permits. They keep the client alive too, so that its share is not reset when it
/// reconnects.
struct BudgetedBytes {
    bytes: Bytes,
    _permits: Vec<Arc<OwnedSemaphorePermit>>,
    _client: Option<Arc<ClientShare>>,
}

impl AsRef<[u8]> for BudgetedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The number of permits for this many bytes. Saturates: such a request is never granted.
fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::Scheduler;
    use crate::memory_share::CLIENT_BODIES;

    const KB: usize = 1 << 10;

    fn client(scheduler: &Scheduler, number: u8) -> Option<Arc<ClientShare>> {
        Some(scheduler.client([192, 0, 2, number].into()))
    }

    fn large(size: usize) -> (Bytes, InFlight) {
        (vec![0; size].into(), InFlight::new(size))
    }

    #[tokio::test]
    async fn answer_counts_once_per_client_until_last_clone_is_dropped() {
        let (budget, scheduler) = (Budget::default(), Scheduler::default());
        let (first, second) = (large(MAX_COUNTED), large(MAX_COUNTED));
        let hold = |(bytes, answer): &(Bytes, InFlight), number| {
            budget.hold(bytes.clone(), answer, client(&scheduler, number))
        };
        let copies: Vec<_> = (0..9).map(|_| hold(&first, 1).unwrap()).collect();
        let other = hold(&second, 1).unwrap();
        let third = large(SMALL + 1);
        assert_eq!(hold(&third, 1), Err(BudgetExhausted));
        hold(&third, 2).unwrap();
        hold(&large(SMALL), 1).unwrap();
        drop(copies);
        hold(&third, 1).unwrap();
        drop(other);
    }

    #[tokio::test]
    async fn answer_counts_once_in_total() {
        let (budget, scheduler) = (Budget::default(), Scheduler::default());
        let (bytes, answer) = large(ANSWERS);
        let sent = (0..100)
            .map(|number| budget.hold(bytes.clone(), &answer, client(&scheduler, number)).unwrap());
        let _sent: Vec<_> = sent.collect();
        assert_eq!(budget.answers.available_permits(), (ANSWERS - MAX_COUNTED) / UNIT);
    }

    #[tokio::test(start_paused = true)]
    async fn client_share_of_bodies_is_limited() {
        let (budget, scheduler) = (Budget::default(), Scheduler::default());
        let mut first = budget.body(client(&scheduler, 1), false);
        first.reserve(CLIENT_BODIES - 64 * KB).await.unwrap();
        let mut second = budget.body(client(&scheduler, 1), false);
        assert!(second.reserve(65 * KB).await.is_err());
        second.reserve(64 * KB).await.unwrap();
        budget.body(client(&scheduler, 2), false).reserve(CLIENT_BODIES).await.unwrap();
        // Bodies in flight still count after the client has reconnected, at their size.
        let body = first.hold(vec![0; 100 * KB].into());
        drop(second);
        let rest = CLIENT_BODIES - 100 * KB;
        assert!(budget.body(client(&scheduler, 1), true).reserve(rest + KB).await.is_err());
        budget.body(client(&scheduler, 1), true).reserve(rest).await.unwrap();
        drop(body);
        budget.body(client(&scheduler, 1), true).reserve(CLIENT_BODIES).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn body_that_waits_holds_nothing() {
        let (budget, scheduler) = (Budget::default(), Scheduler::default());
        let mut arriving = budget.body(client(&scheduler, 1), false);
        arriving.reserve(CLIENT_BODIES - 64 * KB).await.unwrap();
        let mut waiting: Vec<_> =
            (0..100).map(|_| budget.body(client(&scheduler, 1), false)).collect();
        let all = waiting.iter_mut().map(|body| body.reserve(256 * KB));
        let all = futures_util::future::join_all(all);
        let release = async {
            // It has all that it needs, whatever waits.
            arriving.reserve(CLIENT_BODIES - 64 * KB).await.unwrap();
            drop(arriving);
        };
        let (outcomes, ()) = tokio::join!(all, release);
        let granted = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert_eq!(granted, CLIENT_BODIES / (256 * KB));
    }

    #[tokio::test(start_paused = true)]
    async fn anonymous_bodies_leave_memory_for_members() {
        let (budget, scheduler) = (Budget::default(), Scheduler::default());
        let mut held = Vec::new();
        for number in 0..2 {
            let mut body = budget.body(client(&scheduler, number), false);
            body.reserve(CLIENT_BODIES).await.unwrap();
            held.push(body);
        }
        assert!(budget.body(client(&scheduler, 9), false).reserve(64 * KB).await.is_err());
        budget.body(client(&scheduler, 9), true).reserve(CLIENT_BODIES).await.unwrap();
    }
}
