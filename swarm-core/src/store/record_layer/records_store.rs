//! Makes a store of a type that wraps [`Records`](super::Records).

/// Implements the traits of a store for a type whose only field is a [`Records`](crate::store::Records) of its backend: a crate for a
/// store exports a type of its own, with its own constructors, and what it documents of `ready` and `changes`.
///
/// ```ignore
/// swarm_core::records_store! {
///     SqliteStore {
///         /// Checks that the file can be read.
///         ready;
///         changes;
///     }
/// }
/// ```
#[macro_export]
macro_rules! records_store {
    ($store:ident { $(#[$of_ready:meta])* ready; $(#[$of_changes:meta])* changes; }) => {
        #[$crate::store::async_trait]
        impl $crate::Tenants for $store {
            fn open(&self, tenant: &$crate::TenantId) -> ::std::sync::Arc<dyn $crate::store::Store> {
                $crate::Tenants::open(&self.0, tenant)
            }

            fn open_dry_run(
                &self,
                tenant: &$crate::TenantId,
            ) -> ::std::sync::Arc<dyn $crate::store::Store> {
                $crate::Tenants::open_dry_run(&self.0, tenant)
            }

            $(#[$of_ready])*
            async fn ready(&self) -> $crate::store::Result<$crate::store::Readiness> {
                $crate::Tenants::ready(&self.0).await
            }
        }

        impl $crate::CommitteeTenants for $store {
            fn open_committee(
                &self,
                tenant: &$crate::TenantId,
            ) -> ::std::sync::Arc<dyn $crate::store::CommitteeStore> {
                $crate::CommitteeTenants::open_committee(&self.0, tenant)
            }

            fn open_committee_dry_run(
                &self,
                tenant: &$crate::TenantId,
            ) -> ::std::sync::Arc<dyn $crate::store::CommitteeStore> {
                $crate::CommitteeTenants::open_committee_dry_run(&self.0, tenant)
            }
        }

        #[$crate::store::async_trait]
        impl $crate::store::ChangeFeed for $store {
            $(#[$of_changes])*
            async fn changes(&self) -> $crate::store::Result<$crate::store::Changes> {
                $crate::store::ChangeFeed::changes(&self.0).await
            }
        }

        #[$crate::store::async_trait]
        impl $crate::store::Transfer for $store {
            async fn tenants(&self) -> $crate::store::Result<::std::vec::Vec<$crate::TenantId>> {
                $crate::store::Transfer::tenants(&self.0).await
            }

            async fn dump(
                &self,
                tenant: &$crate::TenantId,
            ) -> $crate::store::Result<::std::boxed::Box<dyn $crate::store::Dump>> {
                $crate::store::Transfer::dump(&self.0, tenant).await
            }

            async fn restore(
                &self,
            ) -> $crate::store::Result<::std::boxed::Box<dyn $crate::store::Restore>> {
                $crate::store::Transfer::restore(&self.0).await
            }

            async fn remove(&self, tenant: &$crate::TenantId) -> $crate::store::Result<()> {
                $crate::store::Transfer::remove(&self.0, tenant).await
            }
        }
    };
}
