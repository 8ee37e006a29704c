//! The witnesses of a tenant's log, over HTTP (API.md, 11.6).

use std::sync::Arc;

use async_trait::async_trait;
use swarm_client::WitnessClient;
use swarm_core::proof::note::{KeyKind, VerifierKey};
use swarm_core::service::signed_log::{Witness, WitnessAnswer};
use swarm_http::{TenantConfig, WitnessConfig};
use tokio::sync::{Semaphore, oneshot};

use crate::config::WitnessTable;

/// The most witnesses of a tenant.
const MAX_WITNESSES: usize = 16;

/// The most requests to witnesses at a time, since each holds a thread: more than the witnesses of a few tenants, so that
/// those which do not answer leave room for others.
static REQUESTS: Semaphore = Semaphore::const_new(64);

/// Checks the witnesses of a tenant. The error is the reason.
pub(crate) fn configured(tables: &[WitnessTable]) -> Result<Vec<WitnessConfig>, String> {
    if tables.len() > MAX_WITNESSES {
        return Err(format!("must be at most {MAX_WITNESSES}"));
    }
    let mut witnesses: Vec<WitnessConfig> = Vec::new();
    for WitnessTable { url, key } in tables {
        let bad = |fault: &str| format!("{url:?}: {fault}");
        WitnessClient::new(url).map_err(|error| bad(&error.to_string()))?;
        let key = VerifierKey::parse(key).ok().filter(|key| key.kind() == KeyKind::Cosigner);
        let key = key.ok_or_else(|| {
            bad("key: must be the verifier key of a witness, <name>+<id>+<base64> of type 4")
        })?;
        if witnesses.iter().any(|other| other.key == key) {
            return Err(bad("key: is that of another witness too"));
        }
        witnesses.push(WitnessConfig { url: url.trim_end_matches('/').to_owned(), key });
    }
    Ok(witnesses)
}

/// The witnesses of a tenant.
pub(crate) fn of(tenant: &TenantConfig) -> Vec<Arc<dyn Witness>> {
    let clients = tenant.witnesses.iter().filter_map(|witness| {
        let client = WitnessClient::new(&witness.url).ok()?;
        let witness: Arc<dyn Witness> = Arc::new(HttpWitness { client, key: witness.key.clone() });
        Some(witness)
    });
    clients.collect()
}

struct HttpWitness {
    client: WitnessClient,
    key: VerifierKey,
}

#[async_trait]
impl Witness for HttpWitness {
    fn key(&self) -> &VerifierKey {
        &self.key
    }

    async fn add_checkpoint(&self, body: String) -> Result<WitnessAnswer, String> {
        let _permit = REQUESTS.acquire().await.map_err(|error| error.to_string())?;
        let (client, (answered, answer)) = (self.client.clone(), oneshot::channel());
        // A thread of its own: the program does not wait for it when it stops.
        let thread = std::thread::Builder::new().name("witness".to_owned());
        let sent = thread.spawn(move || answered.send(client.add_checkpoint(&body)).is_ok());
        sent.map_err(|error| error.to_string())?;
        let answer = answer.await.map_err(|error| error.to_string())?;
        let (status, body) = answer.map_err(|error| error.to_string())?;
        Ok(WitnessAnswer { status, body })
    }
}
