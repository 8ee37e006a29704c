//! The state of a desk, with that of the server: what the status, the console and their users are told.

use swarm_core::Error;
use swarm_core::answers::{Agenda, DayFiling, DeskStatus, LogStatus};
use swarm_core::domain::Seq;
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::service::signed_log::SignedCheckpoint;
use swarm_core::service::{ServerStatus, with_causes};

use crate::request::RequestContext;

/// The state of a desk.
pub(crate) struct Desk {
    pub(crate) server: ServerStatus,
    pub(crate) status: DeskStatus,
    /// Who filed on the committee's day, if there is a committee and it has one.
    pub(crate) committee: Option<DayFiling>,
    pub(crate) agenda: Agenda,
}

impl Desk {
    /// Reads the state of the desk that a request is for.
    pub(crate) async fn read(request: &RequestContext) -> Result<Self, Error> {
        let tenant = request.tenant();
        let server = server(request).await?;
        let status = tenant.desk_status(&request.served.config().schedule).await?;
        let committee = request.tenant_committee().current_filing().await?;
        let agenda = tenant.agenda(&server, &status, committee.as_ref()).await?;
        Ok(Self { server, status, committee, agenda })
    }
}

/// Why the store is not ready, as `/readyz` says it.
pub(crate) fn not_ready(error: &Error) -> String {
    let cause = match error {
        Error::Store(error) => error.public_cause(),
        _ => None,
    };
    cause.map_or_else(|| with_causes(error), |cause| format!("the store is not ready: {cause}"))
}

async fn server(request: &RequestContext) -> Result<ServerStatus, Error> {
    let ready = request.site.ready().await;
    let signed = match request.signed_log() {
        Some(log) => log.checkpoint().await?,
        None => None,
    };
    let size_of = |signed: &SignedCheckpoint| Seq(signed.checkpoint.size);
    let cosigned = signed.as_ref().and_then(SignedCheckpoint::last_cosigned);
    let cosigned = cosigned.and_then(|note| Checkpoint::parse(note.text()).ok());
    let mut log = LogStatus::default();
    log.size = request.tenant().log_size().await?;
    log.signed = signed.as_ref().map(size_of);
    log.witnessed = cosigned.map(|checkpoint| Seq(checkpoint.size));
    Ok(ServerStatus {
        ready: ready.is_ok(),
        warnings: match ready {
            Ok(ready) => ready.warnings,
            Err(error) => vec![not_ready(&error)],
        },
        certificate: request.site.certificate_expiry(),
        export_fault: request.site.export_fault(request.tenant().id()),
        has_mail_server: request.site.sends_mail(),
        log,
    })
}
