//! The stores that tenants are moved between.

use std::fs;
use std::path::PathBuf;

use swarm_core::store::Store;

use crate::failure::CommandError;
use crate::{Failure, store};

/// Opens an existing store to dump its tenants.
pub(super) async fn to_dump(address: &str) -> Result<Store, CommandError> {
    store::exists(address).map_err(usage)?;
    Ok(store::open_to_dump(address).await.map_err(unreached)?.store)
}

/// Opens an existing store to remove a tenant.
pub(super) async fn to_remove(address: &str) -> Result<Store, CommandError> {
    store::exists(address).map_err(usage)?;
    Ok(store::open(address).await.map_err(unreached)?.store)
}

/// A store that tenants are restored into.
pub(super) struct OpenedTarget {
    store: Store,
    /// The file that was created for it.
    new_file: Option<PathBuf>,
}

impl OpenedTarget {
    /// Opens a store. A missing file is created.
    pub(super) async fn open(address: &str) -> Result<Self, CommandError> {
        store::check(address).and_then(|()| store::outlives(address)).map_err(usage)?;
        let new_file = store::new_file(address);
        new_file.as_deref().map(store::may_be_made).transpose().map_err(usage)?;
        Ok(Self { store: store::open(address).await.map_err(unreached)?.store, new_file })
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// After a restore that failed: removes a file that was created for it.
    pub(super) fn remove_if_new(self) {
        let Self { store, new_file } = self;
        // Closes the file.
        drop(store);
        for ending in ["", "-wal", "-shm"] {
            if let Some(path) = &new_file {
                let mut name = path.clone().into_os_string();
                name.push(ending);
                // It may be gone already.
                let _ = fs::remove_file(name);
            }
        }
    }
}

pub(super) fn usage(failure: Failure) -> CommandError {
    CommandError::Usage(failure.to_string())
}

fn unreached(failure: Failure) -> CommandError {
    CommandError::Unreached(failure.to_string())
}
