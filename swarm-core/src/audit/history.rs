//! The operator's acts on the session, replayed from the log: each must be a valid step from the one before it, and
//! they are numbered, so that none can be left out.

use std::collections::{BTreeMap, HashMap};

use super::entries::{BundledEntry, Content};
use super::finding::{Check, Faults, Report, count};
use super::records::BundledTake;
use super::steps::{Step, changed_fields, convening_faults, step_faults};
use crate::domain::json::{Json, Object, printable, write};
use crate::domain::{
    LoggedSession, Seq, Session, SessionAct, SessionEntry, SessionId, SessionState, TakeId,
    Timestamp,
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

    /// The entry, its time and its author, for people.
    pub(super) fn named(&self) -> String {
        let note = self.entry.note.as_ref();
        let note = note.map(|note| format!(", note {}", printable(note.as_str())));
        let (seq, at, by) = (self.seq, self.at, printable(self.entry.by.as_str()));
        format!("entry {seq} of {at} by {by}{}", note.unwrap_or_default())
    }
}

/// The acts on a session, in the order of the log.
pub(super) fn acts(session: SessionId, entries: &[BundledEntry]) -> Vec<ActOnSession<'_>> {
    let acts = entries.iter().filter_map(|entry| match &entry.content {
        Content::Session(act) if act.session.id == session => {
            Some(ActOnSession { seq: entry.seq, at: entry.at, entry: act })
        }
        _ => None,
    });
    let mut acts: Vec<_> = acts.collect();
    acts.sort_by_key(|act| act.seq);
    acts
}

/// The last act before a place in the log: its session is in force there.
pub(super) fn in_force<'a, 'b>(
    acts: &'a [ActOnSession<'b>],
    place: Seq,
) -> Option<&'a ActOnSession<'b>> {
    acts.get(acts.partition_point(|act| act.seq < place).checked_sub(1)?)
}

/// Checks that the acts lead from convening to the record, each changing what it says and nothing else.
/// `late` are the acts that changed the question once takes were on file.
pub(super) fn check_acts(
    session: &Session,
    acts: &[ActOnSession<'_>],
    late: Vec<String>,
    report: &mut Report,
) {
    let mut faults = late;
    let records: Vec<_> = acts.iter().map(|act| recorded(act.after())).collect();
    match acts.first() {
        None => faults.push("no entry of the session".to_owned()),
        Some(first) if first.entry.act != SessionAct::Convened => {
            faults.push(format!("the first act, entry {}, does not convene it", first.seq));
        }
        Some(first) => {
            let convened = records.first().map(|record| step(first.after(), record));
            let faults_of_act = convened.into_iter().flat_map(convening_faults);
            faults.extend(faults_of_act.map(|fault| format!("entry {}: {fault}", first.seq)));
        }
    }
    let steps = acts.iter().zip(&records);
    for ((before, old), (act, new)) in steps.clone().zip(steps.skip(1)) {
        let name = write(&act.entry.act);
        let faults_of_act = match act.entry.act {
            SessionAct::Convened => vec!["convened again".to_owned()],
            // A withdrawn session is not served, so this is no act of one that is.
            SessionAct::Withdrawn => vec!["withdrawn".to_owned()],
            _ => {
                let (before, after) = (step(before.after(), old), step(act.after(), new));
                step_faults(before, name.trim_matches('"'), act.at, after)
            }
        };
        let faults_of_act = faults_of_act.into_iter();
        faults.extend(faults_of_act.map(|fault| format!("entry {}: {fault}", act.seq)));
    }
    let record = recorded(&logged(session));
    if let (Some(last), Some(left)) = (acts.last(), records.last()) {
        let fields = changed_fields(left, &record).join(", ");
        if !fields.is_empty() {
            faults.push(format!(
                "the record differs from the last act, entry {}: {fields}",
                last.seq
            ));
        }
    }
    let voids = acts.iter().filter(|act| act.entry.act == SessionAct::Void);
    let voids = voids.map(|act| format!("{}: voided: its result counts for nothing", act.named()));
    let acts = count(acts.len(), "act leads", "acts lead");
    let practice =
        if session.practice { "; it is for practice, and counts for nothing" } else { "" };
    let holds = format!("{acts} from convening to the record{practice}");
    report.conclude(Check::History, faults, holds);
    report.notable(Check::History, voids.collect::<Faults>());
}

/// The record of a session, as the log has it.
fn recorded(session: &LoggedSession) -> Object {
    Json::read(write(session).as_bytes()).unwrap_or(Json::Null).into_object()
}

fn step<'a>(session: &LoggedSession, record: &'a Object) -> Step<'a> {
    Step { record, state: session.state, deadline: session.window_closes_at }
}

/// Checks that the acts are versions 1 to n of the session, and that each take was judged under the version in force
/// before it.
pub(super) fn check_versions(
    session: &Session,
    acts: &[ActOnSession<'_>],
    entries: &[BundledEntry],
    report: &mut Report,
) {
    let (mut faults, mut last, mut judged_takes) = (Vec::new(), 0_u64, 0);
    for act in acts {
        let (seq, version, expected) = (act.seq, act.entry.version, last.saturating_add(1));
        if version != expected {
            faults.push(format!("entry {seq} is version {version}, expected {expected}"));
        }
        last = version;
    }
    for entry in entries {
        let Content::Take(take) = &entry.content else { continue };
        let Some(act) = in_force(acts, entry.seq) else { continue };
        if take.session_id != session.id {
            continue;
        }
        judged_takes += 1;
        let (judged, version) = (take.session_version, act.entry.version);
        if judged != version {
            faults.push(format!(
                "entry {}: take {} was judged under version {judged}, and {version} was in force",
                entry.seq, take.id
            ));
        }
    }
    let mut holds = format!("the acts are 1 to {last} without a gap");
    if judged_takes > 0 {
        let takes = count(judged_takes, "take was", "takes were");
        holds.push_str(&format!(", and {takes} judged under the one in force"));
    }
    report.conclude(Check::Version, faults, (!acts.is_empty()).then_some(holds));
}

/// Checks that the log's time runs back only where an operator accepted that, which is notable, and that the times of the record
/// are those of its acts.
pub(super) fn check_times(
    session: &Session,
    acts: &[ActOnSession<'_>],
    entries: &[BundledEntry],
    report: &mut Report,
) {
    let (mut faults, mut accepted) = (Vec::new(), Vec::new());
    let later = takes_after_clocks(session.id, entries);
    for (one, next) in entries.iter().zip(entries.iter().skip(1)) {
        let (before, after, seq) = (one.at, next.at, next.seq);
        if let Content::ClockAccepted(by) = &next.content {
            let back = match after < before {
                true => format!("{before} → {after}"),
                false => format!("back to {after}"),
            };
            let takes = later.get(&seq).copied().unwrap_or_default();
            let takes = count(takes, "take was", "takes were");
            let by = printable(by.as_str());
            accepted.push(format!("entry {seq} by {by}: the clock {back}; {takes} filed after it"));
        } else if after < before {
            faults.push(format!("entry {seq} is of {after}, before entry {} of {before}", one.seq));
        }
    }
    if let Some(first) = acts.first().filter(|first| first.at != session.convened_at) {
        let (at, says) = (first.at, session.convened_at);
        faults.push(format!("convenedAt is {says}, entry {} says {at}", first.seq));
    }
    let opening = acts.iter().find(|act| act.entry.act == SessionAct::Opened);
    let void = acts.iter().find(|act| act.entry.act == SessionAct::Void);
    let act = |state| acts.iter().find(|act| act.after().state == state);
    let aggregated_at = session.snapshot.as_ref().map(|snapshot| snapshot.figures.aggregated_at);
    for (field, time, act) in [
        ("openedAt", session.opened_at, opening),
        ("publishedAt", session.published_at, act(SessionState::Published)),
        ("aggregatedAt", aggregated_at, act(SessionState::Aggregated)),
        ("voided.at", session.voided.as_ref().map(|voided| voided.at), void),
    ] {
        // The time is read before the commit, so it may be earlier than that of the entry, but not later.
        if let (Some(time), Some(act)) = (time, act.filter(|act| time > Some(act.at))) {
            faults.push(format!("{field} is {time}, after entry {} of {}", act.seq, act.at));
        }
    }
    let back =
        if accepted.is_empty() { "never run back" } else { "run back where that was accepted" };
    let holds = format!("they agree with the log, whose times {back}");
    report.conclude(Check::Time, faults, (!acts.is_empty()).then_some(holds));
    report.notable(Check::Time, accepted);
}

/// The number of takes in a session that were filed after each entry that accepts a clock.
fn takes_after_clocks(session: SessionId, entries: &[BundledEntry]) -> HashMap<Seq, usize> {
    let (mut later, mut takes) = (HashMap::new(), 0);
    for entry in entries.iter().rev() {
        match &entry.content {
            Content::Take(take) if take.session_id == session => takes += 1,
            Content::ClockAccepted(_) => {
                later.insert(entry.seq, takes);
            }
            _ => {}
        }
    }
    later
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
