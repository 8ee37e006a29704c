//! Acts of operators.

use super::log::document;
use crate::assertions::{ensure, expect_eq};
use crate::{FIRST, TestTenant, applicant, mail, session_draft};
use swarm_core::domain::{
    Actor, Attribution, Day, DeliveryDraft, Note, NoticeId, OperatorAct, RecordedAct, Seq,
    Timestamp, Webhook,
};
use swarm_core::rules::{convene, withhold};
use swarm_core::store::{
    ActQuery, Collection, DeliveryChange, MemberChange, MemberSaved, Queued, QueuedMail, Saved,
    Store, WebhookChange,
};

/// A name, and a target, with characters that stores may not pass on.
const NAME: &str = "ada \u{1f680}";
const TARGET: &str = "what \u{1f680}\0 else";

fn every() -> ActQuery {
    ActQuery { limit: usize::MAX, ..ActQuery::default() }
}

fn ada() -> Actor {
    Actor::operator(NAME).unwrap()
}

fn act(act: &'static str) -> OperatorAct {
    let note = Some(Note::parse("why \u{1f680}\0 not").unwrap());
    OperatorAct { note, ..OperatorAct::new(&ada(), act, TARGET).unwrap() }
}

async fn acts(tenant: &TestTenant, query: ActQuery) -> Vec<OperatorAct> {
    tenant.operator_acts(&query).await.into_iter().map(|recorded| recorded.act).collect()
}

/// Commits with an entry of an operator record its act, and those whose act came with the change.
pub async fn operator_acts_are_recorded_with_their_commits(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    expect_eq!(tenant.operator_acts(&every()).await, []);
    let member = applicant("grace");
    tenant.create(&member).await;
    let operator_act = Some(act("application.rejected"));
    let change = MemberChange { operator_act, ..tenant.edited(&member.id, |_| {}).await };
    expect_eq!(tenant.save_member(&change).await, MemberSaved::Saved);
    let rejected = tenant.operator_acts(&every()).await;
    expect_eq!(acts(&tenant, every()).await, [act("application.rejected")]);
    expect_eq!(tenant.save_member(&change).await, MemberSaved::Stale);
    let convened = |by| convene(&session_draft("subject"), &Attribution::from(by));
    let scheduled = convened(Actor::SCHEDULE);
    ensure!(tenant.convene_once("one", &scheduled).await.is_some(), "convened", scheduled);
    expect_eq!(tenant.operator_acts(&every()).await, rejected);

    let session = tenant.convene_once("two", &convened(ada())).await.unwrap();
    expect_eq!(tenant.convene_once("two", &convened(ada())).await, None);
    let found = tenant.operator_acts(&every()).await;
    let act = OperatorAct::new(&ada(), "session.convened", session.id);
    let of_session = RecordedAct { at: session.convened_at, act: act.unwrap() };
    ensure!(found.len() == 2 && found.contains(&rejected[0]), "each commit once", found);
    ensure!(found.contains(&of_session), "the id of the session", found);

    let operator_act = OperatorAct::of_new(&ada(), "message.tested");
    let test = QueuedMail { mail: mail("test"), reminder: None, operator_act };
    let Queued::Queued(message, at) = tenant.queue_message(&test).await else {
        panic!("a test has no guard");
    };
    let found = tenant.operator_acts(&every()).await;
    let tested = OperatorAct::new(&ada(), "message.tested", message).unwrap();
    let tested = RecordedAct { at, act: tested };
    ensure!(found.len() == 3 && found.contains(&tested), "the id of the message", found);
}

/// Every commit whose entry is of an operator records its act.
pub async fn entries_of_operators_are_recorded_as_acts(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let by = Attribution::from(ada());
    let convocation = convene(&session_draft("subject"), &by);
    let session = tenant.store().convene(&convocation).await.unwrap();
    expect_eq!(tenant.operator_acts(&every()).await.len(), 1, "a session is convened");
    tenant.amend(session.id, |_| {}).await;
    expect_eq!(tenant.operator_acts(&every()).await.len(), 2, "it is amended");
    let take = tenant.filed(&author, &session, "nonce").await;
    let on_file = tenant.session(session.id).await.unwrap();
    let marks = withhold(&on_file, &take, Note::parse("why").unwrap(), &by).unwrap();
    ensure!(tenant.mark_takes(&marks).await.is_some(), "withheld", marks);
    expect_eq!(tenant.operator_acts(&every()).await.len(), 3, "a take is withheld");
    let _ = tenant.put_document(Collection::Memos, &document(None, "memo")).await;
    expect_eq!(tenant.operator_acts(&every()).await.len(), 4, "a document is written");
    tenant.accept_key(&crate::act("key")).await;
    expect_eq!(tenant.operator_acts(&every()).await.len(), 5, "a key is accepted");
    tenant.accept_clock(&crate::act("clock")).await;
    expect_eq!(tenant.operator_acts(&every()).await.len(), 6, "a clock is accepted");
    tenant.accept_store(&crate::act("store")).await;
    expect_eq!(tenant.operator_acts(&every()).await.len(), 7, "a store is accepted");
}

/// A test of a webhook, whose delivery is its target, and a delivery that is queued again.
pub async fn operator_acts_on_webhooks_are_recorded(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let url = "https://a.example".to_owned();
    let delivery = DeliveryDraft {
        url: url.clone(),
        event_id: "evt_1".to_owned(),
        event: "webhook.test".to_owned(),
        body: "{}".to_owned(),
    };
    let mut change = WebhookChange {
        webhook: Webhook { url, log: 1, seq: Seq(0), notice: NoticeId(0), closing: Vec::new() },
        expected: None,
        deliveries: vec![delivery],
        operator_act: OperatorAct::of_new(&ada(), "webhook.tested"),
        wakes: false,
    };
    let queued = tenant.save_webhook(&change).await.unwrap().swap_remove(0);
    // A change that is refused records nothing.
    change.expected = None;
    expect_eq!(tenant.save_webhook(&change).await, None);
    let tested = OperatorAct::new(&ada(), "webhook.tested", queued.id.0).unwrap();
    expect_eq!(acts(&tenant, every()).await, std::slice::from_ref(&tested));
    let retried = DeliveryChange {
        delivery: queued,
        expected: FIRST,
        operator_act: Some(act("webhook.retried")),
        wakes: false,
    };
    expect_eq!(tenant.save_delivery(&retried).await, Saved::Saved);
    expect_eq!(tenant.save_delivery(&retried).await, Saved::Stale);
    let found = acts(&tenant, every()).await;
    let both = [&tested, &act("webhook.retried")];
    ensure!(found.len() == 2 && both.iter().all(|it| found.contains(it)), "both", found);
}

pub async fn operator_acts_are_found_by_operator_and_time(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let mut at = Vec::new();
    for name in ["first", "second", "third"] {
        expect_eq!(tenant.record_act(&act(name), None).await, Saved::Saved);
        let query =
            ActQuery { since: at.last().map(|at: &Timestamp| at.plus_millis(1)), ..every() };
        let recorded = tenant.operator_acts(&query).await[0].at;
        at.push(recorded);
        tenant.pass(recorded).await;
    }
    expect_eq!(tenant.record_act(&OperatorAct::unnamed("fourth"), None).await, Saved::Saved);
    let fourth = OperatorAct::unnamed("fourth");
    let [first, second, third] = ["first", "second", "third"].map(act);
    let all = [fourth, third.clone(), second.clone(), first.clone()];
    expect_eq!(acts(&tenant, every()).await, all);
    let by = Some(ada());
    expect_eq!(
        acts(&tenant, ActQuery { by: by.clone(), ..every() }).await,
        [third.clone(), second.clone(), first.clone()]
    );
    expect_eq!(acts(&tenant, ActQuery { by: Some(Actor::OPERATOR), ..every() }).await, []);
    expect_eq!(acts(&tenant, ActQuery { limit: 2, ..every() }).await, all[..2]);
    let before = Some(at[2]);
    expect_eq!(acts(&tenant, ActQuery { before, ..every() }).await, [second.clone(), first]);
    let since = Some(at[1]);
    expect_eq!(
        acts(&tenant, ActQuery { by: by.clone(), since, ..every() }).await,
        [third, second.clone()]
    );
    expect_eq!(acts(&tenant, ActQuery { since, ..every() }).await, all[..3]);
    expect_eq!(acts(&tenant, ActQuery { by, since, before, limit: 9 }).await, [second]);

    tenant.forget_acts(at[2]).await;
    expect_eq!(acts(&tenant, every()).await, all[..2]);
}

pub async fn operator_acts_of_strangers_are_bounded(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let day = tenant.now().await.day();
    let refused = OperatorAct::unnamed("console.refused");
    for saved in [Saved::Saved, Saved::Saved, Saved::Stale, Saved::Stale] {
        expect_eq!(tenant.record_act(&refused, Some((day, 2))).await, saved);
    }
    expect_eq!(
        tenant.record_act(&refused, Some((Day::parse("2001-01-01").unwrap(), 2))).await,
        Saved::Saved
    );
    expect_eq!(tenant.record_act(&act("console.signed-in"), None).await, Saved::Saved);
    expect_eq!(tenant.operator_acts(&every()).await.len(), 4);
}

pub async fn operator_acts_are_isolated_by_tenant(tenants: Store) {
    let (own, other) = (TestTenant::fresh(tenants.clone()).await, TestTenant::fresh(tenants).await);
    let day = own.now().await.day();
    for tenant in [&own, &other] {
        let limit = Some((day, 1));
        expect_eq!(tenant.record_act(&act("act"), limit).await, Saved::Saved);
    }
    expect_eq!(acts(&own, every()).await, [act("act")]);
    own.forget_acts(own.now().await.plus_millis(1)).await;
    expect_eq!(acts(&own, every()).await, []);
    expect_eq!(acts(&other, every()).await, [act("act")]);
}
