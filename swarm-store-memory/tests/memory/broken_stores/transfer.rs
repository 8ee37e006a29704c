//! Faults of dump and restore.

use std::sync::Arc;

use swarm_core::domain::{Logged, Member, TenantId};
use swarm_core::store::{
    CommitteeStore, CommitteeTenants, Dump, Readiness, Restore, Restored, Result, Store, Stored,
    StoredDocument, Tenants, Transfer, async_trait,
};
use swarm_store_memory::MemoryStore;

pub(super) const CASES: &[&str] = caught::CASES;

mod caught {
    use std::sync::Arc;

    use swarm_testing::conformance as suite;

    use super::super as planted;
    use super::{Broken, Fault};

    fn broken(fault: impl Fault) -> Arc<Broken> {
        Arc::new(Broken { memory: Default::default(), fault: Arc::new(fault) })
    }

    crate::broken_stores::plant! {
        transfer {
            ChallengesCount      => unused_tenant_has_only_a_head;
            TenantsInAnyOrder    => used_tenants_are_listed_by_id;
            LastEntryLeftOut     => restored_tenant_dumps_the_same;
            TokensForgotten      => restored_tenant_reads_the_same;
            GroupsForgotten      => restored_tenant_reads_the_same restored_tenant_dumps_the_same;
            NoncesForgotten      => restored_tenant_keeps_its_guards;
            MessagesForgotten    => restored_tenant_dumps_the_same;
            HeadForgotten        => restored_tenant_continues_its_ids;
            SubmissionsForgotten => restored_committee_keeps_its_quotas;
            ReadWhenAsked        => dump_shows_one_moment;
            OccupiedAccepted     => tenant_with_records_is_not_restored_into
                tenant_used_meanwhile_is_not_restored_into;
            CommittedAtOnce      => restore_without_commit_leaves_nothing;
            OneTenantForAll      => tenants_restored_together_are_separate;
        }
    }
}

/// A fault in front of a store in memory. The defaults are correct.
pub(crate) trait Fault: Send + Sync + 'static {
    fn listed(&self, tenants: Vec<TenantId>) -> Vec<TenantId> {
        tenants
    }

    fn dumped(&self, records: Vec<Stored>) -> Vec<Stored> {
        records
    }

    fn written(&self, record: Stored) -> Option<Stored> {
        Some(record)
    }

    fn tenant<'a>(&self, _first: &'a TenantId, tenant: &'a TenantId) -> &'a TenantId {
        tenant
    }

    fn committed(&self, outcome: Restored) -> Restored {
        outcome
    }

    /// Whether a dump is read only when the records are asked for.
    fn reads_late(&self) -> bool {
        false
    }

    /// Whether each batch is committed.
    fn commits_at_once(&self) -> bool {
        false
    }
}

pub(crate) struct Broken {
    memory: MemoryStore,
    fault: Arc<dyn Fault>,
}

#[async_trait]
impl Tenants for Broken {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        self.memory.open(tenant)
    }

    fn open_dry_run(&self, tenant: &TenantId) -> Arc<dyn Store> {
        self.memory.open_dry_run(tenant)
    }

    async fn ready(&self) -> Result<Readiness> {
        self.memory.ready().await
    }
}

impl CommitteeTenants for Broken {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        self.memory.open_committee(tenant)
    }

    fn open_committee_dry_run(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        self.memory.open_committee_dry_run(tenant)
    }
}

#[async_trait]
impl Transfer for Broken {
    async fn tenants(&self) -> Result<Vec<TenantId>> {
        Ok(self.fault.listed(self.memory.tenants().await?))
    }

    async fn dump(&self, tenant: &TenantId) -> Result<Box<dyn Dump>> {
        let mut dump = BrokenDump {
            memory: self.memory.clone(),
            fault: Arc::clone(&self.fault),
            tenant: tenant.clone(),
            records: None,
        };
        if !self.fault.reads_late() {
            dump.read().await?;
        }
        Ok(Box::new(dump))
    }

    async fn restore(&self) -> Result<Box<dyn Restore>> {
        let restore = Transfer::restore(&self.memory).await?;
        let (memory, fault) = (self.memory.clone(), Arc::clone(&self.fault));
        Ok(Box::new(BrokenRestore { memory, fault, restore, first: None }))
    }

    async fn remove(&self, tenant: &TenantId) -> Result<()> {
        Transfer::remove(&self.memory, tenant).await
    }
}

struct BrokenDump {
    memory: MemoryStore,
    fault: Arc<dyn Fault>,
    tenant: TenantId,
    records: Option<Vec<Stored>>,
}

impl BrokenDump {
    async fn read(&mut self) -> Result<()> {
        let mut dump = self.memory.dump(&self.tenant).await?;
        let mut records = Vec::new();
        loop {
            let batch = dump.next().await?;
            if batch.is_empty() {
                break;
            }
            records.extend(batch);
        }
        self.records = Some(self.fault.dumped(records));
        Ok(())
    }
}

#[async_trait]
impl Dump for BrokenDump {
    async fn next(&mut self) -> Result<Vec<Stored>> {
        if self.records.is_none() {
            self.read().await?;
        }
        Ok(self.records.replace(Vec::new()).unwrap_or_default())
    }
}

struct BrokenRestore {
    memory: MemoryStore,
    fault: Arc<dyn Fault>,
    restore: Box<dyn Restore>,
    first: Option<TenantId>,
}

#[async_trait]
impl Restore for BrokenRestore {
    async fn write(&mut self, tenant: &TenantId, records: Vec<Stored>) -> Result<()> {
        let first = self.first.get_or_insert_with(|| tenant.clone());
        let tenant = self.fault.tenant(first, tenant);
        let records: Vec<_> = records.into_iter().filter_map(|it| self.fault.written(it)).collect();
        if self.fault.commits_at_once() {
            let mut restore = Transfer::restore(&self.memory).await?;
            restore.write(tenant, records.clone()).await?;
            let _ = restore.commit().await?;
        }
        self.restore.write(tenant, records).await
    }

    async fn commit(self: Box<Self>) -> Result<Restored> {
        let outcome = self.restore.commit().await?;
        Ok(self.fault.committed(outcome))
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        self.restore.discard().await
    }
}

macro_rules! faults {
    ($($name:ident { $($method:tt)* })*) => {$(
        #[derive(Default)]
        pub(crate) struct $name;

        impl Fault for $name { $($method)* }
    )*};
}

faults! {
    ChallengesCount {
        fn dumped(&self, mut records: Vec<Stored>) -> Vec<Stored> {
            if let Some(Stored::Head(head)) = records.first_mut() {
                head.messages.0 += 1;
            }
            records
        }
    }

    TenantsInAnyOrder {
        fn listed(&self, tenants: Vec<TenantId>) -> Vec<TenantId> {
            tenants.into_iter().rev().collect()
        }
    }

    LastEntryLeftOut {
        fn dumped(&self, mut records: Vec<Stored>) -> Vec<Stored> {
            records.pop();
            records
        }
    }

    TokensForgotten {
        fn written(&self, record: Stored) -> Option<Stored> {
            let Stored::Member(member) = record else { return Some(record) };
            Some(Stored::Member(Arc::new(Member { token: None, ..Member::clone(&member) })))
        }
    }

    GroupsForgotten {
        fn written(&self, record: Stored) -> Option<Stored> {
            let Stored::Document(document) = record else { return Some(record) };
            Some(Stored::Document(StoredDocument { group: String::new(), ..document }))
        }
    }

    NoncesForgotten {
        fn written(&self, record: Stored) -> Option<Stored> {
            match &record {
                Stored::Log(row) if matches!(row.logged, Logged::Take(_)) => None,
                _ => Some(record),
            }
        }
    }

    MessagesForgotten {
        fn written(&self, record: Stored) -> Option<Stored> {
            (!matches!(record, Stored::Message(_))).then_some(record)
        }
    }

    HeadForgotten {
        fn written(&self, record: Stored) -> Option<Stored> {
            (!matches!(record, Stored::Head(_))).then_some(record)
        }
    }

    SubmissionsForgotten {
        fn written(&self, record: Stored) -> Option<Stored> {
            match &record {
                Stored::Log(row) if matches!(row.logged, Logged::CommitteeTake(_)) => None,
                _ => Some(record),
            }
        }
    }

    ReadWhenAsked {
        fn reads_late(&self) -> bool {
            true
        }
    }

    OccupiedAccepted {
        fn committed(&self, _: Restored) -> Restored {
            Restored::Complete
        }
    }

    CommittedAtOnce {
        fn commits_at_once(&self) -> bool {
            true
        }
    }

    OneTenantForAll {
        fn tenant<'a>(&self, first: &'a TenantId, _: &'a TenantId) -> &'a TenantId {
            first
        }
    }
}
