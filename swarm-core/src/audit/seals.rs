//! The seals of a blind session: what the log withheld of its takes until the session was opened.

use std::collections::{BTreeMap, HashMap};

use super::entries::{BundledEntry, Content};
use super::finding::{Check, Report, count};
use super::history::ActOnSession;
use super::records::BundledTake;
use crate::domain::{
    Digest, OpeningEntry, Seq, Session, SessionAct, TakeContent, TakeEntry, TakeId,
};
use crate::proof::opening_entry;

/// Checks that each take that was filed before the session was opened is what its seal was made of: the entry of
/// its filing has the seal, and one entry after the session was opened has the salt. Of a take without texts the seal
/// cannot be computed.
pub(super) fn check(
    session: &Session,
    takes: &[BundledTake],
    entries: &[BundledEntry],
    places: &BTreeMap<TakeId, Seq>,
    acts: &[ActOnSession<'_>],
    report: &mut Report,
) {
    let openings: BTreeMap<_, _> = entries.iter().filter_map(opening).collect();
    if !session.blind && openings.is_empty() && takes.iter().all(|it| it.take.salt.is_none()) {
        return;
    }
    let opened = acts.iter().find(|act| act.entry.act == SessionAct::Opened).map(|act| act.seq);
    let was_sealed =
        |id| opened.is_none_or(|opened| places.get(&id).is_some_and(|it| *it < opened));
    let mut faults = Vec::new();
    if !session.blind {
        faults.push("takes are sealed, and the session is not blind".to_owned());
    }
    let seals: HashMap<_, _> = entries.iter().filter_map(seal).collect();
    let (mut expected, mut withheld) = (Vec::new(), 0);
    for it in takes {
        let id = it.take.id;
        match opening_entry(&it.take) {
            Some(opening) => {
                expected.push(opening);
                withheld += usize::from(!it.take.has_texts());
                if it.take.seal().is_none_or(|seal| seals.get(&id) != Some(&seal)) {
                    faults.push(format!("take {id} has another seal than its entry"));
                }
            }
            None if was_sealed(id) => {
                faults.push(format!(
                    "take {id} was filed before the session was opened, without a seal"
                ));
            }
            None => {}
        }
    }
    faults.extend(order_fault(&expected, &openings, opened));
    let holds = match expected.len() - withheld {
        0 if withheld == 0 => Some("none, as no take was filed before it was opened".to_owned()),
        0 => None,
        shown => {
            let shown = count(shown, "take is", "takes are");
            Some(format!(
                "{shown} what the seals in the log were made of, and were opened together"
            ))
        }
    };
    report.conclude(Check::Seal, faults, holds);
    if withheld > 0 {
        let text = match withheld {
            1 => "1 take is what its seal was made of".to_owned(),
            _ => format!("{withheld} takes are what their seals were made of"),
        };
        report.unproven(Check::Seal, format!("that {text}: the texts are withheld"));
    }
}

fn seal(entry: &BundledEntry) -> Option<(TakeId, Digest)> {
    match &entry.content {
        Content::Take(TakeEntry { id, content: TakeContent::Sealed { sealed }, .. }) => {
            Some((*id, *sealed))
        }
        _ => None,
    }
}

fn opening(entry: &BundledEntry) -> Option<(Seq, &OpeningEntry)> {
    match &entry.content {
        Content::Opening(opening) => Some((entry.seq, opening)),
        _ => None,
    }
}

/// How the openings differ from those expected, which follow the act that opened the session one after another;
/// `None` if they do not.
fn order_fault(
    expected: &[OpeningEntry],
    openings: &BTreeMap<Seq, &OpeningEntry>,
    opened: Option<Seq>,
) -> Option<String> {
    let Some(opened) = opened else {
        return Some("no entry opens the session".to_owned());
    };
    for (place, opening) in (opened.0.saturating_add(1)..).zip(expected) {
        match openings.get(&Seq(place)) {
            None => return Some(format!("entry {place} does not open take {}", opening.id)),
            Some(found) if *found != opening => {
                return Some(format!(
                    "entry {place} opens take {} otherwise than its record",
                    opening.id
                ));
            }
            Some(_) => {}
        }
    }
    let extra = openings.len().saturating_sub(expected.len());
    (extra > 0)
        .then(|| format!("{} that no take was sealed for", count(extra, "opening", "openings")))
}
