//! The records of a tenant that is dumped: some are read while others are written.

use swarm_core::TenantId;
use swarm_core::store::{Store, StoreError, Stored};
use tokio::sync::mpsc::{self, Receiver};

use super::store_failed;
use crate::failure::CommandError;

/// Batches of a few hundred records that are read before they are wanted.
const AHEAD: usize = 2;

/// The records of a tenant at one moment, in batches.
pub(super) struct ReadAhead(Receiver<Result<Vec<Stored>, StoreError>>);

impl ReadAhead {
    /// Begins to read.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(super) async fn of(store: &Store, tenant: &TenantId) -> Result<Self, CommandError> {
        let mut dump = store.dump(tenant).await.map_err(|error| store_failed(&error))?;
        let (batches, receiver) = mpsc::channel(AHEAD);
        tokio::spawn(async move {
            loop {
                let batch = dump.next().await;
                let is_last = batch.as_ref().is_ok_and(Vec::is_empty) || batch.is_err();
                // Nobody receives it if the writing failed.
                if batches.send(batch).await.is_err() || is_last {
                    break;
                }
            }
        });
        Ok(Self(receiver))
    }

    /// The next records; none at the end.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) async fn next(&mut self) -> Result<Vec<Stored>, CommandError> {
        match self.0.recv().await {
            Some(batch) => batch.map_err(|error| store_failed(&error)),
            None => Err(CommandError::Refused("the store is not read any more".to_owned())),
        }
    }
}
