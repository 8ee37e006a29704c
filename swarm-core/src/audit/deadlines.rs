//! The deadline: each take must have been filed within the one in force, and each move of it is notable.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Check, Faults, Report, count};
use super::history::{ActOnSession, in_force};
use super::records::BundledTake;
use crate::domain::{Seq, Session, SessionAct, Take, TakeId, Timestamp};
use crate::rules::takes_may_come;

/// The takes of a session in the order of the log, with their places.
pub(super) struct Filed<'a> {
    takes: Vec<(Seq, &'a Take)>,
    /// For each of them, the one that was filed last, of it and those before it.
    latest: Vec<&'a Take>,
    /// The ids of those that the snapshot quotes.
    counted: BTreeSet<TakeId>,
}

impl<'a> Filed<'a> {
    pub(super) fn new(
        session: &Session,
        takes: &'a [BundledTake],
        places: &BTreeMap<TakeId, Seq>,
    ) -> Self {
        let placed = takes.iter().filter_map(|it| Some((*places.get(&it.take.id)?, &*it.take)));
        let mut takes: Vec<_> = placed.collect();
        takes.sort_by_key(|(place, take)| (*place, take.id));
        let latest = takes.iter().scan(None, |latest: &mut Option<&Take>, (_, take)| {
            *latest = latest.filter(|latest| latest.filed_at > take.filed_at).or(Some(*take));
            *latest
        });
        let latest = latest.collect();
        let quotes = session.snapshot.iter().flat_map(|snapshot| &snapshot.quotes);
        Self { takes, latest, counted: quotes.map(|quote| quote.take_id).collect() }
    }

    /// All of them.
    pub(super) fn all(&self) -> &[(Seq, &'a Take)] {
        &self.takes
    }

    /// Those that were filed before a place in the log.
    pub(super) fn before(&self, place: Seq) -> &[(Seq, &'a Take)] {
        self.takes.split_at(self.number_before(place)).0
    }

    /// Those that were filed after a place in the log.
    pub(super) fn after(&self, place: Seq) -> &[(Seq, &'a Take)] {
        self.takes.split_at(self.number_before(place)).1
    }

    /// Of those that were filed before a place in the log, the one with the latest time.
    fn latest_before(&self, place: Seq) -> Option<&'a Take> {
        self.latest.get(self.number_before(place).checked_sub(1)?).copied()
    }

    fn number_before(&self, place: Seq) -> usize {
        self.takes.partition_point(|(at, _)| *at < place)
    }

    /// Whether the snapshot quotes the take.
    pub(super) fn is_counted(&self, take: TakeId) -> bool {
        self.counted.contains(&take)
    }
}

/// Checks that each take was filed within the deadline in force at that time, and that no deadline was moved to
/// before a take that was filed already.
pub(super) fn check(filed: &Filed<'_>, acts: &[ActOnSession<'_>], report: &mut Report) {
    let (mut faults, mut bound, mut free) = (Vec::new(), 0, 0);
    for (place, take) in filed.all() {
        let (id, filed_at) = (take.id, take.filed_at);
        let Some(act) = in_force(acts, *place) else {
            faults.push(format!("take {id} was filed before the session was convened"));
            continue;
        };
        let deadline = act.after().window_closes_at;
        *(if deadline.is_some() { &mut bound } else { &mut free }) += 1;
        if let Some(deadline) = deadline.filter(|it| !takes_may_come(Some(*it), filed_at)) {
            let seq = act.seq;
            faults.push(format!(
                "take {id} was filed {filed_at}, after the deadline {deadline} of entry {seq}"
            ));
        }
    }
    let moves = || acts.iter().filter(|act| act.entry.act == SessionAct::Deadline);
    for act in moves() {
        let Some(deadline) = act.after().window_closes_at else { continue };
        if let Some(take) = filed.latest_before(act.seq).filter(|it| it.filed_at > deadline) {
            let (id, filed_at, seq) = (take.id, take.filed_at, act.seq);
            faults.push(format!(
                "entry {seq} moves the deadline to {deadline}, before take {id} of {filed_at}"
            ));
        }
    }
    let moved = count(moves().count(), "time", "times");
    let takes = |number| count(number, "take was filed", "takes were filed");
    let within = format!("{} within the deadline in force, which was moved {moved}", takes(bound));
    let without = format!("{} when there was none", takes(free));
    let is_never = acts.iter().all(|act| act.after().window_closes_at.is_none());
    let holds = match (bound, free) {
        _ if is_never => Some("none, so no take could be late".to_owned()),
        (0, 0) => None,
        (0, _) => Some(without),
        (_, 0) => Some(within),
        _ => Some(format!("{within}; {without}")),
    };
    report.conclude(Check::Deadline, faults, holds.filter(|_| !acts.is_empty()));
    report.notable(Check::Deadline, notable(filed, acts));
}

/// The moves of the deadline, and an aggregation ahead of it, with what they did to the count.
fn notable(filed: &Filed<'_>, acts: &[ActOnSession<'_>]) -> Faults {
    let mut texts = Faults::default();
    for (before, act) in acts.iter().zip(acts.iter().skip(1)) {
        let (from, to) = (before.after().window_closes_at, act.after().window_closes_at);
        let is_first = from.is_none() && filed.before(act.seq).is_empty();
        if from != to && !is_first {
            texts.push_with(|| {
                let effect = effect_of_move(filed, act.seq, from);
                let (named, from, to) = (act.named(), shown(from), shown(to));
                format!("{named}: deadline {from} → {to}{effect}")
            });
        }
        if let Some(deadline) = to.filter(|deadline| act.entry.aggregates() && act.at <= *deadline)
        {
            let after = count(filed.after(act.seq).len(), "take was", "takes were");
            let named = act.named();
            texts.push(format!(
                "{named}: aggregated before the deadline {deadline}; {after} filed after it, and count for nothing"
            ));
        }
    }
    texts
}

/// What a move of the deadline did: takes were filed after the one before it.
fn effect_of_move(filed: &Filed<'_>, place: Seq, from: Option<Timestamp>) -> String {
    let Some(from) = from else { return String::new() };
    let late: Vec<_> = filed.after(place).iter().filter(|(_, take)| take.filed_at > from).collect();
    let counted = late.iter().filter(|(_, take)| filed.is_counted(take.id)).count();
    let late = count(late.len(), "take was filed", "takes were filed");
    let counted = count(counted, "counts", "count");
    format!("; {late} after the one before, of which {counted} in the snapshot")
}

fn shown(time: Option<Timestamp>) -> String {
    time.map_or("none".to_owned(), |time| time.to_string())
}
