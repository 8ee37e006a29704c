//! A backend with one fault.

use std::collections::BTreeSet;
use std::mem;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use swarm_core::TenantId;
use swarm_core::store::backend::{
    Answer, Backend, Check, CommitOutcome, Entry, Item, Kind, Load, Operation, Query, Range,
    Reading, Row, Snapshot, Transaction, Write,
};
use swarm_core::store::{Changes, Readiness, Result, StoreError, async_trait};
use swarm_store_memory::MemoryBackend;

/// What a backend does wrong: a change of what goes in or comes out, or a wrong call in place of the right one.
#[derive(Clone, Copy)]
pub(super) enum Fault {
    Nothing,
    /// In each query, also of snapshots.
    Query(fn(&mut Query)),
    /// In the range of each query.
    Range(fn(&mut Range)),
    Answer(fn(&mut Answer)),
    /// In the records that a query reads.
    Rows(fn(&Query, &mut Vec<Row>)),
    /// In each record that is read.
    Row(fn(&mut Row)),
    /// In the entries of the log that are read.
    Entries(fn(&mut Vec<Entry>)),
    Reading(fn(&mut Reading)),
    Read(fn(MemoryBackend, TenantId, Vec<Query>) -> BoxFuture<'static, Result<Reading>>),
    Transaction(fn(&mut Transaction)),
    Check(fn(&mut Check)),
    Write(fn(&mut Write)),
    Outcome(fn(&mut CommitOutcome)),
    Commit(fn(MemoryBackend, TenantId, Transaction) -> BoxFuture<'static, Result<CommitOutcome>>),
    /// A snapshot shows the current records.
    SnapshotIsLive,
    Item(fn(&mut Item)),
    /// What is loaded is readable at once.
    LoadedAtOnce,
    LoadedThoughDiscarded,
    /// Each tenant of a load is committed by itself.
    LoadedOneByOne,
    /// Nothing of a tenant is removed.
    NothingRemoved,
    /// Of every tenant.
    EverythingRemoved,
    /// Before a load is committed.
    Loading(fn(&mut Transaction)),
    Tenants(fn(&mut Vec<TenantId>)),
    Changes(fn(&mut Changes)),
    /// Records beside the log are announced too.
    AsideIsAnnounced,
    /// The feed knows only the last process that changed a tenant.
    LastProcessIsAnnounced,
    NotReady,
}

/// A backend in memory with a fault, as one of several processes has it open.
pub(super) struct BrokenBackend {
    pub(super) memory: MemoryBackend,
    pub(super) fault: Fault,
    process: usize,
    /// For each process, the tenants that others have changed.
    announced: Arc<Mutex<Vec<BTreeSet<TenantId>>>>,
}

impl BrokenBackend {
    pub(super) fn over(memory: MemoryBackend, fault: Fault) -> Arc<dyn Backend> {
        Arc::new(Self::processes(memory, fault, 1).remove(0))
    }

    /// The same backend as several processes have it open.
    pub(super) fn processes(memory: MemoryBackend, fault: Fault, number: usize) -> Vec<Self> {
        let announced = Arc::new(Mutex::new(vec![BTreeSet::new(); number]));
        let process = |process| {
            let (memory, announced) = (memory.clone(), Arc::clone(&announced));
            Self { memory, fault, process, announced }
        };
        (0..number).map(process).collect()
    }
}

fn announce(announced: &Mutex<Vec<BTreeSet<TenantId>>>, own: usize, tenant: &TenantId) {
    for (process, tenants) in announced.lock().unwrap().iter_mut().enumerate() {
        if process != own {
            tenants.insert(tenant.clone());
        }
    }
}

#[async_trait]
impl Backend for BrokenBackend {
    async fn read(&self, id: &TenantId, op: Operation, queries: Vec<Query>) -> Result<Reading> {
        let queries = self.fault.queries(queries);
        let reading = match self.fault {
            Fault::Read(read) => read(self.memory.clone(), id.clone(), queries.clone()).await?,
            _ => self.memory.read(id, op, queries.clone()).await?,
        };
        Ok(self.fault.reading(&queries, reading))
    }

    async fn commit(
        &self,
        id: &TenantId,
        op: Operation,
        mut transaction: Transaction,
    ) -> Result<CommitOutcome> {
        match self.fault {
            Fault::Transaction(change) => change(&mut transaction),
            Fault::Check(change) => transaction.checks.iter_mut().for_each(change),
            Fault::Write(change) => transaction.writes.iter_mut().for_each(change),
            _ => {}
        }
        let kind = transaction.kind;
        let mut outcome = match self.fault {
            Fault::Commit(commit) => commit(self.memory.clone(), id.clone(), transaction).await?,
            _ => self.memory.commit(id, op, transaction).await?,
        };
        if kind != Kind::Aside || matches!(self.fault, Fault::AsideIsAnnounced) {
            announce(&self.announced, self.process, id);
        }
        if matches!(self.fault, Fault::LastProcessIsAnnounced) {
            self.announced.lock().unwrap()[self.process].remove(id);
        }
        if let Fault::Outcome(change) = self.fault {
            change(&mut outcome);
        }
        Ok(outcome)
    }

    async fn snapshot(&self, id: &TenantId) -> Result<Box<dyn Snapshot>> {
        let (memory, fault) = (self.memory.clone(), self.fault);
        let taken = memory.snapshot(id).await?;
        Ok(Box::new(BrokenSnapshot { taken, memory, fault, id: id.clone() }))
    }

    async fn load(&self) -> Result<Box<dyn Load>> {
        let (memory, fault) = (self.memory.clone(), self.fault);
        let (announced, process) = (Arc::clone(&self.announced), self.process);
        Ok(Box::new(BrokenLoad { memory, fault, items: Vec::new(), announced, process }))
    }

    async fn tenants(&self) -> Result<Vec<TenantId>> {
        let mut tenants = self.memory.tenants().await?;
        if let Fault::Tenants(change) = self.fault {
            change(&mut tenants);
        }
        Ok(tenants)
    }

    async fn remove(&self, id: &TenantId) -> Result<()> {
        match self.fault {
            Fault::NothingRemoved => return Ok(()),
            Fault::EverythingRemoved => {
                for other in self.memory.tenants().await? {
                    self.memory.remove(&other).await?;
                }
            }
            _ => self.memory.remove(id).await?,
        }
        announce(&self.announced, self.process, id);
        Ok(())
    }

    async fn changes(&self) -> Result<Changes> {
        let mut changes = self.memory.changes().await?;
        let others = mem::take(&mut self.announced.lock().unwrap()[self.process]);
        changes.tenants = Some(others.into_iter().collect());
        if let Fault::Changes(change) = self.fault {
            change(&mut changes);
        }
        Ok(changes)
    }

    async fn ready(&self) -> Result<Readiness> {
        match self.fault {
            Fault::NotReady => Err(StoreError::unavailable("ready", "planted")),
            _ => self.memory.ready().await,
        }
    }
}

impl Fault {
    fn queries(self, mut queries: Vec<Query>) -> Vec<Query> {
        for query in &mut queries {
            match (self, query) {
                (Self::Query(change), query) => change(query),
                (Self::Range(change), Query::Rows(range) | Query::Count(range)) => change(range),
                _ => {}
            }
        }
        queries
    }

    fn reading(self, queries: &[Query], mut reading: Reading) -> Reading {
        for (query, answer) in queries.iter().zip(&mut reading.answers) {
            match (self, answer) {
                (Self::Answer(change), answer) => change(answer),
                (Self::Rows(change), Answer::Rows { rows, .. }) => change(query, rows),
                (Self::Entries(change), Answer::Entries(entries)) => change(entries),
                (Self::Row(change), Answer::Rows { rows, .. }) => rows.iter_mut().for_each(change),
                _ => {}
            }
        }
        if let Self::Reading(change) = self {
            change(&mut reading);
        }
        reading
    }
}

struct BrokenSnapshot {
    taken: Box<dyn Snapshot>,
    memory: MemoryBackend,
    fault: Fault,
    id: TenantId,
}

#[async_trait]
impl Snapshot for BrokenSnapshot {
    async fn read(&mut self, queries: Vec<Query>) -> Result<Reading> {
        let queries = self.fault.queries(queries);
        let reading = match self.fault {
            Fault::SnapshotIsLive => self.memory.read(&self.id, "snapshot", queries.clone()).await,
            _ => self.taken.read(queries.clone()).await,
        };
        Ok(self.fault.reading(&queries, reading?))
    }
}

/// It keeps the items of each tenant until it is committed.
struct BrokenLoad {
    memory: MemoryBackend,
    fault: Fault,
    items: Vec<(TenantId, Vec<Item>)>,
    announced: Arc<Mutex<Vec<BTreeSet<TenantId>>>>,
    process: usize,
}

impl BrokenLoad {
    async fn loaded(&mut self) -> Result<Option<TenantId>> {
        let mut load = self.memory.load().await?;
        let items = mem::take(&mut self.items);
        for (tenant, items) in items.clone() {
            load.write(&tenant, items).await?;
        }
        let used = load.commit().await?;
        if used.is_none() {
            items.iter().for_each(|(id, _)| announce(&self.announced, self.process, id));
        }
        Ok(used)
    }
}

#[async_trait]
impl Load for BrokenLoad {
    async fn write(&mut self, tenant: &TenantId, mut items: Vec<Item>) -> Result<()> {
        if let Fault::Item(change) = self.fault {
            items.iter_mut().for_each(change);
        }
        self.items.push((tenant.clone(), items));
        if matches!(self.fault, Fault::LoadedAtOnce) {
            self.loaded().await?;
        }
        Ok(())
    }

    async fn commit(mut self: Box<Self>) -> Result<Option<TenantId>> {
        if let Fault::Loading(change) = self.fault {
            for (tenant, _) in &self.items {
                let mut transaction = super::transaction();
                change(&mut transaction);
                self.memory.commit(tenant, "load", transaction).await?;
            }
        }
        if !matches!(self.fault, Fault::LoadedOneByOne) {
            return self.loaded().await;
        }
        let (mut used, items) = (None, mem::take(&mut self.items));
        for of_a_tenant in items {
            self.items.push(of_a_tenant);
            used = used.or(self.loaded().await?);
        }
        Ok(used)
    }

    async fn discard(mut self: Box<Self>) -> Result<()> {
        if matches!(self.fault, Fault::LoadedThoughDiscarded) {
            self.loaded().await?;
        }
        Ok(())
    }
}
