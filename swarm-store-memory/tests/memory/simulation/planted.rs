//! Faults of the record layer that the simulation notices: a check that is always met, or a write that is left out.

use std::sync::Arc;

use swarm_core::store::backend::{Backend, Check, CommitOutcome, Operation, Transaction, Write};
use swarm_core::store::{Interceptor, Result, async_trait};
use swarm_core::{TenantId, Timestamp};

use super::schedule;

/// How many schedules are tried.
const PATIENCE: u64 = 5_000;

/// Changes the transactions of an operation.
struct Planted {
    op: Operation,
    change: fn(&mut Transaction),
}

#[async_trait]
impl Interceptor for Planted {
    async fn commit(
        &self,
        next: &dyn Backend,
        tenant: &TenantId,
        op: Operation,
        mut transaction: Transaction,
    ) -> Result<CommitOutcome> {
        if op == self.op {
            (self.change)(&mut transaction);
        }
        next.commit(tenant, op, transaction).await
    }
}

/// Has the checks of this kind always met. They keep their positions.
fn without(transaction: &mut Transaction, is_of_kind: fn(&Check) -> bool) {
    let always = Check::NotAfter(Timestamp::EPOCH.plus_millis(i64::MAX));
    transaction
        .checks
        .iter_mut()
        .filter(|check| is_of_kind(check))
        .for_each(|check| *check = always.clone());
}

macro_rules! planted {
    ($($fault:ident: $op:literal, $change:expr;)*) => {$(
        #[test]
        fn $fault() {
            let found = (0..PATIENCE).find_map(|seed| {
                let planted = Arc::new(Planted { op: $op, change: $change });
                schedule(seed, |store| store.intercepted(planted)).err().map(|broken| (seed, broken))
            });
            let (seed, broken) = found.expect("nobody noticed");
            println!("schedule {seed}: {broken}");
        }
    )*};
}

planted! {
    attempt_is_not_recognized: "file", |transaction| transaction.repetition = None;
    newer_session_is_not_checked: "file", |it| without(it, |check| matches!(check, Check::First { .. }));
    deadline_is_not_checked: "file", |it| without(it, |check| matches!(check, Check::NotAfter(_)));
    nonce_is_used_twice: "file", |it| without(it, |check| matches!(check, Check::None { .. }));
    revision_is_filed_twice: "file", |it| without(it, |check| matches!(check, Check::Count { .. }));
    member_is_saved_at_any_version: "save member", |it| without(it, |check| matches!(check, Check::Version { .. }));
    session_is_saved_at_any_version: "save session", |it| without(it, |check| matches!(check, Check::Version { .. }));
    last_take_is_not_aggregated: "save session", |it| without(it, |check| matches!(check, Check::Count { .. }));
    later_take_is_not_checked: "save session", |it| without(it, |check| matches!(check, Check::AtMost { .. }));
    mail_is_lost: "save member", |transaction| {
        transaction.writes.retain(|write| !matches!(write, Write::Insert { table, .. } if table.name == "messages"));
    };
}
