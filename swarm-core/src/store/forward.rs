//! Implements the port for `&T`, `Box<T>` and `Arc<T>`.

use std::sync::Arc;

use super::methods::port_methods;
use super::{
    Clock, Committee, CommitteeStore, CommitteeTenants, Counts, Documents, Log, Members, Outbox,
    Readiness, Result, Sessions, Store, Takes, Tenants, Webhooks, async_trait,
};
use crate::domain::TenantId;

macro_rules! forward {
    ($($part:ident { $($methods:tt)* })*) => {$(
        forward!(@ $part, &T, $($methods)*);
        forward!(@ $part, Box<T>, $($methods)*);
        forward!(@ $part, Arc<T>, $($methods)*);
    )*};
    (@ $part:ident, $pointer:ty, $($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)*) => {
        #[async_trait]
        impl<T: $part + ?Sized> $part for $pointer {
            $(async fn $method(&self $(, $name: $type)*) -> Result<$answer> {
                (**self).$method($($name),*).await
            })*
        }
    };
}

port_methods!(
    forward: Clock Members Sessions Takes Documents Outbox Log Webhooks Counts Committee
);

macro_rules! forward_tenants {
    ($($pointer:ty),*) => {$(
        #[async_trait]
        impl<T: Tenants + ?Sized> Tenants for $pointer {
            fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
                (**self).open(tenant)
            }

            fn open_dry_run(&self, tenant: &TenantId) -> Arc<dyn Store> {
                (**self).open_dry_run(tenant)
            }

            async fn ready(&self) -> Result<Readiness> {
                (**self).ready().await
            }
        }

        impl<T: CommitteeTenants + ?Sized> CommitteeTenants for $pointer {
            fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
                (**self).open_committee(tenant)
            }

            fn open_committee_dry_run(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
                (**self).open_committee_dry_run(tenant)
            }
        }
    )*};
}

forward_tenants!(&T, Box<T>, Arc<T>);
