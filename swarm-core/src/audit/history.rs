//! The operator's acts on the session, replayed from the log: each must be a valid step, and each take must have
//! been filed within the deadline and by the roster in force at that time.

use std::collections::BTreeMap;

use super::entries::{BundledEntry, backward_times};
use super::finding::{Check, Report, count};
use super::records::BundledTake;
use crate::domain::json::{printable, write};
use crate::domain::{
    Digest, LogEntry, LoggedSession, Roster, Seq, Session, SessionAct, SessionEntry, SessionState,
    TakeId, Timestamp,
};
use crate::rules::logged;

/// An act on the session.
pub(super) struct ActOnSession<'a> {
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
    pub(super) entry: &'a SessionEntry,
}

impl ActOnSession<'_> {
    /// The session after the act.
    pub(super) fn after(&self) -> &LoggedSession {
        &self.entry.session
    }
}

/// The acts on a session, in the order of the log.
pub(super) fn acts<'a>(session: &Session, entries: &'a [BundledEntry]) -> Vec<ActOnSession<'a>> {
    let acts = entries.iter().filter_map(|entry| match &entry.entry {
        Some(LogEntry::Session(act)) if act.session.id == session.id => {
            Some(ActOnSession { seq: entry.seq, at: entry.at, entry: act })
        }
        _ => None,
    });
    acts.collect()
}

/// Checks that the acts lead from convening to the record, each changing what it says and nothing else.
pub(super) fn check_acts(session: &Session, acts: &[ActOnSession<'_>], report: &mut Report) {
    let mut faults = Vec::new();
    match acts.first() {
        None => faults.push("no entry of the session".to_owned()),
        Some(first) if first.entry.act != SessionAct::Convened => {
            faults.push(format!("the first act, entry {}, does not convene it", first.seq));
        }
        Some(_) => {}
    }
    for (before, act) in acts.iter().zip(acts.iter().skip(1)) {
        if let Some(fault) = step_fault(before.after(), act) {
            faults.push(format!("entry {} ({}) {fault}", act.seq, write(&act.entry.act)));
        }
    }
    let record = logged(session);
    if let Some(last) = acts.last().filter(|last| *last.after() != record) {
        let fields = different_fields(last.after(), &record).join(", ");
        faults.push(format!("the record differs from the last act, entry {}: {fields}", last.seq));
    }
    let acts = count(acts.len(), "act leads", "acts lead");
    report.conclude(Check::History, faults, format!("{acts} from convening to the record"));
}

/// Why an act is not a valid step from the session before it; `None` if it is one.
fn step_fault(before: &LoggedSession, act: &ActOnSession<'_>) -> Option<String> {
    use SessionState::{Aggregated, Collecting, Published, WindowClosed};
    let after = act.after();
    let mut expected = before.clone();
    match act.entry.act {
        SessionAct::Convened => return Some("convenes it again".to_owned()),
        // A withdrawn session is not served, so this is no act of one that is.
        SessionAct::Withdrawn => return Some("withdraws it".to_owned()),
        SessionAct::State => {
            let (from, to) = (before.state, after.state);
            let allowed = match (from, to) {
                (WindowClosed, Collecting) | (Aggregated, Published) => true,
                (_, Published) => false,
                _ => from < to,
            };
            if !allowed {
                return Some(format!("moves it from {from} to {to}"));
            }
            expected.state = to;
            if to == Aggregated {
                expected.snapshot_digest = after.snapshot_digest;
            }
            if to == Published {
                expected.published_at = after.published_at;
            }
        }
        SessionAct::Opened => {
            let has_closed = before.window_closes_at.is_some_and(|deadline| act.at > deadline);
            if !before.blind || before.opened_at.is_some() {
                return Some("opens it, though it is not sealed".to_owned());
            }
            if before.state < Aggregated && !(before.state == WindowClosed && has_closed) {
                return Some("opens it before its window has closed".to_owned());
            }
            expected.opened_at = after.opened_at;
        }
        SessionAct::Deadline if before.opened_at.is_some() => {
            return Some("moves the deadline after it was opened".to_owned());
        }
        SessionAct::Deadline => {
            expected.window_closes_at = after.window_closes_at;
            if before.state < Aggregated {
                expected.quorum = after.quorum;
            }
            // Moving it ahead reopens a window that has closed.
            if (before.state, after.state) == (WindowClosed, Collecting) {
                expected.state = Collecting;
            }
        }
        SessionAct::Quorum if before.state < Aggregated => expected.quorum = after.quorum,
        SessionAct::Roster if before.roster_digest.is_none() && before.state < Aggregated => {
            expected.roster_digest = after.roster_digest;
        }
        SessionAct::Excuse if before.state < Aggregated => {
            expected.roster_digest = after.roster_digest;
        }
        SessionAct::Quorum | SessionAct::Roster | SessionAct::Excuse | SessionAct::Brief => {}
    }
    let fields = different_fields(&expected, after);
    (!fields.is_empty()).then(|| format!("also changes {}", fields.join(", ")))
}

fn different_fields(one: &LoggedSession, other: &LoggedSession) -> Vec<&'static str> {
    let fields = [
        ("id", one.id == other.id),
        ("date", one.date == other.date),
        ("subjectId", one.subject_id == other.subject_id),
        ("state", one.state == other.state),
        ("windowClosesAt", one.window_closes_at == other.window_closes_at),
        ("convenedAt", one.convened_at == other.convened_at),
        ("quorum", one.quorum == other.quorum),
        ("buckets", one.buckets_digest == other.buckets_digest),
        ("roster", one.roster_digest == other.roster_digest),
        ("blind", one.blind == other.blind),
        ("openedAt", one.opened_at == other.opened_at),
        ("publishedAt", one.published_at == other.published_at),
        ("snapshot", one.snapshot_digest == other.snapshot_digest),
    ];
    fields.into_iter().filter(|(_, same)| !same).map(|(field, _)| field).collect()
}

/// Checks that the log's time never runs back, and that the times of the record are those of its acts.
pub(super) fn check_times(
    session: &Session,
    acts: &[ActOnSession<'_>],
    entries: &[BundledEntry],
    report: &mut Report,
) {
    let mut faults = backward_times(entries);
    if let Some(first) = acts.first().filter(|first| first.at != session.convened_at) {
        let (at, says) = (first.at, session.convened_at);
        faults.push(format!("convenedAt is {says}, entry {} says {at}", first.seq));
    }
    let opening = acts.iter().find(|act| act.entry.act == SessionAct::Opened);
    let act = |state| acts.iter().find(|act| act.after().state == state);
    let aggregated_at = session.snapshot.as_ref().map(|snapshot| snapshot.figures.aggregated_at);
    for (field, time, act) in [
        ("openedAt", session.opened_at, opening),
        ("publishedAt", session.published_at, act(SessionState::Published)),
        ("aggregatedAt", aggregated_at, act(SessionState::Aggregated)),
    ] {
        // The time is read before the commit, so it may be earlier than that of the entry, but not later.
        if let (Some(time), Some(act)) = (time, act.filter(|act| time > Some(act.at))) {
            faults.push(format!("{field} is {time}, after entry {} of {}", act.seq, act.at));
        }
    }
    let holds = "they agree with the log, whose times never run back".to_owned();
    report.conclude(Check::Time, faults, holds);
}

/// Checks that each take was filed within the deadline in force at that time, and that no deadline was moved to
/// before a take that was filed already.
pub(super) fn check_deadlines(
    takes: &[BundledTake],
    places: &BTreeMap<TakeId, Seq>,
    acts: &[ActOnSession<'_>],
    report: &mut Report,
) {
    let mut faults = Vec::new();
    for it in takes {
        let (id, filed_at) = (it.take.id, it.take.filed_at);
        let Some(place) = places.get(&id) else { continue };
        let Some(act) = in_force(acts, *place) else {
            faults.push(format!("take {id} was filed before the session was convened"));
            continue;
        };
        if let Some(deadline) = act.after().window_closes_at.filter(|it| filed_at > *it) {
            let seq = act.seq;
            faults.push(format!(
                "take {id} was filed {filed_at}, after the deadline {deadline} of entry {seq}"
            ));
        }
    }
    for act in acts.iter().filter(|act| act.entry.act == SessionAct::Deadline) {
        let Some(deadline) = act.after().window_closes_at else { continue };
        let on_file = takes.iter().map(|it| &it.take);
        let on_file = on_file.filter(|take| places.get(&take.id).is_some_and(|it| *it < act.seq));
        if let Some(take) = on_file.max_by_key(|take| take.filed_at)
            && take.filed_at > deadline
        {
            let (id, filed_at, seq) = (take.id, take.filed_at, act.seq);
            faults.push(format!(
                "entry {seq} moves the deadline to {deadline}, before take {id} of {filed_at}"
            ));
        }
    }
    let moved = acts.iter().filter(|act| act.entry.act == SessionAct::Deadline).count();
    let moved = count(moved, "time", "times");
    let holds = format!("each take was filed within the one in force, which was moved {moved}");
    report.conclude(Check::Deadline, faults, holds);
}

/// The last act before a place in the log: its session is in force there.
fn in_force<'a, 'b>(acts: &'a [ActOnSession<'b>], place: Seq) -> Option<&'a ActOnSession<'b>> {
    acts.iter().rev().find(|act| act.seq < place)
}

/// The amendments that were filed after the session was aggregated.
pub(super) fn late_amendments(
    takes: &[BundledTake],
    places: &BTreeMap<TakeId, Seq>,
    acts: &[ActOnSession<'_>],
) -> Vec<String> {
    let aggregated = |place: &Seq| {
        in_force(acts, *place).filter(|act| act.after().state >= SessionState::Aggregated)
    };
    let late = takes.iter().filter(|it| it.take.revision.get() > 1).filter_map(|it| {
        let id = it.take.id;
        let act = aggregated(places.get(&id)?)?;
        Some(format!("take {id} amends after entry {}, when the session was aggregated", act.seq))
    });
    late.collect()
}

/// Checks the digest of the roster after each act, and that each author was on it, and not excused, when the
/// take was filed.
pub(super) fn check_roster(
    session: &Session,
    takes: &[BundledTake],
    places: &BTreeMap<TakeId, Seq>,
    acts: &[ActOnSession<'_>],
    report: &mut Report,
) {
    let rosters = match rosters(session.roster.as_ref(), acts) {
        Ok(rosters) => rosters,
        Err(fault) => return report.faults(Check::Roster, vec![fault]),
    };
    let mut faults = Vec::new();
    for it in takes {
        let (id, member) = (it.take.id, &it.take.draft().member_id);
        let Some(place) = places.get(&id) else { continue };
        let in_force = rosters.range(..place).next_back();
        let Some((seq, Some(roster))) = in_force else { continue };
        let fault = match roster.entry(member) {
            None => "is not on the roster",
            Some(entry) if entry.excused => "was excused by the roster",
            Some(_) => continue,
        };
        let member = printable(member.as_str());
        faults.push(format!("take {id}: {member} {fault} of entry {seq}"));
    }
    let holds = match &session.roster {
        None => "none, so every member could file".to_owned(),
        Some(roster) => {
            let listed = count(roster.entries().len(), "member", "members");
            format!("{listed} by its digest, and each author was expected")
        }
    };
    report.conclude(Check::Roster, faults, holds);
}

/// The roster after each act, found backwards from the last one: an excuse changed one member, which the
/// digest before it confirms.
fn rosters(
    last: Option<&Roster>,
    acts: &[ActOnSession<'_>],
) -> Result<BTreeMap<Seq, Option<Roster>>, String> {
    let (mut rosters, mut roster) = (BTreeMap::new(), last.cloned());
    for (place, act) in acts.iter().enumerate().rev() {
        let digest = |roster: &Option<Roster>| roster.as_ref().map(Digest::of_json);
        if digest(&roster) != act.after().roster_digest {
            return Err(format!("the roster is not the one whose digest entry {} has", act.seq));
        }
        rosters.insert(act.seq, roster.clone());
        let before = place.checked_sub(1).and_then(|place| acts.get(place));
        let before = before.and_then(|act| act.after().roster_digest);
        match (act.entry.act, &act.entry.excuse, before) {
            (SessionAct::Roster, _, None) => roster = None,
            (SessionAct::Excuse, Some(excuse), Some(before)) => {
                let is_now = roster.as_ref().and_then(|roster| roster.entry(&excuse.member_id));
                if is_now.is_none_or(|entry| entry.excused != excuse.excused) {
                    return Err(format!("entry {} excuses otherwise than the roster", act.seq));
                }
                if digest(&roster) != Some(before)
                    && let Some(entry) =
                        roster.as_mut().and_then(|roster| roster.entry_mut(&excuse.member_id))
                {
                    entry.excused = !excuse.excused;
                }
            }
            _ => {}
        }
    }
    Ok(rosters)
}

/// Checks that the buckets are those of the log.
pub(super) fn check_buckets(session: &Session, acts: &[ActOnSession<'_>], report: &mut Report) {
    let digest = session.buckets.as_ref().map(Digest::of_json);
    let other = acts.iter().filter(|act| act.after().buckets_digest != digest);
    let faults =
        other.map(|act| format!("not those whose digest entry {} has", act.seq)).take(1).collect();
    let holds = match &session.buckets {
        None => "none".to_owned(),
        Some(buckets) => format!("{} by their digest", count(buckets.len(), "bucket", "buckets")),
    };
    report.conclude(Check::Buckets, faults, holds);
}
