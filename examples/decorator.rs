//! A store composed of two stores, and an interceptor that counts filed takes.
//!
//! Run it: `cargo run -p swarm-examples --example decorator`

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use swarm_core::domain::TokenHash;
use swarm_core::store::{
    Filed, Filing, Intercepted, Interceptor, Readiness, Result, Store, Takes, async_trait,
};
use swarm_core::{Submission, Swarm, SystemEntropy, TenantId, Tenants};
use swarm_store_memory::MemoryStore;

use common::{Agent, Outcome};

/// Counts filed takes; all other calls are forwarded.
#[derive(Default)]
struct CountFilings(AtomicUsize);

#[async_trait]
impl Interceptor for CountFilings {
    async fn file(&self, next: &dyn Takes, filing: &Filing) -> Result<Filed> {
        let filed = next.file(filing).await?;
        self.0.fetch_add(usize::from(matches!(filed, Filed::Filed(..))), Ordering::Relaxed);
        Ok(filed)
    }
}

/// Keeps one tenant in a separate store.
struct Split {
    tenant: TenantId,
    own: MemoryStore,
    others: MemoryStore,
}

impl Split {
    fn of(&self, tenant: &TenantId) -> &MemoryStore {
        if *tenant == self.tenant { &self.own } else { &self.others }
    }
}

#[async_trait]
impl Tenants for Split {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        self.of(tenant).open(tenant)
    }

    fn open_dry_run(&self, tenant: &TenantId) -> Arc<dyn Store> {
        self.of(tenant).open_dry_run(tenant)
    }

    async fn ready(&self) -> Result<Readiness> {
        let mut both = self.own.ready().await?;
        both.warnings.extend(self.others.ready().await?.warnings);
        Ok(both)
    }
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let (acme, bolt) = (TenantId::parse("acme")?, TenantId::parse("bolt")?);
    let (own, others) = (MemoryStore::new(), MemoryStore::new());
    let split = Split { tenant: acme.clone(), own: own.clone(), others: others.clone() };
    let filings = Arc::new(CountFilings::default());
    let swarm = Swarm::new(Intercepted::new(split, Arc::clone(&filings)), SystemEntropy);
    for id in [&acme, &bolt] {
        let agent = Agent::join(&swarm.tenant(id)).await?;
        let submission = Submission::from_json(agent.signed_take("n-1")?.as_bytes())?;
        let token = TokenHash::of(agent.token.reveal().as_bytes());
        let take = swarm.tenant(id).submit(&token, &submission).await?;
        println!("{id}: take {} is on file", take.id);
    }
    for (store, id) in [(&own, &acme), (&others, &bolt)] {
        let members = Swarm::new(store.clone(), SystemEntropy).tenant(id).members().await?;
        if members.len() != 1 {
            return Err(format!("{id} is not in its store").into());
        }
    }
    match filings.0.load(Ordering::Relaxed) {
        2 => println!("2 takes were filed, one in each store"),
        other => return Err(format!("{other} filings were counted").into()),
    }
    Ok(())
}
