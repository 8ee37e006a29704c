//! `swarm dump`, `swarm restore`, `swarm copy` and `swarm remove`: move tenants between stores, and out of them (MANUAL.md, 13.3).

mod arguments;
mod copy;
mod dump;
#[cfg(feature = "sqlite")]
mod index_on_disk;
mod opened;
mod read_ahead;
mod remove;
mod restore;
mod signatures;
mod target;

use swarm_core::store::Stored;
use swarm_core::{StoreError, StoreErrorKind, TenantId};

pub(crate) use arguments::{CopyOptions, DumpOptions, RemoveOptions, RestoreOptions};

use crate::command::Progress;
use crate::failure::{CommandError, with_causes};

/// The name of this program in the first line of a dump.
const PROGRAM: &str = concat!("swarm ", env!("CARGO_PKG_VERSION"));

pub(crate) use copy::run as copy;
pub(crate) use dump::run as dump;
pub(crate) use remove::run as remove;
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

/// A bar over the rows of the logs, which are most of a tenant's records; their number grows with each tenant.
fn entries_progress() -> Progress {
    Progress::new(Some(0), "{bar:30} {pos}/{len} entries {elapsed} (eta {eta})")
}

/// Counts a record of a dump.
fn count_record(progress: &Progress, record: &Stored) {
    match record {
        Stored::Head(head) => progress.add_length(head.log.0),
        Stored::Log(_) => progress.add(1),
        _ => {}
    }
}

/// A bar for a file of this many bytes; without a number, a counter of bytes.
fn bytes_progress(length: Option<u64>) -> Progress {
    let template = match length {
        Some(_) => "{bar:30} {bytes}/{total_bytes} {elapsed} (eta {eta})",
        None => "{spinner} {bytes} {elapsed}",
    };
    Progress::new(length, template)
}
