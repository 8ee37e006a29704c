//! Webhooks, their deliveries, and notices.

use crate::assertions::expect_eq;
use crate::{FIRST, TestTenant, applicant, count, creation, mail, race};
use swarm_core::domain::{
    Delivery, DeliveryDraft, DeliveryId, DeliveryState, Message, NoticeDraft, NoticeId, Seq,
    SessionId, Timestamp, ToldClosing, Version, Webhook,
};
use swarm_core::store::{
    Countable, DeliveryChange, DeliveryQuery, MemberChange, MemberSaved, MessageChange, Saved,
    Store, WebhookChange,
};

/// As many deliveries as one commit of the service queues at most.
const MANY: u64 = 32;

pub async fn webhook_and_its_deliveries_are_saved_together(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let url = "https://a.example/\u{0}\u{1f680}?b=c";
    let none = tenant.webhook(url).await;
    expect_eq!((none.webhook, none.queued, none.oldest, none.is_failing), (None, 0, None, false));
    let before = tenant.now().await;
    let mut webhook = webhook(url);
    let drafts: Vec<_> = (1..=MANY).map(|number| draft(url, number)).collect();
    let change = WebhookChange {
        webhook: webhook.clone(),
        expected: None,
        deliveries: drafts.clone(),
        operator_act: None,
        wakes: false,
    };
    let queued = tenant.save_webhook(&change).await.unwrap();
    let found = tenant.webhook(url).await;
    let stored = found.webhook.unwrap();
    expect_eq!((stored.version, &*stored.record), (FIRST, &webhook));
    expect_eq!((found.queued, found.is_failing), (MANY, false));
    let due = tenant.deliveries(&DeliveryQuery::Due { url, limit: 100 }).await;
    expect_eq!(found.oldest, due.first().map(|first| first.record.queued_at));
    let stored: Vec<_> = due.iter().map(|it| Delivery::clone(&it.record)).collect();
    expect_eq!(stored, queued);
    expect_eq!(due.len(), drafts.len());
    for ((number, delivery), draft) in (1..).zip(&due).zip(&drafts) {
        let queued_at = delivery.record.queued_at;
        expect_eq!(queued_at >= before, true, "a time by the store's clock, during the call");
        expect_eq!(delivery.version, FIRST);
        expect_eq!(*delivery.record, draft.queued(DeliveryId(number), queued_at));
    }
    webhook.seq = Seq(9);
    let told = ToldClosing { session: SessionId(7), deadline: Timestamp::EPOCH };
    webhook.closing.push(told);
    let deliveries = vec![draft(url, MANY + 1)];
    let change = WebhookChange {
        webhook: webhook.clone(),
        expected: Some(FIRST),
        deliveries,
        operator_act: None,
        wakes: false,
    };
    expect_eq!(tenant.save_webhook(&change).await.is_some(), true);
    let found = tenant.webhook(url).await;
    expect_eq!(*found.webhook.unwrap().record, webhook);
    expect_eq!((found.queued, tenant.webhook("https://b.example").await.queued), (MANY + 1, 0));
}

pub async fn webhook_change_at_another_version_is_stale(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let url = "https://a.example";
    let at = |expected| WebhookChange {
        webhook: webhook(url),
        expected,
        deliveries: vec![draft(url, 1)],
        operator_act: None,
        wakes: false,
    };
    expect_eq!(tenant.save_webhook(&at(Some(FIRST))).await, None);
    expect_eq!(tenant.save_webhook(&at(None)).await.is_some(), true);
    for expected in [None, Some(FIRST.next())] {
        expect_eq!(tenant.save_webhook(&at(expected)).await, None);
    }
    expect_eq!(tenant.webhook(url).await.queued, 1);
}

pub async fn concurrent_webhook_changes_commit_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let url = "https://a.example";
    begun(&tenant, url, 0).await;
    let advance = |racer: u64| {
        let deliveries = vec![draft(url, racer)];
        let webhook = Webhook { seq: Seq(racer), ..webhook(url) };
        let tenant = tenant.clone();
        async move {
            let change = WebhookChange {
                webhook,
                expected: Some(FIRST),
                deliveries,
                operator_act: None,
                wakes: false,
            };
            tenant.save_webhook(&change).await.is_some()
        }
    };
    let outcomes = race((0..16).map(advance)).await;
    expect_eq!((count(&outcomes, &true), count(&outcomes, &false)), (1, 15));
    expect_eq!(tenant.webhook(url).await.queued, 1);
}

pub async fn deliveries_are_found_by_due_time_and_newest_first(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let (url, other) = ("https://a.example", "https://b.example");
    begun(&tenant, url, 4).await;
    begun(&tenant, other, 2).await;
    let at = |millis| Timestamp::EPOCH.plus_millis(millis);
    settle(&tenant, 1, |delivery| delivery.due_at = at(30)).await;
    settle(&tenant, 2, |delivery| {
        delivery.state = DeliveryState::Delivered;
        delivery.delivered_at = Some(at(5));
    })
    .await;
    settle(&tenant, 3, |delivery| delivery.due_at = at(20)).await;
    settle(&tenant, 4, |delivery| delivery.state = DeliveryState::Failed).await;
    for (limit, expected) in [(10, &[3, 1][..]), (1, &[3])] {
        let due = tenant.deliveries(&DeliveryQuery::Due { url, limit }).await;
        expect_eq!(ids(&due), expected);
    }
    expect_eq!(tenant.webhook(url).await.queued, 2);
    for (state, before, limit, expected) in [
        (None, None, 10, &[6, 5, 4, 3, 2, 1][..]),
        (None, None, 2, &[6, 5]),
        (None, Some(5), 2, &[4, 3]),
        (Some(DeliveryState::Queued), None, 10, &[6, 5, 3, 1]),
        (Some(DeliveryState::Queued), Some(5), 1, &[3]),
        (Some(DeliveryState::Delivered), None, 10, &[2]),
        (Some(DeliveryState::Failed), Some(4), 10, &[]),
        (None, Some(u64::MAX), 1, &[6]),
    ] {
        let before = before.map(DeliveryId);
        let found = tenant.deliveries(&DeliveryQuery::Newest { state, before, limit }).await;
        expect_eq!(ids(&found), expected, "{state:?} before {before:?}, up to {limit}");
    }
    for (state, expected) in
        [(DeliveryState::Queued, 4), (DeliveryState::Delivered, 1), (DeliveryState::Failed, 1)]
    {
        expect_eq!(tenant.count(Countable::Deliveries(state)).await, expected);
    }
}

pub async fn saved_delivery_round_trips(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let url = "https://a.example";
    begun(&tenant, url, 1).await;
    let mut stored = newest(&tenant).await;
    let at = |millis| Timestamp::EPOCH.plus_millis(millis);
    let record = Delivery::clone(&stored.record);
    let leased = Delivery { attempts: 1, due_at: at(9), ..record };
    let failed = Delivery { last_error: Some("\u{0}\r\n\u{1f680}".to_owned()), ..leased.clone() };
    let state = DeliveryState::Delivered;
    let delivered =
        Delivery { state, delivered_at: Some(at(3)), last_error: None, ..failed.clone() };
    for delivery in [leased, failed, delivered] {
        let change = DeliveryChange {
            delivery: delivery.clone(),
            expected: stored.version,
            operator_act: None,
            wakes: false,
        };
        expect_eq!(tenant.save_delivery(&change).await, Saved::Saved);
        expect_eq!(tenant.save_delivery(&change).await, Saved::Stale);
        let expected = stored.version.next();
        stored = newest(&tenant).await;
        expect_eq!((stored.version, &*stored.record), (expected, &delivery));
    }
    let unknown = Delivery { id: DeliveryId(9), ..Delivery::clone(&stored.record) };
    let change = DeliveryChange {
        delivery: unknown,
        expected: stored.version,
        operator_act: None,
        wakes: false,
    };
    expect_eq!(tenant.save_delivery(&change).await, Saved::Stale);
}

pub async fn webhook_is_failing_until_a_newer_delivery(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let (url, other) = ("https://a.example", "https://b.example");
    begun(&tenant, url, 3).await;
    begun(&tenant, other, 1).await;
    let fail = |delivery: &mut Delivery| delivery.last_error = Some("500".to_owned());
    let deliver = |delivery: &mut Delivery| {
        delivery.state = DeliveryState::Delivered;
        delivery.last_error = None;
    };
    settle(&tenant, 1, fail).await;
    expect_eq!(tenant.webhook(url).await.is_failing, true);
    expect_eq!(tenant.webhook(other).await.is_failing, false);
    settle(&tenant, 2, deliver).await;
    expect_eq!(tenant.webhook(url).await.is_failing, false);
    settle(&tenant, 3, |delivery| {
        fail(delivery);
        delivery.state = DeliveryState::Failed;
    })
    .await;
    expect_eq!(tenant.webhook(url).await.is_failing, true);
    settle(&tenant, 3, deliver).await;
    expect_eq!(tenant.webhook(url).await.is_failing, false);
    settle(&tenant, 1, deliver).await;
    settle(&tenant, 2, fail).await;
    expect_eq!(tenant.webhook(url).await.is_failing, false, "the newest one was delivered");
}

pub async fn webhook_shows_its_oldest_delivery_that_waits(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let url = "https://a.example";
    begun(&tenant, url, 1).await;
    let first = newest(&tenant).await.record.queued_at;
    tenant.pass(first).await;
    begun_again(&tenant, url).await;
    let second = newest(&tenant).await.record.queued_at;
    expect_eq!(tenant.webhook(url).await.oldest, Some(first));
    settle(&tenant, 1, |delivery| delivery.state = DeliveryState::Delivered).await;
    expect_eq!(tenant.webhook(url).await.oldest, Some(second));
    expect_eq!(tenant.webhook("https://b.example").await.webhook, None);
}

pub async fn notice_is_kept_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    expect_eq!(tenant.notices(NoticeId(0), 10).await, []);
    let before = tenant.now().await;
    let first = notice("application.received", "a\u{0}b");
    for (draft, outcome) in [
        (first.clone(), Saved::Saved),
        (NoticeDraft { data: "[]".to_owned(), ..first.clone() }, Saved::Stale),
        (notice("application.received", "a"), Saved::Saved),
        (notice("mail.undelivered", "a"), Saved::Saved),
    ] {
        expect_eq!(tenant.save_notice(&draft).await, outcome);
    }
    let found = tenant.notices(NoticeId(0), 10).await;
    let shown: Vec<_> = found.iter().map(|it| (it.id.0, &*it.event, &*it.name)).collect();
    expect_eq!(
        shown,
        [
            (1, "application.received", "a\u{0}b"),
            (2, "application.received", "a"),
            (3, "mail.undelivered", "a")
        ]
    );
    expect_eq!(found.iter().all(|it| it.at >= before && it.data == first.data), true);
    expect_eq!(tenant.notices(NoticeId(1), 1).await, found[1..2]);
    let racers = (0..16).map(|_| {
        let tenant = tenant.clone();
        async move { tenant.save_notice(&notice("store.ready", "once")).await }
    });
    let outcomes = race(racers).await;
    expect_eq!((count(&outcomes, &Saved::Saved), count(&outcomes, &Saved::Stale)), (1, 15));
}

pub async fn notice_is_kept_by_the_commit_that_has_it(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let (received, undelivered) =
        (notice("application.received", "ada"), notice("mail.undelivered", "1"));
    let mail = Some(mail("hello"));
    let applied = MemberChange { notice: Some(received), mail, ..creation(&applicant("ada")) };
    expect_eq!(tenant.save_member(&applied).await, MemberSaved::Saved);
    expect_eq!(tenant.save_member(&applied).await, MemberSaved::Stale);
    let queued = tenant.messages(None, None).await.swap_remove(0);
    let change = MessageChange::new(Message::clone(&queued.record), queued.version);
    let change = MessageChange { notice: Some(undelivered), ..change };
    expect_eq!(tenant.save_message(&change).await, Saved::Saved);
    expect_eq!(tenant.save_message(&change).await, Saved::Stale);
    let found = tenant.notices(NoticeId(0), 10).await;
    let shown: Vec<_> = found.iter().map(|it| (it.id.0, &*it.event, &*it.name)).collect();
    expect_eq!(shown, [(1, "application.received", "ada"), (2, "mail.undelivered", "1")]);
    expect_eq!(tenant.save_notice(&notice("store.ready", "now")).await, Saved::Saved);
    expect_eq!(tenant.notices(NoticeId(2), 10).await.pop().map(|it| it.id), Some(NoticeId(3)));
}

pub async fn old_webhook_records_are_removed(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let url = "https://a.example";
    begun(&tenant, url, 2).await;
    expect_eq!(tenant.save_notice(&notice("store.ready", "old")).await, Saved::Saved);
    let moment = tenant.now().await;
    tenant.pass(moment).await;
    begun_again(&tenant, url).await;
    expect_eq!(tenant.save_notice(&notice("store.ready", "new")).await, Saved::Saved);
    tenant.remove_webhook_records(moment.plus_millis(1)).await;
    let all = DeliveryQuery::Newest { state: None, before: None, limit: 10 };
    expect_eq!(ids(&tenant.deliveries(&all).await), [3]);
    let names: Vec<_> =
        tenant.notices(NoticeId(0), 10).await.into_iter().map(|it| it.name).collect();
    expect_eq!(names, ["new"]);
    let found = tenant.webhook(url).await;
    expect_eq!((found.webhook.is_some(), found.queued), (true, 1));
}

/// Each change queues a delivery.
pub async fn webhook_and_its_deliveries_are_read_in_one_snapshot(tenants: Store) {
    const CHANGES: u64 = 40;
    let tenant = TestTenant::fresh(tenants).await;
    let url = "https://a.example";
    begun(&tenant, url, 0).await;
    let run = |racer: u64| {
        let tenant = tenant.clone();
        async move {
            for version in 1..=CHANGES {
                if racer == 0 {
                    let change = WebhookChange {
                        webhook: Webhook { seq: Seq(version), ..webhook(url) },
                        expected: Some(Version(version)),
                        deliveries: vec![draft(url, version)],
                        operator_act: None,
                        wakes: false,
                    };
                    expect_eq!(tenant.save_webhook(&change).await.is_some(), true);
                    continue;
                }
                let found = tenant.webhook(url).await;
                let changes = found.webhook.map(|webhook| webhook.version.0 - 1);
                expect_eq!(changes, Some(found.queued), "with its deliveries");
                expect_eq!(found.oldest.is_some(), found.queued > 0, "with its deliveries");
            }
        }
    };
    race((0..4).map(run)).await;
}

/// Webhooks, their deliveries and notices are not part of the log: they are saved even if the log went back.
pub async fn webhooks_of_a_log_that_went_back_are_kept(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let url = "https://a.example";
    tenant.convened("subject").await;
    tenant.store().mark_went_back(3, Seq(1));
    begun(&tenant, url, 1).await;
    settle(&tenant, 1, |delivery| delivery.attempts = 1).await;
    expect_eq!(newest(&tenant).await.record.attempts, 1);
    expect_eq!(tenant.save_notice(&notice("store.ready", "not")).await, Saved::Saved);
    let now = tenant.now().await;
    tenant.remove_webhook_records(now.plus_millis(1)).await;
    expect_eq!(tenant.notices(NoticeId(0), 10).await, []);
}

pub async fn webhooks_are_isolated_by_tenant(tenants: Store) {
    let one = TestTenant::fresh(tenants.clone()).await;
    let other = TestTenant::fresh(tenants).await;
    let url = "https://a.example";
    begun(&one, url, 1).await;
    expect_eq!(other.webhook(url).await.webhook, None);
    expect_eq!(other.webhook(url).await.queued, 0);
    begun(&other, url, 1).await;
    for tenant in [&one, &other] {
        let due = tenant.deliveries(&DeliveryQuery::Due { url, limit: 10 }).await;
        expect_eq!(ids(&due), [1]);
        expect_eq!(tenant.save_notice(&notice("store.ready", "same")).await, Saved::Saved);
        expect_eq!(tenant.notices(NoticeId(0), 10).await.len(), 1);
    }
    settle(&one, 1, |delivery| delivery.attempts = 1).await;
    expect_eq!(newest(&other).await.record.attempts, 0);
}

fn webhook(url: &str) -> Webhook {
    let (url, closing) = (url.to_owned(), Vec::new());
    Webhook { url, log: 1, seq: Seq(3), notice: NoticeId(4), closing }
}

fn draft(url: &str, number: u64) -> DeliveryDraft {
    DeliveryDraft {
        url: url.to_owned(),
        event_id: format!("evt_{number}"),
        event: "session.convened".to_owned(),
        body: format!("{{\"data\":\"\u{1f680} {number}\"}}"),
    }
}

fn notice(event: &'static str, name: &str) -> NoticeDraft {
    NoticeDraft { event, name: name.to_owned(), data: "{\"\u{1f680}\":1}".to_owned() }
}

/// Begins a webhook with so many deliveries.
async fn begun(tenant: &TestTenant, url: &str, deliveries: u64) {
    let deliveries = (0..deliveries).map(|number| draft(url, number)).collect();
    let change = WebhookChange {
        webhook: webhook(url),
        expected: None,
        deliveries,
        operator_act: None,
        wakes: false,
    };
    expect_eq!(tenant.save_webhook(&change).await.is_some(), true);
}

/// Queues one more delivery to a webhook that was begun.
async fn begun_again(tenant: &TestTenant, url: &str) {
    let deliveries = vec![draft(url, 9)];
    let change = WebhookChange {
        webhook: webhook(url),
        expected: Some(FIRST),
        deliveries,
        operator_act: None,
        wakes: false,
    };
    expect_eq!(tenant.save_webhook(&change).await.is_some(), true);
}

/// The newest delivery.
async fn newest(tenant: &TestTenant) -> swarm_core::store::Versioned<Delivery> {
    let query = DeliveryQuery::Newest { state: None, before: None, limit: 1 };
    tenant.deliveries(&query).await.swap_remove(0)
}

/// Changes the delivery with this number.
async fn settle(tenant: &TestTenant, number: u64, edit: impl FnOnce(&mut Delivery)) {
    let before = Some(DeliveryId(number + 1));
    let query = DeliveryQuery::Newest { state: None, before, limit: 1 };
    let stored = tenant.deliveries(&query).await.swap_remove(0);
    let mut delivery = Delivery::clone(&stored.record);
    edit(&mut delivery);
    let change =
        DeliveryChange { delivery, expected: stored.version, operator_act: None, wakes: false };
    expect_eq!(tenant.save_delivery(&change).await, Saved::Saved);
}

fn ids(deliveries: &[swarm_core::store::Versioned<Delivery>]) -> Vec<u64> {
    deliveries.iter().map(|delivery| delivery.record.id.0).collect()
}
