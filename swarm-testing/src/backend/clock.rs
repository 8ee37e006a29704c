//! A clock that runs back. `set` sets the clock of the backend behind a guard.

use std::sync::Arc;

use swarm_core::domain::Timestamp;
use swarm_core::store::backend::*;
use swarm_core::store::{CLOCK_TOLERANCE_MILLIS, StoreErrorKind};

use super::log::repeatable;
use super::tables::*;
use super::tenant::*;
use crate::assertions::{ensure, expect_eq};
use crate::moment;

/// Within an hour, a commit gets the time of the last entry. A reading shows what the clock tells.
pub async fn time_is_that_of_the_log_while_the_clock_is_behind<G>(
    backend: Arc<dyn Backend>,
    guard: &G,
    set: impl Fn(&G, Timestamp),
) {
    let tenant = Tenant::fresh(&backend).await;
    for (clock, at) in [(0, 0), (-CLOCK_TOLERANCE_MILLIS, 0), (-1, 0), (1, 1), (0, 1)] {
        let [clock, at] = [clock, at].map(|millis| noon().plus_millis(millis));
        set(guard, clock);
        expect_eq!(tenant.clock().await, clock);
        let entries = vec![entry("text")];
        let assigned = tenant.committed(Transaction { entries, ..transaction() }).await;
        expect_eq!((assigned.at, tenant.head().await.at), (at, Some(at)), "at {clock}");
    }
    set(guard, noon());
    let late = Check::NotAfter(noon());
    expect_eq!(tenant.is_met(late).await, false, "a deadline stays passed");
    expect_eq!(tenant.is_met(Check::NotAfter(noon().plus_millis(1))).await, true);
}

/// Nothing is written, and no check is reported.
pub async fn commit_is_refused_while_the_clock_is_far_behind<G>(
    backend: Arc<dyn Backend>,
    guard: &G,
    set: impl Fn(&G, Timestamp),
) {
    set(guard, noon());
    let tenant = Tenant::fresh(&backend).await;
    tenant.append(vec![entry("text")]).await;
    let head = tenant.head().await;
    set(guard, far_behind());
    let refused = |checks| Transaction {
        checks,
        sequences: vec!["parcels"],
        writes: vec![parcel(1, &[])],
        entries: vec![entry("refused")],
        ..transaction()
    };
    for checks in [vec![], vec![Check::None { range: with_id(1), except: Vec::new() }]] {
        let refused = tenant.try_commit(refused(checks)).await.map(|outcome| outcome.decision);
        let is_behind = matches!(refused, Err(StoreErrorKind::ClockBehind));
        ensure!(is_behind, "that the clock is behind", refused);
    }
    expect_eq!((tenant.count(all(&PARCELS)).await, tenant.sequence("parcels").await), (0, 0));
    expect_eq!(tenant.head().await, head);
    set(guard, far_behind().plus_millis(1));
    expect_eq!(tenant.committed(refused(Vec::new())).await.at, noon());
}

pub async fn repetition_is_recognized_while_the_clock_is_far_behind<G>(
    backend: Arc<dyn Backend>,
    guard: &G,
    set: impl Fn(&G, Timestamp),
) {
    set(guard, noon());
    let tenant = Tenant::fresh(&backend).await;
    let first = repeatable("code", 1);
    tenant.committed(first.clone()).await;
    set(guard, far_behind());
    let again = tenant.try_commit(first).await.map(|outcome| outcome.decision);
    ensure!(matches!(again, Ok(Decision::Repeated(_))), "a repetition", again);
    let other = tenant.try_commit(repeatable("code", 2)).await.map(|outcome| outcome.decision);
    let is_behind = matches!(other, Err(StoreErrorKind::ClockBehind));
    ensure!(is_behind, "that the clock is behind", other);
}

/// Later commits get its time too, because it is that of the last entry.
pub async fn accepted_clock_may_be_far_behind<G>(
    backend: Arc<dyn Backend>,
    guard: &G,
    set: impl Fn(&G, Timestamp),
) {
    set(guard, noon());
    let tenant = Tenant::fresh(&backend).await;
    tenant.append(vec![entry("text")]).await;
    set(guard, far_behind());
    for kind in [Kind::AcceptClock, Kind::Usual] {
        let entries = vec![entry("text")];
        let assigned = tenant.committed(Transaction { kind, entries, ..transaction() }).await;
        expect_eq!((assigned.at, tenant.head().await.at), (far_behind(), Some(far_behind())));
    }
    let times: Vec<_> = tenant.log().await.iter().map(|entry| entry.at).collect();
    expect_eq!(times, [noon(), far_behind(), far_behind()]);
}

/// The time of an accepted log does not decrease; that of records beside the log is the clock's.
pub async fn log_is_accepted_while_the_clock_is_far_behind<G>(
    backend: Arc<dyn Backend>,
    guard: &G,
    set: impl Fn(&G, Timestamp),
) {
    set(guard, noon());
    let tenant = Tenant::fresh(&backend).await;
    tenant.append(vec![entry("text")]).await;
    set(guard, far_behind());
    let aside = Transaction { kind: Kind::Aside, writes: vec![parcel(1, &[])], ..transaction() };
    expect_eq!(tenant.committed(aside).await.at, far_behind());
    let entries = vec![entry("accepted")];
    let accepted = Transaction { kind: Kind::AcceptLog, entries, ..transaction() };
    expect_eq!(tenant.committed(accepted).await.at, noon());
    expect_eq!(tenant.head().await.at, Some(noon()));
}

fn noon() -> Timestamp {
    moment("2026-11-21T12:00:00Z")
}

/// The latest time of a clock that is too far behind at noon.
fn far_behind() -> Timestamp {
    noon().plus_millis(-CLOCK_TOLERANCE_MILLIS - 1)
}
