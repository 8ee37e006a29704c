//! A store made of two stores: one tenant has its own, and callers do not notice.
//!
//! Run it: `cargo run -p swarm-examples --example decorator`

mod common;

use std::sync::Arc;

use swarm_core::domain::TokenHash;
use swarm_core::store::{Readiness, Result, Store, async_trait};
use swarm_core::{Submission, Swarm, SystemEntropy, TenantId, Tenants};
use swarm_store_memory::MemoryStore;

use common::{Agent, Outcome};

/// Keeps `tenant` in the first store, and everybody else in the second.
struct Apart<A, B>(TenantId, A, B);

#[async_trait]
impl<A: Tenants, B: Tenants> Tenants for Apart<A, B> {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        if *tenant == self.0 { self.1.open(tenant) } else { self.2.open(tenant) }
    }

    async fn ready(&self) -> Result<Readiness> {
        let mut both = self.1.ready().await?;
        both.warnings.extend(self.2.ready().await?.warnings);
        Ok(both)
    }
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let (acme, bolt) = (TenantId::parse("acme")?, TenantId::parse("bolt")?);
    let (apart, shared) = (MemoryStore::new(), MemoryStore::new());
    let swarm = Swarm::new(Apart(acme.clone(), apart.clone(), shared.clone()), SystemEntropy);
    for id in [&acme, &bolt] {
        let agent = Agent::join(&swarm.tenant(id)).await?;
        let submission = Submission::from_json(agent.signed_take("n-1")?.as_bytes())?;
        let token = TokenHash::of(agent.token.reveal().as_bytes());
        let take = swarm.tenant(id).submit(&token, &submission).await?;
        println!("{id}: take {} is on file", take.id);
    }
    for (name, store, id) in [("apart", &apart, &acme), ("shared", &shared, &bolt)] {
        let members = Swarm::new(store.clone(), SystemEntropy).tenant(id).members().await?;
        println!("{name}: {} member of {id}", members.len());
        if members.len() != 1 {
            return Err(format!("{id} is not in its store").into());
        }
    }
    Ok(())
}
