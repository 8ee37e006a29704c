//! What reads of a sealed session cost: it must not depend on what is sealed (API.md, 5.8).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use swarm_core::domain::{
    Actor, Body, Bucket, Memo, MemoDraft, MemoId, MemoUrl, Nonce, Revision, Seq, Session,
    SessionDraft, Stance, TakeDraft, TakeId, Weight, Weights,
};
use swarm_core::rules::{Draft, MemoFilter, Refusal, TakeFilter, Warning};
use swarm_core::service::{Error, LogQuery};
use swarm_core::store::backend::{
    Answer, Backend, Entry, Load, Operation, Outcome, Query, Reading, Row, Snapshot, Transaction,
    Value,
};
use swarm_core::store::{
    Changes, Collection, Readiness, Records, Result, SessionList, TakeQuery, Tenants, async_trait,
};
use swarm_core::{Tenant, TenantId};

use crate::assertions::{ensure, expect_eq};
use crate::{Author, TestTenant, filed, session_draft};

/// A desk with a blind session that is not opened, in which ada filed two takes, and grace one between them. A memo of ada
/// is held until it is opened.
#[derive(Debug)]
pub struct SealedDesk {
    tenant: TestTenant,
    desk: Tenant,
    ada: Author,
    grace: Author,
    session: Arc<Session>,
}

impl SealedDesk {
    /// The reads, by name.
    pub const READS: [&str; 20] = [
        "take",
        "take as another member",
        "take among others",
        "session",
        "page of a session",
        "all revisions",
        "list of takes",
        "list of a session",
        "takes of a member",
        "newest takes",
        "log",
        "entries",
        "used nonce",
        "sessions",
        "memo",
        "memo as another member",
        "memos of a member",
        "list of memos",
        "memo that a take names",
        "retraction of a memo",
    ];

    /// Files the takes in this tenant, which has no records. They and the memo say little, or as much as a request has room for.
    pub async fn filed(tenants: Arc<dyn Tenants>, tenant: &str, is_large: bool) -> Self {
        let tenant = TestTenant::open(tenants, TenantId::parse(tenant).unwrap());
        let (ada, grace) = (tenant.author("ada").await, tenant.author("grace").await);
        let draft = SessionDraft { blind: true, ..session_draft("subject") };
        let session = tenant.convene(&draft).await;
        for (author, nonce) in [(&ada, "1"), (&grace, "2"), (&ada, "3")] {
            let draft = author.draft(&session, nonce);
            let draft = if is_large { large(draft) } else { draft };
            let filing = tenant.judged(author, &author.sign(draft)).await;
            filed(tenant.file(&filing).await);
        }
        let desk = tenant.service();
        let body = if is_large { "\u{1f680}".repeat(100_000) } else { "Short.".to_owned() };
        let (title, session_id) = ("On aurora".to_owned(), Some(session.id));
        let memo = MemoDraft { title, body, subject_id: None, session_id };
        desk.publish_memo(&ada.token, memo).await.unwrap();
        Self { desk, tenant, ada, grace, session }
    }

    /// Makes a read, one of [`READS`](Self::READS).
    pub async fn read(&self, name: &str) {
        let Self { tenant, desk, ada, grace, session } = self;
        let (id, all, memo) = (TakeId(1), TakeFilter::default(), MemoId(1));
        match name {
            "take" => drop(desk.take(id).await.unwrap()),
            "take as another member" => drop(desk.take_for(&ada.token, TakeId(2)).await.unwrap()),
            "take among others" => drop(desk.take_context(id).await.unwrap()),
            "session" => drop(desk.session(session.id).await.unwrap()),
            "page of a session" => drop(desk.session_page(session.id, id, 1).await.unwrap()),
            "all revisions" => drop(desk.session_filed(session.id).await.unwrap()),
            "list of takes" => drop(desk.take_list(&all, true, None, 9).await.unwrap()),
            "list of a session" => {
                drop(desk.session_take_list(session.id, &all, false, None, 9).await.unwrap());
            }
            "takes of a member" => drop(desk.member_takes(&ada.id, None, 9).await.unwrap()),
            "newest takes" => drop(desk.newest_takes(None, 9, |_| true).await.unwrap()),
            "log" => drop(desk.log(&LogQuery::all(Seq(0), 99)).await.unwrap()),
            "entries" => drop(desk.entries_after(Seq(0), 99).await.unwrap()),
            "used nonce" => {
                let facts = tenant.facts(ada, &ada.submission(session, "1")).await;
                expect_eq!((facts.spent.is_some(), facts.latest), (true, Revision::new(2)));
            }
            "memo" => ensure_hidden(desk.memo(memo).await),
            "memo as another member" => ensure_hidden(desk.memo_for(&grace.token, memo).await),
            "memos of a member" => expect_eq!(desk.memos_of(&ada.id).await.unwrap(), []),
            "list of memos" => {
                let page = desk.memo_page(&MemoFilter::default(), None, 9).await.unwrap();
                expect_eq!(page.memos, []);
            }
            "memo that a take names" => {
                let memo_url = MemoUrl::parse("/swarm/memos/1").unwrap();
                let draft = TakeDraft { memo_url, ..grace.draft(session, "4") };
                let draft = Draft::from(grace.sign(draft));
                let preflight = desk.preflight(&grace.token, &draft).await.unwrap();
                expect_eq!(preflight.warnings, [Warning::UnknownMemo]);
            }
            "retraction of a memo" => {
                let refused = desk.retract_memo(memo, &Actor::OPERATOR).await;
                let is_refused = matches!(refused, Err(Error::Refused(Refusal::TakesSealed)));
                ensure!(is_refused, "takes are sealed", refused);
            }
            _ => drop(desk.summaries(SessionList::All, None, 9).await.unwrap()),
        }
    }

    /// Reads the takes and the memo whole, as for their authors.
    pub async fn read_unsealed(&self) {
        let whole = TakeQuery { unsealed: true, ..TakeQuery::all(self.session.id) };
        let found = self.tenant.session_takes(&whole).await.unwrap();
        ensure!(found.takes.iter().all(|take| take.whole().is_some()), "whole takes", found);
        let memo = self.tenant.whole_document(Collection::Memos, "1").await.unwrap();
        ensure!(memo.held.is_none() && !memo.json.is_empty(), "a whole memo", memo.json.len());
    }
}

fn ensure_hidden(found: std::result::Result<Memo, Error>) {
    ensure!(matches!(found, Err(Error::Refused(Refusal::NotFound(_)))), "no memo", found);
}

/// A take with texts and weights of more than 200 KiB.
fn large(draft: TakeDraft) -> TakeDraft {
    let text = |length| "\u{1f680}".repeat(length);
    let bucket = |number: u32| Bucket::parse(format!("{number:04}{}", text(34))).unwrap();
    let weights = (0..1_000).map(|number| Weight { bucket: bucket(number), weight: 0.125 });
    TakeDraft {
        nonce: Nonce::parse(draft.nonce.as_str()).unwrap(),
        stance: Stance::parse(text(100)).unwrap(),
        body: Body::parse(text(10_000)).unwrap(),
        memo_url: MemoUrl::parse(text(2_000)).unwrap(),
        weights: Some(Weights::parse(weights.collect()).unwrap()),
        ..draft
    }
}

/// Files takes and memos of different sizes in two tenants of a backend with the [tables](swarm_core::store::TABLES) of this
/// release, which keeps texts, and expects that it returns as many bytes for each read.
pub async fn sealed_reads_return_the_same_bytes(backend: impl Backend) {
    let measured = Measured { backend, bytes: Arc::default() };
    let bytes = Arc::clone(&measured.bytes);
    let tenants: Arc<dyn Tenants> = Arc::new(Records::new(measured));
    let small = SealedDesk::filed(Arc::clone(&tenants), "small", false).await;
    let large = SealedDesk::filed(tenants, "large", true).await;
    let read = async |desk: &SealedDesk, name: &str| {
        bytes.store(0, Ordering::SeqCst);
        desk.read(name).await;
        bytes.load(Ordering::SeqCst)
    };
    for name in SealedDesk::READS {
        let (of_small, of_large) = (read(&small, name).await, read(&large, name).await);
        expect_eq!(of_large, of_small, "bytes of {name:?}");
    }
    bytes.store(0, Ordering::SeqCst);
    large.read_unsealed().await;
    let unsealed = bytes.load(Ordering::SeqCst);
    ensure!(unsealed > 1_000 << 10, "what is sealed", unsealed);
}

/// A backend that counts the bytes of the texts and the bytes that it returns.
struct Measured<B> {
    backend: B,
    bytes: Arc<AtomicUsize>,
}

impl<B> Measured<B> {
    fn count(&self, reading: &Reading) {
        let size = reading.answers.iter().map(|answer| match answer {
            Answer::Rows { rows, joined, .. } => {
                rows.iter().chain(joined.iter().flatten()).map(size_of_row).sum()
            }
            Answer::Entries(entries) => entries.iter().map(size_of_entry).sum(),
            _ => 0,
        });
        self.bytes.fetch_add(size.sum(), Ordering::SeqCst);
    }
}

fn size_of_row(row: &Row) -> usize {
    let columns = row.columns.iter().map(|value| match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Integer(_) | Value::Null => 0,
    });
    let parts = (0..32).filter_map(|part| row.body.part(part)).map(|text| text.len());
    columns.chain(parts).sum()
}

fn size_of_entry(entry: &Entry) -> usize {
    let row = entry.reference.as_ref().and_then(|reference| reference.row.as_ref());
    entry.body.part(0).map_or(0, |text| text.len()) + row.map_or(0, size_of_row)
}

#[async_trait]
impl<B: Backend> Backend for Measured<B> {
    async fn read(&self, tenant: &TenantId, op: Operation, queries: Vec<Query>) -> Result<Reading> {
        let reading = self.backend.read(tenant, op, queries).await?;
        self.count(&reading);
        Ok(reading)
    }

    async fn commit(
        &self,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<Outcome> {
        self.backend.commit(tenant, op, transaction).await
    }

    async fn snapshot(&self, tenant: &TenantId) -> Result<Box<dyn Snapshot>> {
        self.backend.snapshot(tenant).await
    }

    async fn load(&self) -> Result<Box<dyn Load>> {
        self.backend.load().await
    }

    async fn tenants(&self) -> Result<Vec<TenantId>> {
        self.backend.tenants().await
    }

    async fn remove(&self, tenant: &TenantId) -> Result<()> {
        self.backend.remove(tenant).await
    }

    async fn changes(&self) -> Result<Changes> {
        self.backend.changes().await
    }

    async fn ready(&self) -> Result<Readiness> {
        self.backend.ready().await
    }
}
