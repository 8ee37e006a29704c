//! Takes that are judged by cached facts: one call of the server, and the same answers as without a cache.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

use std::sync::Arc;

use swarm_core::domain::{
    Actor, Attribution, MemberState, Revision, Roster, RosterEntry, Session, SessionPatch,
    SessionState, Subject, TakeDraft, TenantId, Timestamp, TokenHash,
};
use swarm_core::{Error, Refusal, Submission, Swarm, SystemEntropy, TakeId, Tenant};
use swarm_redis_testing::Server;
use swarm_store_redis::RedisStore;
use swarm_testing::{Author, TestTenant, id, object, session_draft};
use tokio::task::JoinSet;

/// A tenant on two servers, of which one has a basis cache, and the Redis behind them.
struct Desk {
    redis: Server,
    world: TestTenant,
    cached: Tenant,
    other: Tenant,
    ada: Author,
    session: Arc<Session>,
}

#[tokio::test(flavor = "multi_thread")]
async fn most_takes_need_one_call_under_load() {
    let desk = Arc::new(Desk::open().await);
    let (takes, facts) = desk.load(desk.other.clone()).await;
    assert_eq!(facts, takes);
    let desk = Arc::new(Desk::open().await);
    let (takes, facts) = desk.load(desk.cached.clone()).await;
    // Each read of facts is one more call for that take.
    assert!(facts * 20 <= takes, "facts are read {facts} times for {takes} takes");
}

#[tokio::test(flavor = "multi_thread")]
async fn deactivated_member_is_refused_until_active_again() {
    let desk = Desk::warm().await;
    let Desk { other, ada, .. } = &desk;
    assert_eq!(other.deactivate(&ada.id, &Actor::OPERATOR).await.unwrap(), MemberState::Inactive);
    desk.refuses("suspended", Refusal::UnknownToken).await;
    desk.refuses("suspended still", Refusal::UnknownToken).await;
    other.activate(&ada.id, "https://acme.example", &Actor::OPERATOR).await.unwrap();
    desk.files("active", &desk.session, 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn revoked_token_is_refused() {
    let desk = Desk::warm().await;
    let (_, token) = desk.other.rotate_key(&desk.ada.id, None, &Actor::OPERATOR).await.unwrap();
    desk.refuses("old", Refusal::UnknownToken).await;
    let take = desk.ada.submission(&desk.session, "new");
    assert_eq!(desk.cached.submit(&token.hash(), &take).await.unwrap().revision.get(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn moved_deadline_applies_at_once() {
    let desk = Desk::warm().await;
    let deadline = desk.world.now().await;
    desk.move_deadline(Some(deadline)).await;
    desk.world.pass(deadline).await;
    desk.refuses("moved here", Refusal::WindowClosed).await;
    desk.move_deadline(Some(deadline.plus_millis(600_000))).await;
    desk.files("moved away", &desk.session, 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn passed_deadline_applies_at_once() {
    let desk = Desk::warm().await;
    let deadline = desk.world.now().await.plus_millis(3_000);
    desk.move_deadline(Some(deadline)).await;
    desk.files("in time", &desk.session, 3).await;
    desk.world.pass(deadline).await;
    desk.refuses("late", Refusal::WindowClosed).await;
    desk.refuses("later", Refusal::WindowClosed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_session_accepts_and_aggregated_session_refuses_amendments() {
    let desk = Desk::warm().await;
    let (other, on) = (&desk.other, desk.session.id);
    other.advance(on, SessionState::WindowClosed, &by()).await.unwrap();
    desk.files("closed", &desk.session, 3).await;
    other.advance(on, SessionState::Aggregated, &by()).await.unwrap();
    desk.refuses("aggregated", Refusal::AmendmentClosed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn roster_applies_at_once() {
    let desk = Desk::warm().await;
    let other = &desk.other;
    let listed = |name: &str| RosterEntry { member_id: id(name), excused: false };
    let roster = Roster::parse(vec![listed("ada")]).unwrap();
    other.freeze_roster(desk.session.id, &roster, &by()).await.unwrap();
    desk.files("listed", &desk.session, 3).await;
    other.excuse(desk.session.id, &desk.ada.id, true, &by()).await.unwrap();
    desk.refuses("excused", Refusal::Excused).await;
    other.excuse(desk.session.id, &desk.ada.id, false, &by()).await.unwrap();
    desk.files("expected", &desk.session, 4).await;

    let desk = Desk::warm().await;
    desk.world.author("bob").await;
    let roster = Roster::parse(vec![listed("bob")]).unwrap();
    desk.other.freeze_roster(desk.session.id, &roster, &by()).await.unwrap();
    desk.refuses("not listed", Refusal::NotOnRoster).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_session_gets_the_takes_at_once() {
    let desk = Desk::warm().await;
    let newer = desk.other.convene(&session_draft("aurora"), &by()).await.unwrap();
    desk.files("newer", &newer, 1).await;
    desk.one_call("again", &newer, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn takes_filed_through_other_servers_count() {
    let desk = Desk::warm().await;
    let take = |nonce| desk.ada.submission(&desk.session, nonce);
    desk.other.submit(&desk.ada.token, &take("elsewhere")).await.unwrap();
    desk.files("here", &desk.session, 4).await;
    desk.refuses("elsewhere", Refusal::NonceUsed).await;
    let rejected = desk.submit(&take("elsewhere")).await.unwrap_err();
    assert_eq!(rejected, (Refusal::NonceUsed, Some(TakeId(3))));
    desk.other.submit(&desk.ada.token, &take("last")).await.unwrap();
    desk.refuses("one too many", Refusal::CapReached { cap: Revision::CAP }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_takes_are_refused_despite_cached_facts() {
    let desk = Desk::warm().await;
    let draft = desk.ada.draft(&desk.session, "signed by another");
    let forged = Author::named("bob").sign(TakeDraft { member_id: desk.ada.id.clone(), ..draft });
    assert_eq!(desk.submit(&forged).await.unwrap_err().0, Refusal::BadSignature);
    let bob = desk.world.author("bob").await;
    let mismatched = bob.submission(&desk.session, "of another");
    assert_eq!(desk.submit(&mismatched).await.unwrap_err().0, Refusal::TokenMismatch);
    let take = desk.ada.submission(&desk.session, "unknown");
    let answer = desk.cached.submit(&TokenHash::of(b"nobody's"), &take).await;
    assert!(matches!(answer, Err(Error::Refused(it)) if it.reason == Refusal::UnknownToken));
}

impl Desk {
    async fn open() -> Self {
        let redis = Server::start(&["--appendonly", "no"]);
        let tenant = TenantId::parse("acme").unwrap();
        let near = RedisStore::connect(&redis.url()).await.unwrap();
        let far = RedisStore::connect(&redis.url()).await.unwrap();
        let cached = Swarm::new(near, SystemEntropy).with_basis_cache().tenant(&tenant);
        let other = Swarm::new(far.clone(), SystemEntropy).tenant(&tenant);
        let world = TestTenant::open(far, tenant);
        let mut fields = object(r#"{ "id": "aurora", "name": "Aurora" }"#);
        let aurora = Subject::read(&mut fields).unwrap();
        let _ = other.put_subject(&aurora, &Actor::OPERATOR).await.unwrap();
        let ada = world.author("ada").await;
        let session = world.convened("aurora").await;
        Self { redis, world, cached, other, ada, session }
    }

    /// A desk whose cache is in use: two takes are on file.
    async fn warm() -> Self {
        let desk = Self::open().await;
        desk.files("first", &desk.session, 1).await;
        desk.one_call("second", &desk.session, 2).await;
        desk
    }

    /// One member files in eight sessions, then sixteen others file all revisions in each, concurrently.
    /// Returns the number of takes, and how many times facts were read.
    async fn load(self: &Arc<Self>, service: Tenant) -> (usize, usize) {
        let mut sessions = Vec::new();
        for subject in 0..8 {
            sessions.push(self.world.convened(&subject.to_string()).await);
        }
        let mut submissions = Vec::new();
        for name in 0..16 {
            let author = self.world.author(&name.to_string()).await;
            submissions.push((author.token, takes(&author, &sessions, 5)));
        }
        let (before, mut filed, mut filing) = (self.stats(), 0, JoinSet::new());
        for take in takes(&self.ada, &sessions, 1) {
            service.submit(&self.ada.token, &take).await.unwrap();
            filed += 1;
        }
        for (token, takes) in submissions {
            filed += takes.len();
            let service = service.clone();
            filing.spawn(async move {
                for take in takes {
                    service.submit(&token, &take).await.unwrap();
                }
            });
        }
        filing.join_all().await;
        let [calls, micros, facts, commands] =
            [0, 1, 2, 3].map(|place| self.stats()[place] - before[place]);
        println!(
            "{filed} takes: {calls} calls, {facts} of them for facts, {commands} commands, {micros} µs of the server"
        );
        (filed, facts)
    }

    async fn move_deadline(&self, to: Option<Timestamp>) {
        let patch = SessionPatch { window_closes_at: Some(to), ..SessionPatch::default() };
        self.other.amend_session(self.session.id, &patch, &by()).await.unwrap();
    }

    /// Files a take; returns its session and revision, or what refused it.
    async fn submit(&self, take: &Submission) -> Result<(u64, u8), (Refusal, Option<TakeId>)> {
        match self.cached.submit(&self.ada.token, take).await {
            Ok(take) => Ok((take.session_id.0, take.revision.get())),
            Err(Error::Refused(rejection)) => Err((rejection.reason, rejection.original)),
            Err(error) => panic!("{error}"),
        }
    }

    async fn files(&self, nonce: &str, session: &Session, revision: u8) {
        let take = self.ada.submission(&self.session, nonce);
        assert_eq!(self.submit(&take).await, Ok((session.id.0, revision)), "{nonce}");
    }

    async fn one_call(&self, nonce: &str, session: &Session, revision: u8) {
        let before = self.calls();
        self.files(nonce, session, revision).await;
        assert_eq!(self.calls() - before, 1, "{nonce}");
    }

    async fn refuses(&self, nonce: &str, refusal: Refusal) {
        let take = self.ada.submission(&self.session, nonce);
        assert_eq!(self.submit(&take).await.unwrap_err().0, refusal, "{nonce}");
    }

    /// How many scripts the server has run.
    fn calls(&self) -> usize {
        usize::try_from(self.redis.scripts()).unwrap()
    }

    /// Statistics of the server: scripts run, microseconds spent in them, scripts that read facts (the only
    /// ones here that call `HDEL`), and all other commands, inside scripts or not.
    fn stats(&self) -> [usize; 4] {
        let stats = self.redis.cli(&["info", "commandstats"]);
        let number = |line: &str, name: &str| -> usize {
            let number = line.split_once(name).and_then(|(_, rest)| rest.split(',').next());
            number.and_then(|number| number.parse().ok()).unwrap_or_default()
        };
        let of = |command: &str, name| {
            let prefix = format!("cmdstat_{command}:");
            stats
                .lines()
                .find(|line| line.starts_with(&prefix))
                .map_or(0, |line| number(line, name))
        };
        let all: usize = stats.lines().map(|line| number(line, "calls=")).sum();
        let scripts = of("evalsha", "calls=");
        [scripts, of("evalsha", "usec="), of("hdel", "calls="), all - scripts]
    }
}

/// `each` takes for each session.
fn takes(author: &Author, sessions: &[Arc<Session>], each: usize) -> Vec<Submission> {
    let nonce = |session: &Session, revision| format!("{} {revision}", session.id);
    let of_session = |session: &Arc<Session>| {
        (0..each).map(|it| author.submission(session, &nonce(session, it))).collect::<Vec<_>>()
    };
    sessions.iter().flat_map(of_session).collect()
}

fn by() -> Attribution {
    Attribution::from(Actor::OPERATOR)
}
