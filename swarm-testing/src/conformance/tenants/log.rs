//! Isolation of log rows with the same number in two tenants.

use std::sync::Arc;

use super::two_tenants::{both, two_tenants};
use crate::assertions::expect_eq;
use swarm_core::domain::{Seq, SessionId};
use swarm_core::store::Tenants;

pub async fn log_is_isolated_by_tenant(tenants: Arc<dyn Tenants>) {
    let worlds = two_tenants(tenants).await;
    for ((world, _), saves) in both(&worlds).into_iter().zip([1, 2]) {
        let session = world.convened("subject").await;
        for _ in 0..saves {
            world.amend(session.id, |session| session.quorum = Some(saves)).await;
        }
    }
    for ((world, mark), rows) in both(&worlds).into_iter().zip([2, 3]) {
        let log = world.log(Seq(0), 9).await;
        let numbers: Vec<_> = log.iter().map(|row| row.seq.0).collect();
        expect_eq!(numbers, (1..=rows).collect::<Vec<_>>(), "of tenant {mark}");
        expect_eq!(world.log_size().await, Seq(rows), "of tenant {mark}");
        expect_eq!(world.log(Seq(1), 9).await, log[1..], "of tenant {mark}");
        let session = world.session(SessionId(1)).await.map(|it| it.record.convened_at);
        expect_eq!(log.first().map(|row| row.at), session, "of tenant {mark}");
        expect_eq!(world.acts_on(SessionId(1)).await, log, "of tenant {mark}");
    }
}
