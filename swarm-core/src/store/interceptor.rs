//! Interceptors: decorators of a store.

use std::sync::Arc;

use super::backend::{
    Backend, CommitOutcome, Load, Operation, Query, Reading, Snapshot, Transaction,
};
use super::{Changes, Readiness, Result, async_trait};
use crate::domain::TenantId;

/// Declares [`Interceptor`], whose default methods pass the call on, and the backend that applies one.
macro_rules! intercept {
    ($($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)*) => {
        /// A decorator of a store: it has the methods of a [`Backend`], with the backend as an additional argument `next`. The default
        /// implementations pass the call on. [`Store::intercepted`](super::Store::intercepted) applies it, for all tenants.
        ///
        /// ```
        /// use std::sync::atomic::{AtomicU64, Ordering};
        ///
        /// use swarm_core::TenantId;
        /// use swarm_core::store::backend::{Backend, Decision, Operation, CommitOutcome, Transaction};
        /// use swarm_core::store::{Interceptor, Result, async_trait};
        ///
        /// /// Counts the takes that are filed.
        /// #[derive(Default)]
        /// struct CountFilings(AtomicU64);
        ///
        /// #[async_trait]
        /// impl Interceptor for CountFilings {
        ///     async fn commit(
        ///         &self,
        ///         next: &dyn Backend,
        ///         tenant: &TenantId,
        ///         op: Operation,
        ///         transaction: Transaction,
        ///     ) -> Result<CommitOutcome> {
        ///         let outcome = next.commit(tenant, op, transaction).await?;
        ///         let is_filed = op == "file" && matches!(outcome.decision, Decision::Committed(_));
        ///         self.0.fetch_add(u64::from(is_filed), Ordering::Relaxed);
        ///         Ok(outcome)
        ///     }
        /// }
        /// ```
        #[async_trait]
        pub trait Interceptor: Send + Sync + 'static {$(
            #[doc = concat!("[`Backend::", stringify!($method), "`].")]
            async fn $method(&self, next: &dyn Backend, $($name: $type),*) -> Result<$answer> {
                next.$method($($name),*).await
            }
        )*}

        #[async_trait]
        impl<I: Interceptor> Backend for Intercepted<I> {$(
            async fn $method(&self, $($name: $type),*) -> Result<$answer> {
                self.interceptor.$method(&*self.next, $($name),*).await
            }
        )*}
    };
}

intercept! {
    read(tenant: &TenantId, op: Operation, queries: Vec<Query>) -> Reading;
    commit(tenant: &TenantId, op: Operation, transaction: Transaction) -> CommitOutcome;
    snapshot(tenant: &TenantId) -> Box<dyn Snapshot>;
    load() -> Box<dyn Load>;
    tenants() -> Vec<TenantId>;
    remove(tenant: &TenantId) -> ();
    changes() -> Changes;
    ready() -> Readiness;
}

/// A backend whose calls pass through an [`Interceptor`].
struct Intercepted<I> {
    next: Arc<dyn Backend>,
    interceptor: Arc<I>,
}

pub(super) fn intercepted(
    next: &Arc<dyn Backend>,
    interceptor: Arc<impl Interceptor>,
) -> Arc<dyn Backend> {
    Arc::new(Intercepted { next: Arc::clone(next), interceptor })
}
