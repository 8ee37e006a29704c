//! A right store with a fault in front of it.

use std::sync::{Arc, Mutex};

use swarm_core::domain::{
    Act, Challenge, LogRow, MailState, Member, MemberId, Message, MessageId, SecretHash, Seq,
    Session, SessionId, Take, TakeId, TakeOnFile, TenantId, Timestamp,
};
use swarm_core::rules::Filing;
use swarm_core::store::{
    Basis, BasisQuery, ChallengeOffer, Clock, Collection, Convocation, Countable, Counts, Document,
    DocumentDraft, Documents, Filed, Log, MemberBasis, MemberChange, MemberQuery, MemberSaved,
    Members, MessageChange, Outbox, Put, Readiness, Result, Saved, SessionChange, SessionQuery,
    Sessions, Store, TakeQuery, Takes, Tenants, Versioned, async_trait,
};
use swarm_store_memory::MemoryStore;

use crate::simulation::Chaos;

/// What a faulty method can reach: its own world, and those of all tenants that were opened.
pub(crate) struct Worlds<S: ?Sized = dyn Store> {
    pub(crate) own: Arc<S>,
    pub(crate) all: Vec<Arc<S>>,
}

impl<S: ?Sized> Worlds<S> {
    /// The worlds of the other tenants.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Arc<S>> {
        self.all.iter().filter(|store| !Arc::ptr_eq(store, &self.own))
    }
}

/// The worlds of all tenants that were opened, each opened once.
pub(crate) struct OpenedWorlds<S: ?Sized>(Mutex<Vec<(TenantId, Arc<S>)>>);

impl<S: ?Sized> Default for OpenedWorlds<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S: ?Sized> OpenedWorlds<S> {
    /// The world of this tenant, made where it was not opened before.
    pub(crate) fn open(&self, tenant: &TenantId, make: impl FnOnce() -> Arc<S>) -> Arc<S> {
        let mut opened = self.0.lock().unwrap();
        if let Some((_, store)) = opened.iter().find(|(known, _)| known == tenant) {
            return Arc::clone(store);
        }
        let store = make();
        opened.push((tenant.clone(), Arc::clone(&store)));
        store
    }

    /// What a faulty method of `own` can reach.
    pub(crate) fn seen_from(&self, own: &Arc<S>) -> Worlds<S> {
        let opened = self.0.lock().unwrap();
        let all = opened.iter().map(|(_, store)| Arc::clone(store)).collect();
        Worlds { own: Arc::clone(own), all }
    }
}

/// A store whose methods go by its fault.
pub(crate) struct Broken {
    memory: MemoryStore,
    fault: Arc<dyn Fault>,
    chaos: Arc<Chaos>,
    opened: Opened,
}

type Opened = Arc<OpenedWorlds<dyn Store>>;

impl Broken {
    pub(crate) fn store(fault: impl Fault) -> Arc<dyn Tenants> {
        Self::over(MemoryStore::with_clock(time), fault)
    }

    /// With the fault in front of what is there already.
    pub(crate) fn over(memory: MemoryStore, fault: impl Fault) -> Arc<dyn Tenants> {
        Self::with_chaos(memory, fault, Arc::new(Chaos::of(0)))
    }

    /// With the fault in front of it, and chaos on the way there.
    pub(crate) fn with_chaos(
        memory: MemoryStore,
        fault: impl Fault,
        chaos: Arc<Chaos>,
    ) -> Arc<dyn Tenants> {
        Arc::new(Self { memory, fault: Arc::new(fault), chaos, opened: Opened::default() })
    }
}

#[async_trait]
impl Tenants for Broken {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        Arc::new(BrokenStore {
            own: self.opened.open(tenant, || self.memory.open(tenant)),
            opened: Arc::clone(&self.opened),
            fault: Arc::clone(&self.fault),
            chaos: Arc::clone(&self.chaos),
        })
    }

    async fn ready(&self) -> Result<Readiness> {
        self.memory.ready().await
    }
}

struct BrokenStore {
    own: Arc<dyn Store>,
    opened: Opened,
    fault: Arc<dyn Fault>,
    chaos: Arc<Chaos>,
}

/// Whether a connection may send this call again: what is filed carries an attempt, by which it is
/// told from a second one, and a read changes nothing.
fn repeats(method: &str) -> bool {
    !(method.starts_with("save_") || ["accept_clock", "convene", "put_document"].contains(&method))
}

/// The port, twice: as a [`Fault`], whose methods are right unless it says otherwise, and as the
/// [`BrokenStore`] that goes by it.
macro_rules! port {
    ($($part:ident { $($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)* })*) => {
        #[async_trait]
        pub(crate) trait Fault: Send + Sync + 'static {$($(
            async fn $method(&self, worlds: &Worlds, $($name: $type),*) -> Result<$answer> {
                worlds.own.$method($($name),*).await
            }
        )*)*}

        $(
            #[async_trait]
            impl $part for BrokenStore {$(
                async fn $method(&self, $($name: $type),*) -> Result<$answer> {
                    let worlds = &self.opened.seen_from(&self.own);
                    let call = || self.fault.$method(worlds, $($name),*);
                    self.chaos.carry(repeats(stringify!($method)), call).await
                }
            )*}
        )*
    };
}

port! {
    Clock {
        now() -> Timestamp;
    }
    Members {
        member(id: &MemberId) -> MemberBasis;
        members(query: &MemberQuery) -> Vec<Arc<Member>>;
        bearer(token: &SecretHash) -> Option<Arc<Member>>;
        save_member(change: &MemberChange) -> MemberSaved;
        give_challenge(offer: &ChallengeOffer) -> Challenge;
    }
    Sessions {
        session(id: SessionId) -> Option<Versioned<Session>>;
        sessions(query: &SessionQuery) -> Vec<Arc<Session>>;
        published(limit: usize) -> Vec<Arc<Session>>;
        convene(convocation: &Convocation) -> Arc<Session>;
        save_session(change: &SessionChange) -> Saved;
    }
    Takes {
        basis(query: &BasisQuery<'_>) -> Basis;
        file(filing: &Filing) -> Filed;
        take(id: TakeId) -> Option<TakeOnFile>;
        takes(session: SessionId) -> Vec<Arc<Take>>;
        latest_takes(query: &TakeQuery) -> Vec<Arc<Take>>;
    }
    Documents {
        document(collection: Collection, key: &str) -> Option<Document>;
        documents(collection: Collection, group: Option<&str>) -> Vec<Document>;
        put_document(collection: Collection, draft: &DocumentDraft) -> Put;
    }
    Log {
        accept_clock(act: &Act) -> ();
        log(after: Seq, limit: usize) -> Vec<LogRow>;
        log_size() -> Seq;
        acts_on(session: SessionId) -> Vec<LogRow>;
    }
    Counts {
        count(what: Countable) -> u64;
    }
    Outbox {
        messages(state: Option<MailState>, after: Option<MessageId>) -> Vec<Versioned<Message>>;
        save_message(change: &MessageChange) -> Saved;
    }
}

/// No fault.
#[derive(Default)]
pub(crate) struct Intact;

impl Fault for Intact {}

tokio::task_local! {
    /// What the clock of the store behind the fault shows, where a fault says so.
    pub(crate) static SHOWN: Timestamp;
}

/// The time, or what a fault shows in place of it.
#[allow(clippy::disallowed_methods, reason = "the clock of the store under test")]
pub(crate) fn time() -> Timestamp {
    SHOWN.try_with(|shown| *shown).unwrap_or_else(|_| {
        let since_1970 = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        Timestamp::EPOCH.plus_millis(i64::try_from(since_1970.as_millis()).unwrap())
    })
}
