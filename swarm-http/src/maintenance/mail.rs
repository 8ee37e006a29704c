//! What becomes of the messages of an outbox.

use async_trait::async_trait;
use swarm_core::Mailer;
use swarm_core::domain::MessageId;

use super::job::{Job, Next, report};
use crate::tenants::{ServedTenant, TenantConfig};

/// Sends the queued messages through the mailer that the function returns for a tenant; without one
/// they stay queued.
#[derive(Clone, Debug)]
pub struct DeliverMail<F>(pub F);

#[async_trait]
impl<F> Job for DeliverMail<F>
where
    F: Fn(&TenantConfig) -> Option<Box<dyn Mailer>> + Send + 'static,
{
    async fn round(&mut self, tenant: &ServedTenant) -> Next {
        match (self.0)(tenant.config()) {
            Some(mailer) => {
                report(tenant, "messages sent", tenant.tenant().deliver(&*mailer).await)
            }
            None => Next::Changed,
        }
    }
}

/// Logs each queued message once, without its text: for servers that send no mail.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogQueuedMail {
    last: Option<MessageId>,
}

#[async_trait]
impl Job for LogQueuedMail {
    async fn round(&mut self, served: &ServedTenant) -> Next {
        let tenant = &served.config().id;
        // An error is not logged here: closing windows on the same store logs it.
        let Ok(queued) = served.tenant().queued(self.last).await else { return Next::Soon };
        for message in queued {
            let subject = &message.mail.subject;
            tracing::warn!(%tenant, message_id = %message.id, subject, "mail is not configured");
            self.last = Some(message.id);
        }
        Next::Changed
    }
}
