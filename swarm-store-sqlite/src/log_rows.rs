//! What commits append to the log.

use swarm_core::Timestamp;
use swarm_core::domain::{Act, SessionId, TakeId};

use crate::failure::Outcome;
use crate::world::{World, signed};

/// The number of the last row.
pub(crate) const LAST: &str = "SELECT max(seq) FROM log WHERE tenant = ?1";

/// Appends a take.
pub(crate) fn append_take(world: &World<'_>, id: TakeId, at: Timestamp) -> Outcome<()> {
    const TAKE: &str = "INSERT INTO log (tenant, seq, at, take) VALUES (?1, ?2, ?3, ?4)";
    let seq = world.next_id(LAST, &[])?;
    world.run(TAKE, &[&signed(seq), &at.millis(), &signed(id.0)]).map(drop)
}

/// Appends a submission to the committee.
pub(crate) fn append_committee_take(world: &World<'_>, id: u64, at: Timestamp) -> Outcome<()> {
    const TAKE: &str = "INSERT INTO log (tenant, seq, at, committee_take) VALUES (?1, ?2, ?3, ?4)";
    let seq = world.next_id(LAST, &[])?;
    world.run(TAKE, &[&signed(seq), &at.millis(), &signed(id)]).map(drop)
}

/// Appends an act, the session that it is on, and the id that its commit gave out.
pub(crate) fn append_act(
    world: &World<'_>,
    act: &Act,
    at: Timestamp,
    session: Option<SessionId>,
    minted: Option<u64>,
) -> Outcome<()> {
    const ACT: &str = "INSERT INTO log (tenant, seq, at, act, session, minted)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let seq = world.next_id(LAST, &[])?;
    let session = session.map(|session| signed(session.0));
    let (seq, at, minted) = (signed(seq), at.millis(), minted.map(signed));
    world.run(ACT, &[&seq, &at, &act.as_str(), &session, &minted]).map(drop)
}
