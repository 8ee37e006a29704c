//! Removes a tenant, in one transaction.

use swarm_core::TenantId;
use tokio_postgres::types::Type;

use super::transaction::Transaction;
use crate::database::Database;
use crate::failure::Outcome;

/// Removes all that a tenant has. Its row among the tenants stays, with the number of its commits, which tells other processes that it has
/// changed.
pub(crate) async fn remove(database: &Database, tenant: &TenantId) -> Outcome<()> {
    const RESET: &str = "UPDATE swarm.tenants SET log = 1, seq = 0, last_at = NULL, last_commit = NULL, commits = commits + 1
        WHERE tenant = $1";
    let transaction = Transaction::begin_to_write(database).await?;
    let args = [(&tenant.as_str() as _, Type::TEXT)];
    // Locks the tenant, as commits do.
    transaction.rows(RESET, &args).await?;
    let declared = database.schema.tables().iter().map(|table| table.name);
    for name in ["log", "sequences", "attempts"].into_iter().chain(declared) {
        let delete = format!("DELETE FROM swarm.{name} WHERE tenant = $1");
        transaction.rows(&delete, &args).await?;
    }
    transaction.end("COMMIT").await
}
