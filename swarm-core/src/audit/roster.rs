//! The terms other than the deadline: the roster, the quorum and the buckets, and what changed once takes were on file.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::deadlines::Filed;
use super::finding::{Check, Faults, Report, count};
use super::history::{ActOnSession, in_force};
use crate::domain::json::printable;
use crate::domain::{Digest, MemberId, RosterEntry, Seq, Session, SessionAct, SessionState};

/// The most entries of rosters that are hashed, so that many changes of a long roster do not take for ever.
const MAX_HASHED: usize = 20_000_000;

/// Checks the digest of the roster after each act, and that each author was on it, and not excused, when the
/// take was filed.
pub(super) fn check(
    session: &Session,
    filed: &Filed<'_>,
    acts: &[ActOnSession<'_>],
    report: &mut Report,
) {
    let roster = session.roster.as_ref().map(|roster| roster.entries());
    let rosters = match Rosters::trace(roster, acts) {
        Ok(rosters) => rosters,
        Err(fault) => return report.faults(Check::Roster, vec![fault]),
    };
    let (mut faults, mut before) = (Vec::new(), 0_usize);
    for (place, take) in filed.all() {
        let in_force = in_force(acts, *place);
        let Some(act) = in_force.filter(|act| act.after().roster_digest.is_some()) else {
            before += 1;
            continue;
        };
        let member = &take.draft().member_id;
        let fault = match rosters.is_excused(member, *place) {
            None => "is not on the roster",
            Some(true) => "was excused by the roster",
            Some(false) => continue,
        };
        let member = printable(member.as_str());
        faults.push(format!("take {}: {member} {fault} of entry {}", take.id, act.seq));
    }
    let holds = match roster {
        None => "none, so every member could file".to_owned(),
        Some(roster) => {
            let listed = count(roster.len(), "member", "members");
            let mut holds = format!("{listed} by its digest");
            let after = filed.all().len() - before;
            if after > 0 {
                let after = count(after, "take since", "takes since");
                holds.push_str(&format!("; the author of each of {after} was expected"));
            }
            if before > 0 {
                let before = count(before, "take was", "takes were");
                holds.push_str(&format!("; {before} filed before it"));
            }
            holds
        }
    };
    report.conclude(Check::Roster, faults, (!acts.is_empty()).then_some(holds));
    report.notable(Check::Roster, notable(filed, acts, roster.unwrap_or_default()));
}

/// Whether each member was excused, at each place in the log.
struct Rosters<'a> {
    /// By the last roster.
    last: HashMap<&'a MemberId, bool>,
    /// The excuses of each member, the last one first: its place, and whether the member was excused before it.
    excuses: HashMap<&'a MemberId, Vec<(Seq, bool)>>,
}

impl<'a> Rosters<'a> {
    /// Traces the roster back from the last one: an excuse changed one member, which the digest before it confirms.
    fn trace(
        last: Option<&'a [RosterEntry]>,
        acts: &'a [ActOnSession<'_>],
    ) -> Result<Self, String> {
        let mut roster = last.map(<[RosterEntry]>::to_vec);
        let rows = last.unwrap_or_default();
        let places: HashMap<_, _> =
            rows.iter().zip(0..).map(|(it, at)| (&it.member_id, at)).collect();
        let last = rows.iter().map(|entry| (&entry.member_id, entry.excused)).collect();
        let (mut hashed, mut excuses) = (0_usize, HashMap::<_, Vec<_>>::new());
        let mut digest = roster.as_ref().map(Digest::of_json);
        for (place, act) in acts.iter().enumerate().rev() {
            if digest != act.after().roster_digest {
                return Err(format!(
                    "the roster is not the one whose digest entry {} has",
                    act.seq
                ));
            }
            let before = place.checked_sub(1).and_then(|place| acts.get(place));
            let before = before.and_then(|act| act.after().roster_digest);
            match (act.entry.act, &act.entry.excuse, before) {
                (SessionAct::Roster, _, None) => (roster, digest) = (None, None),
                (SessionAct::Excuse, Some(excuse), Some(before)) => {
                    let at = places.get_key_value(&excuse.member_id);
                    let entry = at.and_then(|(_, at)| roster.as_mut()?.get_mut(*at));
                    let (Some((member, _)), Some(entry)) = (at, entry) else {
                        return Err(format!("entry {} excuses otherwise than the roster", act.seq));
                    };
                    if entry.excused != excuse.excused {
                        return Err(format!("entry {} excuses otherwise than the roster", act.seq));
                    }
                    if digest != Some(before) {
                        entry.excused = !excuse.excused;
                        hashed = hashed.saturating_add(rows.len());
                        if hashed > MAX_HASHED {
                            return Err("it changes too often to be checked".to_owned());
                        }
                        digest = roster.as_ref().map(Digest::of_json);
                        excuses.entry(*member).or_default().push((act.seq, !excuse.excused));
                    }
                }
                _ => {}
            }
        }
        Ok(Self { last, excuses })
    }

    /// Whether the roster in force at a place in the log excused a member; `None` if it did not list it.
    fn is_excused(&self, member: &MemberId, place: Seq) -> Option<bool> {
        let last = *self.last.get(member)?;
        let excuses = self.excuses.get(member).map(Vec::as_slice).unwrap_or_default();
        // Of the excuses at this place or later, the first one says what was before it.
        let later = excuses.partition_point(|(seq, _)| *seq >= place);
        let first_later = later.checked_sub(1).and_then(|at| excuses.get(at));
        Some(first_later.map_or(last, |(_, before)| *before))
    }
}

/// The roster that was set, and the members that were excused or expected again, once takes were on file.
fn notable(filed: &Filed<'_>, acts: &[ActOnSession<'_>], last: &[RosterEntry]) -> Faults {
    let mut texts = Faults::default();
    for (before, act) in acts.iter().zip(acts.iter().skip(1)) {
        let on_file = filed.before(act.seq);
        if on_file.is_empty() || before.after().roster_digest == act.after().roster_digest {
            continue;
        }
        let named = act.named();
        let takes = count(on_file.len(), "take was", "takes were");
        texts.push_with(|| match &act.entry.excuse {
            Some(excuse) => {
                let member = printable(excuse.member_id.as_str());
                let own = on_file.iter().filter(|(_, it)| it.draft().member_id == excuse.member_id);
                let own = count(own.count(), "take", "takes");
                let (change, effect) = match excuse.excused {
                    true => ("expected → excused", "not count"),
                    false => ("excused → expected", "count"),
                };
                format!(
                    "{named}: {member} {change}, when {takes} on file; its {own} there would {effect}"
                )
            }
            None => {
                let listed: BTreeSet<_> = last.iter().map(|entry| &entry.member_id).collect();
                let authors: BTreeSet<_> =
                    on_file.iter().map(|(_, take)| &take.draft().member_id).collect();
                let left_out: Vec<_> =
                    authors.difference(&listed).map(|member| printable(member.as_str())).collect();
                let left_out = match left_out.as_slice() {
                    [] => "all of their authors are on it".to_owned(),
                    names => format!("takes of {} do not count", names.join(", ")),
                };
                let listed = count(listed.len(), "member", "members");
                format!("{named}: roster none → {listed}, when {takes} on file; {left_out}")
            }
        });
    }
    texts
}

/// Checks that the buckets are those of the log.
pub(super) fn check_buckets(session: &Session, acts: &[ActOnSession<'_>], report: &mut Report) {
    let digest = session.buckets.as_ref().map(Digest::of_json);
    let other = acts.iter().filter(|act| act.after().buckets_digest != digest);
    let other = other.map(|act| format!("not those whose digest entry {} has", act.seq)).take(1);
    let distinct: Option<HashSet<_>> = session.buckets.as_ref().map(|it| it.iter().collect());
    let named = session.buckets.as_ref().map(Vec::len);
    let is_list = named != Some(0) && named == distinct.map(|it| it.len());
    let fault = (!is_list).then(|| "no list of different names".to_owned());
    let faults = other.chain(fault).collect::<Faults>();
    let holds = match &session.buckets {
        None => "none".to_owned(),
        Some(buckets) => format!("{} by their digest", count(buckets.len(), "bucket", "buckets")),
    };
    report.conclude(Check::Buckets, faults, (!acts.is_empty()).then_some(holds));
}

/// Reports changes of the quorum once takes were on file.
pub(super) fn check_quorum(filed: &Filed<'_>, acts: &[ActOnSession<'_>], report: &mut Report) {
    let mut texts = Faults::default();
    for (before, act) in acts.iter().zip(acts.iter().skip(1)) {
        let (from, to) = (before.after().quorum, act.after().quorum);
        let on_file = filed.before(act.seq);
        if from == to || on_file.is_empty() || before.after().state >= SessionState::Aggregated {
            continue;
        }
        texts.push_with(|| {
            let members: BTreeSet<_> =
                on_file.iter().map(|(_, take)| &take.draft().member_id).collect();
            let members = count(members.len(), "member had", "members had");
            let shown = |quorum: Option<u32>| quorum.map_or("none".to_owned(), |it| it.to_string());
            let (named, from, to) = (act.named(), shown(from), shown(to));
            format!("{named}: quorum {from} → {to}, when {members} filed")
        });
    }
    report.notable(Check::Quorum, texts);
}
