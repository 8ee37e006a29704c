//! The work that no request asks for: closing windows, generating briefs, sending mail. Several
//! servers on one store may all do it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use swarm_core::{CommitteeError, CommitteeRefusal, CommitteeTenant, Error, Tenant, TenantId};
use swarm_http::Site;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::export::Export;
use crate::mail::Smtp;

/// How long after a round the next one begins: windows close within 15 s of their deadline.
const PAUSE: Duration = Duration::from_secs(5);

/// What there is to do besides closing windows and generating briefs.
#[derive(Default)]
pub(crate) struct Work {
    /// What mail goes to.
    pub(crate) smtp: Option<Smtp>,
    /// Where briefs go.
    pub(crate) exports: HashMap<TenantId, Export>,
}

/// Does it until the set is dropped, in tasks of each tenant's own: none waits for another. A task
/// that ends by itself has failed.
pub(crate) fn start(site: &Site, work: Work) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let smtp = work.smtp.map(Arc::new);
    for (id, committee) in site.committees() {
        let export = work.exports.get(&id).cloned();
        tasks.spawn(keep_briefs(id, committee, export));
    }
    for (id, tenant) in site.tenants() {
        tasks.spawn(close_windows(id.clone(), tenant.clone()));
        match &smtp {
            Some(smtp) => tasks.spawn(deliver(id, tenant, Arc::clone(smtp))),
            None => tasks.spawn(log_queued(id, tenant)),
        };
    }
    tasks
}

async fn close_windows(id: TenantId, tenant: Tenant) {
    loop {
        report(&id, "windows closed", tenant.close_due_sessions().await);
        sleep(PAUSE).await;
    }
}

/// Generates the briefs of a committee at their time, or later where the server was down, and
/// keeps their export up to date, whoever generated them.
async fn keep_briefs(tenant: TenantId, committee: Arc<CommitteeTenant>, export: Option<Export>) {
    let (mut written, mut refused) = (None, None);
    loop {
        generate(&tenant, &committee, &mut refused).await;
        if let Some(export) = &export
            && let Err(error) = export.refresh(&committee, &mut written).await
        {
            tracing::error!(%tenant, error = &*error, "briefs not exported");
        }
        sleep(PAUSE).await;
    }
}

/// Why nothing is generated is told once, not every round: `refused` is what was told last.
async fn generate(
    tenant: &TenantId,
    committee: &CommitteeTenant,
    refused: &mut Option<CommitteeRefusal>,
) {
    match committee.generate_if_due().await {
        Ok(None) => *refused = None,
        Ok(Some(made)) => tracing::info!(%tenant, briefs = made.briefs, "briefs generated"),
        Err(CommitteeError::Refused(refusal)) => {
            if refused.as_ref() != Some(&refusal) {
                tracing::warn!(%tenant, %refusal, "no briefs generated");
            }
            *refused = Some(refusal);
        }
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::error!(%tenant, error, "no briefs generated");
        }
    }
}

async fn deliver(id: TenantId, tenant: Tenant, smtp: Arc<Smtp>) {
    loop {
        report(&id, "messages sent", tenant.deliver(&*smtp).await);
        sleep(PAUSE).await;
    }
}

fn report(tenant: &TenantId, what: &str, done: Result<usize, Error>) {
    match done {
        Ok(0) => {}
        Ok(count) => tracing::info!(%tenant, count, "{what}"),
        Err(error) => tracing::error!(%tenant, error = &error as &dyn std::error::Error, "{what}"),
    }
}

/// Without a mail server the messages stay queued. Each is logged once, without its text.
async fn log_queued(id: TenantId, tenant: Tenant) {
    let mut last = None;
    loop {
        // Whether the store answers, the closing of windows tells.
        for message in tenant.queued(last).await.unwrap_or_default() {
            let subject = &message.mail.subject;
            tracing::warn!(tenant = %id, message_id = %message.id, subject, "mail is not configured");
            last = Some(message.id);
        }
        sleep(PAUSE).await;
    }
}
