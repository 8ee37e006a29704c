//! Mail: queued with the activation, sent at least once, by one server at a time.
#![allow(clippy::unwrap_used, reason = "a test panics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use swarm_core::domain::{Actor, Application, Contact, Lens, MailState, Message, Name};
use swarm_core::proof::KeyPair;
use swarm_core::rules::{Attempt, LEASE_MILLIS, MAX_MAIL_ATTEMPTS};
use swarm_core::{Mailer, MemberId, Swarm, SystemEntropy, Tenant, TenantId, Timestamp};
use swarm_store_memory::MemoryStore;
use swarm_testing::ManualClock;
use tokio::time::timeout;

const ORIGIN: &str = "https://acme.example";

const HOUR: i64 = 60 * 60 * 1_000;

/// A tenant whose clock stands still until it is moved.
struct Fixture {
    tenant: Tenant,
    clock: ManualClock,
}

impl Fixture {
    fn new() -> Self {
        let clock = ManualClock::at(Timestamp::EPOCH);
        let shown = clock.clone();
        let swarm = Swarm::new(MemoryStore::with_clock(move || shown.now()), SystemEntropy);
        Self { tenant: swarm.tenant(&TenantId::parse("acme").unwrap()), clock }
    }

    /// An application, activated: one message is queued.
    async fn activated(&self, seed: u8) -> MemberId {
        let key = KeyPair::from_seed(&[seed; 32]);
        let application = key.sign(Application {
            name: Name::parse("Ada").unwrap(),
            contact: Contact::parse("ada@test.example").unwrap(),
            lens: Lens::parse("").unwrap(),
            public_key: key.public_key().to_string(),
        });
        let id = self.tenant.apply(application).await.unwrap();
        self.tenant.activate(&id, ORIGIN, &Actor::SCHEDULE).await.unwrap();
        id
    }

    async fn message(&self) -> Arc<Message> {
        self.tenant.outbox(None, 9).await.unwrap().messages.pop().unwrap()
    }
}

/// A mailer that answers each attempt alike, and counts them.
struct Always(Attempt, AtomicUsize);

impl Always {
    fn answer(attempt: Attempt) -> Self {
        Self(attempt, AtomicUsize::new(0))
    }

    fn attempts(&self) -> usize {
        self.1.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Mailer for Always {
    async fn send(&self, _: &Message) -> Attempt {
        self.1.fetch_add(1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        self.0.clone()
    }
}

#[tokio::test]
async fn only_first_activation_queues_mail() {
    let fixture = Fixture::new();
    let id = fixture.activated(1).await;
    fixture.tenant.activate(&id, ORIGIN, &Actor::SCHEDULE).await.unwrap();
    fixture.tenant.deactivate(&id, &Actor::SCHEDULE).await.unwrap();
    fixture.tenant.activate(&id, ORIGIN, &Actor::SCHEDULE).await.unwrap();
    assert_eq!(fixture.tenant.outbox(None, 9).await.unwrap().messages.len(), 1);

    let mailer = Always::answer(Attempt::Sent);
    assert_eq!(fixture.tenant.deliver(&mailer).await.unwrap().done, 1);
    assert_eq!(fixture.tenant.deliver(&mailer).await.unwrap().done, 0);
    let message = fixture.message().await;
    assert_eq!((message.state, message.attempts, mailer.attempts()), (MailState::Sent, 1, 1));
    assert_eq!(message.sent_at, Some(Timestamp::EPOCH));
    assert!(message.mail.body.contains(id.as_str()));
    assert!(message.mail.body.contains("https://acme.example/api/swarm/token-claim"));
}

#[tokio::test]
async fn delivery_retries_with_backoff_then_fails() {
    let fixture = Fixture::new();
    fixture.activated(1).await;
    let down = Always::answer(Attempt::Failed("connection refused".to_owned()));
    fixture.tenant.deliver(&down).await.unwrap();
    fixture.clock.advance(29_999);
    fixture.tenant.deliver(&down).await.unwrap();
    assert_eq!(down.attempts(), 1, "the first wait is half a minute");
    for _ in 1..MAX_MAIL_ATTEMPTS {
        assert_eq!(fixture.message().await.state, MailState::Queued);
        fixture.clock.advance(HOUR);
        fixture.tenant.deliver(&down).await.unwrap();
    }
    let message = fixture.message().await;
    assert_eq!((message.state, message.attempts), (MailState::Failed, MAX_MAIL_ATTEMPTS));
    assert_eq!(message.last_error.as_deref(), Some("connection refused"));
    fixture.clock.advance(HOUR);
    fixture.tenant.deliver(&down).await.unwrap();
    assert_eq!(down.attempts(), usize::try_from(MAX_MAIL_ATTEMPTS).unwrap());
}

#[tokio::test]
async fn invalid_address_is_undeliverable() {
    let fixture = Fixture::new();
    fixture.activated(1).await;
    let mailer = Always::answer(Attempt::Undeliverable("no address".to_owned()));
    fixture.tenant.deliver(&mailer).await.unwrap();
    fixture.clock.advance(HOUR);
    fixture.tenant.deliver(&mailer).await.unwrap();
    assert_eq!((fixture.message().await.state, mailer.attempts()), (MailState::Undeliverable, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_servers_send_once() {
    let fixture = Fixture::new();
    for seed in 1..=50 {
        fixture.activated(seed).await;
    }
    let mailer = Arc::new(Always::answer(Attempt::Sent));
    let server = |_| {
        let (tenant, mailer) = (fixture.tenant.clone(), Arc::clone(&mailer));
        tokio::spawn(async move { tenant.deliver(&*mailer).await.unwrap() })
    };
    let mut sent = 0;
    for server in (0..8).map(server).collect::<Vec<_>>() {
        sent += server.await.unwrap().done;
    }
    assert_eq!((sent, mailer.attempts()), (50, 50));
}

/// A mailer whose attempt never ends.
struct NeverEnds;

#[async_trait]
impl Mailer for NeverEnds {
    async fn send(&self, _: &Message) -> Attempt {
        std::future::pending().await
    }
}

#[tokio::test]
async fn expired_lease_is_taken_over() {
    let fixture = Fixture::new();
    fixture.activated(1).await;
    let stuck = timeout(Duration::from_millis(20), fixture.tenant.deliver(&NeverEnds)).await;
    assert!(stuck.is_err());
    let mailer = Always::answer(Attempt::Sent);
    fixture.clock.advance(LEASE_MILLIS - 1);
    assert_eq!(fixture.tenant.deliver(&mailer).await.unwrap().done, 0, "the lease holds");
    fixture.clock.advance(1);
    assert_eq!(fixture.tenant.deliver(&mailer).await.unwrap().done, 1);
    assert_eq!(fixture.message().await.attempts, 2);
}
