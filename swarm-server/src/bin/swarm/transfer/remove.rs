//! `swarm remove`: removes a tenant from a store.

use super::arguments::RemoveOptions;
use super::dump::tenants;
use super::opened::{to_remove, usage};
use super::store_failed;
use crate::command::{confirm, note};
use crate::failure::CommandError;

/// Asks, and removes the tenant.
///
/// # Errors
/// [`CommandError`]; after an error of the store a part may be removed.
pub(crate) async fn run(options: RemoveOptions) -> Result<(), CommandError> {
    let RemoveOptions { source, tenant, yes } = options;
    let config = source.resolve().map_err(usage)?;
    let store = to_remove(&config.store).await?;
    tenants(&store, Some(&tenant)).await?;
    let what = format!(
        "removes the members, sessions, takes, documents, committee and log of tenant {tenant}. Its published proofs can no longer be \
         checked against its log"
    );
    confirm(&what, yes)?;
    store.remove(&tenant).await.map_err(|error| store_failed(&error))?;
    note(&format!("removed {tenant}"));
    Ok(())
}
