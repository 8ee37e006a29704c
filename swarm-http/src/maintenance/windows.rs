//! Closing the windows of sessions.

use async_trait::async_trait;

use super::job::{Job, Next, report};
use crate::tenants::ServedTenant;

/// Moves sessions that collect takes past their deadline to `window_closed`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CloseWindows;

#[async_trait]
impl Job for CloseWindows {
    async fn round(&mut self, tenant: &ServedTenant) -> Next {
        report(tenant, "windows closed", tenant.tenant().close_due_sessions().await)
    }
}
