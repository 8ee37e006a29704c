//! What the cases share: a world of their own, members in it, and takes signed by them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Barrier;

use super::records::{Author, applicant, creation, draft};
use crate::domain::{
    AttemptId, Challenge, MailState, Member, MemberId, MemberState, Message, MessageId, SecretHash,
    Session, SessionDraft, SessionId, Take, TakeDraft, TakeId, TakeOnFile, TenantId, Timestamp,
};
use crate::rules::{Filing, Submission, judge};
use crate::service::{Entropy, NoEntropy, Swarm, Tenant};
use crate::store::{
    Basis, BasisQuery, Collection, Document, DocumentDraft, Filed, MemberBasis, MemberChange,
    MemberSaved, MessageChange, Put, Saved, SessionChange, SessionQuery, Slot, Store, Tenants,
    Versioned,
};

/// One tenant's world, which no other case and no other run has touched.
#[derive(Clone)]
pub(super) struct World {
    tenants: Arc<dyn Tenants>,
    pub(super) id: TenantId,
    store: Arc<dyn Store>,
}

impl World {
    pub(super) async fn fresh(tenants: Arc<dyn Tenants>) -> Self {
        let lobby = TenantId::parse("conformance").unwrap();
        let now = tenants.open(&lobby).now().await.unwrap().millis();
        let id = format!("conformance-{now}-{}-{}", std::process::id(), unique());
        Self::open(tenants, TenantId::parse(id).unwrap())
    }

    pub(super) fn open(tenants: Arc<dyn Tenants>, id: TenantId) -> Self {
        Self { store: tenants.open(&id), tenants, id }
    }

    /// The same world, under the rules.
    pub(super) fn service(&self) -> Tenant {
        Swarm::new(Arc::clone(&self.tenants), Counter).tenant(&self.id)
    }

    /// Waits until the store's clock is past `moment`.
    pub(super) async fn pass(&self, moment: Timestamp) {
        while self.now().await <= moment {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

/// The methods of the port, for a store that answers: where it cannot, the case ends.
macro_rules! answers {
    ($($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)*) => {
        impl World {$(
            pub(super) async fn $method(&self, $($name: $type),*) -> $answer {
                self.store.$method($($name),*).await.unwrap()
            }
        )*}
    };
}

answers! {
    now() -> Timestamp;
    member(id: &MemberId) -> MemberBasis;
    members(states: &[MemberState]) -> Vec<Arc<Member>>;
    bearer(token: &SecretHash) -> Option<Arc<Member>>;
    save_member(change: &MemberChange) -> MemberSaved;
    set_challenge(slot: &Slot, challenge: &Challenge) -> ();
    messages(state: Option<MailState>, after: Option<MessageId>) -> Vec<Versioned<Message>>;
    save_message(change: &MessageChange) -> Saved;
    session(id: SessionId) -> Option<Versioned<Session>>;
    sessions(query: &SessionQuery) -> Vec<Arc<Session>>;
    published(limit: usize) -> Vec<Arc<Session>>;
    convene(draft: &SessionDraft) -> Arc<Session>;
    save_session(change: &SessionChange) -> Saved;
    basis(query: &BasisQuery<'_>) -> Basis;
    file(filing: &Filing) -> Filed;
    take(id: TakeId) -> Option<TakeOnFile>;
    takes(session: SessionId) -> Vec<Arc<Take>>;
    document(collection: Collection, key: &str) -> Option<Document>;
    documents(collection: Collection, group: Option<&str>) -> Vec<Document>;
    put_document(collection: Collection, draft: &DocumentDraft) -> Put;
}

/// Members.
impl World {
    /// Commits a new member.
    pub(super) async fn create(&self, member: &Member) {
        assert_eq!(self.save_member(&creation(member)).await, MemberSaved::Saved);
    }

    /// All members, whatever their state.
    pub(super) async fn everybody(&self) -> Vec<Arc<Member>> {
        self.members(&MemberState::ALL).await
    }

    /// What is on file of a member that is there.
    pub(super) async fn stored(&self, id: &MemberId) -> Versioned<Member> {
        self.member(id).await.member.unwrap()
    }

    /// The change that `edit` makes to the member on file.
    pub(super) async fn edited(
        &self,
        id: &MemberId,
        edit: impl FnOnce(&mut Member),
    ) -> MemberChange {
        let Versioned { version, record } = self.stored(id).await;
        let mut member = Member::clone(&record);
        edit(&mut member);
        MemberChange { expected: Some(version), ..creation(&member) }
    }

    /// Commits the change that `edit` makes to the member on file.
    pub(super) async fn edit(&self, id: &MemberId, edit: impl FnOnce(&mut Member)) {
        let change = self.edited(id, edit).await;
        assert_eq!(self.save_member(&change).await, MemberSaved::Saved);
    }
}

/// Sessions.
impl World {
    /// A session about `subject`, open to all, without a deadline.
    pub(super) async fn convened(&self, subject: &str) -> Arc<Session> {
        self.convene(&draft(subject)).await
    }

    /// A session whose deadline has just passed.
    pub(super) async fn closed(&self, subject: &str) -> Arc<Session> {
        let deadline = self.now().await;
        let window_closes_at = Some(deadline);
        let session = self.convene(&SessionDraft { window_closes_at, ..draft(subject) }).await;
        self.pass(deadline).await;
        session
    }

    /// The change that `edit` makes to the session on file.
    pub(super) async fn amended(
        &self,
        id: SessionId,
        edit: impl FnOnce(&mut Session),
    ) -> SessionChange {
        let Versioned { version, record } = self.session(id).await.unwrap();
        let mut session = Session::clone(&record);
        edit(&mut session);
        SessionChange { session, expected: version, takes: None }
    }

    /// Commits the change that `edit` makes to the session on file.
    pub(super) async fn amend(&self, id: SessionId, edit: impl FnOnce(&mut Session)) {
        let change = self.amended(id, edit).await;
        assert_eq!(self.save_session(&change).await, Saved::Saved);
    }

    /// The ids that match, in the order of the answer.
    pub(super) async fn found(&self, query: &SessionQuery) -> Vec<u64> {
        self.sessions(query).await.iter().map(|session| session.id.0).collect()
    }
}

/// Takes.
impl World {
    /// A claimed member that can sign.
    pub(super) async fn author(&self, name: &str) -> Author {
        let author = Author::named(name);
        let (state, token) = (MemberState::Claimed, Some(author.token));
        self.create(&Member { state, token, ..applicant(name) }).await;
        author
    }

    /// The facts that a submission of `author` is judged by.
    pub(super) async fn facts(&self, author: &Author, submission: &Submission) -> Basis {
        let TakeDraft { date, subject_id, nonce, .. } = submission.draft();
        self.basis(&BasisQuery { token: &author.token, date: *date, subject_id, nonce }).await
    }

    /// Judges a take of `author` by the facts of the moment.
    pub(super) async fn judged(&self, author: &Author, submission: &Submission) -> Filing {
        judged(&self.facts(author, submission).await, submission)
    }

    /// Files a take of `author`.
    pub(super) async fn filed(&self, author: &Author, session: &Session, nonce: &str) -> Arc<Take> {
        let filing = self.judged(author, &author.submission(session, nonce)).await;
        filed(self.file(&filing).await)
    }

    /// Files all of them at once; the outcomes, in the order of the filings.
    pub(super) async fn race_to_file(&self, filings: Vec<Filing>) -> Vec<Filed> {
        let file = |filing: Filing| {
            let world = self.clone();
            async move { world.file(&filing).await }
        };
        race(filings.into_iter().map(file)).await
    }

    /// Sees that nothing stands in `session`, and that this nonce of `author` is unspent.
    pub(super) async fn assert_unfiled(&self, author: &Author, session: &Session, nonce: &str) {
        let facts = self.facts(author, &author.submission(session, nonce)).await;
        assert_eq!((facts.latest, facts.spent), (None, None));
        assert_eq!(self.takes(session.id).await, []);
    }
}

/// Judges a submission that the rules allow; each call is another attempt.
pub(super) fn judged(basis: &Basis, submission: &Submission) -> Filing {
    let attempt = u128::from(unique()).to_le_bytes();
    judge(basis, submission, AttemptId(attempt)).unwrap()
}

/// The take that was filed.
#[track_caller]
pub(super) fn filed(outcome: Filed) -> Arc<Take> {
    match outcome {
        Filed::Filed(take) => take,
        other => panic!("not filed: {other:?}"),
    }
}

/// Lets all racers start at once; their results, in the order of the racers.
pub(super) async fn race<F>(racers: impl IntoIterator<Item = F>) -> Vec<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let racers: Vec<F> = racers.into_iter().collect();
    let start = Arc::new(Barrier::new(racers.len()));
    let run = |racer: F| {
        let start = Arc::clone(&start);
        tokio::spawn(async move {
            start.wait().await;
            racer.await
        })
    };
    let running: Vec<_> = racers.into_iter().map(run).collect();
    let mut results = Vec::new();
    for racer in running {
        results.push(racer.await.unwrap());
    }
    results
}

/// How often `wanted` is among `results`.
pub(super) fn count<T: PartialEq>(results: &[T], wanted: &T) -> usize {
    results.iter().filter(|result| *result == wanted).count()
}

/// A number that this process has not used yet.
pub(super) fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Not random, but different each time, which is all that the suite asks for.
pub(super) struct Counter;

impl Entropy for Counter {
    fn fill(&self, bytes: &mut [u8]) -> std::result::Result<(), NoEntropy> {
        let number = unique().to_le_bytes();
        bytes.iter_mut().zip(number.iter().cycle()).for_each(|(byte, digit)| *byte = *digit);
        Ok(())
    }
}
