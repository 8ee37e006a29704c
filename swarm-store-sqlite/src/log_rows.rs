//! Appends rows to the log, and reads its position.

use swarm_core::Timestamp;
use swarm_core::domain::{LogEntry, Seq, SessionId, TakeId};
use swarm_core::store::{Act, LogPosition};

use crate::failure::Outcome;
use crate::tenant_rows::{TenantRows, Values, signed};

/// The number of the last row.
const LAST: &str = "SELECT max(seq) FROM log WHERE tenant = ?1";

/// Appends a take.
pub(crate) fn append_take(world: &TenantRows<'_>, id: TakeId, at: Timestamp) -> Outcome<()> {
    const TAKE: &str = "INSERT INTO log (tenant, seq, at, take) VALUES (?1, ?2, ?3, ?4)";
    let seq = world.next_id(LAST, &[])?;
    world.run(TAKE, &[&signed(seq), &at.millis(), &signed(id.0)]).map(drop)
}

/// What the column `act` has in a row that opens the take in its column `take`.
pub(crate) const OPENING: &str = "opening";

/// Appends an entry that opens each take of a session, in the order of the ids of the takes.
pub(crate) fn append_openings(
    world: &TenantRows<'_>,
    session: SessionId,
    at: Timestamp,
) -> Outcome<()> {
    const TAKES: &str = "INSERT INTO log (tenant, seq, at, take, act)
        SELECT ?1, ?2 + row_number() OVER (ORDER BY id), ?3, id, ?4
        FROM takes WHERE tenant = ?1 AND session = ?5 ORDER BY id";
    let last = world.number(LAST, &[])?.unwrap_or(0);
    let values: Values<'_> = &[&signed(last), &at.millis(), &OPENING, &signed(session.0)];
    world.run(TAKES, values).map(drop)
}

/// Appends a submission to the committee.
pub(crate) fn append_committee_take(world: &TenantRows<'_>, id: u64, at: Timestamp) -> Outcome<()> {
    const TAKE: &str = "INSERT INTO log (tenant, seq, at, committee_take) VALUES (?1, ?2, ?3, ?4)";
    let seq = world.next_id(LAST, &[])?;
    world.run(TAKE, &[&signed(seq), &at.millis(), &signed(id)]).map(drop)
}

/// Appends the entry of an act whose commit mints no id.
pub(crate) fn append_act(world: &TenantRows<'_>, act: &Act, at: Timestamp) -> Outcome<()> {
    append_minted(world, act, at, 0)
}

/// Appends the entry of an act whose commit mints this id.
pub(crate) fn append_minted(
    world: &TenantRows<'_>,
    act: &Act,
    at: Timestamp,
    id: u64,
) -> Outcome<()> {
    append_entry(world, &act.entry(id, at), at)
}

/// Appends an entry.
pub(crate) fn append_entry(world: &TenantRows<'_>, entry: &LogEntry, at: Timestamp) -> Outcome<()> {
    const ACT: &str = "INSERT INTO log (tenant, seq, at, act, session)
        VALUES (?1, ?2, ?3, ?4, ?5)";
    let seq = world.next_id(LAST, &[])?;
    let session = entry.session().map(|session| signed(session.0));
    world.run(ACT, &[&signed(seq), &at.millis(), &entry.to_text(), &session]).map(drop)
}

/// The number of the log.
pub(crate) fn number(world: &TenantRows<'_>) -> Outcome<u64> {
    Ok(world.number("SELECT number FROM logs WHERE tenant = ?1", &[])?.unwrap_or(1))
}

/// The position of the log.
pub(crate) fn position(world: &TenantRows<'_>) -> Outcome<LogPosition> {
    let size = Seq(world.number(LAST, &[])?.unwrap_or(0));
    let last = fingerprint(world, size)?.unwrap_or_default().into();
    Ok(LogPosition { log: number(world)?, size, last })
}

/// For a commit: checks that the log continues from the position seen.
pub(crate) fn check_commit(world: &TenantRows<'_>, seen: &LogPosition) -> Outcome<()> {
    Ok(seen.check_commit(number(world)?, fingerprint(world, seen.size)?.as_deref())?)
}

/// For a read of facts: checks that the log continues from the position seen, or that another has begun.
pub(crate) fn check_facts(world: &TenantRows<'_>, seen: &LogPosition) -> Outcome<()> {
    Ok(seen.check_facts(number(world)?, fingerprint(world, seen.size)?.as_deref())?)
}

/// The fingerprint of the row with this number, which distinguishes it from another row of the same number.
fn fingerprint(world: &TenantRows<'_>, seq: Seq) -> Outcome<Option<String>> {
    const FINGERPRINT: &str = "SELECT concat_ws(' ', at, 'take ' || take,
            'committee take ' || committee_take, substr(act, 1, 300))
        FROM log WHERE tenant = ?1 AND seq = ?2";
    world.one(FINGERPRINT, &[&signed(seq.0)], |row| Ok(row.get(0)?))
}
