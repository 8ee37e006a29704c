//! Committee stores with a fault.

use swarm_core::store::{Clock, Committee, CommitteeStore, Documents, Log, Result, async_trait};

use crate::broken_stores::broken::faults;

type Port = dyn CommitteeStore;

/// What a faulty method has access to.
pub(crate) type TenantStores = crate::broken_stores::broken::TenantStores<Port>;

swarm_core::port_methods!(faults: Clock Documents Committee Log);
