//! `swarm dump`, `swarm restore` and `swarm copy`: move tenants between stores (API.md, 13.3).

mod arguments;
mod copy;
mod dump;
#[cfg(feature = "sqlite")]
mod index_on_disk;
mod opened;
mod progress;
mod restore;
mod target;

use swarm_core::{StoreError, StoreErrorKind, TenantId};

pub(crate) use arguments::{CopyOptions, DumpOptions, RestoreOptions};

use crate::command::CommandError;
use crate::failure::with_causes;

/// What the first line of a dump calls this program.
const PROGRAM: &str = concat!("swarm ", env!("CARGO_PKG_VERSION"));

pub(crate) use copy::run as copy;
pub(crate) use dump::run as dump;
pub(crate) use restore::run as restore;

/// The failure of a store as the error of a command.
fn store_failed(error: &StoreError) -> CommandError {
    let text = with_causes("store", error);
    match error.kind() {
        StoreErrorKind::Unavailable => CommandError::Unreached(text),
        _ => CommandError::Refused(text),
    }
}

fn no_such_tenant(place: &str, tenant: &TenantId) -> CommandError {
    CommandError::Refused(format!("{place} has no tenant {tenant}: nothing was written"))
}
