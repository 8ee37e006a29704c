//! Blind sessions with a log that is signed, memos that wait for the opening, and several servers (API.md, 5.8).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test panics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use swarm_core::domain::{
    Actor, Attribution, LogEntry, MemoAct, MemoDraft, MemoId, Seq, Session, SessionAct,
    SessionDraft, SessionPatch, SessionState, TakeContent,
};
use swarm_core::proof::log_key::ServerSecret;
use swarm_core::rules::MemoFilter;
use swarm_core::service::signed_log::{LogSigner, SignedLog, Signing};
use swarm_core::service::{BlindSessions, LogQuery};
use swarm_core::store::backend::{Backend, CommitOutcome, Operation, Transaction, Write};
use swarm_core::store::{
    Caller, Collection, DocumentDraft, Interceptor, Put, Result, StoreError, async_trait,
};
use swarm_core::{Error, Refusal, SessionId, Tenant, TenantId, Timestamp};
use swarm_store_memory::MemoryStore;
use swarm_testing::{Author, ManualClock, TestTenant, moment, race, session_draft};

use crate::backend::time;
use crate::embedding::enrolment;

use SessionState::{Aggregated, Collecting, WindowClosed};

#[tokio::test]
async fn entries_of_sealed_takes_have_the_same_text_after_the_opening() {
    let (_, tenant) = at("2026-11-24T12:00:00Z").await;
    let (desk, ada) = (tenant.service(), tenant.author("ada").await);
    let session = blind(&desk, None).await;
    for nonce in ["1", "2"] {
        desk.submit(&ada.token, &ada.submission(&session, nonce)).await.unwrap();
    }
    let sealed = texts(&desk).await;
    let log = log(&desk);
    assert!(matches!(log.sign().await.unwrap(), Signing::Signed(_)));
    let proof = log.proof(Seq(2)).await.unwrap().unwrap();
    assert!(is_undamaged(&log).await);

    desk.advance(session.id, Aggregated, &operator()).await.unwrap();
    let opened = texts(&desk).await;
    assert_eq!(opened[..sealed.len()], sealed);
    assert!(proof.proves(&opened[1]), "it was proved before the opening");
    assert!(is_undamaged(&log).await, "compared with the checkpoint from before the opening");
    assert!(matches!(log.sign().await.unwrap(), Signing::Signed(_)));
    assert!(is_undamaged(&log).await);
    for (text, seq) in opened.iter().zip(1..) {
        assert!(log.proof(Seq(seq)).await.unwrap().unwrap().proves(text), "{text}");
    }
}

#[tokio::test]
async fn member_that_the_program_vouches_for_reads_what_it_has_sealed() {
    let (_, tenant) = at("2026-11-24T12:00:00Z").await;
    let (desk, ada, bob) = (tenant.service(), Author::named("ada"), Author::named("bob"));
    for author in [&ada, &bob] {
        desk.enrol(&enrolment(author), &Actor::OPERATOR).await.unwrap();
    }
    let session = blind(&desk, None).await;
    let [own, other] = [&ada, &bob].map(|author| Caller::Authenticated(&author.id));
    let take = desk.submit(own, &ada.submission(&session, "1")).await.unwrap().id;
    let (title, body) = ("Why".to_owned(), "Because.".to_owned());
    let draft = MemoDraft { title, body, subject_id: None, session_id: Some(session.id) };
    let memo = desk.publish_memo(own, draft).await.unwrap().id;
    let reads = async |caller| {
        let take = desk.take_for(caller, take).await.unwrap().take;
        (take.open().is_some(), desk.memo_for(caller, memo).await.is_ok())
    };
    assert_eq!(reads(own).await, (true, true));
    assert_eq!(reads(other).await, (false, false));
    desk.deactivate(&ada.id, &Actor::OPERATOR).await.unwrap();
    assert_eq!(reads(own).await, (false, false), "it is not active");
}

#[tokio::test]
async fn session_closed_before_its_deadline_is_opened_after_it() {
    let (clock, tenant) = at("2026-11-24T12:00:00Z").await;
    let (desk, ada) = (tenant.service(), tenant.author("ada").await);
    let deadline = moment("2026-11-24T13:00:00Z");
    for subject in 0..150 {
        tenant.convened(&format!("not blind {subject}")).await;
    }
    let session = blind(&desk, Some(deadline)).await;
    desk.submit(&ada.token, &ada.submission(&session, "1")).await.unwrap();
    let mut job = BlindSessions::default();
    assert_eq!(desk.open_due_sessions(&mut job).await.unwrap().next_in, None);
    desk.advance(session.id, WindowClosed, &operator()).await.unwrap();
    let round = desk.open_due_sessions(&mut job).await.unwrap();
    assert_eq!((round.done, round.next_in.unwrap().as_millis()), (0, 3_600_001));

    clock.set(deadline.plus_millis(1));
    let mut other = BlindSessions::default();
    assert_eq!(desk.open_due_sessions(&mut other).await.unwrap().done, 1);
    assert_eq!(desk.open_due_sessions(&mut job).await.unwrap().done, 0);
    let (session, takes) = desk.session(session.id).await.unwrap();
    assert!(session.opened_at.is_some() && !takes[0].is_sealed());
    assert_eq!(texts(&desk).await.iter().filter(|text| text.contains("\"opened\"")).count(), 1);
}

/// The server that opens a session fails before it appends the entry of a memo. The others append it, once.
#[tokio::test]
async fn held_memo_has_its_entry_once() {
    let faults = Arc::new(Faults::default());
    let store = MemoryStore::with_clock(time).intercepted(Arc::clone(&faults));
    let tenant = TestTenant::fresh(store).await;
    let (desk, ada) = (tenant.service(), tenant.author("ada").await);
    let session = blind(&desk, None).await;
    let memo = publish(&desk, &ada, session.id).await;
    let retracted = publish(&desk, &ada, session.id).await;
    desk.retract_memo(retracted, &Actor::OPERATOR).await.unwrap();
    let mut jobs: Vec<_> = (0..4).map(|_| BlindSessions::default()).collect();
    desk.open_due_sessions(&mut jobs[0]).await.unwrap();
    assert!(desk.memo(memo).await.is_err());
    assert_eq!(memo_acts(&desk).await, []);

    faults.are_on.store(true, Ordering::Relaxed);
    desk.advance(session.id, Aggregated, &operator()).await.unwrap();
    desk.open_due_sessions(&mut jobs[0]).await.unwrap_err();
    assert_eq!(desk.memo(memo).await.unwrap().id, memo, "it is shown");
    assert_eq!(memo_acts(&desk).await, []);

    faults.are_on.store(false, Ordering::Relaxed);
    let round = |mut job| {
        let desk = tenant.service();
        async move { desk.open_due_sessions(&mut job).await.unwrap() }
    };
    race(jobs.into_iter().map(round)).await;
    assert_eq!(memo_acts(&desk).await, [(memo, MemoAct::Published)]);
    desk.retract_memo(memo, &Actor::OPERATOR).await.unwrap();
    desk.open_due_sessions(&mut BlindSessions::default()).await.unwrap();
    let both = [(memo, MemoAct::Published), (memo, MemoAct::Retracted)];
    assert_eq!(memo_acts(&desk).await, both);
}

/// A held memo may say what a sealed take says, so it stays until the session is opened, as it does when it is retracted.
#[tokio::test]
async fn member_with_a_held_memo_is_erased_after_the_opening() {
    let (_, tenant) = at("2026-11-24T12:00:00Z").await;
    let (desk, ada, bob) =
        (tenant.service(), tenant.author("ada").await, tenant.author("bob").await);
    let session = blind(&desk, None).await;
    let memo = publish(&desk, &bob, session.id).await;
    desk.submit(&ada.token, &ada.submission(&session, "1")).await.unwrap();
    desk.deactivate(&bob.id, &Actor::OPERATOR).await.unwrap();
    let before = texts(&desk).await;
    let refused = desk.erase(&bob.id, false, &Actor::OPERATOR).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::TakesSealed))), "{refused:?}");
    assert_eq!(texts(&desk).await, before);

    desk.advance(session.id, Aggregated, &operator()).await.unwrap();
    desk.erase(&bob.id, false, &Actor::OPERATOR).await.unwrap();
    assert!(desk.memo(memo).await.is_err());
    assert_eq!(memo_acts(&desk).await.first(), Some(&(memo, MemoAct::Published)));
}

#[tokio::test]
async fn pages_of_memos_do_not_tell_how_long_held_memos_are() {
    let mut worlds = Vec::new();
    for body in ["Short.".to_owned(), "\u{1f680}".repeat(100_000)] {
        let tenant = TestTenant::fresh(MemoryStore::new()).await;
        let (desk, ada) = (tenant.service(), tenant.author("ada").await);
        let session = blind(&desk, None).await;
        let memo = |body: &str, session_id| {
            let (title, body) = ("On aurora".to_owned(), body.to_owned());
            MemoDraft { title, body, subject_id: None, session_id }
        };
        desk.publish_memo(&ada.token, memo("Public.", None)).await.unwrap();
        for _ in 0..60 {
            desk.publish_memo(&ada.token, memo(&body, Some(session.id))).await.unwrap();
        }
        let (mut pages, mut before) = (Vec::new(), None);
        loop {
            let page = desk.memo_page(&MemoFilter::default(), before, 10).await.unwrap();
            let ids: Vec<_> = page.memos.iter().map(|memo| memo.id).collect();
            pages.push((ids, page.next_before));
            before = page.next_before;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(pages.last().unwrap().0, [MemoId(1)]);
        worlds.push(pages);
    }
    assert_eq!(worlds[0], worlds[1]);
}

#[tokio::test]
async fn memo_that_nobody_can_read_stops_no_opening() {
    let tenant = TestTenant::fresh(MemoryStore::new()).await;
    let (desk, ada) = (tenant.service(), tenant.author("ada").await);
    let session = blind(&desk, None).await;
    let garbage = DocumentDraft {
        group: "ada".to_owned(),
        json: "no memo".to_owned(),
        ..DocumentDraft::default()
    };
    let put = tenant.store().put_document(Collection::Memos, &garbage).await.unwrap();
    assert!(matches!(put, Put::Created(_)));
    let memo = publish(&desk, &ada, session.id).await;
    desk.advance(session.id, Aggregated, &operator()).await.unwrap();
    desk.open_due_sessions(&mut BlindSessions::default()).await.unwrap();
    assert_eq!(memo_acts(&desk).await, [(memo, MemoAct::Published)]);
}

/// More openings than a search of the log reads are at its end.
#[tokio::test]
async fn newest_takes_are_found_before_the_openings() {
    const MEMBERS: u64 = 210;
    let (_, tenant) = at("2026-11-24T12:00:00Z").await;
    let desk = tenant.service();
    let session = blind(&desk, None).await;
    let authors = tenant.authors(MEMBERS.try_into().unwrap()).await;
    for nonce in ["1", "2", "3", "4", "5"] {
        for author in &authors {
            desk.submit(&author.token, &author.submission(&session, nonce)).await.unwrap();
        }
    }
    desk.advance(session.id, Aggregated, &operator()).await.unwrap();
    let mut before = None;
    for page in 0..3 {
        let found = desk.newest_takes(before, 50, |_| true).await.unwrap();
        let newest = 5 * MEMBERS - 50 * page;
        let ids: Vec<_> = found.takes.iter().map(|take| take.id().0).collect();
        assert_eq!(ids, (newest - 49..=newest).rev().collect::<Vec<_>>());
        before = found.next_before;
    }
    // One that begins among the openings: before them are as many takes, and three acts.
    let among = Seq(5 * MEMBERS + 100);
    let found = desk.newest_takes(Some(among), 1, |_| true).await.unwrap();
    assert_eq!(found.takes[0].id().0, 5 * MEMBERS);
}

/// Two servers: members file and amend, memos come in, and the deadline moves, while the session is closed, opened and
/// aggregated.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn takes_that_race_with_the_opening_are_sealed_or_open() {
    for round in 0..8 {
        let (clock, tenant) = at("2026-11-24T12:00:00Z").await;
        let deadline = moment("2026-11-24T13:00:00Z");
        let session = blind(&tenant.service(), Some(deadline)).await;
        let servers = [tenant.service(), tenant.cached_service()];
        let mut racers: Vec<std::pin::Pin<Box<dyn Future<Output = ()> + Send>>> = Vec::new();
        for (number, author) in tenant.authors(8).await.into_iter().enumerate() {
            let (server, session) = (servers[number % 2].clone(), Arc::clone(&session));
            racers.push(Box::pin(async move {
                for nonce in ["1", "2", "3"] {
                    let _ = server.submit(&author.token, &author.submission(&session, nonce)).await;
                }
                publish(&server, &author, session.id).await;
            }));
        }
        for server in servers.clone() {
            let (clock, id) = (clock.clone(), session.id);
            racers.push(Box::pin(async move {
                let mut job = BlindSessions::default();
                if round % 2 == 0 {
                    clock.set(deadline.plus_millis(1));
                }
                let _ = server.advance(id, WindowClosed, &operator()).await;
                let later = Some(Some(deadline.plus_millis(60_000)));
                let patch = SessionPatch {
                    window_closes_at: later,
                    quorum: None,
                    ..SessionPatch::default()
                };
                let _ = server.amend_session(id, &patch, &operator()).await;
                let _ = server.close_due_sessions().await;
                let _ = server.open_due_sessions(&mut job).await;
                let _ = server.advance(id, Collecting, &operator()).await;
                let _ = server.advance(id, Aggregated, &operator()).await;
                server.open_due_sessions(&mut job).await.unwrap();
            }));
        }
        race(racers).await;
        // With sealed takes on file, it is not aggregated ahead of its deadline.
        clock.set(deadline.plus_millis(60_001));
        servers[0].close_due_sessions().await.unwrap();
        servers[0].open_due_sessions(&mut BlindSessions::default()).await.unwrap();
        is_consistent(&servers[0]).await;
    }
}

/// Each take that was filed before the opening is sealed in the log, and opened once, in order, right after the act;
/// the others are open. Each memo has one entry.
async fn is_consistent(desk: &Tenant) {
    let (mut sealed, mut openings, mut memos, mut opened_at) = (vec![], vec![], vec![], None);
    for (place, line) in entries(desk).await.into_iter().enumerate() {
        match line {
            LogEntry::Take(take) => match take.content {
                TakeContent::Sealed { .. } if opened_at.is_none() => sealed.push(take.id),
                TakeContent::Open { .. } if opened_at.is_some() => {}
                _ => panic!("take {} is sealed after the opening, or open before it", take.id),
            },
            LogEntry::Session(entry) if entry.act == SessionAct::Opened => {
                assert_eq!(opened_at.replace(place), None, "opened twice");
            }
            LogEntry::Opening(opening) => {
                assert_eq!(opened_at.map(|at| at + openings.len() + 1), Some(place));
                openings.push(opening.id);
            }
            LogEntry::Memo(memo) => memos.push(memo.id.0),
            _ => {}
        }
    }
    assert_eq!(openings, sealed);
    memos.sort_unstable();
    assert_eq!(memos, (1..=8).collect::<Vec<_>>());
    let (session, takes) = desk.session_filed(SessionId(1)).await.unwrap();
    assert!(session.opened_at.is_some() && takes.iter().all(|take| !take.is_sealed()));
    let with_salt = takes.iter().filter_map(|take| take.open()).filter(|take| take.salt.is_some());
    assert_eq!(with_salt.map(|take| take.id).collect::<Vec<_>>(), sealed);
}

/// A store that appends no entry of a memo that was held.
#[derive(Default)]
struct Faults {
    are_on: AtomicBool,
}

#[async_trait]
impl Interceptor for Faults {
    async fn commit(
        &self,
        next: &dyn Backend,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<CommitOutcome> {
        let collection = Collection::HeldMemos.as_str().into();
        let is_of_held_memo = |write: &Write| match write {
            Write::Put { table, columns, .. } => {
                table.name == "documents" && columns.first() == Some(&collection)
            }
            _ => false,
        };
        let is_on = self.are_on.load(Ordering::Relaxed);
        if is_on && transaction.writes.iter().any(is_of_held_memo) {
            return Err(StoreError::corrupt(op, "the disk is full"));
        }
        next.commit(tenant, op, transaction).await
    }
}

async fn at(time: &str) -> (ManualClock, TestTenant) {
    let clock = ManualClock::at(moment(time));
    let shown = clock.clone();
    let store = MemoryStore::with_clock(move || shown.now());
    (clock, TestTenant::fresh(store).await)
}

fn operator() -> Attribution {
    Attribution::from(Actor::OPERATOR)
}

async fn blind(desk: &Tenant, window_closes_at: Option<Timestamp>) -> Arc<Session> {
    let subject = r#"{"id":"aurora","name":"Aurora"}"#;
    let subject = swarm_core::domain::Subject::read(&mut swarm_testing::object(subject)).unwrap();
    desk.put_subject(&subject, &Actor::OPERATOR).await.unwrap();
    let draft = SessionDraft { blind: true, window_closes_at, ..session_draft("aurora") };
    desk.convene(&draft, &operator()).await.unwrap()
}

async fn publish(desk: &Tenant, author: &Author, session: SessionId) -> MemoId {
    let (title, body) = ("Why".to_owned(), "Because.".to_owned());
    let draft = MemoDraft { title, body, subject_id: None, session_id: Some(session) };
    desk.publish_memo(&author.token, draft).await.unwrap().id
}

fn log(desk: &Tenant) -> SignedLog {
    let signer = LogSigner::without_memory(ServerSecret::new([1; 32]));
    desk.signed_log("acme.example", &signer).unwrap()
}

/// Compares the entries with the last checkpoint.
async fn is_undamaged(log: &SignedLog) -> bool {
    let mut check = log.begin_entry_check().await.unwrap().unwrap();
    while !log.check_entries(&mut check).await.unwrap() {}
    log.damage().is_none()
}

async fn entries(desk: &Tenant) -> Vec<LogEntry> {
    let page = desk.log(&LogQuery::all(Seq(0), 1_000)).await.unwrap();
    page.lines().map(|line| line.entry.clone()).collect()
}

async fn texts(desk: &Tenant) -> Vec<String> {
    let page = desk.log(&LogQuery::all(Seq(0), 1_000)).await.unwrap();
    page.lines().map(|line| line.text()).collect()
}

async fn memo_acts(desk: &Tenant) -> Vec<(MemoId, MemoAct)> {
    let memo = |entry| match entry {
        LogEntry::Memo(memo) => Some((memo.id, memo.act)),
        _ => None,
    };
    entries(desk).await.into_iter().filter_map(memo).collect()
}
