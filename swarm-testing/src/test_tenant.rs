//! A test tenant, with helpers to create members, sessions and takes.

use std::sync::Arc;
use std::time::Duration;

use super::records::{SALT, act_on, challenge, creation, session_draft};
use super::{Author, Counter, race, unique};
use crate::assertions::{expect_eq, fail};
use swarm_core::domain::{
    AttemptId, Attribution, Challenge, Day, Delivery, LogRow, MailState, Member, MemberId,
    MemberState, Message, MessageId, Notice, NoticeDraft, NoticeId, OperatorAct, RecordedAct, Seq,
    Session, SessionDraft, SessionId, SessionSummary, SessionTerms, StoredTake, Take, TakeId,
    TakeOnFile, TenantId, Timestamp, TokenHash,
};
use swarm_core::proof::tile::TileId;
use swarm_core::rules::{Filing, Refusal, Rejection, Submission, convene, judge};
use swarm_core::service::{Swarm, Tenant};
use swarm_core::store::{
    self, Act, ActQuery, Aggregated, Aggregation, Basis, BasisQuery, ChallengeBucket,
    ChallengeOffer, ChallengeSlot, Collection, Convocation, Countable, DeliveryChange,
    DeliveryQuery, Document, DocumentDraft, DocumentPage, DocumentQuery, Filed, LogPosition,
    MemberBasis, MemberChange, MemberQuery, MemberRemoval, MemberSaved, MemberTake,
    MemberTakeQuery, MessageChange, MessageQuery, Put, Queued, QueuedMail, Records, Saved,
    SessionAuthors, SessionChange, SessionQuery, SessionTakes, Store, SummaryQuery, TakeContext,
    TakeMarks, TakeQuery, TreeChange, TreeState, Versioned, WebhookBasis, WebhookChange,
};

/// A test tenant. It has the methods of [`Records`] without their `Result`s (they panic on an error),
/// and helpers for common steps of tests.
#[derive(Clone)]
pub struct TestTenant {
    tenants: Store,
    /// The tenant.
    pub id: TenantId,
    store: Records,
}

impl TestTenant {
    /// A new tenant. Its name is unique even if earlier runs used the same store.
    pub async fn fresh(tenants: impl Into<Store>) -> Self {
        let tenants = tenants.into();
        let lobby = TenantId::parse("conformance").unwrap();
        let now = tenants.open(&lobby).now().await.unwrap().millis();
        let id = format!("conformance-{now}-{}-{}", std::process::id(), unique());
        Self::open(tenants, TenantId::parse(id).unwrap())
    }

    /// Opens this tenant.
    pub fn open(tenants: impl Into<Store>, id: TenantId) -> Self {
        let tenants = tenants.into();
        Self { store: tenants.open(&id), tenants, id }
    }

    /// Opens this tenant for a dry run.
    pub fn dry_run(&self) -> Self {
        Self { store: self.store.dry_run(), ..self.clone() }
    }

    /// The store, for calls that may fail.
    pub fn store(&self) -> &Records {
        &self.store
    }

    /// The service for this tenant.
    pub fn service(&self) -> Tenant {
        self.swarm().tenant(&self.id)
    }

    /// The service for this tenant, with a basis cache.
    pub fn cached_service(&self) -> Tenant {
        self.swarm().with_basis_cache().tenant(&self.id)
    }

    fn swarm(&self) -> Swarm {
        Swarm::new(self.tenants.clone(), Counter)
    }

    /// The messages with ids higher than `after`; with `state`, only those in that state.
    pub async fn messages(
        &self,
        state: Option<MailState>,
        after: Option<MessageId>,
    ) -> Vec<Versioned<Message>> {
        self.found_messages(&MessageQuery { state, after, ..MessageQuery::ALL }).await
    }

    /// The messages that match.
    pub async fn found_messages(&self, query: &MessageQuery) -> Vec<Versioned<Message>> {
        self.store.messages(query).await.unwrap()
    }

    /// The number of the last row of the log.
    pub async fn log_size(&self) -> Seq {
        self.log_position().await.size
    }

    /// Waits until the store's clock is past `moment`.
    pub async fn pass(&self, moment: Timestamp) {
        while self.now().await <= moment {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

impl std::fmt::Debug for TestTenant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TestTenant({:?})", self.id)
    }
}

macro_rules! answers {
    ($($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)*) => {
        /// The methods of [`Records`]. They panic when the store returns an error.
        impl TestTenant {$(
            #[doc = concat!("`", stringify!($method), "` of its records.")]
            pub async fn $method(&self, $($name: $type),*) -> $answer {
                self.store.$method($($name),*).await.unwrap()
            }
        )*}
    };
}

answers! {
    now() -> Timestamp;
    member(id: &MemberId) -> MemberBasis;
    bearer(token: &TokenHash) -> Option<Arc<Member>>;
    save_member(change: &MemberChange) -> MemberSaved;
    remove_member(removal: &MemberRemoval) -> Saved;
    give_challenge(offer: &ChallengeOffer) -> Challenge;
    save_message(change: &MessageChange) -> Saved;
    session(id: SessionId) -> Option<Versioned<Session>>;
    sessions(query: &SessionQuery) -> Vec<Arc<Session>>;
    session_summaries(query: &SummaryQuery) -> Vec<Arc<SessionSummary>>;
    published(limit: usize) -> Vec<Arc<SessionSummary>>;
    convene_once(occasion: &str, convocation: &Convocation) -> Option<Arc<Session>>;
    save_session(change: &SessionChange) -> Saved;
    aggregate(aggregation: &Aggregation) -> Aggregated;
    basis(query: &BasisQuery<'_>) -> Basis;
    file(filing: &Filing) -> Filed;
    take(id: TakeId) -> Option<TakeOnFile<StoredTake>>;
    takes_by_id(ids: Vec<TakeId>) -> Vec<TakeOnFile<StoredTake>>;
    last_take() -> TakeId;
    take_context(id: TakeId) -> Option<TakeContext>;
    session_takes(query: &TakeQuery) -> Option<SessionTakes>;
    session_authors(session: SessionId) -> Option<SessionAuthors>;
    member_takes(query: &MemberTakeQuery) -> Vec<MemberTake>;
    mark_takes(marks: &TakeMarks) -> Option<Timestamp>;
    document(collection: Collection, key: &str) -> Option<Document>;
    documents_by_key(collection: Collection, keys: Vec<String>) -> Vec<Document>;
    last_document(collection: Collection) -> u64;
    whole_document(collection: Collection, key: &str) -> Option<Document>;
    documents(collection: Collection, group: Option<&str>) -> Vec<Document>;
    document_page(collection: Collection, query: &DocumentQuery) -> DocumentPage;
    put_document(collection: Collection, draft: &DocumentDraft) -> Put;
    accept_clock(act: &Act) -> ();
    accept_store(act: &Act) -> ();
    accept_key(act: &Act) -> ();
    log(after: Seq, limit: usize) -> Vec<LogRow>;
    log_position() -> LogPosition;
    acts_on(session: SessionId) -> Vec<LogRow>;
    operator_acts(query: &ActQuery) -> Vec<RecordedAct>;
    record_act(act: &OperatorAct, of_strangers: Option<(Day, u32)>) -> Saved;
    forget_acts(before: Timestamp) -> ();
    tree() -> Option<Versioned<TreeState>>;
    save_tree(change: &TreeChange) -> Saved;
    tiles(log: u64, tiles: &[TileId]) -> Vec<Option<Vec<u8>>>;
    queue_message(mail: &QueuedMail) -> Queued;
    webhook(url: &str) -> WebhookBasis;
    save_webhook(change: &WebhookChange) -> Option<Vec<Delivery>>;
    notices(after: NoticeId, limit: usize) -> Vec<Notice>;
    save_notice(notice: &NoticeDraft) -> Saved;
    deliveries(query: &DeliveryQuery<'_>) -> Vec<Versioned<Delivery>>;
    save_delivery(change: &DeliveryChange) -> Saved;
    remove_webhook_records(before: Timestamp) -> ();
    count(what: Countable) -> u64;
}

/// Members.
impl TestTenant {
    /// Commits a new member.
    pub async fn create(&self, member: &Member) {
        expect_eq!(self.save_member(&creation(member)).await, MemberSaved::Saved);
    }

    /// The members in these states, by id.
    pub async fn members(&self, states: &[MemberState]) -> Vec<Arc<Member>> {
        self.found_members(&MemberQuery::in_states(states)).await
    }

    /// The members that match, by id.
    pub async fn found_members(&self, query: &MemberQuery) -> Vec<Arc<Member>> {
        self.store.members(query).await.unwrap()
    }

    /// All members, in any state.
    pub async fn all_members(&self) -> Vec<Arc<Member>> {
        self.members(&MemberState::ALL).await
    }

    /// The stored record of an existing member.
    pub async fn stored(&self, id: &MemberId) -> Versioned<Member> {
        self.member(id).await.member.unwrap()
    }

    /// The change that `edit` makes to the stored member.
    pub async fn edited(&self, id: &MemberId, edit: impl FnOnce(&mut Member)) -> MemberChange {
        let Versioned { version, record } = self.stored(id).await;
        let mut member = Member::clone(&record);
        edit(&mut member);
        MemberChange { expected: Some(version), ..creation(&member) }
    }

    /// Commits the change that `edit` makes to the stored member.
    pub async fn edit(&self, id: &MemberId, edit: impl FnOnce(&mut Member)) {
        let change = self.edited(id, edit).await;
        expect_eq!(self.save_member(&change).await, MemberSaved::Saved);
    }
}

/// Challenges.
impl TestTenant {
    /// Makes this challenge live in this slot.
    pub async fn set_challenge(&self, slot: &ChallengeSlot, challenge: &Challenge) {
        let offer = ChallengeOffer {
            bucket: ChallengeBucket(0),
            fresh: challenge.clone(),
            slot: slot.clone(),
        };
        expect_eq!(self.give_challenge(&offer).await, *challenge);
    }

    /// A challenge with a seed of this name that is valid for longer than the test.
    pub async fn live_challenge(&self, name: &str) -> Challenge {
        challenge(name, self.now().await.plus_millis(600_000))
    }
}

/// Sessions.
impl TestTenant {
    /// Convenes a session.
    pub async fn convene(&self, draft: &SessionDraft) -> Arc<Session> {
        let convocation = convene(draft, &Attribution::SCHEDULE);
        self.store.convene(&convocation).await.unwrap()
    }

    /// Convenes a session on `subject`, without roster and deadline.
    pub async fn convened(&self, subject: &str) -> Arc<Session> {
        self.convene(&session_draft(subject)).await
    }

    /// Convenes a session and waits until its deadline has passed.
    pub async fn closed(&self, subject: &str) -> Arc<Session> {
        let deadline = self.now().await;
        let window_closes_at = Some(deadline);
        let draft = SessionDraft { window_closes_at, ..session_draft(subject) };
        let session = self.convene(&draft).await;
        self.pass(deadline).await;
        session
    }

    /// The change that `edit` makes to the stored session.
    pub async fn amended(&self, id: SessionId, edit: impl FnOnce(&mut Session)) -> SessionChange {
        let Versioned { version, record } = self.session(id).await.unwrap();
        let mut session = Session::clone(&record);
        edit(&mut session);
        SessionChange {
            session,
            expected: version,
            takes: None,
            takes_refusal: Refusal::TakesSealed,
            none_filed_after: None,
            withdrawn: false,
            acts: vec![act_on(id, "amended")],
            opens: false,
        }
    }

    /// Commits the change that `edit` makes to the stored session.
    pub async fn amend(&self, id: SessionId, edit: impl FnOnce(&mut Session)) {
        let change = self.amended(id, edit).await;
        expect_eq!(self.save_session(&change).await, Saved::Saved);
    }

    /// The terms of a session, if it exists.
    pub async fn terms(&self, id: SessionId) -> Option<Versioned<SessionTerms>> {
        Some(self.session(id).await?.map(Session::terms))
    }

    /// The ids of the sessions that match, in the order of the result.
    pub async fn found(&self, query: &SessionQuery) -> Vec<u64> {
        self.sessions(query).await.iter().map(|session| session.id.0).collect()
    }
}

/// Takes.
impl TestTenant {
    /// Creates a member with a claimed token that can sign.
    pub async fn author(&self, name: &str) -> Author {
        let author = Author::named(name);
        self.create(&author.member()).await;
        author
    }

    /// Creates several authors.
    pub async fn authors(&self, count: usize) -> Vec<Author> {
        let mut authors = Vec::new();
        for name in 0..count {
            authors.push(self.author(&name.to_string()).await);
        }
        authors
    }

    /// All takes of a session, every revision, in the order of their ids.
    pub async fn takes(&self, session: SessionId) -> Vec<Arc<Take>> {
        takes_of(self.store(), session).await.unwrap()
    }

    /// The facts that a submission of `author` is judged on.
    pub async fn facts(&self, author: &Author, submission: &Submission) -> Basis {
        author.basis(self.store(), submission).await.unwrap()
    }

    /// Judges a take of `author` on the current facts.
    pub async fn judged(&self, author: &Author, submission: &Submission) -> Filing {
        judged(&self.facts(author, submission).await, submission)
    }

    /// Judges a take of each author in `session` on the current facts.
    pub async fn judged_of_each(
        &self,
        authors: &[Author],
        session: &Session,
        nonce: &str,
    ) -> Vec<Filing> {
        let mut filings = Vec::new();
        for author in authors {
            filings.push(self.judged(author, &author.submission(session, nonce)).await);
        }
        filings
    }

    /// Files a take of `author`.
    pub async fn filed(&self, author: &Author, session: &Session, nonce: &str) -> Arc<Take> {
        let filing = self.judged(author, &author.submission(session, nonce)).await;
        filed(self.file(&filing).await)
    }

    /// Commits all filings concurrently; returns the outcomes in order.
    pub async fn race_to_file(&self, filings: Vec<Filing>) -> Vec<Filed> {
        let file = |filing: Filing| {
            let tenant = self.clone();
            async move { tenant.file(&filing).await }
        };
        race(filings.into_iter().map(file)).await
    }

    /// Asserts that `session` has no takes, and that `author` has not used this nonce.
    pub async fn assert_unfiled(&self, author: &Author, session: &Session, nonce: &str) {
        let facts = self.facts(author, &author.submission(session, nonce)).await;
        expect_eq!((facts.latest, facts.spent), (None, None));
        expect_eq!(self.takes(session.id).await, []);
    }
}

/// Judges a submission. Each call is a new attempt.
pub(crate) fn try_judged(basis: &Basis, submission: &Submission) -> Result<Filing, Rejection> {
    let attempt = u128::from(unique()).to_le_bytes();
    judge(basis, submission, AttemptId(attempt), SALT)
}

/// Judges a submission that the rules accept. Each call is a new attempt.
pub fn judged(basis: &Basis, submission: &Submission) -> Filing {
    try_judged(basis, submission).unwrap_or_else(|rejection| {
        let expected = "facts on which the rules accept it";
        fail("a submission", &expected, &(rejection, basis), format_args!(""))
    })
}

/// All takes of a session in this store, every revision, whole, in the order of their ids; none if there is
/// no such session.
///
/// # Errors
/// The errors of the store.
pub async fn takes_of(store: &Records, session: SessionId) -> store::Result<Vec<Arc<Take>>> {
    let all = TakeQuery { unsealed: true, ..TakeQuery::all(session) };
    let found = store.session_takes(&all).await?.map(|found| found.takes).unwrap_or_default();
    Ok(found.iter().filter_map(StoredTake::whole).cloned().collect())
}

/// The filed take; panics for any other outcome.
#[track_caller]
pub fn filed(outcome: Filed) -> Arc<Take> {
    match outcome {
        Filed::Filed(take, _) => take,
        other => fail("a filing", &"Filed", &other, format_args!("")),
    }
}
