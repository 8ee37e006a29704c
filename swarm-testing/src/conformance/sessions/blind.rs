//! Blind sessions: takes with a seal, and the commit that opens them.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::assertions::{ensure, expect_eq};
use crate::{Author, FIRST, SALT, TestTenant, session_draft};
use swarm_core::Submission;
use swarm_core::domain::SessionState::{Aggregated, WindowClosed};
use swarm_core::domain::{
    Attribution, LogEntry, LogRow, Logged, Seq, Session, SessionAct, SessionDraft, SessionId,
    StoredSealedTake, StoredTake, Take, TakeId, TakeOnFile,
};
use swarm_core::proof::opening_entry;
use swarm_core::rules::advance;
use swarm_core::store::{
    Aggregation, Filed, MemberTakeQuery, Saved, SessionChange, Store, TakeQuery, Versioned,
};

pub async fn sealed_take_round_trips(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let (ada, session) = (tenant.author("ada").await, blind(&tenant).await);
    expect_eq!(tenant.terms(session.id).await.map(|terms| terms.record.sealed), Some(true));
    let submission = ada.submission(&session, "1");
    let filing = tenant.judged(&ada, &submission).await;
    let take = crate::filed(tenant.file(&filing).await);
    expect_eq!(take.salt, Some(SALT));
    expect_eq!(tenant.file(&filing).await, Filed::Filed(Arc::clone(&take), None), "sent again");
    expect_eq!(tenant.takes(session.id).await, [Arc::clone(&take)], "whole");
    let sealed = StoredTake::Sealed(Arc::new(StoredSealedTake::of(&take).unwrap()));
    let beside = tenant.filed(&tenant.author("grace").await, &session, "1").await.id;
    expect_read(&tenant, (&ada, &submission), beside, &sealed).await;
    expect_eq!(tenant.save_session(&closing(&tenant, session.id).await).await, Saved::Saved);
    expect_read(&tenant, (&ada, &submission), beside, &take.into()).await;
}

/// Expects that each read of the first take of a session returns this. `beside` is the one after it.
async fn expect_read(
    tenant: &TestTenant,
    (author, submission): (&Author, &Submission),
    beside: TakeId,
    expected: &StoredTake,
) {
    let (id, session) = (expected.id(), expected.session_id());
    let on_file = TakeOnFile { take: expected.clone(), superseded_by: None };
    expect_eq!(tenant.take(id).await.as_ref(), Some(&on_file));
    expect_eq!(tenant.takes_by_id(vec![id]).await, [on_file]);
    let context = tenant.take_context(id).await.unwrap();
    expect_eq!(context.revisions, std::slice::from_ref(expected));
    expect_eq!(context.next, tenant.take(beside).await.map(|on_file| on_file.take));
    let context = tenant.take_context(beside).await.unwrap();
    expect_eq!(context.previous.as_ref(), Some(expected));
    let latest = tenant.session_takes(&TakeQuery::latest(session)).await.unwrap();
    expect_eq!(latest.takes.first(), Some(expected));
    let query = MemberTakeQuery { member: author.id.clone(), before: None, limit: 9 };
    expect_eq!(tenant.member_takes(&query).await[0].take, *expected);
    expect_eq!(tenant.facts(author, submission).await.spent.as_ref(), Some(expected));
    let rows = tenant.log(Seq(0), usize::MAX).await;
    ensure!(rows.iter().any(|row| row.logged == Logged::Take(expected.clone())), "its row", rows);
}

/// The entries of the acts come first, and then one of each take of the session, by id.
pub async fn opening_appends_an_entry_of_each_take_in_order(tenants: Store) {
    const TAKES: u64 = 36;
    let tenant = TestTenant::fresh(tenants).await;
    let authors = tenant.authors(12).await;
    let (session, other) = (blind(&tenant).await, tenant.convene(&blind_draft("other")).await);
    let mut takes = Vec::new();
    for nonce in ["1", "2", "3"] {
        for author in &authors {
            takes.push(tenant.filed(author, &session, nonce).await);
            tenant.filed(author, &other, &format!("other {nonce}")).await;
        }
    }
    let before = tenant.log_size().await;
    let change = closing(&tenant, session.id).await;
    expect_eq!(change.acts.len(), 2);
    expect_eq!(tenant.save_session(&change).await, Saved::Saved);

    let rows = tenant.log(before, 99).await;
    expect_eq!(rows.len(), 2 + takes.len());
    expect_eq!(acts(&rows[..3]), [Some(SessionAct::State), Some(SessionAct::Opened), None]);
    for (row, take) in rows[2..].iter().zip(&takes) {
        expect_eq!(row.logged, opening(take), "of take {}", take.id);
    }
    for (row, seq) in rows.iter().zip(before.0 + 1..) {
        expect_eq!((row.seq, row.at), (Seq(seq), rows[0].at));
    }
    expect_eq!(tenant.log_size().await, Seq(before.0 + 2 + TAKES));
    for (place, after) in (before.0..).enumerate().take(rows.len()) {
        let end = rows.len().min(place + 5);
        expect_eq!(tenant.log(Seq(after), 5).await, rows[place..end], "after {place}");
    }
    let on = tenant.acts_on(session.id).await;
    expect_eq!(on.len(), 3);
    expect_eq!(on[1..], rows[..2]);
    expect_eq!(tenant.takes(session.id).await, takes);
    let opened = Versioned { version: FIRST.next(), record: Arc::new(change.session) };
    expect_eq!(tenant.session(session.id).await, Some(opened));

    // The other session is not opened, and commits follow.
    expect_eq!(tenant.terms(other.id).await.map(|terms| terms.record.sealed), Some(true));
    expect_eq!(tenant.save_session(&closing(&tenant, other.id).await).await, Saved::Saved);
    expect_eq!(tenant.log_size().await, Seq(before.0 + 2 * (2 + TAKES)));
    tenant.convened("subject").await;
    expect_eq!(tenant.log_size().await, Seq(before.0 + 2 * (2 + TAKES) + 1));
}

pub async fn stale_opening_appends_nothing(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let (ada, session) = (tenant.author("ada").await, blind(&tenant).await);
    tenant.filed(&ada, &session, "1").await;
    let stale = closing(&tenant, session.id).await;
    tenant.amend(session.id, |session| session.quorum = Some(3)).await;
    let before = tenant.log_size().await;
    expect_eq!(tenant.save_session(&stale).await, Saved::Stale);
    expect_eq!(tenant.log_size().await, before);
    let late = SessionChange { takes: Some(0), ..closing(&tenant, session.id).await };
    expect_eq!(tenant.save_session(&late).await, Saved::Stale);
    expect_eq!(tenant.log_size().await, before);
}

/// A first take after it has no seal.
pub async fn aggregation_opens_a_blind_session(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let (ada, grace) = (tenant.author("ada").await, tenant.author("grace").await);
    let session = blind(&tenant).await;
    let take = tenant.filed(&ada, &session, "1").await;
    let before = tenant.log_size().await;
    let aggregation = Aggregation { session: session.id, by: Attribution::SCHEDULE };
    let aggregated = tenant.aggregate(&aggregation).await.unwrap();
    expect_eq!((aggregated.state, aggregated.is_sealed()), (Aggregated, false));
    let rows = tenant.log(before, 9).await;
    expect_eq!(acts(&rows), [Some(SessionAct::State), Some(SessionAct::Opened), None]);
    expect_eq!(rows[2].logged, opening(&take));
    let late = tenant.filed(&grace, &aggregated, "1").await;
    expect_eq!(late.salt, None);
    let rows = tenant.log(Seq(before.0 + 3), 9).await;
    expect_eq!(
        rows.iter().map(|row| row.logged.clone()).collect::<Vec<_>>(),
        [Logged::Take(late.into())]
    );
}

/// Each take that was filed before the opening has one opening entry; the others were not sealed.
pub async fn racing_takes_are_opened_or_not_sealed(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = blind(&tenant).await;
    let authors = tenant.authors(24).await;
    let mut racers = JoinSet::new();
    for author in authors {
        let (tenant, session) = (tenant.clone(), Arc::clone(&session));
        racers.spawn(async move { file_until_accepted(&tenant, &author, &session).await });
    }
    let (opener, id) = (tenant.clone(), session.id);
    racers.spawn(async move {
        while opener.takes(id).await.is_empty() {
            sleep(Duration::from_millis(1)).await;
        }
        let aggregation = Aggregation { session: id, by: Attribution::SCHEDULE };
        opener.aggregate(&aggregation).await.unwrap();
    });
    racers.join_all().await;
    let rows = tenant.log(Seq(0), 1_000).await;
    let is_opened = |row: &LogRow| acts(std::slice::from_ref(row)) == [Some(SessionAct::Opened)];
    let opened = rows.iter().position(is_opened).unwrap();
    let takes = tenant.takes(session.id).await;
    let (sealed, open): (Vec<_>, Vec<_>) = takes.into_iter().partition(|take| take.salt.is_some());
    let after = &rows[opened + 1..];
    expect_eq!(after.len(), sealed.len() + open.len());
    let (openings, after) = after.split_at(sealed.len());
    let openings: Vec<_> = openings.iter().map(|row| row.logged.clone()).collect();
    expect_eq!(openings, sealed.iter().map(|take| opening(take)).collect::<Vec<_>>());
    let taken = open.into_iter().map(|take| Logged::Take(take.into())).collect::<Vec<_>>();
    expect_eq!(after.iter().map(|row| row.logged.clone()).collect::<Vec<_>>(), taken);
}

async fn file_until_accepted(tenant: &TestTenant, author: &Author, session: &Session) {
    loop {
        let filing = tenant.judged(author, &author.submission(session, "1")).await;
        if let Filed::Filed(..) = tenant.file(&filing).await {
            return;
        }
    }
}

fn blind_draft(subject: &str) -> SessionDraft {
    SessionDraft { blind: true, ..session_draft(subject) }
}

async fn blind(tenant: &TestTenant) -> Arc<Session> {
    tenant.convene(&blind_draft("subject")).await
}

/// The change that closes and opens a session, as if its deadline had passed.
async fn closing(tenant: &TestTenant, id: SessionId) -> SessionChange {
    let Versioned { version, record } = tenant.session(id).await.unwrap();
    let now = tenant.now().await;
    let window_closes_at = Some(now.plus_millis(-1));
    let record = Arc::new(Session { window_closes_at, ..Session::clone(&record) });
    let judged = Versioned { version, record };
    let change = advance(&judged, WindowClosed, now, &Attribution::SCHEDULE).unwrap();
    ensure!(change.opens, "an opening", change);
    change
}

fn opening(take: &Take) -> Logged {
    Logged::Entry(Arc::new(LogEntry::Opening(opening_entry(take).unwrap())))
}

/// The acts on sessions in these rows; `None` if a row is not an act.
fn acts(rows: &[LogRow]) -> Vec<Option<SessionAct>> {
    let act = |row: &LogRow| match &row.logged {
        Logged::Entry(entry) => match &**entry {
            LogEntry::Session(entry) => Some(entry.act),
            _ => None,
        },
        _ => None,
    };
    rows.iter().map(act).collect()
}
