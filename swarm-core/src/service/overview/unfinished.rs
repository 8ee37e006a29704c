//! The sessions without a result.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::domain::{SessionId, SessionSummary};
use crate::rules::Refusal;
use crate::service::sessions::BEFORE_RESULT;
use crate::service::{Error, Tenant};
use crate::store::SessionList;

/// Maximum number of sessions without a result that are kept: the newest ones.
pub const MAX_UNFINISHED: usize = 10_000;

/// The sessions without a result, by id.
pub type Unfinished = BTreeMap<SessionId, Arc<SessionSummary>>;

/// Reads all of them, up to the maximum of each state.
pub(super) async fn read(tenant: &Tenant) -> Result<Unfinished, Error> {
    let mut unfinished = Unfinished::new();
    for state in BEFORE_RESULT {
        let found = tenant.listed(SessionList::InState(state), |_| true).await?;
        unfinished.extend(found.into_iter().map(|session| (session.id, session)));
    }
    limit(&mut unfinished);
    Ok(unfinished)
}

/// Reads these sessions again.
pub(super) async fn update(
    unfinished: &mut Unfinished,
    tenant: &Tenant,
    changed: &BTreeSet<SessionId>,
) -> Result<(), Error> {
    for id in changed {
        match tenant.summary(*id).await {
            Ok(session) if BEFORE_RESULT.contains(&session.state) => {
                unfinished.insert(*id, session);
            }
            Ok(_) | Err(Error::Refused(Refusal::NotFound(_))) => {
                unfinished.remove(id);
            }
            Err(error) => return Err(error),
        }
    }
    limit(unfinished);
    Ok(())
}

fn limit(unfinished: &mut Unfinished) {
    while unfinished.len() > MAX_UNFINISHED {
        unfinished.pop_first();
    }
}
