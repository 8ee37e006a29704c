//! Fixtures of the benchmarks: authors, signed takes, and tenants to file them in.

#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

mod backend;
pub mod long_log;
pub mod shipped;
mod throughput;

use std::hint::black_box;
use std::sync::Arc;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use futures_util::FutureExt as _;
use swarm_core::domain::{
    AttemptId, Attribution, Body, Bucket, Confidence, Contact, Day, Lens, Member, MemberId,
    MemberState, MemoUrl, Name, Nonce, PublicKey, Salt, SessionDraft, Signed, Stance, SubjectId,
    TakeDraft, TenantId, Timestamp, TokenHash, Weight, Weights,
};
use swarm_core::proof::KeyPair;
use swarm_core::rules::{Filing, convene, judge};
use swarm_core::store::{
    Basis, BasisQuery, Caller, Filed, MemberChange, MemberSaved, Records, Store,
};
use swarm_core::{Entropy as _, Submission, Swarm, SystemEntropy, Take, Tenant};
use swarm_store_memory::MemoryStore;

pub use backend::signature_backend;
pub use throughput::takes_a_second;

/// The sessions of a fixture, and so the first takes that an author can file in it.
pub const SESSIONS: usize = 256;

/// The characters of a usual write-up.
pub const USUAL: usize = 1_200;

/// The characters of the longest write-up.
pub const LONGEST: usize = 10_000;

/// Opens a group of benchmarks and prints what it compares, and the signature backend.
pub fn group<'a>(
    criterion: &'a mut Criterion,
    name: &str,
    against: &str,
) -> BenchmarkGroup<'a, WallTime> {
    println!("\n# {name}: {against}\nsignatures: {}\n", signature_backend());
    criterion.benchmark_group(name)
}

/// A member with its keys and its token.
#[derive(Debug)]
pub struct Author {
    /// The keys.
    pub keys: KeyPair,
    /// Its public key, decoded.
    pub key: PublicKey,
    /// The hash of its token.
    pub token: TokenHash,
    id: MemberId,
}

impl Author {
    /// The author with this number, deterministic.
    pub fn new(number: u32) -> Self {
        let token = TokenHash::of(&number.to_be_bytes());
        let keys = KeyPair::from_seed(token.as_bytes());
        let key = keys.public_key();
        let id = MemberId::parse(format!("3b241101-e2bb-4255-8caf-{number:012}")).expect("an id");
        Self { keys, key, token, id }
    }

    /// Its take in the session with this number, with a write-up of `length` characters.
    pub fn draft(&self, session: usize, characters: usize) -> TakeDraft {
        TakeDraft {
            member_id: self.id.clone(),
            date: day(),
            subject_id: subject(session),
            nonce: Nonce::parse(format!("nonce-{session}")).expect("a nonce"),
            stance: Stance::parse("constructive").expect("a stance"),
            confidence: Confidence::parse(0.72).expect("a confidence"),
            body: Body::parse(prose(characters)).expect("a body"),
            memo_url: MemoUrl::parse("https://memos.example.org/2026-11-21").expect("an address"),
            weights: Some(weights()),
        }
    }

    /// A take for each session, signed.
    pub fn takes(&self) -> Vec<Submission> {
        (0..SESSIONS).map(|session| Submission::new(self.signed(session, USUAL))).collect()
    }

    /// A take, signed.
    pub fn signed(&self, session: usize, characters: usize) -> Signed<TakeDraft> {
        self.keys.sign(self.draft(session, characters))
    }

    fn member(&self) -> Member {
        let now = Some(Timestamp::EPOCH);
        Member {
            id: self.id.clone(),
            name: Name::parse("Ada").expect("a name"),
            contact: Contact::parse("ada@example.org").expect("a contact"),
            lens: Lens::parse("macro first").expect("a lens"),
            public_key: Some(self.key.clone()),
            state: MemberState::Claimed,
            applied_at: Timestamp::EPOCH,
            reviewed_at: now,
            joined_at: now,
            claimed_at: now,
            token: Some(self.token),
            token_claimed_at: now,
            used_claim: None,
        }
    }
}

/// An author, and one of its takes for each session.
#[derive(Debug)]
pub struct SignedTakes {
    /// The author.
    pub author: Author,
    /// Its takes, signed.
    pub takes: Vec<Submission>,
}

impl SignedTakes {
    /// The takes of the author with this number.
    pub fn new(number: u8) -> Self {
        let author = Author::new(number.into());
        Self { takes: author.takes(), author }
    }

    /// A fixture in memory with only this author.
    pub fn fixture(&self) -> Fixture {
        Fixture::new(&[&self.author])
    }

    /// The facts that each of the takes is judged by, in such a fixture.
    pub fn facts(&self) -> Vec<Basis> {
        let fixture = self.fixture();
        self.takes.iter().map(|take| fixture.basis(&self.author, take)).collect()
    }

    /// Files `count` takes in memory.
    pub fn file(&self, fixture: &Fixture, count: usize) {
        for take in self.takes.iter().take(count) {
            black_box(fixture.file(&self.author, take));
        }
    }

    /// Judges `count` takes by loaded facts.
    pub fn judge(&self, facts: &[Basis], count: usize) {
        for (basis, take) in facts.iter().zip(&self.takes).take(count) {
            black_box(
                judge(basis, take, AttemptId([0; 16]), Salt([0; 32])).expect("nothing refuses"),
            );
        }
    }
}

/// A tenant with some members, [`SESSIONS`] sessions and no takes.
pub struct Fixture {
    tenant: Tenant,
    store: Records,
}

impl std::fmt::Debug for Fixture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Fixture").field(&self.tenant).finish()
    }
}

impl Fixture {
    /// A fixture in a new store in memory.
    pub fn new(authors: &[&Author]) -> Self {
        Self::in_store(&MemoryStore::new(), "acme", authors)
    }

    /// A tenant with its authors in a store in memory that may have others.
    pub fn in_store(memory: &MemoryStore, tenant: &str, authors: &[&Author]) -> Self {
        at_once(Self::set_up(memory, tenant, authors))
    }

    /// A tenant with its authors in a store that may have others.
    pub async fn set_up(store: &Store, tenant: &str, authors: &[&Author]) -> Self {
        let id = TenantId::parse(tenant).expect("a tenant id");
        let tenant = Swarm::new(store.clone(), SystemEntropy).tenant(&id);
        let store = store.open(&id);
        for author in authors {
            let member = author.member();
            let joins = MemberChange::creation(member);
            assert_eq!(store.save_member(&joins).await.expect("it answers"), MemberSaved::Saved);
        }
        for session in 0..SESSIONS {
            store
                .convene(&convene(&session_draft(session), &Attribution::SCHEDULE))
                .await
                .expect("it answers");
        }
        Self { tenant, store }
    }

    /// The tenant.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Files a take in memory: load, judge, commit.
    pub fn file(&self, author: &Author, take: &Submission) -> Arc<Take> {
        at_once(self.submit(author, take))
    }

    /// Files a take: load, judge, commit.
    pub async fn submit(&self, author: &Author, take: &Submission) -> Arc<Take> {
        self.tenant.submit(&author.token, take).await.expect("nothing refuses")
    }

    /// Loads the facts that a take is judged by, from memory.
    pub fn basis(&self, author: &Author, take: &Submission) -> Basis {
        let TakeDraft { date, subject_id, nonce, .. } = take.draft();
        let query =
            BasisQuery { caller: Caller::Bearer(&author.token), date: *date, subject_id, nonce };
        at_once(self.store.basis(&query)).expect("it answers")
    }

    /// Loads the facts that a take is judged by, and judges it.
    pub async fn judged(&self, author: &Author, take: &Submission) -> Filing {
        let TakeDraft { date, subject_id, nonce, .. } = take.draft();
        let query =
            BasisQuery { caller: Caller::Bearer(&author.token), date: *date, subject_id, nonce };
        let basis = self.store.basis(&query).await.expect("it answers");
        let mut attempt = AttemptId([0; 16]);
        SystemEntropy.fill(&mut attempt.0).expect("entropy");
        judge(&basis, take, attempt, Salt([0; 32])).expect("nothing refuses")
    }

    /// Commits a judged take.
    pub async fn commit(&self, filing: &Filing) {
        let filed = self.store.file(filing).await.expect("it answers");
        assert!(matches!(filed, Filed::Filed(..)), "{filed:?}");
    }

    /// Asks the store for the time: a round trip that does no work.
    pub async fn ask(&self) {
        self.store.now().await.expect("it answers");
    }
}

/// The result of a future that is ready at once: the memory store's always are, so no runtime is measured.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("memory never waits")
}

/// The draft of the session with this number.
pub fn session_draft(session: usize) -> SessionDraft {
    let deadline = Timestamp::parse("deadline", "9999-12-31T23:59:59Z").expect("time");
    SessionDraft { window_closes_at: Some(deadline), ..SessionDraft::new(day(), subject(session)) }
}

fn day() -> Day {
    Day::parse("2026-11-21").expect("a day")
}

fn subject(number: usize) -> SubjectId {
    SubjectId::parse(format!("subject-{number}")).expect("a subject id")
}

fn prose(characters: usize) -> String {
    let line = "REGIME: liquidity is easing, breadth is not; the \"soft landing\" is priced.\n";
    line.chars().cycle().take(characters).collect()
}

fn weights() -> Weights {
    let shares = [("cash", 0.15), ("bonds", 0.3), ("equities", 0.35), ("metals", 0.2)];
    let entry = |(bucket, weight)| Weight { bucket: Bucket::parse(bucket).expect("it"), weight };
    Weights::parse(shares.map(entry).to_vec()).expect("weights")
}
