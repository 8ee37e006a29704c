//! A server with direct access to its store, on a clock that tests set.

use std::fmt::Write as _;
use std::sync::Arc;

use swarm_core::domain::{
    Attribution, Contact, Day, Lens, Member, MemberState, Name, PublicKey, SessionDraft,
    StoredTake, SubjectId, Timestamp, TokenHash,
};
use swarm_core::proof::KeyPair;
use swarm_core::rules;
use swarm_core::store::{
    Basis, BasisQuery, Caller, Collection, MemberChange, MemberQuery, MemberSaved, MessageQuery,
    Records, SessionQuery, Store, TakeQuery,
};
use swarm_core::{MemberId, Swarm, SystemEntropy, Take, Tenant, TenantId};
use swarm_store_memory::MemoryStore;

use crate::backend::Backend;
use crate::committee_fixture;
use crate::harness::{ADMIN, Author, Client, Server, fresh_key, fresh_nonce, log_signer};

pub use crate::backend::now;
pub use crate::clock::Clock;

pub struct Fixture {
    pub clock: Clock,
    pub store: Store,
    pub redis: Option<Arc<swarm_redis_testing::Server>>,
    pub server: Server,
    pub client: Client,
}

impl Fixture {
    /// A fixture on the memory store.
    pub fn start() -> Self {
        Self::on(&Backend::memory())
    }

    pub fn on(backend: &Backend) -> Self {
        Self::behind(backend.store.clone(), backend)
    }

    /// A fixture on the memory store, with `front` between server and store.
    pub fn serve(clock: Clock, store: MemoryStore, front: impl Into<Store>) -> Self {
        Self::behind(front, &Backend::within(clock, store.into()))
    }

    /// A fixture on this backend, with `front` between server and store.
    pub fn behind(front: impl Into<Store>, backend: &Backend) -> Self {
        let Backend { clock, store, redis, .. } = backend.clone();
        let server = Server::signing(front);
        Self { clock, store, redis, client: server.client(), server }
    }

    /// Signs all entries of the log.
    pub fn sign_log(&self) {
        sign_log(&self.tenant());
    }

    pub fn port(&self) -> Records {
        self.store.open(&TenantId::parse("default").unwrap())
    }

    /// The port of the committee.
    pub fn committee(&self) -> Records {
        self.store.open(&TenantId::parse("default").unwrap())
    }

    /// The service on this store, without the server.
    pub fn tenant(&self) -> Tenant {
        let swarm = Swarm::new(self.store.clone(), SystemEntropy);
        swarm.tenant(&TenantId::parse("default").unwrap())
    }

    /// An author with a claimed token, inserted directly into the store.
    pub fn author(&self) -> Author {
        self.author_named(MemberId::parse(format!("m-{}", fresh_nonce())).unwrap())
    }

    /// A pending application with this id, inserted directly into the store.
    pub fn applied(&self, id: &str) {
        let member = Member {
            state: MemberState::Applied,
            reviewed_at: None,
            joined_at: None,
            claimed_at: None,
            token: None,
            token_claimed_at: None,
            ..member(id, &fresh_key().public_key().to_string(), "")
        };
        insert_member(&self.port(), member);
    }

    pub fn author_named(&self, id: MemberId) -> Author {
        let token = format!("tok_{id}_0");
        let key = fresh_key();
        insert_member(&self.port(), member(id.as_str(), &key.public_key().to_string(), &token));
        Author { id, key, token }
    }

    /// A fixture with one of everything: the member `m`, the session `1` of 2026-11-21 about
    /// `aurora` with its brief, the take `1` and the memo `1`; of the committee the member `m` with
    /// the key [`committee_fixture::KEY`], and the briefs of that day. The log is signed.
    pub fn with_records() -> (Self, Author) {
        Self::start().filled()
    }

    /// Adds the records of [`with_records`](Self::with_records) to an empty fixture.
    pub fn filled(self) -> (Self, Author) {
        let fixture = self;
        let author = fixture.author_named(MemberId::parse("m").unwrap());
        committee_fixture::insert_member(&fixture.committee(), "m", committee_fixture::KEY);
        fixture.client.convene("2026-11-21", "aurora");
        fixture.client.submit(&author, author.draft("2026-11-21", "aurora")).expect(201);
        add_records(&fixture.client, ADMIN, &author);
        fixture.sign_log();
        (fixture, author)
    }

    /// Changes the stored record of a member.
    pub fn change(&self, id: &MemberId, change: impl FnOnce(&mut Member)) {
        let stored = now(self.port().member(id)).unwrap().member.unwrap();
        let mut member = Member::clone(&stored.record);
        change(&mut member);
        let expected = Some(stored.version);
        let write = MemberChange { expected, ..MemberChange::creation(member) };
        assert_eq!(now(self.port().save_member(&write)).unwrap(), MemberSaved::Saved);
    }

    /// Convenes a session without deadline and roster; returns its id.
    pub fn convene(&self, date: &str, subject: &str) -> u64 {
        convene(&self.port(), date, subject)
    }

    /// All takes, of all sessions, by id.
    pub fn takes(&self) -> Vec<Arc<Take>> {
        takes(&self.port())
    }

    pub fn basis(&self, author: &Author, date: &str, subject: &str, nonce: &str) -> Basis {
        let query = BasisQuery {
            caller: Caller::Bearer(&TokenHash::of(author.token.as_bytes())),
            date: Day::parse(date).unwrap(),
            subject_id: &SubjectId::parse(subject).unwrap(),
            nonce: &swarm_core::domain::Nonce::parse(nonce).unwrap(),
        };
        now(self.port().basis(&query)).unwrap()
    }

    /// All records as text, for comparisons.
    pub fn print(&self) -> String {
        print(&self.port()) + &committee_fixture::print(&self.committee())
    }
}

/// Publishes the brief of session 1, a memo, and the briefs of the committee.
pub fn add_records(client: &Client, admin_token: &str, author: &Author) {
    let admin = [("x-admin-token", admin_token)];
    client.post("/api/swarm/admin/sessions/1/brief", &admin, "{}").expect(201);
    let memo = r#"{ "title": "A memo", "body": "Long." }"#;
    client.post("/api/swarm/memos", &[("authorization", &author.bearer())], memo).expect(201);
    client.post("/api/ic/admin/briefs", &admin, "{}").expect(201);
}

/// Signs all entries of the log of a tenant without a public origin.
pub fn sign_log(tenant: &Tenant) {
    let log = tenant.signed_log("localhost", &log_signer()).unwrap();
    now(log.sign()).unwrap();
}

pub fn print(port: &Records) -> String {
    let mut all = String::new();
    let mut members = now(port.members(&MemberQuery::in_states(&MemberState::ALL))).unwrap();
    members.sort_by(|a, b| a.id.cmp(&b.id));
    for member in members {
        writeln!(all, "{:?}", now(port.member(&member.id)).unwrap()).unwrap();
    }
    let query = SessionQuery { limit: usize::MAX, ..SessionQuery::default() };
    writeln!(all, "{:?}", now(port.sessions(&query)).unwrap()).unwrap();
    writeln!(all, "{:?}", takes(port)).unwrap();
    for collection in Collection::ALL {
        writeln!(all, "{:?}", now(port.documents(collection, None)).unwrap()).unwrap();
    }
    writeln!(all, "{:?}", now(port.messages(&MessageQuery::ALL)).unwrap()).unwrap();
    all
}

pub fn takes(port: &Records) -> Vec<Arc<Take>> {
    let query = SessionQuery { limit: usize::MAX, ..SessionQuery::default() };
    let sessions = now(port.sessions(&query)).unwrap();
    let all = |id| TakeQuery { unsealed: true, ..TakeQuery::all(id) };
    let of = |id| now(port.session_takes(&all(id))).unwrap().unwrap().takes;
    let takes: Vec<_> = sessions.iter().flat_map(|session| of(session.id)).collect();
    let mut takes: Vec<_> = takes.iter().filter_map(StoredTake::whole).cloned().collect();
    takes.sort_by_key(|take| take.id);
    takes
}

pub fn convene(port: &Records, date: &str, subject: &str) -> u64 {
    let draft = SessionDraft::new(Day::parse(date).unwrap(), SubjectId::parse(subject).unwrap());
    now(port.convene(&rules::convene(&draft, &Attribution::SCHEDULE))).unwrap().id.0
}

/// A member that claimed its token.
pub fn member(id: &str, public_key: &str, token: &str) -> Member {
    let then = Some(Timestamp::EPOCH);
    Member {
        id: MemberId::parse(id).unwrap(),
        name: Name::parse("A member").unwrap(),
        contact: Contact::parse("member@test.example").unwrap(),
        lens: Lens::parse("").unwrap(),
        public_key: Some(PublicKey::parse(public_key).unwrap()),
        state: MemberState::Claimed,
        applied_at: Timestamp::EPOCH,
        reviewed_at: then,
        joined_at: then,
        claimed_at: then,
        token: Some(TokenHash::of(token.as_bytes())),
        token_claimed_at: then,
        used_claim: None,
    }
}

pub fn insert_member(port: &Records, member: Member) {
    let change = MemberChange::creation(member);
    assert_eq!(now(port.save_member(&change)).unwrap(), MemberSaved::Saved);
}

/// A key pair like `key`, which cannot be cloned: from the same seed.
pub fn key_of(seed: &[u8]) -> KeyPair {
    KeyPair::from_seed(seed.try_into().unwrap())
}
