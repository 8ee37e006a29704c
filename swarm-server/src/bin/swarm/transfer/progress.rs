//! The progress of a command that moves tenants.

use swarm_core::store::Stored;

use crate::command::Progress;

/// A bar over the rows of the logs, which are most of a tenant's records; their number grows with each tenant.
pub(super) fn of_entries() -> Progress {
    Progress::new(Some(0), "{bar:30} {pos}/{len} entries {elapsed} (eta {eta})")
}

/// Counts a record of a dump.
pub(super) fn count(progress: &Progress, record: &Stored) {
    match record {
        Stored::Head(head) => progress.add_length(head.log.0),
        Stored::Log(_) => progress.add(1),
        _ => {}
    }
}

/// A bar for a file of so many bytes; without a number, a count of the bytes.
pub(super) fn of_bytes(length: Option<u64>) -> Progress {
    let template = match length {
        Some(_) => "{bar:30} {bytes}/{total_bytes} {elapsed} (eta {eta})",
        None => "{spinner} {bytes} {elapsed}",
    };
    Progress::new(length, template)
}
