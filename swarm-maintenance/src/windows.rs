//! Closing the windows of sessions.

use async_trait::async_trait;

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next, report};

/// Moves sessions that collect takes past their deadline to `window_closed`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CloseWindows;

#[async_trait]
impl<T: MaintainedTenant> Job<T> for CloseWindows {
    async fn round(&mut self, tenant: &T) -> Next {
        report(tenant, "windows closed", tenant.tenant().close_due_sessions().await)
    }
}
