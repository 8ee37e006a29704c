//! Processor time of pages on a large store: fills one with sessions, members and takes, then asks for pages that no
//! cache holds, in this process. Prints the mean processor time of this process and the size of each.
//!
//! The arguments are the number of sessions (10,000 by default), of takes in each (100, at least 25), of members (2,000), names
//! of pages if not all are measured, and last `sqlite`, `redis` or `postgres` for another store than memory. A million takes
//! take some minutes to sign and file.
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE, COOKIE, HOST, SET_COOKIE};
use hyper::service::Service as _;
use hyper::{Request, StatusCode};
use hyper_util::service::TowerToHyperService;
use rustix::time::{ClockId, clock_gettime};
use swarm_core::domain::{
    Actor, AdminTokenHash, Attribution, Body, Confidence, Contact, Day, Lens, Member, MemberId,
    MemberState, MemoUrl, Name, Nonce, Roster, RosterEntry, SessionDraft, SessionState, Stance,
    Subject, SubjectId, TakeDraft, TenantId, Timestamp, TokenHash,
};
use swarm_core::json::Json;
use swarm_core::proof::KeyPair;
use swarm_core::store::{MemberChange, Store};
use swarm_core::{Session, Submission, Swarm, SystemEntropy, Tenant};
use swarm_http::{AdminTokens, Site, SiteService, TenantConfig};
use swarm_store_memory::MemoryStore;
use swarm_store_postgres::PostgresStore;
use swarm_store_redis::RedisStore;
use swarm_store_sqlite::SqliteStore;

/// The allocator of the server as it ships.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The characters of each write-up.
const CHARACTERS: usize = 600;

const SUBJECTS: usize = 200;

/// Sessions that are still open.
const OPEN: usize = 5;

/// The token of the operator.
const OPERATOR: &str = "adm_of_the_benchmark";

/// The pages.
const PAGES: [&str; 18] = [
    "home",
    "sessions",
    "session",
    "open session",
    "member",
    "take",
    "subject",
    "subjects",
    "members",
    "ranking",
    "since",
    "find",
    "takes",
    "log",
    "about",
    "feed",
    "guide",
    "console",
];

/// Requests of each kind.
const ROUNDS: usize = 40;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let mut numbers = arguments.iter().filter_map(|argument| argument.parse().ok());
    let mut number = |default: usize| numbers.next().unwrap_or(default);
    let size = Size { sessions: number(10_000), takes: number(100), members: number(2_000) };
    let is_page = |argument: &&String| PAGES.contains(&argument.as_str());
    let wanted = arguments.iter().filter(is_page).cloned().collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let store = arguments.last().map_or("", String::as_str);
    match store {
        "sqlite" => {
            let folder = tempfile::tempdir().expect("a folder");
            let store = SqliteStore::open(folder.path().join("pages.db")).expect("a file");
            runtime.block_on(measure(store.into(), &size, wanted));
        }
        "redis" => {
            let server = swarm_redis_testing::Server::start(&[]);
            let url = server.url();
            let store = runtime.block_on(RedisStore::connect(&url)).expect("it answers");
            runtime.block_on(measure(store.into(), &size, wanted));
        }
        "postgres" => {
            let server = swarm_postgres_testing::Server::start(&[]);
            let url = server.url();
            let store = runtime.block_on(PostgresStore::create(&url)).expect("it answers");
            runtime.block_on(measure(store.into(), &size, wanted));
        }
        _ => runtime.block_on(measure(MemoryStore::new().into(), &size, wanted)),
    }
}

#[derive(Clone, Copy)]
struct Size {
    sessions: usize,
    takes: usize,
    members: usize,
}

impl Size {
    /// The author of the take at this place of a session.
    const fn author(&self, session: usize, place: usize) -> usize {
        (session * 7 + place) % self.members
    }
}

async fn measure(store: Store, size: &Size, wanted: Vec<String>) {
    let id = TenantId::parse("default").expect("an id");
    let swarm = Swarm::new(store.clone(), SystemEntropy);
    let tenant = swarm.tenant(&id);
    let (authors, open) = fill(&store, &tenant, size).await;
    let operators = AdminTokens::single(AdminTokenHash::of(OPERATOR.as_bytes()));
    let site = Arc::new(Site::single(swarm, TenantConfig::new(id, operators)));
    let Size { sessions, takes, members } = *size;
    let service = TowerToHyperService::new(swarm_http::service(&site));
    let (filed, cookie) = (Cell::new(0), String::new());
    let mut pages = Pages { service, tenant, authors, open, size: *size, filed, cookie, wanted };
    println!("{sessions} sessions, {takes} takes in each, {members} members");
    println!("{:>14} {:>10} {:>10}", "page", "ms", "bytes");
    let of = |round: usize, count: usize| round * count / ROUNDS;
    pages.print("home", |_| "/".to_owned()).await;
    pages.print("sessions", |_| "/swarm/sessions".to_owned()).await;
    pages.print("session", |round| format!("/swarm/sessions/{}", of(round, sessions) + 1)).await;
    pages.print("open session", |_| format!("/swarm/sessions/{sessions}")).await;
    pages
        .print("member", |round| format!("/swarm/members/{}", author_id(of(round, members))))
        .await;
    pages.print("take", |round| format!("/swarm/takes/{}", of(round, sessions * takes) + 1)).await;
    pages
        .print("subject", |round| format!("/swarm/subjects/subject-{}", of(round, SUBJECTS)))
        .await;
    pages.print("subjects", |_| "/swarm/subjects".to_owned()).await;
    pages.print("members", |_| "/swarm/members?sort=distance".to_owned()).await;
    pages.print("ranking", |_| "/swarm/ranking".to_owned()).await;
    pages.print("since", |_| "/swarm/since/1".to_owned()).await;
    pages.print("find", |_| "/swarm/find?q=ada".to_owned()).await;
    pages.print("takes", |_| "/swarm/takes".to_owned()).await;
    pages.print("log", |_| "/swarm/log".to_owned()).await;
    pages.print("about", |_| "/about".to_owned()).await;
    pages.print("feed", |_| "/feed.xml".to_owned()).await;
    pages.print("guide", |_| "/skill.md".to_owned()).await;
    pages.sign_in().await;
    pages.print("console", |_| "/operate".to_owned()).await;
}

struct Pages {
    service: TowerToHyperService<SiteService>,
    tenant: Tenant,
    authors: Vec<Author>,
    /// The sessions that are still open.
    open: Vec<Arc<Session>>,
    size: Size,
    /// The takes filed since the store was filled.
    filed: Cell<usize>,
    /// The cookie of an operator, once one is signed in.
    cookie: String,
    /// The pages that are measured; all if it is empty.
    wanted: Vec<String>,
}

impl Pages {
    /// Signs an operator into the console.
    async fn sign_in(&mut self) {
        let request = Request::post("/operate")
            .header(HOST, "localhost")
            .header("sec-fetch-site", "same-origin")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Full::<Bytes>::from(format!("token={OPERATOR}")))
            .expect("a request");
        let answer = self.service.call(request).await.expect("an answer");
        let cookie = answer.headers().get(SET_COOKIE).expect("it is signed in");
        let cookie = cookie.to_str().expect("text").split(';').next().unwrap_or_default();
        self.cookie = cookie.to_owned();
    }

    /// Files a take in an open session, as is most of what is committed.
    async fn file(&self) {
        let number = self.filed.replace(self.filed.get() + 1);
        let session = self.open.get(number % OPEN).expect("an open session");
        let (first, place) = (self.size.sessions - OPEN, number / OPEN);
        let author = self.size.author(first + number % OPEN, place % self.size.takes);
        let author = self.authors.get(author).expect("an author");
        let take = author.take(session, place, &format!("later-{number}"));
        self.tenant.submit(&author.token, &take).await.expect("nothing refuses");
    }

    async fn print(&self, name: &str, path: impl Fn(usize) -> String) {
        assert!(PAGES.contains(&name), "{name} cannot be selected");
        if !self.wanted.is_empty() && !self.wanted.iter().any(|wanted| wanted == name) {
            return;
        }
        let (mut used, mut bytes) = (Duration::ZERO, 0);
        for round in 0..ROUNDS {
            // So that no cached answer is valid.
            self.file().await;
            let start = clock_gettime(ClockId::ProcessCPUTime);
            let length = self.ask(&path(round)).await;
            let end = clock_gettime(ClockId::ProcessCPUTime);
            let nanos = (end.tv_sec - start.tv_sec) * 1_000_000_000 + end.tv_nsec - start.tv_nsec;
            // The first one fills caches of the process.
            if round > 0 {
                used += Duration::from_nanos(nanos.unsigned_abs());
            }
            bytes += length;
        }
        let count = u32::try_from(ROUNDS - 1).expect("a small number");
        let millis = (used / count).as_secs_f64() * 1_000.0;
        println!("{name:>14} {millis:>10.2} {:>10}", bytes / ROUNDS);
    }

    async fn ask(&self, path: &str) -> usize {
        let request = Request::get(path).header(HOST, "localhost").header(ACCEPT, "text/html");
        let request = request.header(COOKIE, &self.cookie);
        let request = request.body(Full::<Bytes>::default()).expect("a request");
        let answer = self.service.call(request).await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.into_body().collect().await.expect("a body").to_bytes().len()
    }
}

/// Returns the authors, and the sessions that are still open.
async fn fill(store: &Store, tenant: &Tenant, size: &Size) -> (Vec<Author>, Vec<Arc<Session>>) {
    let port = store.open(tenant.id());
    for number in 0..SUBJECTS {
        put_subject(tenant, number).await;
    }
    let authors: Vec<_> = (0..size.members).map(Author::new).collect();
    for author in &authors {
        let joins = MemberChange::creation(author.member());
        let _ = port.save_member(&joins).await.expect("it answers");
    }
    let mut open = Vec::new();
    for number in 0..size.sessions {
        let listed: Vec<_> =
            (0..size.takes).filter_map(|place| authors.get(size.author(number, place))).collect();
        let draft = draft(number, &listed);
        let session = tenant.convene(&draft, &Attribution::SCHEDULE).await.expect("a session");
        let is_open = number + OPEN >= size.sessions;
        // Of an open session, some have not filed. At once, because stores commit concurrent takes together.
        let filed = listed.iter().enumerate().filter(|(place, _)| !is_open || place % 10 != 9);
        let filing = filed.map(|(place, author)| {
            let take = author.take(&session, place, &format!("nonce-{}", session.id));
            async move { tenant.submit(&author.token, &take).await }
        });
        try_join_all(filing).await.expect("nothing refuses");
        if is_open {
            open.push(session);
        } else {
            for state in [SessionState::Aggregated, SessionState::Published] {
                let by = &Attribution::SCHEDULE;
                tenant.advance(session.id, state, by).await.expect("it moves");
            }
        }
    }
    (authors, open)
}

async fn put_subject(tenant: &Tenant, number: usize) {
    let text = format!(
        r#"{{"id":"subject-{number}","name":"Subject {number}","thesisBlurb":"{}"}}"#,
        "Lending grows. ".repeat(20)
    );
    let fields = Json::read(text.as_bytes()).expect("JSON");
    let subject = Subject::read(&mut fields.into_object()).expect("a subject");
    tenant.put_subject(&subject, &Actor::OPERATOR).await.expect("it answers");
}

fn draft(number: usize, listed: &[&Author]) -> SessionDraft {
    let entry = |author: &&Author| RosterEntry { member_id: author.id.clone(), excused: false };
    let roster = Roster::parse(listed.iter().map(entry).collect()).expect("a roster");
    let (year, day) = (2_000 + number / SUBJECTS / 336, number / SUBJECTS % 336);
    let date = format!("{year}-{:02}-{:02}", day / 28 + 1, day % 28 + 1);
    let subject = SubjectId::parse(format!("subject-{}", number % SUBJECTS)).expect("an id");
    SessionDraft {
        window_closes_at: Some(Timestamp::parse("t", "9999-12-31T23:59:59Z").expect("a time")),
        quorum: Some(3),
        roster: Some(roster),
        ..SessionDraft::new(Day::parse(&date).expect("a day"), subject)
    }
}

struct Author {
    id: MemberId,
    keys: KeyPair,
    token: TokenHash,
}

fn author_id(number: usize) -> MemberId {
    MemberId::parse(format!("3b241101-e2bb-4255-8caf-{number:012}")).expect("an id")
}

impl Author {
    fn new(number: usize) -> Self {
        let token = TokenHash::of(&number.to_be_bytes());
        Self { id: author_id(number), keys: KeyPair::from_seed(token.as_bytes()), token }
    }

    fn member(&self) -> Member {
        let now = Some(Timestamp::EPOCH);
        let name =
            format!("Ada {}", self.id.as_str().trim_start_matches("3b241101-e2bb-4255-8caf-"));
        Member {
            id: self.id.clone(),
            name: Name::parse(name).expect("a name"),
            contact: Contact::parse("ada@example.org").expect("a contact"),
            lens: Lens::parse("macro first, then what the order book says").expect("a lens"),
            public_key: Some(self.keys.public_key()),
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

    fn take(&self, session: &Session, place: usize, nonce: &str) -> Submission {
        const STANCES: [&str; 5] = ["bearish", "cautious", "neutral", "constructive", "bullish"];
        let stance = STANCES.get((place + self.id.as_str().len()) % 5).expect("five");
        let line = "Liquidity is *easing*, breadth is not; the \"soft landing\" is priced. ";
        let confidence = f64::from(u32::try_from(place % 90).expect("small")) / 100.0 + 0.05;
        let body: String = line.chars().cycle().take(CHARACTERS).collect();
        let draft = TakeDraft {
            member_id: self.id.clone(),
            date: session.date,
            subject_id: session.subject_id.clone(),
            nonce: Nonce::parse(nonce).expect("a nonce"),
            stance: Stance::parse(*stance).expect("a stance"),
            confidence: Confidence::parse(confidence).expect("a confidence"),
            body: Body::parse(body).expect("a body"),
            memo_url: MemoUrl::parse("").expect("an address"),
            weights: None,
        };
        Submission::new(self.keys.sign(draft))
    }
}
