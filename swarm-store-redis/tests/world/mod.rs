//! A tenant's world with a session in it, and members that file takes.

#![allow(dead_code, reason = "not every test needs every helper")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]

pub(crate) mod committee;

use std::sync::Arc;
use std::time::Duration;

use swarm_core::domain::{
    AttemptId, Attribution, Body, Confidence, Contact, Day, Lens, Mail, MemberState, MemoUrl, Name,
    Nonce, PublicKey, SessionDraft, SessionState, Stance, SubjectId, TokenHash,
};
use swarm_core::proof::KeyPair;
use swarm_core::rules::{Filing, convene, judge};
use swarm_core::store::{
    Basis, BasisQuery, Clock, Collection, Convocation, DocumentDraft, Filed, MemberChange,
    MemberSaved, Put, Result, SessionQuery, Store,
};
use swarm_core::{
    Member, MemberId, Session, Submission, TakeDraft, TakeId, TenantId, Tenants, Timestamp,
};
use swarm_store_redis::RedisStore;
use tokio::time::{sleep, timeout};

/// Any call answers within this time, whatever happens to it.
pub(crate) const BOUND: Duration = Duration::from_secs(6);

/// As many sessions as there are.
pub(crate) const ALL: SessionQuery =
    SessionQuery { on: None, state: None, before: None, limit: 1_000 };

/// The same tenant, through any store of the same server.
pub(crate) fn open(store: &RedisStore) -> Arc<dyn Store> {
    store.open(&TenantId::parse("acme").unwrap())
}

pub(crate) struct Author {
    name: String,
    keys: KeyPair,
}

impl Author {
    pub(crate) fn named(name: &str) -> Self {
        let keys = KeyPair::from_seed(TokenHash::of(name.as_bytes()).as_bytes());
        Self { name: name.to_owned(), keys }
    }

    /// A claimed member that is on file.
    pub(crate) async fn joined(store: &dyn Store, name: &str) -> Self {
        let author = Self::named(name);
        assert_eq!(store.save_member(&author.creation(None)).await.unwrap(), MemberSaved::Saved);
        author
    }

    /// The write of this member, new.
    pub(crate) fn creation(&self, mail: Option<Mail>) -> MemberChange {
        let member = Member {
            id: self.id(),
            name: Name::parse("Ada").unwrap(),
            contact: contact(),
            lens: Lens::parse("").unwrap(),
            public_key: Some(PublicKey::parse(&self.keys.public_key()).unwrap()),
            state: MemberState::Claimed,
            applied_at: Timestamp::EPOCH,
            reviewed_at: None,
            joined_at: None,
            claimed_at: None,
            token: Some(self.token()),
        };
        MemberChange { member, expected: None, proven: None, mail, act: None }
    }

    /// A take for the session, judged by the facts of the moment.
    pub(crate) async fn judged(&self, store: &dyn Store, session: &Session, nonce: &str) -> Filing {
        self.try_judge(store, session, nonce).await.unwrap()
    }

    /// The same, if the store answers.
    pub(crate) async fn try_judge(
        &self,
        store: &dyn Store,
        session: &Session,
        nonce: &str,
    ) -> Result<Filing> {
        let basis = self.basis(store, session, nonce).await?;
        let draft = TakeDraft {
            member_id: self.id(),
            date: session.date,
            subject_id: session.subject_id.clone(),
            nonce: Nonce::parse(nonce).unwrap(),
            stance: Stance::parse("bullish").unwrap(),
            confidence: Confidence::parse(0.5).unwrap(),
            body: Body::parse("Words that a member might write about a subject.").unwrap(),
            memo_url: MemoUrl::parse("").unwrap(),
            weights: None,
        };
        let submission = Submission::new(self.keys.sign(draft));
        let attempt = TokenHash::of(format!("{} {nonce}", self.name).as_bytes());
        let attempt: [u8; 16] = attempt.as_bytes()[..16].try_into().unwrap();
        Ok(judge(&basis, &submission, AttemptId(attempt)).unwrap())
    }

    /// The facts that a take for the session is judged by.
    pub(crate) async fn basis(
        &self,
        store: &dyn Store,
        session: &Session,
        nonce: &str,
    ) -> Result<Basis> {
        let (token, nonce) = (&self.token(), &Nonce::parse(nonce).unwrap());
        let Session { date, subject_id, .. } = session;
        store.basis(&BasisQuery { token, date: *date, subject_id, nonce }).await
    }

    fn id(&self) -> MemberId {
        MemberId::parse(&*self.name).unwrap()
    }

    fn token(&self) -> TokenHash {
        TokenHash::of(format!("token of {}", self.name).as_bytes())
    }
}

pub(crate) fn draft(subject: &str) -> Convocation {
    let draft = SessionDraft {
        date: Day::parse("2026-11-21").unwrap(),
        subject_id: SubjectId::parse(subject).unwrap(),
        state: SessionState::Collecting,
        window_closes_at: None,
        quorum: None,
        buckets: None,
        roster: None,
    };
    convene(&draft, &Attribution::SCHEDULE)
}

pub(crate) fn mail() -> Mail {
    Mail { to: contact(), subject: "Hello".to_owned(), body: "Hello".to_owned() }
}

fn contact() -> Contact {
    Contact::parse("ada@example.org").unwrap()
}

/// The nonces of the takes in a session, in the order of their filing.
pub(crate) async fn nonces(store: &dyn Store, session: &Session) -> Vec<String> {
    let takes = store.takes(session.id).await.unwrap();
    takes.iter().map(|take| take.draft().nonce.as_str().to_owned()).collect()
}

/// Calls each method that runs a script; before each, `forget` is called.
pub(crate) async fn walk(tenants: &RedisStore, forget: impl Fn()) {
    let store = &*open(tenants);
    forget();
    let author = Author::joined(store, "ada").await;
    forget();
    assert_eq!(store.messages(None, None).await.unwrap(), []);
    forget();
    assert_eq!(store.members(&[MemberState::Claimed]).await.unwrap().len(), 1);
    forget();
    let session = store.convene(&draft("subject")).await.unwrap();
    forget();
    let filing = author.judged(store, &session, "nonce").await;
    forget();
    let Filed::Filed(take) = store.file(&filing).await.unwrap() else { panic!("not filed") };
    forget();
    assert_eq!(store.take(TakeId(1)).await.unwrap().unwrap().take, take);
    forget();
    assert_eq!(store.takes(session.id).await.unwrap(), [take]);
    forget();
    assert_eq!(store.sessions(&ALL).await.unwrap(), [session]);
    forget();
    assert_eq!(store.published(1).await.unwrap(), []);
    forget();
    assert!(matches!(put(store, None).await.unwrap(), Put::Created(_)));
    forget();
    assert!(store.document(Collection::Memos, "1").await.unwrap().is_some());
    forget();
    let _ = store.now().await.unwrap();
    committee::walk(&*committee::open(tenants), forget).await;
}

pub(crate) async fn put(store: &dyn Store, key: Option<&str>) -> Result<Put> {
    let (key, json) = (key.map(str::to_owned), "{}".to_owned());
    let draft =
        DocumentDraft { key, group: String::new(), json, replace: false, guard: None, act: None };
    store.put_document(Collection::Memos, &draft).await
}

/// Waits until the store answers again.
pub(crate) async fn recovered(store: &(impl Clock + ?Sized)) {
    for _ in 0..100 {
        if timeout(BOUND, store.now()).await.unwrap().is_ok() {
            return;
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("the store did not recover");
}
