//! Whose turn it is: the connections of a client go one after another, and after a while let all others go first.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::yield_now;
use tokio::time::Instant;

/// How long the connections of a client keep threads busy before it is the others' turn.
const TURN: Duration = Duration::from_micros(200);

/// The same where no other has come for a while, as it costs something to look for others.
const TURN_ALONE: Duration = Duration::from_millis(5);

/// How long others are expected after one was there.
const EXPECTED: Duration = Duration::from_secs(1);

/// The turns of a client. Without them, whoever has many connections has as many places in the queue of each thread; and
/// a thread with much to do looks seldom at who else has sent something.
#[derive(Debug)]
pub(crate) struct Turns {
    /// As many connections at a time as there are threads, in the order in which they asked: alone, a client may use
    /// them all.
    queue: Semaphore,
    /// For how long threads have been busy since others went first, in nanoseconds.
    used: AtomicU64,
    /// The number of the client.
    client: u64,
    company: Arc<Company>,
}

/// Whether there is more than one client.
#[derive(Debug)]
pub(crate) struct Company {
    start: Instant,
    /// The number of the client that was served last.
    served: AtomicU64,
    /// When that was another than before, in milliseconds since the start.
    changed: AtomicU64,
}

impl Turns {
    /// Of the client with this number, on the threads of this runtime.
    pub(crate) fn new(client: u64, company: &Arc<Company>) -> Self {
        let threads = Handle::current().metrics().num_workers();
        Self {
            queue: Semaphore::new(threads),
            used: AtomicU64::new(0),
            client,
            company: Arc::clone(company),
        }
    }

    /// Runs a connection to its end, whenever it is its turn.
    pub(crate) async fn run<C: Future + Unpin>(&self, mut connection: C) -> C::Output {
        loop {
            let mut turn = self.next().await;
            let polled = poll_fn(|cx| match turn.take() {
                Some(_turn) => self.timed(|| Pin::new(&mut connection).poll(cx)).map(Some),
                // It was woken again: that is another turn.
                None => Poll::Ready(None),
            });
            if let Some(ended) = polled.await {
                return ended;
            }
        }
    }

    /// Waits for a turn; where the client has had enough for now, until all others have gone first.
    async fn next(&self) -> Option<SemaphorePermit<'_>> {
        let turn = self.queue.acquire().await.ok();
        if self.is_over() {
            // Until the thread has nothing else to do, and has looked at what came in.
            yield_now().await;
            self.used.store(0, Ordering::Relaxed);
        }
        turn
    }

    /// Whether it is the others' turn.
    pub(crate) fn is_over(&self) -> bool {
        let used = Duration::from_nanos(self.used.load(Ordering::Relaxed));
        used >= TURN && (used >= TURN_ALONE || self.company.is_expected())
    }

    /// Does it, and charges the client with the time.
    fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        self.company.serve(self.client, start);
        let done = work();
        self.charge(start.elapsed());
        done
    }

    fn charge(&self, busy: Duration) {
        self.used.fetch_add(busy.as_nanos() as u64, Ordering::Relaxed);
    }
}

impl Company {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), served: AtomicU64::new(0), changed: AtomicU64::new(0) }
    }

    fn serve(&self, client: u64, now: Instant) {
        if self.served.load(Ordering::Relaxed) != client {
            self.served.store(client, Ordering::Relaxed);
            self.changed.store((now - self.start).as_millis() as u64, Ordering::Relaxed);
        }
    }

    fn is_expected(&self) -> bool {
        self.start.elapsed()
            < Duration::from_millis(self.changed.load(Ordering::Relaxed)) + EXPECTED
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::Mutex;

    use tokio::task::JoinSet;
    use tokio::time::advance;

    use super::*;

    type Log = Arc<Mutex<Vec<usize>>>;

    /// A connection with always more to do, each time for so long.
    async fn busy(number: usize, each: Duration, turns: Arc<Turns>, log: Log) {
        let work = poll_fn(|cx| {
            log.lock().unwrap().push(number);
            turns.charge(each);
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        turns.run(work).await;
    }

    /// Who had a turn before a connection of another client had so many.
    async fn beside(each: Duration, connections: usize, own: usize) -> Vec<usize> {
        let company = Arc::new(Company::new());
        let (turns, log) = (Arc::new(Turns::new(1, &company)), Log::default());
        let mut tasks = JoinSet::new();
        for number in 0..connections {
            tasks.spawn(busy(number, each, turns.clone(), log.clone()));
        }
        let other = async {
            for _ in 0..own {
                yield_now().await;
            }
        };
        Turns::new(2, &company).run(Box::pin(other)).await;
        log.lock().unwrap().clone()
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_has_one_turn_until_the_others_had_theirs() {
        assert_eq!(beside(TURN, 50, 10).await.len(), 10);
        assert_eq!(beside(TURN / 4, 50, 10).await.len(), 40);
    }

    #[tokio::test(start_paused = true)]
    async fn connections_of_a_client_have_turns_in_order() {
        let log = beside(TURN, 3, 9).await;
        assert_eq!(log, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_has_longer_turns_where_no_other_was_for_a_while() {
        let company = Arc::new(Company::new());
        let (one, other) = (Turns::new(1, &company), Turns::new(2, &company));
        let is_over = |used| {
            one.used.store(0, Ordering::Relaxed);
            one.charge(used);
            one.is_over()
        };
        other.timed(|| ());
        one.timed(|| ());
        assert!(is_over(TURN));
        advance(EXPECTED).await;
        one.timed(|| ());
        assert!(!is_over(TURN));
        assert!(is_over(TURN_ALONE));
        Turns::new(1, &company).timed(|| ());
        assert!(!is_over(TURN), "who comes again is no other");
        other.timed(|| ());
        assert!(is_over(TURN));
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_a_client_takes_no_turn() {
        let turns = Turns::new(1, &Arc::new(Company::new()));
        let waiting = async { turns.run(Box::pin(pending::<()>())).await };
        tokio::select! {
            biased;
            () = waiting => {}
            () = turns.run(ready(())) => {}
        }
    }
}
