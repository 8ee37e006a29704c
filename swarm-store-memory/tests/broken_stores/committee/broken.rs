//! A right committee with a fault in front of it.

use std::sync::Arc;

use swarm_core::CommitteeTenants;
use swarm_core::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeTake,
};
use swarm_core::domain::{Act, ApiKeyHash, Day, LogRow, Seq, SessionId, TenantId, Timestamp};
use swarm_core::store::{
    Clock, Collection, Committee, CommitteeBasis, CommitteeDayChange, CommitteeFiled,
    CommitteeFiling, CommitteeMemberChange, CommitteeSessionQuery, CommitteeStore,
    CommitteeTakesQuery, Document, DocumentDraft, Documents, Log, Put, Result, Saved, Versioned,
    async_trait,
};
use swarm_store_memory::MemoryStore;

use crate::broken::{OpenedWorlds, time};

/// What a faulty method can reach.
pub(crate) type Worlds = crate::broken::Worlds<dyn CommitteeStore>;

/// A committee whose methods go by its fault.
pub(crate) struct Broken {
    memory: MemoryStore,
    fault: Arc<dyn Fault>,
    opened: Opened,
}

type Opened = Arc<OpenedWorlds<dyn CommitteeStore>>;

impl Broken {
    pub(crate) fn store(fault: impl Fault) -> Arc<dyn CommitteeTenants> {
        let memory = MemoryStore::with_clock(time);
        Arc::new(Self { memory, fault: Arc::new(fault), opened: Opened::default() })
    }
}

impl CommitteeTenants for Broken {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        let own = self.opened.open(tenant, || self.memory.open_committee(tenant));
        let (fault, opened) = (Arc::clone(&self.fault), Arc::clone(&self.opened));
        Arc::new(BrokenCommittee { own, opened, fault })
    }
}

struct BrokenCommittee {
    own: Arc<dyn CommitteeStore>,
    opened: Opened,
    fault: Arc<dyn Fault>,
}

/// The port of the committee, twice: as a [`Fault`], whose methods are right unless it says
/// otherwise, and as the [`BrokenCommittee`] that goes by it.
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
            impl $part for BrokenCommittee {$(
                async fn $method(&self, $($name: $type),*) -> Result<$answer> {
                    let worlds = &self.opened.seen_from(&self.own);
                    self.fault.$method(worlds, $($name),*).await
                }
            )*}
        )*
    };
}

port! {
    Clock {
        now() -> Timestamp;
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
    Committee {
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
    }
}

/// No fault.
#[derive(Default)]
pub(crate) struct Intact;

impl Fault for Intact {}
