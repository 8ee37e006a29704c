//! A store in front of another, which calls a listener before and after each call. The listener may
//! fail, panic, or write something itself. It yields as a store on a network does: other requests
//! go on meanwhile.

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeTake,
};
use swarm_core::domain::{
    Act, ApiKeyHash, Challenge, Day, LogRow, MailState, Member, MemberId, Message, MessageId, Seq,
    Session, SessionId, Take, TakeId, TakeOnFile, Timestamp, TokenHash,
};
use swarm_core::rules::Filing;
use swarm_core::store::{
    Basis, BasisQuery, ChallengeOffer, Clock, Collection, Committee, CommitteeBasis,
    CommitteeDayChange, CommitteeFiled, CommitteeFiling, CommitteeMemberChange,
    CommitteeSessionQuery, CommitteeStore, CommitteeTakesQuery, Convocation, Countable, Counts,
    Document, DocumentDraft, Documents, Filed, Log, MemberBasis, MemberChange, MemberQuery,
    MemberSaved, Members, MessageChange, Outbox, Put, Readiness, Result, Saved, SessionChange,
    SessionQuery, Sessions, Store, TakeQuery, Takes, Versioned,
};
use swarm_core::{CommitteeTenants, TenantId, Tenants};
use swarm_store_memory::MemoryStore;

/// A call of the store, as its listener sees it.
pub struct StoreCall<'a> {
    pub method: &'static str,
    /// The `{:?}` of the arguments.
    pub arguments: &'a str,
    /// Whether the other store has done its work by now.
    pub done: bool,
}

type Listener = dyn Fn(&StoreCall<'_>) -> Result<()> + Send + Sync;

#[derive(Clone)]
pub struct ObservedStore {
    store: MemoryStore,
    listener: Arc<Listener>,
}

impl ObservedStore {
    pub fn new(
        store: &MemoryStore,
        listener: impl Fn(&StoreCall<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { store: store.clone(), listener: Arc::new(listener) }
    }
}

#[async_trait]
impl Tenants for ObservedStore {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        Arc::new(ObservedTenant {
            store: self.store.open(tenant),
            listener: Arc::clone(&self.listener),
        })
    }

    async fn ready(&self) -> Result<Readiness> {
        (self.listener)(&StoreCall { method: "ready", arguments: "()", done: false })?;
        self.store.ready().await
    }
}

impl CommitteeTenants for ObservedStore {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        let store = self.store.open_committee(tenant);
        Arc::new(ObservedTenant { store, listener: Arc::clone(&self.listener) })
    }
}

/// One interface of one tenant.
struct ObservedTenant<S: ?Sized> {
    store: Arc<S>,
    listener: Arc<Listener>,
}

macro_rules! observed {
    ($part:ident: $($method:ident($($name:ident: $type:ty),*) -> $out:ty;)*) => {
        #[async_trait]
        impl<S: $part + ?Sized> $part for ObservedTenant<S> {
            $(async fn $method(&self, $($name: $type),*) -> Result<$out> {
                let method = stringify!($method);
                let arguments: &[String] = &[$(format!("{:?}", $name)),*];
                let arguments = &*arguments.join("; ");
                tokio::task::yield_now().await;
                (self.listener)(&StoreCall { method, arguments, done: false })?;
                let outcome = self.store.$method($($name),*).await?;
                (self.listener)(&StoreCall { method, arguments, done: true })?;
                tokio::task::yield_now().await;
                Ok(outcome)
            })*
        }
    };
}

observed!(Clock: now() -> Timestamp;);

observed!(Members:
    member(id: &MemberId) -> MemberBasis;
    members(query: &MemberQuery) -> Vec<Arc<Member>>;
    bearer(token: &TokenHash) -> Option<Arc<Member>>;
    save_member(change: &MemberChange) -> MemberSaved;
    give_challenge(offer: &ChallengeOffer) -> Challenge;
);

observed!(Outbox:
    messages(state: Option<MailState>, after: Option<MessageId>) -> Vec<Versioned<Message>>;
    save_message(change: &MessageChange) -> Saved;
);

observed!(Sessions:
    session(id: SessionId) -> Option<Versioned<Session>>;
    sessions(query: &SessionQuery) -> Vec<Arc<Session>>;
    published(limit: usize) -> Vec<Arc<Session>>;
    convene(convocation: &Convocation) -> Arc<Session>;
    save_session(change: &SessionChange) -> Saved;
);

observed!(Takes:
    basis(query: &BasisQuery<'_>) -> Basis;
    file(filing: &Filing) -> Filed;
    take(id: TakeId) -> Option<TakeOnFile>;
    takes(session: SessionId) -> Vec<Arc<Take>>;
    latest_takes(query: &TakeQuery) -> Vec<Arc<Take>>;
);

observed!(Documents:
    document(collection: Collection, key: &str) -> Option<Document>;
    documents(collection: Collection, group: Option<&str>) -> Vec<Document>;
    put_document(collection: Collection, draft: &DocumentDraft) -> Put;
);

observed!(Counts:
    count(what: Countable) -> u64;
);

observed!(Log:
    accept_clock(act: &Act) -> ();
    log(after: Seq, limit: usize) -> Vec<LogRow>;
    log_size() -> Seq;
    acts_on(session: SessionId) -> Vec<LogRow>;
);

observed!(Committee:
    committee_members() -> Vec<Versioned<CommitteeMember>>;
    committee_member(id: &CommitteeMemberId) -> Option<Versioned<CommitteeMember>>;
    save_committee_member(change: &CommitteeMemberChange) -> Saved;
    committee_day(date: Day) -> Option<Versioned<CommitteeDay>>;
    committee_sessions(query: &CommitteeSessionQuery) -> Vec<Versioned<CommitteeDay>>;
    save_committee_day(change: &CommitteeDayChange) -> Saved;
    committee_briefs(date: Day, member: Option<&CommitteeMemberId>) -> Vec<Arc<CommitteeBrief>>;
    committee_basis(key: &ApiKeyHash) -> CommitteeBasis;
    file_committee(filing: &CommitteeFiling) -> CommitteeFiled;
    committee_takes(query: &CommitteeTakesQuery<'_>) -> Vec<Arc<CommitteeTake>>;
);
