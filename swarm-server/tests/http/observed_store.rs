//! An interceptor that calls a listener before and after each call of a store. The listener may fail, panic or write
//! to the store. Each call yields like one over a network, so other requests interleave.

use std::borrow::Cow;
use std::sync::Arc;

use swarm_core::TenantId;
use swarm_core::store::backend::{
    Append, Backend, CommitOutcome, Operation, Query, Reading, Transaction, Write,
};
use swarm_core::store::{Interceptor, Readiness, Result, Store, async_trait};

/// A store call, as the listener sees it.
pub struct StoreCall<'a> {
    pub op: Operation,
    /// The `{:?}` of the queries or of the transaction, with its texts.
    pub arguments: &'a str,
    /// Whether the store has done its work.
    pub done: bool,
}

/// The store, with this listener to all calls.
pub fn observed_store(
    store: &Store,
    listener: impl Fn(&StoreCall<'_>) -> Result<()> + Send + Sync + 'static,
) -> Store {
    store.intercepted(Arc::new(Observed(listener)))
}

struct Observed<L>(L);

impl<L: Fn(&StoreCall<'_>) -> Result<()> + Send + Sync + 'static> Observed<L> {
    async fn call<T>(
        &self,
        op: Operation,
        arguments: String,
        call: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let arguments = &*arguments;
        tokio::task::yield_now().await;
        (self.0)(&StoreCall { op, arguments, done: false })?;
        let outcome = call.await?;
        (self.0)(&StoreCall { op, arguments, done: true })?;
        tokio::task::yield_now().await;
        Ok(outcome)
    }
}

/// The texts of the records and entries that a transaction writes.
fn texts(transaction: &Transaction) -> Vec<String> {
    let writes = transaction.writes.iter().flat_map(|write| match write {
        Write::Insert { table, body, .. } | Write::Put { table, body, .. } => {
            (0..table.parts.len()).filter_map(|part| body.part(part)).collect::<Vec<_>>()
        }
        _ => Vec::new(),
    });
    let entries = transaction.entries.iter().filter_map(|entry| match entry {
        Append::Entry { body, .. } | Append::Each { body, .. } => body.part(0),
    });
    writes.chain(entries).map(Cow::into_owned).collect()
}

#[async_trait]
impl<L: Fn(&StoreCall<'_>) -> Result<()> + Send + Sync + 'static> Interceptor for Observed<L> {
    async fn read(
        &self,
        next: &dyn Backend,
        tenant: &TenantId,
        op: Operation,
        queries: Vec<Query>,
    ) -> Result<Reading> {
        let arguments = format!("{queries:?}");
        self.call(op, arguments, next.read(tenant, op, queries)).await
    }

    async fn commit(
        &self,
        next: &dyn Backend,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<CommitOutcome> {
        let arguments = format!("{transaction:?} {:?}", texts(&transaction));
        self.call(op, arguments, next.commit(tenant, op, transaction)).await
    }

    async fn ready(&self, next: &dyn Backend) -> Result<Readiness> {
        self.call("ready", String::new(), next.ready()).await
    }
}
