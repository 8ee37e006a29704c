//! The background work of a list of tenants: added, removed, stopped, by the clock of a test.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use swarm_core::domain::{
    Actor, Attribution, Contact, Digest, MailState, Message, Quotas, SessionState, Subject,
    WebhookSecret, WebhookSettings,
};
use swarm_core::proof::log_key::ServerSecret;
use swarm_core::rules::{Attempt, DeliveryFault};
use swarm_core::service::signed_log::{LogSigner, SignedLog, TimestampAuthority};
use swarm_core::service::{WebhookRequest, WebhookSender};
use swarm_core::store::backend::{Backend, Operation, Query, Reading};
use swarm_core::store::{Interceptor, Store, StoreError, async_trait};
use swarm_core::{Mailer, Swarm, SystemEntropy, Tenant, TenantId, Timestamp};
use swarm_maintenance::{
    ClockCheck, DeliverMail, DeliverWebhooks, Job, ListedTenant, MaintainedTenant, Maintenance,
    Next, PAUSE, SignLog, StoreReadiness, TenantList, TimestampCheckpoints,
};
use swarm_store_memory::MemoryStore;
use swarm_testing::{application, object, session_draft};
use tokio::sync::oneshot;
use tokio::time::{advance, sleep, timeout};

const QUICK: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_secs(10);

/// Counts the rounds that began and ended, each of which takes 200 ms.
#[derive(Clone, Default)]
struct Slow(Arc<(AtomicUsize, AtomicUsize)>);

#[async_trait]
impl<T: MaintainedTenant> Job<T> for Slow {
    async fn round(&mut self, _: &T) -> Next {
        self.0.0.fetch_add(1, Ordering::SeqCst);
        sleep(Duration::from_millis(200)).await;
        self.0.1.fetch_add(1, Ordering::SeqCst);
        Next::Soon
    }
}

#[tokio::test]
async fn stopped_maintenance_ends_after_the_rounds_in_progress() {
    let directory = Arc::new(TenantList::from_iter([listed("acme"), listed("rival")]));
    let rounds = Slow::default();
    let job = rounds.clone();
    // After a round, a job pauses for seconds: the stop must not wait for that.
    let maintenance = Maintenance::new(&directory, &Arc::default()).with(move || job.clone());
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(maintenance.run_until(async { drop(stopped.await) }));
    until(|| rounds.0.0.load(Ordering::SeqCst) == 2).await;
    stop.send(()).unwrap();
    timeout(Duration::from_secs(2), running).await.unwrap().unwrap().unwrap();
    assert_eq!((2, 2), (rounds.0.0.load(Ordering::SeqCst), rounds.0.1.load(Ordering::SeqCst)));
}

/// Notes the tenants that it visits.
#[derive(Clone, Default)]
struct Visits(Arc<Mutex<Vec<TenantId>>>);

#[async_trait]
impl<T: MaintainedTenant> Job<T> for Visits {
    async fn round(&mut self, tenant: &T) -> Next {
        self.0.lock().unwrap().push(tenant.id().clone());
        Next::Soon
    }
}

#[tokio::test]
async fn tenants_are_added_and_removed_at_run_time() {
    let directory = Arc::new(TenantList::new());
    let (visits, clocks) = (Visits::default(), Arc::default());
    let job = visits.clone();
    let maintenance = Maintenance::new(&directory, &clocks).with(move || job.clone());
    let running = tokio::spawn(maintenance.pausing_at_most(QUICK).run());
    let seen = |id: &TenantId| visits.0.lock().unwrap().contains(id);
    let (acme, rival) = (tenant_id("acme"), tenant_id("rival"));
    directory.insert(listed("acme"));
    until(|| seen(&acme)).await;
    assert!(!seen(&rival));
    directory.insert(listed("rival"));
    until(|| seen(&rival)).await;
    assert!(directory.remove(&acme) && !directory.remove(&acme));
    sleep(20 * QUICK).await;
    visits.0.lock().unwrap().clear();
    until(|| seen(&rival)).await;
    assert!(!seen(&acme), "it was removed");
    running.abort();
}

#[tokio::test]
async fn scheduled_work_runs_by_the_clock_of_a_test() {
    let long_ago = Timestamp::EPOCH.plus_millis(1_000_000_000_000);
    for (clocks, expires) in
        [(ClockCheck::default(), false), (ClockCheck::with_clock(move || long_ago), true)]
    {
        // A millisecond passes with each look at it.
        let passed = AtomicI64::new(0);
        let clock = move || long_ago.plus_millis(passed.fetch_add(1, Ordering::SeqCst));
        let store = MemoryStore::with_clock(clock);
        let swarm = Swarm::new(store, SystemEntropy);
        let tenant = swarm.tenant(&tenant_id("acme"));
        apply(&tenant).await;
        // Without a day to wait, an application that nobody reviewed expires at once.
        let mut quotas = Quotas::default();
        quotas.pending_days = 0;
        let maintained = ListedTenant::new(tenant.clone().with_quotas(quotas));
        let directory = Arc::new(TenantList::from_iter([maintained]));
        let clocks = Arc::new(clocks);
        let maintenance = Maintenance::new(&directory, &clocks).pausing_at_most(QUICK);
        let running = tokio::spawn(maintenance.run_until(pending()));
        sleep(50 * QUICK).await;
        let left = tenant.applications(None, None, 10).await.unwrap().applications.len();
        assert_eq!((left == 0, clocks.warning().is_none()), (expires, expires));
        running.abort();
    }
}

/// A mailer that fails as programs do for mail to some addresses, and sends all other mail.
struct Faulty;

#[async_trait]
impl Mailer for Faulty {
    async fn send(&self, message: &Message) -> Attempt {
        match message.mail.to.as_str() {
            "panic@example.org" => panic!("a defect of the mailer"),
            "hang@example.org" => pending().await,
            _ => Attempt::Sent,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn mailer_that_panics_or_hangs_stops_neither_other_mail_nor_other_jobs() {
    let tenant = Swarm::new(MemoryStore::new(), SystemEntropy).tenant(&tenant_id("acme"));
    for name in ["panic", "hang", "ada"] {
        let contact = Contact::parse(format!("{name}@example.org")).unwrap();
        tenant.test_mail(&contact, "https://acme.example", &Actor::OPERATOR).await.unwrap();
    }
    let directory = Arc::new(TenantList::from_iter([ListedTenant::new(tenant.clone())]));
    let rounds = Slow::default();
    let job = rounds.clone();
    let maintenance = Maintenance::new(&directory, &Arc::default())
        .with(|| DeliverMail(|_: &ListedTenant| Some(Box::new(Faulty) as Box<dyn Mailer>)))
        .with(move || job.clone());
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(maintenance.run_until(async { drop(stopped.await) }));
    sleep(Duration::from_secs(115)).await;
    let messages = tenant.outbox(None, 10).await.unwrap().messages;
    let seen: Vec<_> = messages.iter().map(|it| (it.state, it.last_error.as_deref())).collect();
    let expected = [
        (MailState::Queued, Some("the mailer panicked")),
        (MailState::Queued, Some("the mailer took too long")),
        (MailState::Sent, None),
    ];
    assert_eq!(seen, expected);
    assert!(rounds.0.0.load(Ordering::SeqCst) > 10);
    stop.send(()).unwrap();
    running.await.unwrap().unwrap();
}

/// Counts the tokens that it gives.
#[derive(Clone, Default)]
struct Authority(Arc<AtomicUsize>);

#[async_trait]
impl TimestampAuthority for Authority {
    async fn timestamp(&self, _: Digest) -> Result<Vec<u8>, String> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(b"token".to_vec())
    }
}

/// The other server may have died before it asked the authority.
#[tokio::test(start_paused = true)]
async fn session_that_another_server_closed_is_timestamped_a_minute_later() {
    let swarm = Swarm::new(MemoryStore::new(), SystemEntropy);
    let tenant = swarm.tenant(&tenant_id("acme"));
    let [other, own] = [(); 2].map(|()| {
        let signer = LogSigner::without_memory(ServerSecret::new([1; 32]));
        tenant.signed_log("acme.example", &signer).unwrap()
    });
    let close = |log: SignedLog| {
        let tenant = tenant.clone();
        async move {
            let by = Attribution::from(Actor::OPERATOR);
            let convened = tenant.convene(&session_draft("aurora"), &by).await.unwrap();
            let closed = tenant.advance(convened.id, SessionState::WindowClosed, &by).await;
            closed.unwrap();
            log.sign().await.unwrap();
        }
    };
    let subject = object(r#"{"id":"aurora","name":"Aurora"}"#);
    let subject = Subject::read(&mut subject.clone()).unwrap();
    tenant.put_subject(&subject, &Actor::OPERATOR).await.unwrap();
    close(other.clone()).await;
    let served = ListedTenant::new(tenant.clone()).with_signed_log(own.clone());
    let authority = Authority::default();
    let shared: Arc<dyn TimestampAuthority> = Arc::new(authority.clone());
    let mut job = TimestampCheckpoints::new(move |_: &ListedTenant| Some(Arc::clone(&shared)));
    // What happened before the start, and what this server signed: at once.
    let asked = || authority.0.load(Ordering::SeqCst);
    job.round(&served).await;
    assert_eq!((asked(), job.round(&served).await), (1, Next::Changed));
    close(own.clone()).await;
    job.round(&served).await;
    assert_eq!((asked(), job.round(&served).await), (2, Next::Changed));

    close(other.clone()).await;
    assert_eq!(job.round(&served).await, Next::In(Duration::from_secs(60)));
    sleep(Duration::from_secs(60)).await;
    job.round(&served).await;
    assert_eq!((asked(), job.round(&served).await), (3, Next::Changed));

    // Unless the other one has.
    close(other.clone()).await;
    job.round(&served).await;
    let signed = other.checkpoint().await.unwrap().unwrap();
    other.timestamp(&signed, &Authority::default()).await.unwrap();
    sleep(Duration::from_secs(60)).await;
    for _ in 0..3 {
        job.round(&served).await;
    }
    assert_eq!((asked(), job.round(&served).await), (3, Next::Changed));
}

/// A store that answers nothing while this is so.
struct Outage(Arc<AtomicBool>);

#[async_trait]
impl Interceptor for Outage {
    async fn read(
        &self,
        next: &dyn Backend,
        tenant: &TenantId,
        op: Operation,
        queries: Vec<Query>,
    ) -> swarm_core::store::Result<Reading> {
        if self.0.load(Ordering::SeqCst) {
            return Err(StoreError::unavailable(op, "the disk is full"));
        }
        next.read(tenant, op, queries).await
    }
}

/// A receiver with one answer, and how often it was asked.
struct Receiver(Result<(), DeliveryFault>, AtomicUsize);

#[async_trait]
impl WebhookSender for Receiver {
    async fn send(&self, _: WebhookRequest) -> Result<(), DeliveryFault> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.clone()
    }
}

#[tokio::test(start_paused = true)]
async fn webhook_is_told_of_an_outage_until_it_accepts_or_wants_no_repetition() {
    let why = || "answered".to_owned();
    for (answer, attempts, is_told) in [
        (Ok(()), 1, true),
        (Err(DeliveryFault::Refused(why())), 1, false),
        (Err(DeliveryFault::Busy(why(), 3_600_000)), 3, false),
        (Err(DeliveryFault::Failed(why())), 3, false),
    ] {
        let is_out = Arc::new(AtomicBool::new(false));
        let outage = Outage(Arc::clone(&is_out));
        let swarm = Swarm::new(
            Store::from(MemoryStore::new()).intercepted(Arc::new(outage)),
            SystemEntropy,
        );
        let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let url = "https://hooks.example".to_owned();
        let settings = WebhookSettings { url, secret, events: Vec::new(), closing: None };
        let tenant = swarm.tenant(&tenant_id("acme")).with_webhooks(Arc::new([settings]));
        let served = ListedTenant::new(tenant);
        let receiver = Arc::new(Receiver(answer, AtomicUsize::new(0)));
        let asked = || receiver.1.load(Ordering::SeqCst);
        let sender: Arc<dyn WebhookSender> = Arc::<Receiver>::clone(&receiver);
        let mut job = DeliverWebhooks::new(sender, Arc::new(StoreReadiness::new(swarm)));
        job.round(&served).await;
        is_out.store(true, Ordering::SeqCst);
        for _ in 0..100 {
            job.round(&served).await;
            advance(Duration::from_secs(1)).await;
        }
        assert_eq!(asked(), attempts);
        is_out.store(false, Ordering::SeqCst);
        for _ in 0..10 {
            job.round(&served).await;
            advance(Duration::from_secs(1)).await;
        }
        assert_eq!(asked() > attempts, is_told);
    }
}

/// Each failure is an error in the log.
#[tokio::test]
async fn log_is_signed_less_often_while_that_fails() {
    let works = Store::from(MemoryStore::new());
    let served = [&works.intercepted(Arc::new(Outage(Arc::new(AtomicBool::new(true))))), &works]
        .map(|store| {
            let tenant = Swarm::new(store.clone(), SystemEntropy).tenant(&tenant_id("acme"));
            let signer = LogSigner::without_memory(ServerSecret::new([1; 32]));
            let log = tenant.signed_log("acme.example", &signer).unwrap();
            ListedTenant::new(tenant).with_signed_log(log)
        });
    let [fails, works] = served;
    let mut job = SignLog::default();
    let pause = |job: &SignLog| Job::<ListedTenant>::pause(job);
    let (usual, mut pauses) = (pause(&job), Vec::new());
    for _ in 0..40 {
        job.round(&fails).await;
        pauses.push(pause(&job));
    }
    assert!(pauses.is_sorted() && pauses[0] > usual && pauses[4..].iter().all(|it| *it == PAUSE));
    job.round(&works).await;
    assert_eq!(pause(&job), usual);
}

async fn apply(tenant: &Tenant) {
    tenant.apply(application("ada")).await.unwrap();
}

fn listed(id: &str) -> ListedTenant {
    let swarm = Swarm::new(MemoryStore::new(), SystemEntropy);
    ListedTenant::new(swarm.tenant(&tenant_id(id)))
}

fn tenant_id(id: &str) -> TenantId {
    TenantId::parse(id).unwrap()
}

async fn until(done: impl Fn() -> bool) {
    let waits = async {
        while !done() {
            sleep(QUICK).await;
        }
    };
    timeout(LONG, waits).await.unwrap();
}
