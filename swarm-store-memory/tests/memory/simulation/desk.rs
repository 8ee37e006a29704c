//! The clients of the simulation, and what they do concurrently.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use futures_util::future::{BoxFuture, join_all};
use swarm_core::domain::{
    Actor, Application, Attribution, Member, MemberId, Session, SessionPatch, SessionState, Signed,
    Stance, Subject, TakeDraft, TenantId, TokenClaim,
};
use swarm_core::proof::KeyPair;
use swarm_core::{Error, Refusal, Store, Submission, Swarm, Tenant};
use swarm_testing::{Author, Counter, TestTenant, applicant, keys, object, session_draft};

use super::answers::Answers;
pub(super) use super::answers::Tally;
use super::chaos::Chaos;

const SERVICE: &str = "https://acme.example";

/// The applicant that joins meanwhile.
const NEWCOMER: &str = "dan";

/// One tenant with its clients.
pub(super) struct Desk {
    fixture: TestTenant,
    servers: [Tenant; 3],
    chaos: Arc<Chaos>,
    answers: Answers,
}

impl Desk {
    /// Sets up, without faults: a subject, a session, and members with tokens. Two of three
    /// servers have a basis cache.
    pub(super) async fn open(store: Store, chaos: Arc<Chaos>) -> Self {
        let fixture = TestTenant::open(store.clone(), TenantId::parse("acme").unwrap());
        let swarm = Swarm::new(store, Counter);
        let servers = [swarm.clone(), swarm.clone().with_basis_cache(), swarm.with_basis_cache()]
            .map(|swarm| swarm.tenant(&fixture.id));
        let [tenant, ..] = &servers;
        let subject = Subject::read(&mut object(r#"{"id":"aurora","name":"Aurora"}"#)).unwrap();
        let _ = tenant.put_subject(&subject, &Actor::OPERATOR).await.unwrap();
        let answers = Answers::default();
        for (author, member) in &*MEMBERS {
            fixture.create(member).await;
            answers.has_token(&author.id, author.token, answers.step());
        }
        let desk = Self { fixture, servers, chaos, answers };
        desk.convene().await.unwrap();
        desk
    }

    /// The server of the next request.
    fn tenant(&self) -> &Tenant {
        &self.servers[self.chaos.roll(self.servers.len())]
    }

    fn some_member(&self) -> &'static MemberId {
        &MEMBERS[self.chaos.roll(MEMBERS.len())].0.id
    }

    /// Runs all clients concurrently to their end.
    pub(super) async fn work(&self) {
        let mut people: Vec<BoxFuture<'_, ()>> = Vec::new();
        for (author, _) in &*MEMBERS {
            // On two devices each.
            people.push(Box::pin(self.file_takes(author)));
            people.push(Box::pin(self.file_takes(author)));
        }
        people.push(Box::pin(self.operate()));
        people.push(Box::pin(self.operate()));
        people.push(Box::pin(self.join()));
        people.push(Box::pin(self.read()));
        join_all(people).await;
    }

    /// The events, or the broken promise.
    pub(super) async fn look_back(&self) -> Result<Tally, String> {
        self.answers.look_back(&self.fixture, &self.servers[0]).await
    }
}

/// Members.
impl Desk {
    async fn file_takes(&self, author: &Author) {
        for _ in 0..4 {
            let session = self.answers.some_session(|sides| self.chaos.roll(sides));
            let take = signed(author, &session, self.chaos.roll(6), self.chaos.roll(2));
            let token = self.answers.some_token(&author.id, |sides| self.chaos.roll(sides));
            // Resends what was not answered.
            for _ in 0..=self.chaos.roll(3) {
                let began = self.answers.step();
                let answer = self.tenant().submit(&token, &take).await;
                self.answers.heard_of_take(&take, &token, began, answer.as_ref());
                if !matches!(answer, Err(Error::Store(_))) {
                    break;
                }
            }
        }
    }

    /// The applicant applies until it got two answers. Then two of its devices try to claim; only one may
    /// get a token.
    async fn join(&self) {
        let mut told = Vec::new();
        for _ in 0..4 {
            match self.tenant().apply(APPLICATION.clone()).await {
                Ok(id) | Err(Error::Refused(Refusal::KeyRegistered(id))) => told.push(id),
                Err(_) => {}
            }
            if told.len() == 2 {
                break;
            }
        }
        let Some(id) = told.pop() else { return };
        self.answers.heard_of_application(&id);
        for _ in 0..4 {
            let activated = self.tenant().activate(&id, SERVICE, &Actor::OPERATOR);
            if activated.await.is_ok() {
                self.answers.heard_of_activation();
            }
        }
        let signed = Mutex::default();
        join_all([self.claim(&id, &signed), self.claim(&id, &signed)]).await;
    }

    /// Both devices get the same challenge for a while, signed once for both.
    async fn claim(&self, id: &MemberId, signed: &Mutex<HashMap<String, Signed<TokenClaim>>>) {
        for _ in 0..2 {
            let Ok(given) = self.tenant().challenge(id, SERVICE).await else { continue };
            let sign = || {
                NEWCOMERS_KEYS.sign(TokenClaim {
                    member_id: id.clone(),
                    challenge: given.challenge.as_str().to_owned(),
                    expires_at: given.expires_at.to_string(),
                })
            };
            let of_challenge = given.challenge.as_str().to_owned();
            let claim = signed.lock().unwrap().entry(of_challenge).or_insert_with(sign).clone();
            if let Ok(token) = self.tenant().claim(claim, SERVICE).await {
                return self.answers.heard_of_claim(token.hash());
            }
        }
    }
}

/// The operator, and readers.
impl Desk {
    async fn operate(&self) {
        for _ in 0..8 {
            let session = self.answers.some_session(|sides| self.chaos.roll(sides));
            let to =
                [SessionState::WindowClosed, SessionState::Collecting, SessionState::Aggregated];
            // A failed call is not retried; the next one is another.
            let _ = match self.chaos.roll(9) {
                0 | 1 => self.move_deadline(&session).await,
                state @ 2..5 => {
                    self.tenant().advance(session.id, to[state - 2], &by()).await.map(|_| ())
                }
                5 => self.convene().await,
                6 => self.suspend().await,
                7 => self.rotate().await,
                _ => self.tenant().close_due_sessions().await.map(|_| ()),
            };
        }
    }

    async fn convene(&self) -> Result<(), Error> {
        let session = self.tenant().convene(&session_draft("aurora"), &by()).await?;
        self.answers.heard_of_session(session);
        Ok(())
    }

    async fn move_deadline(&self, session: &Session) -> Result<(), Error> {
        let ahead = i64::try_from(self.chaos.roll(600)).unwrap_or_default() - 100;
        let deadline = self.chaos.clock().now().plus_millis(ahead);
        let window_closes_at = Some(Some(deadline).filter(|_| ahead < 450));
        let patch = SessionPatch { window_closes_at, ..SessionPatch::default() };
        self.tenant().amend_session(session.id, &patch, &by()).await.map(|_| ())
    }

    async fn suspend(&self) -> Result<(), Error> {
        let member = self.some_member();
        self.tenant().deactivate(member, &Actor::OPERATOR).await?;
        self.tenant().activate(member, "https://acme.example", &Actor::OPERATOR).await?;
        Ok(())
    }

    async fn rotate(&self) -> Result<(), Error> {
        let member = self.some_member();
        let began = self.answers.step();
        let (_, token) = self.tenant().rotate_key(member, None, &Actor::OPERATOR).await?;
        self.answers.has_token(member, token.hash(), began);
        Ok(())
    }

    async fn read(&self) {
        for _ in 0..8 {
            let session = self.answers.some_session(|sides| self.chaos.roll(sides));
            if let Ok((session, takes)) = self.tenant().session_filed(session.id).await {
                let takes: Vec<_> = takes.iter().filter_map(|take| take.open().cloned()).collect();
                self.answers.saw(&session, &takes);
            }
            let member = self.some_member();
            let token = self.answers.some_token(member, |sides| self.chaos.roll(sides));
            let began = self.answers.step();
            if self.tenant().bearer(&token).await.is_ok() {
                self.answers.heard_of_bearer(member, &token, began);
            }
        }
    }
}

fn by() -> Attribution {
    Attribution::from(Actor::OPERATOR)
}

/// A take of `author` for the day and subject that all sessions have: of the same numbers, it is the
/// same. Signed once for all schedules.
fn signed(author: &Author, session: &Session, nonce: usize, stance: usize) -> Submission {
    type Signatures = Mutex<HashMap<(MemberId, usize, usize), Submission>>;
    static SIGNED: LazyLock<Signatures> = LazyLock::new(Signatures::default);
    let sign = || {
        let stance = Stance::parse(["bullish", "bearish"][stance]).unwrap();
        author.sign(TakeDraft { stance, ..author.draft(session, &format!("nonce {nonce}")) })
    };
    let mut all = SIGNED.lock().unwrap();
    all.entry((author.id.clone(), nonce, stance)).or_insert_with(sign).clone()
}

/// The members that are there from the beginning, the same in all schedules.
static MEMBERS: LazyLock<[(Author, Member); 3]> = LazyLock::new(|| {
    ["ada", "bob", "cyd"].map(Author::named).map(|author| {
        let member = author.member();
        (author, member)
    })
});

static NEWCOMERS_KEYS: LazyLock<KeyPair> = LazyLock::new(|| keys(NEWCOMER));

/// Signed once for all schedules, too.
static APPLICATION: LazyLock<Signed<Application>> = LazyLock::new(|| {
    let Member { name, contact, lens, .. } = applicant(NEWCOMER);
    let public_key = NEWCOMERS_KEYS.public_key().to_string();
    NEWCOMERS_KEYS.sign(Application { name, contact, lens, public_key })
});
