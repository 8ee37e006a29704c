//! The aggregation: the takes that precede it are as many as its entry says, and the snapshot is what the rules
//! compute from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::entries::{BundledEntry, Content};
use super::finding::{Check, Report, count};
use super::history::ActOnSession;
use super::records::BundledTake;
use crate::domain::json::{Json, Object, printable, write};
use crate::domain::{Seq, Session, SessionState, Snapshot, Take, TakeId};
use crate::rules::aggregate;

/// Checks that as many takes precede each act that aggregates the session as its entry says.
pub(super) fn check_count(
    session: &Session,
    acts: &[ActOnSession<'_>],
    entries: &[BundledEntry],
    report: &mut Report,
) {
    let filed = entries.iter().filter_map(|entry| match &entry.content {
        Content::Take(take) if take.session_id == session.id => Some(entry.seq),
        _ => None,
    });
    let mut filed: Vec<_> = filed.collect();
    filed.sort_unstable();
    let (mut faults, mut holds) = (Vec::new(), None);
    for act in acts {
        let before = filed.partition_point(|seq| *seq < act.seq);
        let (seq, takes) = (act.seq, preceding(before));
        match (act.entry.aggregates(), act.entry.takes) {
            (false, None) => {}
            (true, Some(said)) if usize::try_from(said) == Ok(before) => {
                holds = Some(format!("{takes} the aggregation, entry {seq}, as it says"));
            }
            (true, Some(said)) => faults.push(format!(
                "{takes} entry {seq} in the bundle, which aggregated the session with {said} on file"
            )),
            (true, None) => {
                faults.push(format!("entry {seq} does not say how many takes were on file"));
            }
            (false, Some(_)) => {
                faults.push(format!("entry {seq} counts takes, and aggregates nothing"));
            }
        }
    }
    report.conclude(Check::Takes, faults, holds);
}

fn preceding(takes: usize) -> String {
    match takes {
        0 => "no take precedes".to_owned(),
        takes => count(takes, "take precedes", "takes precede"),
    }
}

/// Checks that the snapshot has the digest of the log, and is what the rules compute from the takes that the
/// log has before the aggregation, bit for bit.
pub(super) fn check(
    session: &Session,
    takes: &[BundledTake],
    places: &BTreeMap<TakeId, Seq>,
    acts: &[ActOnSession<'_>],
    report: &mut Report,
) {
    let aggregation = acts.iter().find(|act| act.after().state >= SessionState::Aggregated);
    let (Some(snapshot), Some(act)) = (&session.snapshot, aggregation) else {
        let faults = match (&session.snapshot, aggregation) {
            (None, None) => Vec::new(),
            (Some(_), _) => vec!["the log has no aggregation".to_owned()],
            (None, Some(act)) => vec![format!("missing, though entry {} aggregated it", act.seq)],
        };
        return report.conclude(
            Check::Snapshot,
            faults,
            "none, as it is not aggregated".to_owned(),
        );
    };
    let mut faults = Vec::new();
    if act.after().snapshot_digest != Some(snapshot.digest()) {
        faults.push(format!("not the one whose digest entry {} has", act.seq));
    }
    let before = |it: &&BundledTake| places.get(&it.take.id).is_some_and(|place| *place < act.seq);
    let counted: Vec<Arc<Take>> =
        takes.iter().filter(before).map(|it| Arc::clone(&it.take)).collect();
    let computed = aggregate(session, &counted, snapshot.figures.aggregated_at);
    let fields = different_fields(snapshot, &computed);
    if !fields.is_empty() {
        faults.push(format!("the rules compute another one: {}", fields.join(", ")));
    }
    let withheld = snapshot.quotes.iter().filter(|quote| quote.body.is_none()).count();
    if snapshot.original.is_some() {
        let withheld = count(withheld, "quote is", "quotes are");
        let text = format!("its digest in entry {}: {withheld} withheld", act.seq);
        report.unproven(Check::Snapshot, text);
    }
    let members = count(computed.figures.participation.members, "member", "members");
    let from = match counted.len() {
        0 => "without takes".to_owned(),
        number => {
            let takes = count(number, "take", "takes");
            format!("from {takes}, of which those of {members} count")
        }
    };
    let holds = format!("computed again {from}, and the same bit for bit; checked offline");
    report.conclude(Check::Snapshot, faults, holds);
}

/// The fields in which two snapshots differ, down to the second level.
fn different_fields(given: &Snapshot, computed: &Snapshot) -> Vec<String> {
    let read =
        |snapshot| Json::read(write(snapshot).as_bytes()).unwrap_or(Json::Null).into_object();
    let (given, computed) = (read(given), read(computed));
    let mut fields = Vec::new();
    for (name, value) in computed.members() {
        match (value, given.get(name)) {
            (value, Some(given)) if value == given => {}
            (Json::Object(inner), Some(Json::Object(given))) => {
                let differing =
                    inner.members().filter(|(name, value)| given.get(name) != Some(value));
                fields.extend(
                    differing.map(|(inner, value)| format!("{name}.{inner} is {}", write(value))),
                );
                let more = more_members(given, inner);
                fields.extend(more.map(|more| format!("{name}.{more} is not there")));
            }
            _ => fields.push(name.to_owned()),
        }
    }
    fields.extend(more_members(&given, &computed).map(|more| format!("{more} is not there")));
    fields
}

/// The members that one object has and another has not.
fn more_members<'a>(one: &'a Object, other: &'a Object) -> impl Iterator<Item = String> + 'a {
    let names = one.members().map(|(name, _)| name);
    names.filter(|name| other.get(name).is_none()).map(printable)
}
