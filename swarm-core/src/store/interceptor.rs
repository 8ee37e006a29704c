//! Interceptors: decorators that wrap some of the calls to a store.

use std::sync::Arc;

use super::methods::port_methods;
use super::{
    Clock, Committee, CommitteeStore, CommitteeTenants, Counts, Documents, Log, Members, Outbox,
    Readiness, Result, Sessions, Store, Takes, Tenants, Webhooks, async_trait,
};
use crate::domain::TenantId;

/// Declares [`Interceptor`], whose default methods forward the call, and the wrapper that applies it.
macro_rules! intercept {
    ($($part:ident { $($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)* })*) => {
        /// A decorator of store calls, used with [`Intercepted`]. It has every method of the port,
        /// with the store as an additional argument `next`. The default implementations forward the
        /// call to `next`.
        ///
        /// ```
        /// use std::sync::atomic::{AtomicU64, Ordering};
        ///
        /// use swarm_core::store::{Filed, Filing, Interceptor, Result, Takes, async_trait};
        ///
        /// /// Counts the takes that are filed.
        /// #[derive(Default)]
        /// struct CountFilings(AtomicU64);
        ///
        /// #[async_trait]
        /// impl Interceptor for CountFilings {
        ///     async fn file(&self, next: &dyn Takes, filing: &Filing) -> Result<Filed> {
        ///         let filed = next.file(filing).await?;
        ///         self.0.fetch_add(u64::from(matches!(filed, Filed::Filed(..))), Ordering::Relaxed);
        ///         Ok(filed)
        ///     }
        /// }
        /// ```
        #[async_trait]
        pub trait Interceptor: Send + Sync + 'static {$($(
            #[doc = concat!("[`", stringify!($part), "::", stringify!($method), "`].")]
            async fn $method(&self, next: &dyn $part, $($name: $type),*) -> Result<$answer> {
                next.$method($($name),*).await
            }
        )*)*}

        $(
            #[async_trait]
            impl<S: $part + ?Sized, I: Interceptor> $part for InterceptedTenant<S, I> {$(
                async fn $method(&self, $($name: $type),*) -> Result<$answer> {
                    self.interceptor.$method(&self.store, $($name),*).await
                }
            )*}
        )*
    };
}

port_methods!(
    intercept: Clock Members Sessions Takes Documents Outbox Log Webhooks Counts Committee
);

/// A store whose calls pass through an [`Interceptor`].
#[derive(Debug)]
pub struct Intercepted<T, I> {
    store: T,
    interceptor: Arc<I>,
}

impl<T, I: Interceptor> Intercepted<T, I> {
    /// Puts an interceptor in front of a store, for all tenants.
    pub fn new(store: T, interceptor: Arc<I>) -> Self {
        Self { store, interceptor }
    }

    fn tenant<S: ?Sized>(&self, store: Arc<S>) -> Arc<InterceptedTenant<S, I>> {
        Arc::new(InterceptedTenant { store, interceptor: Arc::clone(&self.interceptor) })
    }
}

#[async_trait]
impl<T: Tenants, I: Interceptor> Tenants for Intercepted<T, I> {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        self.tenant(self.store.open(tenant))
    }

    fn open_dry_run(&self, tenant: &TenantId) -> Arc<dyn Store> {
        self.tenant(self.store.open_dry_run(tenant))
    }

    async fn ready(&self) -> Result<Readiness> {
        self.store.ready().await
    }
}

impl<T: CommitteeTenants, I: Interceptor> CommitteeTenants for Intercepted<T, I> {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        self.tenant(self.store.open_committee(tenant))
    }

    fn open_committee_dry_run(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        self.tenant(self.store.open_committee_dry_run(tenant))
    }
}

struct InterceptedTenant<S: ?Sized, I> {
    store: Arc<S>,
    interceptor: Arc<I>,
}
