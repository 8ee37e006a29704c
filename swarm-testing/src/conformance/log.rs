//! The log.

use std::sync::Arc;

use crate::assertions::{ensure, expect_eq};
use crate::{TestTenant, act, applicant, creation, filed, object, race, session_draft};
use swarm_core::domain::{
    Attribution, LogRow, Logged, MemberId, MemoDraft, Seq, Session, SessionId, Take, TakeId,
    Timestamp, Version,
};
use swarm_core::rules::{Refusal, convene, memo_published};
use swarm_core::store::{
    Act, Collection, DocumentDraft, DocumentGuard, Filed, MemberChange, MemberSaved, Put, Saved,
    SessionChange, Store,
};

const START: Seq = Seq(0);

const MANY: usize = 10_000;

pub async fn log_is_initially_empty(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    expect_eq!(tenant.log(START, MANY).await, []);
    expect_eq!(tenant.log_size().await, START);
    expect_eq!(tenant.acts_on(SessionId(1)).await, []);
}

/// Rows are in commit order. A commit without an act appends no row.
pub async fn each_commit_with_an_act_appends_a_row(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let convocation = convene(&session_draft("subject"), &Attribution::SCHEDULE);
    let session = tenant.convene(&session_draft("subject")).await;
    let author = tenant.author("ada").await;
    let take = tenant.filed(&author, &session, "nonce").await;
    let public = MemberChange { act: Some(act("member")), ..creation(&applicant("grace")) };
    expect_eq!(tenant.save_member(&public).await, MemberSaved::Saved);
    let closed = tenant.amended(session.id, |_| {}).await;
    expect_eq!(tenant.save_session(&closed).await, Saved::Saved);
    let drafted = MemoDraft::read(&mut object(r#"{"title":"A","body":"b"}"#)).unwrap();
    let published = memo_published(&author.id, &drafted);
    let memo = DocumentDraft { act: Some(published.clone()), ..document(None, "memo") };
    let memo = tenant.put_document(Collection::Memos, &memo).await;
    let Put::Created(memo) = memo else { panic!("expected: a new document; actual: {memo:?}") };
    let subject = document(Some("aurora"), "subject");
    let _ = written(tenant.put_document(Collection::Subjects, &subject).await);
    let _ = written(tenant.put_document(Collection::Subjects, &subject).await);
    let other =
        DocumentDraft { act: Some(published.clone()), ..document(Some(&memo.key), "other") };
    let _ = written(tenant.put_document(Collection::Memos, &other).await);

    let rows = tenant.log(START, MANY).await;
    expect_eq!(numbers(&rows), (1..=8).collect::<Vec<_>>());
    let entry = |act: &Act, minted, at| Logged::Entry(act.entry(minted, at));
    expect_eq!(rows[0].logged, entry(&convocation.act, session.id.0, session.convened_at));
    expect_eq!(rows[1].logged, Logged::Take(take.into()));
    expect_eq!(rows[2].logged, entry(&act("member"), 0, Timestamp::EPOCH));
    expect_eq!(rows[3].logged, entry(&closed.acts[0], 0, Timestamp::EPOCH));
    expect_eq!(rows[4].logged, entry(&published, memo.id, memo.created_at));
    expect_eq!(rows[5].logged, rows[6].logged);
    expect_eq!(rows[7].logged, entry(&published, memo.id, rows[7].at), "it keeps its id");
    expect_eq!(tenant.log_size().await, Seq(8));
}

pub async fn log_row_has_the_time_of_its_commit(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await;
    let author = tenant.author("ada").await;
    let filing = tenant.judged(&author, &author.submission(&session, "nonce")).await;
    let filed = tenant.file(&filing).await;
    let Filed::Filed(take, Some(Seq(2))) = filed else {
        panic!("expected: a take with entry 2; actual: {filed:?}")
    };
    let memo = tenant.put_document(Collection::Memos, &document(None, "memo")).await;
    let Put::Created(memo) = memo else { panic!("expected: a new document; actual: {memo:?}") };
    let times: Vec<_> = tenant.log(START, MANY).await.iter().map(|row| row.at).collect();
    expect_eq!(times, [session.convened_at, take.filed_at, memo.created_at]);
}

/// It is a commit like any other.
pub async fn accepted_key_appends_its_act(tenants: Store) {
    let tenant = TestTenant::fresh(tenants.clone()).await;
    let other = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await;
    let before = tenant.now().await;
    tenant.accept_key(&act("accepted")).await;
    let rows = tenant.log(START, MANY).await;
    expect_eq!(numbers(&rows), [1, 2]);
    expect_eq!(rows[1].logged, Logged::Entry(act("accepted").entry(0, rows[1].at)));
    ensure!(rows[1].at >= before && rows[1].at <= tenant.now().await, "its time", &rows[1]);
    expect_eq!(tenant.log_position().await.log, 1, "the log goes on");
    expect_eq!(tenant.session(session.id).await.map(|it| it.version), Some(Version(1)));
    expect_eq!(other.log_size().await, START);
}

pub async fn log_is_read_by_pages(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for number in 0..25 {
        tenant.convened(&format!("subject {number}")).await;
    }
    let (mut read, mut after) = (Vec::new(), START);
    loop {
        let page = tenant.log(after, 10).await;
        let Some(last) = page.last() else { break };
        after = last.seq;
        read.extend(page);
    }
    expect_eq!(numbers(&read), (1..=25).collect::<Vec<_>>());
    expect_eq!(tenant.log(Seq(24), MANY).await, read[24..]);
    expect_eq!(tenant.log(Seq(u64::MAX), MANY).await, []);
    expect_eq!(tenant.log(START, 0).await, []);
}

pub async fn refused_write_appends_no_row(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let (session, author) = (tenant.convened("subject").await, tenant.author("ada").await);
    let submission = author.submission(&session, "nonce");
    let stale = tenant.judged(&author, &submission).await;
    let change = tenant.amended(session.id, |_| {}).await;
    expect_eq!(tenant.save_session(&change).await, Saved::Saved);
    let size = tenant.log_size().await;

    expect_eq!(tenant.save_session(&change).await, Saved::Stale);
    expect_eq!(tenant.file(&stale).await, Filed::Stale);
    let unknown = SessionChange {
        session: Session { id: SessionId(77), ..Session::clone(&session) },
        expected: Version(1),
        takes: None,
        takes_refusal: Refusal::TakesSealed,
        none_filed_after: None,
        withdrawn: false,
        acts: vec![act("unknown")],
        opens: false,
    };
    expect_eq!(tenant.save_session(&unknown).await, Saved::Stale);
    let change = tenant.edited(&author.id, |_| {}).await;
    let stale = MemberChange { expected: None, act: Some(act("member")), ..change };
    expect_eq!(tenant.save_member(&stale).await, MemberSaved::Stale);
    let once = DocumentDraft { replace: false, ..document(Some("key"), "brief") };
    let put = tenant.put_document(Collection::Briefs, &once).await;
    ensure!(matches!(put, Put::Created(_)), "a new document", put);
    expect_eq!(tenant.put_document(Collection::Briefs, &once).await, Put::Exists);
    let guard = Some(DocumentGuard::Member(MemberId::parse("nobody").unwrap(), Version(1)));
    let guarded = DocumentDraft { guard, ..document(None, "memo") };
    expect_eq!(tenant.put_document(Collection::Memos, &guarded).await, Put::Stale);

    expect_eq!(tenant.log_size().await, Seq(size.0 + 1));
}

pub async fn repeated_attempt_appends_one_row(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let (session, author) = (tenant.convened("subject").await, tenant.author("ada").await);
    let filing = tenant.judged(&author, &author.submission(&session, "nonce")).await;
    let first = filed(tenant.file(&filing).await);
    expect_eq!(filed(tenant.file(&filing).await), first);
    expect_eq!(tenant.log_size().await, Seq(2));
}

pub async fn concurrent_commits_append_consecutive_rows(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await;
    let mut authors = Vec::new();
    for racer in 0..16 {
        authors.push(tenant.author(&format!("member {racer}")).await);
    }
    let racers = authors.into_iter().enumerate().map(|(racer, author)| {
        let (tenant, session) = (tenant.clone(), Arc::clone(&session));
        async move {
            if racer % 4 == 0 {
                let _ =
                    written(tenant.put_document(Collection::Memos, &document(None, "memo")).await);
            }
            tenant.filed(&author, &session, "nonce").await.id
        }
    });
    race(racers).await;
    let rows = tenant.log(START, MANY).await;
    expect_eq!(numbers(&rows), (1..=21).collect::<Vec<_>>());
    ensure!(rows.is_sorted_by_key(|row| row.at), "times that never run back", rows);
    let logged: Vec<_> = rows.iter().filter_map(|row| take_of(row).map(|take| take.id)).collect();
    expect_eq!(logged, (1..=16).map(TakeId).collect::<Vec<_>>());
}

pub async fn acts_are_found_by_session(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let (one, other) = (tenant.convened("one").await, tenant.convened("other").await);
    tenant.filed(&tenant.author("ada").await, &one, "nonce").await;
    tenant.amend(one.id, |_| {}).await;
    expect_eq!(numbers(&tenant.acts_on(one.id).await), [1, 4]);
    expect_eq!(numbers(&tenant.acts_on(other.id).await), [2]);
    expect_eq!(tenant.acts_on(SessionId(3)).await, []);
}

pub async fn tenants_have_separate_logs(tenants: Store) {
    let one = TestTenant::fresh(tenants.clone()).await;
    let other = TestTenant::fresh(tenants).await;
    one.convened("subject").await;
    one.convened("subject").await;
    other.convened("subject").await;
    expect_eq!((one.log_size().await, other.log_size().await), (Seq(2), Seq(1)));
    expect_eq!(numbers(&other.log(START, MANY).await), [1]);
    expect_eq!(numbers(&one.acts_on(SessionId(1)).await), [1]);
    expect_eq!(numbers(&other.acts_on(SessionId(2)).await), [0; 0]);
}

/// A document with a log entry of this kind.
pub(super) fn document(key: Option<&str>, kind: &str) -> DocumentDraft {
    DocumentDraft {
        held_until: None,
        key: key.map(str::to_owned),
        group: String::new(),
        json: "{}".to_owned(),
        replace: true,
        guard: None,
        quota: None,
        act: Some(act(kind)),
    }
}

fn written(outcome: Put) -> u64 {
    match outcome {
        Put::Created(document) | Put::Replaced(document) => document.id,
        other => panic!("expected: a stored document; actual: {other:?}"),
    }
}

fn take_of(row: &LogRow) -> Option<&Arc<Take>> {
    match &row.logged {
        Logged::Take(take) => take.whole(),
        _ => None,
    }
}

fn numbers(rows: &[LogRow]) -> Vec<u64> {
    rows.iter().map(|row| row.seq.0).collect()
}
