//! Takes: `id, filed_at, session, revision, public_key, signature, payload` are their columns.

use std::sync::Arc;

use rusqlite::Row;
use swarm_core::domain::{PublicKey, Revision, Signature, Signed};
use swarm_core::proof::canonical;
use swarm_core::rules::Filing;
use swarm_core::{SessionId, Take, TakeDraft, TakeId, Timestamp};

use super::object;
use crate::failure::{Failure, Outcome};
use crate::world::{text, timestamp, unsigned};

/// What a filing leaves in text, whatever the commit gives it.
pub(crate) struct TakeText {
    pub(crate) public_key: String,
    pub(crate) signature: String,
    pub(crate) payload: String,
}

impl TakeText {
    pub(crate) fn of(filing: &Filing) -> Self {
        let take = filing.take(TakeId(0), Timestamp::EPOCH);
        Self {
            public_key: take.public_key.to_string(),
            signature: take.signed.signature.as_str().to_owned(),
            payload: canonical(take.draft()),
        }
    }
}

pub(crate) fn take(row: &Row<'_>) -> Outcome<Arc<Take>> {
    let payload = TakeDraft::read(&mut object(text(row, 6)?)?)?;
    let signature = Signature::parse(text(row, 5)?)?;
    Ok(Arc::new(Take {
        id: TakeId(unsigned(row.get(0)?)?),
        filed_at: timestamp(row.get(1)?)?,
        session_id: SessionId(unsigned(row.get(2)?)?),
        revision: revision(unsigned(row.get(3)?)?)?,
        public_key: PublicKey::parse(text(row, 4)?)?,
        signed: Arc::new(Signed { payload, signature }),
    }))
}

pub(crate) fn revision(number: u64) -> Outcome<Revision> {
    let revision = u8::try_from(number).ok().and_then(Revision::new);
    revision.ok_or_else(|| Failure::garbled("no revision"))
}
