//! Checks the lines of a dump, and writes their records to a store.

use std::collections::BTreeSet;

use swarm_core::TenantId;
use swarm_core::service::dump::{DumpReader, Fault, Totals};
use swarm_core::store::{Restore, Restored, Store, Stored};

use super::opened::OpenedTarget;
use super::signatures::Signer;
use super::{no_such_tenant, store_failed};
use crate::failure::CommandError;

/// How many records are written at once, and the length of their lines in bytes: a session may have a long snapshot.
const MAX_BATCH: usize = 500;
const MAX_BATCH_BYTES: usize = 4 << 20;

/// A dump that is checked, and written to a store, if there is one.
pub(super) struct Target {
    reader: DumpReader,
    restore: Option<Restore>,
    /// The tenants that have records. They are refused early; the commit checks again.
    occupied: BTreeSet<TenantId>,
    /// Only this tenant is written.
    only: Option<TenantId>,
    has_only: bool,
    signer: Signer,
    batch: Batch,
}

/// The tenant and the records that are not written yet, and the length of their lines.
#[derive(Default)]
struct Batch {
    tenant: Option<TenantId>,
    records: Vec<Stored>,
    bytes: usize,
}

impl Target {
    /// Restores a dump into this store, of one tenant alone if it is given. `send` sends the lines of the dump.
    ///
    /// # Errors
    /// [`CommandError`]; then nothing is written, and a file that was created for the store is removed.
    pub(super) async fn fill(
        opened: OpenedTarget,
        only: Option<TenantId>,
        signer: Signer,
        send: impl AsyncFnOnce(&mut Self) -> Result<(), CommandError>,
    ) -> Result<Totals, CommandError> {
        let filled = match Self::begin(Some(opened.store()), only, signer).await {
            Ok(mut target) => match send(&mut target).await {
                Ok(()) => target.finish().await,
                Err(error) => {
                    target.discard().await;
                    Err(error)
                }
            },
            Err(error) => Err(error),
        };
        filled.inspect_err(|_| opened.remove_if_new())
    }

    /// Begins to restore into this store; without one, only checks.
    pub(super) async fn begin(
        store: Option<&Store>,
        only: Option<TenantId>,
        signer: Signer,
    ) -> Result<Self, CommandError> {
        let (mut restore, mut occupied) = (None, BTreeSet::new());
        if let Some(store) = store {
            let tenants = store.tenants().await.map_err(|error| store_failed(&error))?;
            occupied.extend(tenants);
            restore = Some(store.restore().await.map_err(|error| store_failed(&error))?);
        }
        #[cfg(feature = "sqlite")]
        let reader = DumpReader::with_index(super::index_on_disk::IndexOnDisk::new()?);
        // Its memory grows with the dump.
        #[cfg(not(feature = "sqlite"))]
        let reader = DumpReader::new();
        let batch = Batch::default();
        Ok(Self { reader, restore, occupied, only, has_only: false, signer, batch })
    }

    /// Reads a line.
    pub(super) async fn line(&mut self, text: &[u8]) -> Result<(), CommandError> {
        let Some((tenant, record)) = self.reader.line(text).map_err(|it| faulty(&it))? else {
            return Ok(());
        };
        if self.only.as_ref().is_some_and(|only| *only != tenant) {
            return Ok(());
        }
        self.has_only = true;
        if matches!(record, Stored::Head(_)) {
            self.flush().await?;
            if self.occupied.contains(&tenant) {
                return Err(occupied(&tenant));
            }
            self.batch.tenant = Some(tenant);
        }
        self.batch.records.push(record);
        self.batch.bytes += text.len();
        let is_full = self.batch.records.len() >= MAX_BATCH || self.batch.bytes >= MAX_BATCH_BYTES;
        if is_full { self.flush().await } else { Ok(()) }
    }

    /// Checks that the dump is complete, and commits.
    pub(super) async fn finish(mut self) -> Result<Totals, CommandError> {
        self.flush().await?;
        let totals = self.reader.finish().map_err(|fault| faulty(&fault))?;
        if let Some(only) = self.only.as_ref().filter(|_| !self.has_only) {
            return Err(no_such_tenant("the dump", only));
        }
        self.signer.check(&totals)?;
        if let Some(restore) = self.restore.take() {
            match restore.commit().await.map_err(|error| store_failed(&error))? {
                Restored::Complete => {}
                Restored::Occupied(tenant) => return Err(occupied(&tenant)),
            }
        }
        Ok(totals)
    }

    /// Discards what was written.
    pub(super) async fn discard(self) {
        if let Some(restore) = self.restore {
            // What is left expires, or was never committed.
            let _ = restore.discard().await;
        }
    }

    async fn flush(&mut self) -> Result<(), CommandError> {
        let records = std::mem::take(&mut self.batch.records);
        self.batch.bytes = 0;
        let (Some(restore), Some(tenant)) = (&mut self.restore, &self.batch.tenant) else {
            return Ok(());
        };
        if records.is_empty() {
            return Ok(());
        }
        restore.write(tenant, records).await.map_err(|error| store_failed(&error))
    }
}

fn faulty(fault: &Fault) -> CommandError {
    CommandError::Refused(format!("the dump is refused: {fault}"))
}

fn occupied(tenant: &TenantId) -> CommandError {
    CommandError::Refused(format!(
        "tenant {tenant} has records in the store, and is restored only where it has none: nothing \
         was written"
    ))
}
