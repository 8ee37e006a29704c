//! The witnesses of a tenant's log, over HTTP (API.md, 11.6).

use std::sync::Arc;

use async_trait::async_trait;
use swarm_client::WitnessClient;
use swarm_core::proof::witness::WitnessKey;
use swarm_core::service::signed_log::{Witness, WitnessAnswer};
use swarm_http::{TenantConfig, WitnessConfig};

use crate::config::WitnessTable;
use crate::outgoing::Outgoing;

/// The most witnesses of a tenant.
const MAX_WITNESSES: usize = 16;

/// The requests to witnesses.
static REQUESTS: Outgoing = Outgoing::new("witness");

/// Checks the witnesses of a tenant. The error is the reason.
pub(crate) fn configured(tables: &[WitnessTable]) -> Result<Vec<WitnessConfig>, String> {
    if tables.len() > MAX_WITNESSES {
        return Err(format!("must be at most {MAX_WITNESSES}"));
    }
    let mut witnesses: Vec<WitnessConfig> = Vec::new();
    for WitnessTable { url, key } in tables {
        let bad = |fault: &str| format!("{url:?}: {fault}");
        WitnessClient::new(url).map_err(|error| bad(&error.to_string()))?;
        let key = WitnessKey::parse(key).map_err(|_| {
            bad("key: must be the verifier key of a witness, <name>+<id>+<base64> of type 4 or 6")
        })?;
        if witnesses.iter().any(|other| other.key == key) {
            return Err(bad("key: is that of another witness too"));
        }
        witnesses.push(WitnessConfig::new(url.trim_end_matches('/'), key));
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
    key: WitnessKey,
}

#[async_trait]
impl Witness for HttpWitness {
    fn key(&self) -> &WitnessKey {
        &self.key
    }

    async fn add_checkpoint(&self, body: String) -> Result<WitnessAnswer, String> {
        let client = self.client.clone();
        let (status, body) = REQUESTS.send(move || client.add_checkpoint(&body)).await?;
        Ok(WitnessAnswer { status, body })
    }
}
