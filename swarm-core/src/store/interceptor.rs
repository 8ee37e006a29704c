//! Decorators: what is done with some of the calls on their way to a store.

use std::sync::Arc;

use super::methods::port_methods;
use super::{
    Clock, Committee, CommitteeStore, CommitteeTenants, Counts, Documents, Log, Members, Outbox,
    Readiness, Result, Sessions, Store, Takes, Tenants, async_trait,
};
use crate::domain::TenantId;

/// Declares [`Interceptor`], whose methods pass their call on, and what applies it to a store.
macro_rules! intercept {
    ($($part:ident { $($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)* })*) => {
        /// What is done with calls on their way to a store, for [`Intercepted`]. It has every method
        /// of the port. Each gets the part of the store that is asked as `next`, and passes the call
        /// on to it unless it is written otherwise.
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
        ///         self.0.fetch_add(u64::from(matches!(filed, Filed::Filed(_))), Ordering::Relaxed);
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
    intercept: Clock Members Sessions Takes Documents Outbox Log Counts Committee
);

/// A store whose calls go by an [`Interceptor`].
#[derive(Debug)]
pub struct Intercepted<T, I> {
    store: T,
    interceptor: Arc<I>,
}

impl<T, I: Interceptor> Intercepted<T, I> {
    /// The interceptor in front of the store, for all of its tenants.
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

    async fn ready(&self) -> Result<Readiness> {
        self.store.ready().await
    }
}

impl<T: CommitteeTenants, I: Interceptor> CommitteeTenants for Intercepted<T, I> {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        self.tenant(self.store.open_committee(tenant))
    }
}

struct InterceptedTenant<S: ?Sized, I> {
    store: Arc<S>,
    interceptor: Arc<I>,
}
