//! Recomputes the snapshot of a session, and compares it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::finding::{Check, Report, count};
use super::history::ActOnSession;
use super::records::BundledTake;
use crate::domain::json::{Json, Object, write};
use crate::domain::{Digest, Seq, Session, SessionState, Snapshot, Take, TakeId};
use crate::rules::aggregate;

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
    if act.after().snapshot_digest != Some(Digest::of_json(&**snapshot)) {
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
    let takes = count(counted.len(), "take", "takes");
    let holds = format!("computed again from {takes}, and the same bit for bit; checked offline");
    report.conclude(Check::Snapshot, faults, holds);
}

/// The fields in which two snapshots differ, down to the second level.
fn different_fields(given: &Snapshot, computed: &Snapshot) -> Vec<String> {
    let read =
        |snapshot| Json::read(write(snapshot).as_bytes()).unwrap_or(Json::Null).into_object();
    let (given, computed) = (read(given), read(computed));
    let mut fields = Vec::new();
    for (name, value) in computed.members() {
        match (value, member(&given, name)) {
            (value, Some(given)) if value == given => {}
            (Json::Object(inner), Some(Json::Object(given))) => {
                let inner =
                    inner.members().filter(|(name, value)| member(given, name) != Some(value));
                fields.extend(
                    inner.map(|(inner, value)| format!("{name}.{inner} is {}", write(value))),
                );
            }
            _ => fields.push(name.to_owned()),
        }
    }
    fields
}

fn member<'a>(object: &'a Object, name: &str) -> Option<&'a Json> {
    object.members().find(|(field, _)| *field == name).map(|(_, value)| value)
}
