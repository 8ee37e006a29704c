//! Checks the lines of a dump, and writes their records to a store.

use swarm_core::TenantId;
use swarm_core::service::dump::{DumpReader, Fault, Totals};
use swarm_core::store::{Restore, Restored, Stored, Transfer};

use super::takes_on_disk::TakesOnDisk;
use super::{no_such_tenant, store_failed};
use crate::command::CommandError;

/// How many records are written at once.
const BATCH: usize = 500;

/// A dump that is checked, and written to a store, if there is one.
pub(super) struct Target<'a> {
    reader: DumpReader,
    store: Option<&'a dyn Transfer>,
    restore: Option<Box<dyn Restore>>,
    /// Only this tenant is written.
    only: Option<TenantId>,
    has_only: bool,
    /// The tenant and the records that are not written yet.
    batch: (Option<TenantId>, Vec<Stored>),
}

impl<'a> Target<'a> {
    /// Begins to restore into this store; without one, only checks.
    pub(super) async fn begin(
        store: Option<&'a dyn Transfer>,
        only: Option<TenantId>,
    ) -> Result<Self, CommandError> {
        let restore = match store {
            Some(store) => Some(store.restore().await.map_err(|error| store_failed(&error))?),
            None => None,
        };
        let (reader, batch) = (DumpReader::with_index(TakesOnDisk::new()?), (None, Vec::new()));
        Ok(Self { reader, store, restore, only, has_only: false, batch })
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
            self.check_free(&tenant).await?;
            self.batch.0 = Some(tenant);
        }
        self.batch.1.push(record);
        if self.batch.1.len() >= BATCH { self.flush().await } else { Ok(()) }
    }

    /// Checks that the dump is complete, and commits.
    pub(super) async fn finish(mut self) -> Result<Totals, CommandError> {
        self.flush().await?;
        let totals = self.reader.finish().map_err(|fault| faulty(&fault))?;
        if let Some(only) = self.only.as_ref().filter(|_| !self.has_only) {
            return Err(no_such_tenant("the dump", only));
        }
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
        let records = std::mem::take(&mut self.batch.1);
        let (Some(restore), Some(tenant)) = (&mut self.restore, &self.batch.0) else {
            return Ok(());
        };
        if records.is_empty() {
            return Ok(());
        }
        restore.write(tenant, records).await.map_err(|error| store_failed(&error))
    }

    /// Refuses early; the commit checks again.
    async fn check_free(&self, tenant: &TenantId) -> Result<(), CommandError> {
        let Some(store) = self.store else { return Ok(()) };
        let used = store.tenants().await.map_err(|error| store_failed(&error))?;
        if used.contains(tenant) { Err(occupied(tenant)) } else { Ok(()) }
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
