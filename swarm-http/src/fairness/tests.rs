use std::future::{pending, ready};
use std::pin::pin;

use tokio::task::JoinSet;
use tokio::time::advance;

use super::*;

type Log = Arc<Mutex<Vec<usize>>>;

fn client(scheduler: &Scheduler, number: u8) -> Arc<ClientShare> {
    scheduler.client([192, 0, 2, number].into())
}

/// A connection that is always ready; each poll takes the time `each`.
async fn busy(number: usize, each: Duration, client: Arc<ClientShare>, log: Log) {
    let charged = Arc::clone(&client);
    let work = poll_fn(|cx| {
        log.lock().unwrap().push(number);
        charged.charge(each);
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    });
    client.run(work).await;
}

/// The connections of a busy client that were polled before another client was polled `own` times.
async fn beside(each: Duration, connections: usize, own: usize) -> Vec<usize> {
    let (scheduler, log) = (Scheduler::default(), Log::default());
    let mut tasks = JoinSet::new();
    for number in 0..connections {
        tasks.spawn(busy(number, each, client(&scheduler, 1), log.clone()));
    }
    let other = async {
        for _ in 0..own {
            yield_now().await;
        }
    };
    client(&scheduler, 2).run(other).await;
    log.lock().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn busy_client_yields_after_one_slice() {
    assert_eq!(beside(SLICE, 50, 10).await.len(), 10);
    assert_eq!(beside(SLICE / 4, 50, 10).await.len(), 40);
}

#[tokio::test(start_paused = true)]
async fn connections_of_a_client_are_polled_round_robin() {
    assert_eq!(beside(SLICE, 3, 9).await, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn client_alone_has_longer_slices() {
    let scheduler = Scheduler::default();
    let (one, other) = (client(&scheduler, 1), client(&scheduler, 2));
    let is_over = |used| {
        one.busy.store(0, Ordering::Relaxed);
        one.charge(used);
        one.is_over()
    };
    other.timed(|| ());
    one.timed(|| ());
    assert!(is_over(SLICE));
    advance(ALONE_AFTER).await;
    one.timed(|| ());
    assert!(!is_over(SLICE));
    assert!(is_over(SLICE_ALONE));
    other.timed(|| ());
    assert!(is_over(SLICE));
}

#[tokio::test(start_paused = true)]
async fn pending_connection_holds_no_permit() {
    let client = client(&Scheduler::default(), 1);
    let mut waiting = pin!(Arc::clone(&client).run(pending::<()>()));
    tokio::select! {
        biased;
        () = &mut waiting => {}
        () = client.run(ready(())) => {}
    }
}

#[tokio::test]
async fn time_to_drop_a_connection_is_charged() {
    struct Unread;
    impl Drop for Unread {
        fn drop(&mut self) {
            std::thread::sleep(2 * SLICE_ALONE);
        }
    }
    let client = client(&Scheduler::default(), 1);
    let unread = Unread;
    Arc::clone(&client)
        .run(async move {
            let _unread = unread;
        })
        .await;
    assert!(client.is_over());
}

#[tokio::test]
async fn client_is_kept_while_in_use() {
    let scheduler = Scheduler::default();
    let first = client(&scheduler, 1);
    assert!(Arc::ptr_eq(&first, &client(&scheduler, 1)));
    assert!(!Arc::ptr_eq(&first, &client(&scheduler, 2)));
    for number in 0..=255 {
        drop(client(&scheduler, number));
    }
    assert!(Arc::ptr_eq(&first, &client(&scheduler, 1)));
    assert!(scheduler.0.clients.lock().unwrap().len() < 50, "clients that left are forgotten");
}

#[test]
fn ipv6_network_of_64_bits_is_one_client() {
    let key = |text: &str| key(text.parse().unwrap());
    assert_eq!(key("2001:db8::1"), key("2001:db8::ffff:1"));
    assert_ne!(key("2001:db8::1"), key("2001:db8:0:1::1"));
    assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
    assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
}

#[tokio::test(start_paused = true)]
async fn client_beside_others_has_a_share_of_the_calls_of_the_store() {
    let scheduler = Scheduler::default();
    let (one, other) = (client(&scheduler, 1), client(&scheduler, 2));
    let begun = Arc::<AtomicU64>::default();
    let mut tasks = JoinSet::new();
    for _ in 0..2 * TURNS {
        let begun = Arc::clone(&begun);
        tasks.spawn(one.clone().run(async move {
            let _turn = ClientShare::turn().await;
            begun.fetch_add(1, Ordering::Relaxed);
            pending::<()>().await;
        }));
    }
    yield_now().await;
    assert_eq!(begun.load(Ordering::Relaxed), TURNS as u64);
    // Those of the other client do not wait for them.
    assert!(timeout(MAX_WAIT / 2, other.run(ClientShare::turn())).await.is_ok());
    advance(MAX_WAIT).await;
    yield_now().await;
    assert_eq!(begun.load(Ordering::Relaxed), 2 * TURNS as u64, "none waits for long");
}
