//! The `tracing` spans of commits: every change has one, which says what it is. In a process of its own: `tracing` may decide
//! for good that nobody wants a span if a thread without a subscriber meets it first.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test panics")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use swarm_core::domain::{Actor, Contact, Enrolment, Name, Seq, WebhookSecret, WebhookSettings};
use swarm_core::service::LogQuery;
use swarm_core::store::backend::{Backend, CommitOutcome, Operation, Transaction};
use swarm_core::store::{Caller, Interceptor, Result, Store, async_trait};
use swarm_core::{Swarm, SystemEntropy, Tenant, TenantId};
use swarm_store_memory::MemoryStore;
use swarm_testing::{Author, ManualClock, TestTenant, application, log_scenario, moment};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Instrument as _, Span, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

/// A span: its name, its fields, and the names of the spans that it is in.
#[derive(Clone, Debug, Default)]
struct Seen {
    name: &'static str,
    fields: BTreeMap<&'static str, String>,
    inside: Vec<&'static str>,
}

impl Visit for Seen {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }
}

/// Keeps all spans, and in which of them the store commits what.
#[derive(Clone, Default)]
struct Spans {
    all: Arc<Mutex<HashMap<u64, Seen>>>,
    commits: Arc<Mutex<Vec<(Operation, TenantId, Seen)>>>,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let name = attributes.metadata().name();
        let scope = context.span_scope(id).into_iter().flatten().skip(1);
        let inside = scope.map(|span| span.name()).collect();
        let mut seen = Seen { name, inside, ..Seen::default() };
        attributes.record(&mut seen);
        self.all.lock().unwrap().insert(id.into_u64(), seen);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        values.record(self.all.lock().unwrap().get_mut(&id.into_u64()).unwrap());
    }
}

#[async_trait]
impl Interceptor for Spans {
    async fn commit(
        &self,
        next: &dyn Backend,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<CommitOutcome> {
        let id = Span::current().id().map(|id| id.into_u64());
        let span = id.and_then(|id| self.all.lock().unwrap().get(&id).cloned());
        let commit = (op, tenant.clone(), span.unwrap_or_default());
        self.commits.lock().unwrap().push(commit);
        next.commit(tenant, op, transaction).await
    }
}

impl Spans {
    /// The commits since the last call.
    fn commits(&self) -> Vec<(Operation, TenantId, Seen)> {
        std::mem::take(&mut self.commits.lock().unwrap())
    }

    fn intercepted(&self, store: impl Into<Store>) -> Store {
        store.into().intercepted(Arc::new(self.clone()))
    }
}

fn enrolment(author: &Author) -> Enrolment {
    let (name, contact) = (Name::parse("Ada").unwrap(), Contact::parse("customer 7").unwrap());
    Enrolment::new(author.id.clone(), name, contact, author.key())
}

fn assert_spanned((op, tenant, span): &(Operation, TenantId, Seen)) {
    let field = |name| span.fields.get(name).map(String::as_str);
    assert_eq!(span.name, "commit", "{op} has no span");
    assert_eq!((field("op"), field("tenant")), (Some(*op), Some(tenant.as_str())));
}

/// What the log says of a change, its span says too.
#[tokio::test]
async fn each_change_has_a_span_that_names_act_actor_and_member() {
    let spans = Spans::default();
    let _default =
        tracing::subscriber::set_default(tracing_subscriber::registry().with(spans.clone()));
    let clock = ManualClock::at(moment("2026-11-21T12:00:00Z"));
    let shown = clock.clone();
    let store = MemoryStore::with_clock(move || shown.now());
    let store = spans.intercepted(store);
    log_scenario(store.clone(), || clock.advance(1_001)).await;
    let tenant = Swarm::new(store, SystemEntropy).tenant(&TenantId::parse("acme").unwrap());
    unlogged_changes(&tenant).await;

    let commits = spans.commits();
    commits.iter().for_each(assert_spanned);
    let field = |seen: &Seen, name| seen.fields.get(name).cloned();
    let said: BTreeSet<_> = commits
        .iter()
        .map(|(.., span)| (field(span, "act").unwrap_or_default(), field(span, "by")))
        .collect();
    let page = tenant.log(&LogQuery::all(Seq(0), 1_000)).await.unwrap();
    let entries: Vec<_> = page.lines().map(|line| line.entry.clone()).collect();
    assert!(entries.len() > 20);
    for entry in entries {
        // An act that opens takes appends their entries too.
        if entry.kind() == "opening" {
            continue;
        }
        let filed = entry.event().ends_with(".filed").then_some(Actor::MEMBER);
        let by = entry.by().or(filed.as_ref()).map(|by| by.as_str().to_owned());
        let expected = (entry.event(), by);
        assert!(said.contains(&expected), "no span of {expected:?}: {said:?}");
    }
    let unlogged = ("message.tested".to_owned(), Some("operator".to_owned()));
    assert!(said.contains(&unlogged), "{said:?}");
    let members = commits.iter().filter_map(|(.., span)| field(span, "member"));
    assert!(members.collect::<BTreeSet<_>>().len() > 1);
}

/// Changes that the log does not have.
async fn unlogged_changes(tenant: &Tenant) {
    let applicant = tenant.apply(application("grace")).await.unwrap();
    tenant.challenge(&applicant, "https://acme.example").await.unwrap();
    tenant.reject(&applicant, &Actor::OPERATOR).await.unwrap();
    tenant.record_sign_in(&Actor::OPERATOR).await.unwrap();
    tenant.forget_old_acts().await.unwrap();
    let contact = Contact::parse("ada@example.org").unwrap();
    let mail = tenant.test_mail(&contact, "https://acme.example", &Actor::OPERATOR).await.unwrap();
    tenant.cancel_message(mail.id, &Actor::OPERATOR).await.unwrap();
    let webhook = WebhookSettings {
        url: "https://desk.example/hook".to_owned(),
        secret: WebhookSecret::parse("whsec_BwcHBwcHBwcHBwcHBwcHBw==").unwrap(),
        events: Vec::new(),
        closing: None,
    };
    let tenant = tenant.clone().with_webhooks([webhook].into());
    tenant.begin_webhooks().await.unwrap();
    let delivery =
        tenant.test_webhook("https://desk.example/hook", &Actor::OPERATOR).await.unwrap();
    tenant.retry_delivery(delivery.id, &Actor::OPERATOR).await.unwrap();
    tenant.remove_old_deliveries().await.unwrap();
}

/// Facts that are cached make no difference, and neither does an observer, whose commits run in tasks.
#[tokio::test]
async fn span_of_a_take_is_inside_that_of_the_request() {
    let spans = Spans::default();
    let _default =
        tracing::subscriber::set_default(tracing_subscriber::registry().with(spans.clone()));
    let store = spans.intercepted(MemoryStore::new());
    let tenant = TestTenant::fresh(store.clone()).await;
    let (ada, session) = (Author::named("ada"), tenant.convened("aurora").await);
    tenant.service().enrol(&enrolment(&ada), &Actor::OPERATOR).await.unwrap();
    let swarm = Swarm::new(store, SystemEntropy).with_basis_cache();
    let observed = swarm
        .clone()
        .observed_by(|_: &TenantId, _: swarm_core::Commit<'_>| {}, |task| drop(tokio::spawn(task)));
    let mut nonce = 0;
    for swarm in [swarm, observed] {
        let desk = swarm.tenant(&tenant.id);
        // The second take is judged on cached facts.
        for _ in 0..2 {
            spans.commits();
            nonce += 1;
            let take = ada.submission(&session, &nonce.to_string());
            let request = tracing::info_span!("request");
            let filing = desk.submit(Caller::Authenticated(&ada.id), &take).instrument(request);
            filing.await.unwrap();
            let commits = spans.commits();
            let [commit] = commits.as_slice() else { panic!("{commits:?}") };
            assert_spanned(commit);
            let span = &commit.2;
            let field = |name| span.fields.get(name).map(String::as_str);
            assert_eq!(field("act"), Some("take.filed"));
            assert_eq!(field("by"), Some("member"));
            assert_eq!(field("member"), Some(ada.id.as_str()));
            assert_eq!(span.inside.last(), Some(&"request"), "{span:?}");
        }
    }
}

#[tokio::test]
async fn dry_run_has_no_span_of_a_commit() {
    let spans = Spans::default();
    let _default =
        tracing::subscriber::set_default(tracing_subscriber::registry().with(spans.clone()));
    let tenant = TestTenant::fresh(spans.intercepted(MemoryStore::new())).await;
    let ada = Author::named("ada");
    tenant.service().dry_run().enrol(&enrolment(&ada), &Actor::OPERATOR).await.unwrap();
    assert!(spans.all.lock().unwrap().values().all(|span| span.name != "commit"));
    tenant.service().enrol(&enrolment(&ada), &Actor::OPERATOR).await.unwrap();
    assert!(spans.all.lock().unwrap().values().any(|span| span.name == "commit"));
}
