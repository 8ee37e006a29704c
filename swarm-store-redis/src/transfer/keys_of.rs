//! The keys of a tenant that dump and restore use.

use swarm_core::proof::hex;
use swarm_core::store::{Collection, Result};
use swarm_core::{Entropy as _, StoreError, SystemEntropy, TenantId};

use crate::keys::{Keys, collection_name};

/// Keys of this tenant that no other dump or restore uses.
pub(super) fn apart(purpose: &'static str, tenant: &TenantId) -> Result<Keys> {
    let mut id = [0; 16];
    SystemEntropy.fill(&mut id).map_err(|error| StoreError::unavailable(purpose, error))?;
    Ok(Keys::apart(tenant, purpose, &hex(&id)))
}

/// The keys that exist only if there are records other than challenges.
pub(super) fn records(keys: &Keys) -> Result<Vec<String>> {
    let mut found = vec![
        keys.members(),
        keys.outbox(),
        keys.sessions(),
        keys.takes(),
        keys.log(),
        keys.committee_members(),
        keys.committee_days(),
        keys.committee_takes(),
    ];
    for collection in Collection::ALL {
        let [rows, ..] = keys.collection(collection_name(collection)?);
        found.push(rows);
    }
    Ok(found)
}

/// The keys that are copied for a dump, since their values change.
pub(super) fn changing(keys: &Keys) -> Result<Vec<String>> {
    let mut found = vec![
        keys.members(),
        keys.members_index(),
        keys.outbox(),
        keys.sessions(),
        keys.committee_members(),
        keys.committee_days(),
        keys.committee_briefs(),
    ];
    for collection in Collection::ALL {
        let [rows, _, index] = keys.collection(collection_name(collection)?);
        found.extend([rows, index]);
    }
    Ok(found)
}

/// The groups of a collection by id, in the copies for a dump.
pub(super) fn groups(copies: &Keys, collection: Collection) -> Result<String> {
    let [_, keys, _] = copies.collection(collection_name(collection)?);
    // The ids by key are not copied.
    Ok(keys)
}
