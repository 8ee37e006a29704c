//! Marks of takes: texts that are withheld, restored and erased.

use std::sync::Arc;

use crate::assertions::{ensure, expect_eq};
use crate::{Author, TestTenant, filed, session_draft};
use swarm_core::domain::{
    Actor, Attribution, Body, LogEntry, Logged, MemberState, Note, SessionDraft, SessionId,
    StoredTake, Take, TakeDraft, TakeId, TakeMarkAct,
};
use swarm_core::rules::{erase_texts, restore, withhold};
use swarm_core::store::{
    Aggregation, MemberTakeQuery, Store, TakeMark, TakeMarks, TakeQuery, Versioned,
};

const BODY: &str = "what was said \u{1f680}\0";
const NOTE: &str = "why \u{1f680}\0 not";

/// A take with a text in a new session.
async fn said(tenant: &TestTenant, author: &Author, draft: &SessionDraft) -> Arc<Take> {
    let session = tenant.convene(draft).await;
    let body = Body::parse(BODY).unwrap();
    let submission =
        author.sign(TakeDraft { body, ..author.draft(&session, draft.subject_id.as_str()) });
    filed(tenant.file(&tenant.judged(author, &submission).await).await)
}

fn by() -> Attribution {
    Attribution::from(Actor::OPERATOR)
}

/// The change that withholds the texts of a take.
async fn withholding(tenant: &TestTenant, take: TakeId) -> TakeMarks {
    let found = tenant.take(take).await.unwrap().take.whole().cloned().unwrap();
    let session = tenant.session(found.session_id).await.unwrap();
    withhold(&session, &found, Note::parse(NOTE).unwrap(), &by()).unwrap()
}

/// The take, as each read returns it.
async fn read(tenant: &TestTenant, take: TakeId) -> Arc<Take> {
    let stored = tenant.take(take).await.unwrap().take;
    let found = stored.whole().cloned().unwrap();
    let context = tenant.take_context(take).await.unwrap();
    ensure!(context.revisions.contains(&stored), "the same take", context);
    let takes = tenant.takes(found.session_id).await;
    ensure!(takes.contains(&found), "the same take", takes);
    let rows = tenant.log(swarm_core::domain::Seq(0), usize::MAX).await;
    let logged = Logged::Take(stored);
    ensure!(rows.iter().any(|row| row.logged == logged), "a row with the same take", rows);
    found
}

pub async fn take_marks_round_trip(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let take = said(&tenant, &author, &session_draft("subject")).await;
    let aggregation = Aggregation { session: take.session_id, by: by() };
    tenant.aggregate(&aggregation).await.unwrap();
    let before = tenant.session(take.session_id).await.unwrap();
    expect_eq!(read(&tenant, take.id).await, take);

    let marks = withholding(&tenant, take.id).await;
    let at = tenant.mark_takes(&marks).await.unwrap();
    let withheld = read(&tenant, take.id).await;
    expect_eq!(vec![Take::clone(&withheld)], marks.marked(at).collect::<Vec<_>>());
    let mark = withheld.withheld.clone().unwrap();
    expect_eq!((mark.at, mark.note.as_str(), mark.removed), (at, NOTE, None));
    let session = tenant.session(take.session_id).await.unwrap();
    expect_eq!(*session.record, marks.session);
    let snapshot = session.record.snapshot.clone().unwrap();
    expect_eq!(snapshot.quotes[0].body, None);
    expect_eq!(snapshot.digest(), before.record.snapshot.as_ref().unwrap().digest());
    let acts = tenant.acts_on(take.session_id).await;
    expect_eq!(acts.last().map(|row| (row.at, row.logged.clone())), {
        let entry = marks.acts[0].entry(0, at);
        ensure!(
            matches!(&*entry, LogEntry::TakeMark(mark) if mark.act == TakeMarkAct::Withheld),
            "an entry of the mark",
            entry
        );
        Some((at, Logged::TakeMark(take.session_id, entry)))
    });

    let marks = restore(&session, &withheld, &by()).unwrap();
    ensure!(tenant.mark_takes(&marks).await.is_some(), "restored", marks);
    expect_eq!(read(&tenant, take.id).await, take);
    expect_eq!(tenant.session(take.session_id).await.unwrap().record, before.record);
    expect_eq!(tenant.acts_on(take.session_id).await.len(), acts.len() + 1);
}

/// An aggregation knows the marks, as far as it does not write the texts that they withhold.
pub async fn take_marks_count_for_aggregations(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let take = said(&tenant, &author, &session_draft("subject")).await;
    let session = tenant.session(take.session_id).await.unwrap();
    tenant.mark_takes(&withholding(&tenant, take.id).await).await.unwrap();
    let marked = tenant.session(take.session_id).await.unwrap();
    ensure!(marked.version != session.version, "another version", marked.version);
    let aggregation = Aggregation { session: take.session_id, by: by() };
    let aggregated = tenant.aggregate(&aggregation).await.unwrap();
    expect_eq!(aggregated.snapshot.as_ref().unwrap().quotes[0].body, None);
    let session = tenant.session(take.session_id).await.unwrap();
    let withheld = read(&tenant, take.id).await;
    tenant.mark_takes(&restore(&session, &withheld, &by()).unwrap()).await.unwrap();
    let restored = tenant.session(take.session_id).await.unwrap().record;
    let snapshot = restored.snapshot.clone().unwrap();
    expect_eq!(snapshot.quotes[0].body.as_ref().map(Body::as_str), Some(BODY));
    expect_eq!(snapshot.original, None);
}

pub async fn take_marks_at_another_version_are_stale(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let take = said(&tenant, &author, &session_draft("subject")).await;
    let marks = withholding(&tenant, take.id).await;
    tenant.amend(take.session_id, |session| session.quorum = Some(3)).await;
    let size = tenant.log_size().await;
    expect_eq!(tenant.mark_takes(&marks).await, None);
    let marks = withholding(&tenant, take.id).await;
    let version = tenant.stored(&author.id).await.version;
    let guarded = TakeMarks { author: Some((author.id.clone(), version)), ..marks };
    tenant.edit(&author.id, |ada| ada.state = MemberState::Inactive).await;
    expect_eq!(tenant.mark_takes(&guarded).await, None);
    expect_eq!(read(&tenant, take.id).await, take);
    expect_eq!(tenant.log_size().await, size);
    let version = tenant.stored(&author.id).await.version;
    let current = TakeMarks { author: Some((author.id.clone(), version)), ..guarded };
    ensure!(tenant.mark_takes(&current).await.is_some(), "marked", current);
    expect_eq!(tenant.mark_takes(&current).await, None);
}

/// All revisions of a take that is not sealed.
async fn revisions(tenant: &TestTenant, take: TakeId) -> Vec<Arc<Take>> {
    let revisions = tenant.take_context(take).await.unwrap().revisions;
    revisions.iter().filter_map(StoredTake::whole).cloned().collect()
}

/// Digests, signatures and revisions stay.
pub async fn erased_texts_are_gone(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let drafts = [session_draft("subject"), SessionDraft { blind: true, ..session_draft("blind") }];
    for draft in drafts {
        let first = said(&tenant, &author, &draft).await;
        let session = tenant.session(first.session_id).await.unwrap().record;
        let last = tenant.filed(&author, &session, &format!("last {}", draft.subject_id)).await;
        let other = tenant.author(draft.subject_id.as_str()).await;
        let beside = tenant.filed(&other, &session, "beside").await;
        let aggregation = Aggregation { session: session.id, by: by() };
        tenant.aggregate(&aggregation).await.unwrap();
        tenant.mark_takes(&withholding(&tenant, first.id).await).await.unwrap();
        let mark = read(&tenant, first.id).await.withheld.clone().unwrap();
        let rows = tenant.log(swarm_core::domain::Seq(0), usize::MAX).await;

        let Versioned { version, .. } = tenant.stored(&author.id).await;
        let session = tenant.session(session.id).await.unwrap();
        let takes = revisions(&tenant, first.id).await;
        let of = (author.id.clone(), version);
        let erasure = erase_texts(&session, &takes, of.clone(), &by()).unwrap().unwrap();
        expect_eq!(erasure.acts.len(), 1);
        ensure!(
            erasure.takes.iter().all(|(_, mark)| matches!(mark, TakeMark::Erased(_))),
            "erased",
            erasure
        );
        let at = tenant.mark_takes(&erasure).await.unwrap();
        let (was_first, was_last) = (first, last);
        let (first, last) = (read(&tenant, was_first.id).await, read(&tenant, was_last.id).await);
        for (take, was) in [(&first, &was_first), (&last, &was_last)] {
            ensure!(!take.has_texts(), "without texts", take);
            expect_eq!((take.draft().body.as_str(), take.draft().memo_url.as_str()), ("", ""));
            expect_eq!((take.digest(), take.seal()), (was.digest(), was.seal()));
            expect_eq!(&take.signed.signature, &was.signed.signature);
        }
        let kept = first.withheld.clone().unwrap();
        expect_eq!((kept.at, kept.note), (mark.at, mark.note));
        expect_eq!(last.withheld.as_ref().map(|mark| mark.at), Some(at));
        let found = tenant.take(first.id).await.unwrap();
        expect_eq!(found.superseded_by, Some(last.id));
        let latest = TakeQuery::latest(first.session_id);
        let latest = tenant.session_takes(&latest).await.unwrap().takes;
        expect_eq!(latest, [last.into(), beside.into()]);
        let query = MemberTakeQuery { member: author.id.clone(), before: None, limit: 9 };
        let filed = tenant.member_takes(&query).await;
        let has_texts = filed[0].take.whole().is_none_or(|take| take.has_texts());
        ensure!(!has_texts, "without texts", filed);
        let after = tenant.log(swarm_core::domain::Seq(0), rows.len()).await;
        let lines = |rows: &[swarm_core::domain::LogRow]| {
            rows.iter().map(|row| swarm_core::proof::log_line(row).text()).collect::<Vec<_>>()
        };
        expect_eq!(lines(&after), lines(&rows));
        let session = tenant.session(first.session_id).await.unwrap();
        let takes = revisions(&tenant, first.id).await;
        ensure!(
            erase_texts(&session, &takes, of, &by()).unwrap().is_none(),
            "nothing left to erase",
            takes
        );
    }
}

pub async fn take_marks_are_isolated_by_tenant(tenants: Store) {
    let (own, other) = (TestTenant::fresh(tenants.clone()).await, TestTenant::fresh(tenants).await);
    let mut takes = Vec::new();
    for tenant in [&own, &other] {
        let author = tenant.author("ada").await;
        takes.push(said(tenant, &author, &session_draft("subject")).await);
    }
    own.mark_takes(&withholding(&own, takes[0].id).await).await.unwrap();
    expect_eq!(read(&other, takes[1].id).await, takes[1]);
    expect_eq!(other.acts_on(SessionId(1)).await.len(), 1);
}
