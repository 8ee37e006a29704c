//! An interceptor that counts filed takes.
//!
//! Run it: `cargo run -p swarm-examples --example decorator`

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use swarm_core::domain::TokenHash;
use swarm_core::store::backend::{Backend, CommitOutcome, Decision, Operation, Transaction};
use swarm_core::store::{Interceptor, Result, async_trait};
use swarm_core::{Submission, Swarm, SystemEntropy, TenantId};
use swarm_store_memory::MemoryStore;

use common::Agent;

/// Counts filed takes; all other calls are forwarded.
#[derive(Default)]
struct CountFilings(AtomicUsize);

#[async_trait]
impl Interceptor for CountFilings {
    async fn commit(
        &self,
        next: &dyn Backend,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<CommitOutcome> {
        let outcome = next.commit(tenant, op, transaction).await?;
        let is_filed = op == "file" && matches!(outcome.decision, Decision::Committed(_));
        self.0.fetch_add(usize::from(is_filed), Ordering::Relaxed);
        Ok(outcome)
    }
}

#[tokio::main]
async fn main() -> common::Outcome<()> {
    let (acme, bolt) = (TenantId::parse("acme")?, TenantId::parse("bolt")?);
    let filings = Arc::new(CountFilings::default());
    let store = MemoryStore::new().intercepted(Arc::clone(&filings));
    let swarm = Swarm::new(store, SystemEntropy);
    for id in [&acme, &bolt] {
        let agent = Agent::join(&swarm.tenant(id)).await?;
        let submission = Submission::from_json(agent.signed_take("n-1")?.as_bytes())?;
        let token = TokenHash::of(agent.token.reveal().as_bytes());
        let take = swarm.tenant(id).submit(&token, &submission).await?;
        println!("{id}: take {} is on file", take.id);
    }
    match filings.0.load(Ordering::Relaxed) {
        2 => println!("2 takes were filed"),
        other => return Err(format!("{other} filings were counted").into()),
    }
    Ok(())
}
