//! A right committee with a fault in front of it.

use std::sync::{Arc, Mutex};

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

use crate::broken::time;

/// What a faulty method can reach.
pub(crate) type At = crate::broken::At<dyn CommitteeStore>;

/// A committee whose methods go by its fault.
pub(crate) struct Broken {
    memory: MemoryStore,
    fault: Arc<dyn Fault>,
    opened: Opened,
}

type Opened = Arc<Mutex<Vec<(TenantId, Arc<dyn CommitteeStore>)>>>;

impl Broken {
    pub(crate) fn store(fault: impl Fault) -> Arc<dyn CommitteeTenants> {
        let memory = MemoryStore::with_clock(time);
        Arc::new(Self { memory, fault: Arc::new(fault), opened: Opened::default() })
    }
}

impl CommitteeTenants for Broken {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        let mut opened = self.opened.lock().unwrap();
        let known = opened.iter().find(|(known, _)| known == tenant);
        let own = known.map(|(_, store)| Arc::clone(store));
        let own = own.unwrap_or_else(|| {
            let store = self.memory.open_committee(tenant);
            opened.push((tenant.clone(), Arc::clone(&store)));
            store
        });
        let (fault, opened) = (Arc::clone(&self.fault), Arc::clone(&self.opened));
        Arc::new(World { own, opened, fault })
    }
}

struct World {
    own: Arc<dyn CommitteeStore>,
    opened: Opened,
    fault: Arc<dyn Fault>,
}

impl World {
    fn at(&self) -> At {
        let opened = self.opened.lock().unwrap();
        let all = opened.iter().map(|(_, store)| Arc::clone(store)).collect();
        At { own: Arc::clone(&self.own), all }
    }
}

/// The port of the committee, twice: as a [`Fault`], whose methods are right unless it says
/// otherwise, and as the [`World`] that goes by it.
macro_rules! port {
    ($($part:ident { $($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)* })*) => {
        #[async_trait]
        pub(crate) trait Fault: Send + Sync + 'static {$($(
            async fn $method(&self, at: &At, $($name: $type),*) -> Result<$answer> {
                at.own.$method($($name),*).await
            }
        )*)*}

        $(
            #[async_trait]
            impl $part for World {$(
                async fn $method(&self, $($name: $type),*) -> Result<$answer> {
                    self.fault.$method(&self.at(), $($name),*).await
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
