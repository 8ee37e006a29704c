//! A store with records of every kind, and its dump.

use std::collections::BTreeMap;
use std::sync::Arc;

use swarm_core::domain::{
    Actor, Attribution, Digest, SessionDraft, SessionPatch, SessionState, Subject, TenantId,
};
use swarm_core::json::{self, Json};
use swarm_core::proof::DumpKey;
use swarm_core::service::dump::{DumpReader, DumpWriter, Fault, Totals};
use swarm_core::store::Restored;
use swarm_core::{Session, Swarm, Timestamp};
use swarm_store_memory::MemoryStore;
use swarm_testing::{
    Author, Counter, ManualClock, TestTenant, applicant, log_scenario, moment, object,
    session_draft,
};

/// The tenant whose log has every kind of entry, and one where several members file takes.
pub(crate) async fn desk() -> MemoryStore {
    let clock = ManualClock::at(moment("2026-11-21T12:00:00Z"));
    let shown = clock.clone();
    let store = MemoryStore::with_clock(move || shown.now());
    let tick = || clock.set(clock.now().plus_millis(1_000));
    log_scenario(store.clone().into(), tick).await;
    let id = TenantId::parse("desk").unwrap();
    let fixture = TestTenant::open(store.clone(), id.clone());
    let service = Swarm::new(store.clone(), Counter).tenant(&id);
    let authors = [fixture.author("ada").await, fixture.author("grace").await];
    fixture.create(&applicant("waiting")).await;
    let aurora = Subject::read(&mut object(r#"{"id":"aurora","name":"Aurora"}"#)).unwrap();
    service.put_subject(&aurora, &Actor::OPERATOR).await.unwrap();
    let session = convened(&service, "aurora", clock.now()).await;
    for (author, nonce) in [(0, "a"), (1, "a"), (0, "b")] {
        tick();
        file(&service, &authors[author], &session, nonce).await;
    }
    let patch = |at: Timestamp| SessionPatch {
        window_closes_at: Some(Some(at)),
        quorum: None,
        ..SessionPatch::default()
    };
    let later = clock.now().plus_millis(7_200_000);
    service.amend_session(session.id, &patch(later), &operator()).await.unwrap();
    tick();
    file(&service, &authors[1], &session, "c").await;
    for state in [SessionState::WindowClosed, SessionState::Aggregated] {
        tick();
        service.advance(session.id, state, &operator()).await.unwrap();
    }
    store
}

/// A tenant with a blind session, which is opened; the openings of its three takes are the last entries.
pub(crate) async fn opened() -> MemoryStore {
    let store = MemoryStore::new();
    let id = TenantId::parse("desk").unwrap();
    let fixture = TestTenant::open(store.clone(), id.clone());
    let service = Swarm::new(store.clone(), Counter).tenant(&id);
    let author = fixture.author("ada").await;
    let session = fixture.convene(&SessionDraft { blind: true, ..session_draft("aurora") }).await;
    for nonce in ["1", "2", "3"] {
        file(&service, &author, &session, nonce).await;
    }
    service.advance(session.id, SessionState::Aggregated, &operator()).await.unwrap();
    store
}

fn operator() -> Attribution {
    Attribution::from(Actor::OPERATOR)
}

async fn convened(service: &swarm_core::Tenant, subject: &str, now: Timestamp) -> Arc<Session> {
    let window_closes_at = Some(now.plus_millis(3_600_000));
    let draft = SessionDraft { window_closes_at, ..session_draft(subject) };
    service.convene(&draft, &operator()).await.unwrap()
}

async fn file(service: &swarm_core::Tenant, author: &Author, session: &Session, nonce: &str) {
    let submission = author.submission(session, nonce);
    service.submit(&author.token, &submission).await.unwrap();
}

/// The lines of a dump, without their line feeds.
#[derive(Clone)]
pub(crate) struct Dump {
    pub(crate) lines: Vec<String>,
}

impl Dump {
    pub(crate) async fn of(store: &MemoryStore) -> Self {
        Self::signed(store, None).await
    }

    pub(crate) async fn signed(store: &MemoryStore, key: Option<&DumpKey>) -> Self {
        let (mut writer, first) = DumpWriter::new("swarm test");
        let mut text = first;
        for tenant in store.tenants().await.unwrap() {
            let mut dump = store.dump(&tenant).await.unwrap();
            loop {
                let records = dump.next().await.unwrap();
                if records.is_empty() {
                    break;
                }
                let lines = records.into_iter().map(|record| writer.record(&tenant, record));
                text.extend(lines);
            }
        }
        text.push_str(&writer.end(key).0);
        Self { lines: text.lines().map(str::to_owned).collect() }
    }

    pub(crate) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    pub(crate) fn takes(&self) -> u64 {
        self.lines.iter().filter(|line| line.contains(",\"take\":{")).count() as u64
    }

    /// The place of the line after `after` that contains all of these.
    pub(crate) fn find(&self, after: usize, words: &[&str]) -> usize {
        let has = |line: &String| words.iter().all(|word| line.contains(word));
        let found = self.lines.iter().skip(after + 1).position(has);
        after + 1 + found.unwrap_or_else(|| panic!("no line has {words:?}"))
    }

    /// The place of the line of the tenant with takes of several members.
    pub(crate) fn desk(&self) -> usize {
        self.find(0, &["{\"tenant\":{\"id\":\"desk\""])
    }

    /// Replaces text in a line.
    pub(crate) fn replace(&mut self, place: usize, from: &str, to: &str) {
        let line = &mut self.lines[place];
        assert!(line.contains(from), "{from} is not in {line}");
        *line = line.replace(from, to);
    }

    /// Replaces the last line by one that fits the others, as whoever changes a dump on purpose would.
    pub(crate) fn seal(&mut self) {
        self.lines.pop();
        let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
        for line in &self.lines[1..] {
            let kind = line.split('"').nth(1).unwrap_or_default();
            *counts.entry(kind).or_default() += 1.0;
            for kind in ["take", "committeeTake"] {
                if line.starts_with("{\"log\"") && line.contains(&format!(",\"{kind}\":{{")) {
                    *counts.entry(kind).or_default() += 1.0;
                }
            }
        }
        let counts: Json = counts.into_iter().map(|(kind, count)| (kind, count.into())).collect();
        let sha256 = Json::Text(Digest::of(self.text().as_bytes()).to_string());
        #[expect(clippy::cast_precision_loss, reason = "a short dump")]
        let lines = (self.lines.len() as f64).into();
        let end = Json::from([("lines", lines), ("counts", counts), ("sha256", sha256)]);
        self.lines.push(json::write(&Json::from([("end", end)])));
    }
}

/// Restores a dump into a store, as the program does.
pub(crate) async fn restored(text: &str, store: &MemoryStore) -> Result<Totals, Fault> {
    let mut reader = DumpReader::new();
    let mut restore = store.restore().await.unwrap();
    for line in text.split_inclusive('\n') {
        if let Some((tenant, record)) = reader.line(line.as_bytes())? {
            restore.write(&tenant, vec![record]).await.unwrap();
        }
    }
    let totals = reader.finish()?;
    assert_eq!(restore.commit().await.unwrap(), Restored::Complete);
    Ok(totals)
}
