//! Closing the windows of sessions, and opening those that are blind.

use async_trait::async_trait;
use swarm_core::service::BlindSessions;

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next, report};

/// Moves sessions that collect takes past their deadline to `window_closed`, and opens blind sessions.
#[derive(Clone, Debug, Default)]
pub struct CloseWindows {
    blind: BlindSessions,
}

#[async_trait]
impl<T: MaintainedTenant> Job<T> for CloseWindows {
    async fn round(&mut self, tenant: &T) -> Next {
        let closed = tenant.tenant().close_due_sessions().await;
        let closed = report(tenant, "windows closed", closed);
        let opened = tenant.tenant().open_due_sessions(&mut self.blind).await;
        closed.sooner(report(tenant, "blind sessions opened", opened))
    }
}
