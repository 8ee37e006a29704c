//! The stored form of a take: the signed payload, byte for byte, and the columns that the commit adds.

use std::sync::Arc;

use rusqlite::Row;
use swarm_core::domain::{Revision, Signed};
use swarm_core::json::Json;
use swarm_core::rules::Filing;
use swarm_core::store::records::{proof_text, public_key, read_proof};
use swarm_core::{SessionId, Take, TakeDraft, TakeId, Timestamp};

use crate::failure::{Failure, Outcome};
use crate::tenant_rows::{text, timestamp, unsigned};

/// The text columns of a take, which do not depend on the commit.
pub(crate) struct TakeText {
    pub(super) public_key: String,
    pub(super) signature: String,
    pub(super) payload: String,
}

impl TakeText {
    pub(super) fn of(filing: &Filing) -> Self {
        let take = filing.take(TakeId(0), Timestamp::EPOCH);
        Self::new(&take, filing.canonical().to_owned())
    }

    /// The columns of a take with this signed text.
    pub(crate) fn new(take: &Take, payload: String) -> Self {
        let (public_key, signature) = (take.public_key.to_string(), proof_text(take).into_owned());
        Self { public_key, signature, payload }
    }
}

/// The take of a row: `id, filed_at, session, revision, public_key, signature, payload`.
pub(crate) fn take(row: &Row<'_>) -> Outcome<Arc<Take>> {
    let payload = Json::read(text(row, 6)?.as_bytes()).map_err(Failure::corrupt)?;
    let payload = TakeDraft::read(&mut payload.into_object())?;
    let (signature, salt) = read_proof(text(row, 5)?)?;
    Ok(Arc::new(Take {
        id: TakeId(unsigned(row.get(0)?)?),
        filed_at: timestamp(row.get(1)?)?,
        session_id: SessionId(unsigned(row.get(2)?)?),
        revision: revision(unsigned(row.get(3)?)?)?,
        public_key: public_key(text(row, 4)?)?,
        signed: Arc::new(Signed { payload, signature }),
        salt,
    }))
}

pub(super) fn revision(number: u64) -> Outcome<Revision> {
    let revision = u8::try_from(number).ok().and_then(Revision::new);
    revision.ok_or_else(|| Failure::corrupt("no revision"))
}
