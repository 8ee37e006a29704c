//! Blind sessions that their operator tampered with.

use std::sync::Arc;

use swarm_core::domain::{LogEntry, Salt, SessionAct, SessionState, Take};
use swarm_core::proof::opening_entry;
use swarm_testing::{keys, moment};

use crate::bundles::cases::Case;
use crate::bundles::desk::Desk;
use crate::bundles::rewrites::{renumber, step};

pub(crate) fn cases() -> Vec<Case> {
    let case = |name, about, change: &dyn Fn(&mut Desk), finds: &[_]| {
        let mut desk = Desk::blind();
        change(&mut desk);
        Case::new(name, about, &desk, finds)
    };
    vec![
        case(
            "seal-replaced-take",
            "a take that was replaced before it was opened",
            &|desk| {
                let other = desk.take("ada", &keys("ada"), "bearish", 0.1);
                let first = Take::clone(&desk.takes[0]);
                let other = Take { signed: other.signed, ..first };
                let opening = opening_entry(&other).unwrap();
                openings(desk)[0].clone_from(&opening);
                desk.takes[0] = Arc::new(other);
            },
            &[("entry", "has another sealed than take 11")],
        ),
        case(
            "seal-other-salt",
            "a salt that is not the one of the seal",
            &|desk| openings(desk)[1].salt = Salt([9; 32]),
            &[("seal", "opens take 12 otherwise than its record")],
        ),
        case(
            "seal-salt-replaced",
            "a salt that was replaced in the take and in its opening",
            &replace_salt,
            &[("seal", "take 12 has another seal than its entry")],
        ),
        case(
            "seal-not-opened",
            "a take that was left out of the opening",
            &|desk| {
                let last = desk.lines.iter().rposition(is_opening).unwrap();
                drop(desk.lines.remove(last));
                renumber(desk);
            },
            &[("seal", "does not open take 13")],
        ),
        case(
            "seal-missing",
            "a take that was filed without a seal",
            &|desk| {
                let open = Take { salt: None, ..Take::clone(&desk.takes[2]) };
                let entry = swarm_core::proof::take_entry(&open);
                for line in &mut desk.lines {
                    match &mut line.entry {
                        LogEntry::Take(it) if it.id == open.id => it.clone_from(&entry),
                        _ => {}
                    }
                }
                desk.takes[2] = Arc::new(open);
            },
            &[("seal", "take 13 was filed before the session was opened, without a seal")],
        ),
        case(
            "seal-opened-early",
            "a session that was opened before its window had closed",
            &|desk| {
                *desk = blind_and_open();
                step(desk, SessionAct::State, |desk| {
                    desk.session.state = SessionState::WindowClosed;
                });
                let now = desk.now;
                step(desk, SessionAct::Opened, |desk| desk.session.opened_at = Some(now));
                let opening = opening_entry(&desk.takes[0]).unwrap();
                desk.append(LogEntry::Opening(opening));
            },
            &[("history", "opened before its window was over")],
        ),
        case(
            "seal-deadline-after-opening",
            "a deadline that was moved after the takes were opened",
            &|desk| {
                step(desk, SessionAct::Deadline, |desk| {
                    desk.session.window_closes_at = Some(moment("2026-11-21T21:00:00Z"));
                });
            },
            &[("history", "moved the deadline after it was opened")],
        ),
    ]
}

/// Replaces the salt of the second take, in its record and in the entry that opens it.
pub(crate) fn replace_salt(desk: &mut Desk) {
    let salt = Salt([9; 32]);
    openings(desk)[1].salt = salt;
    desk.takes[1] = Arc::new(Take { salt: Some(salt), ..Take::clone(&desk.takes[1].shown()) });
}

fn blind_and_open() -> Desk {
    let mut desk = Desk::new(|draft| swarm_core::domain::SessionDraft { blind: true, ..draft });
    desk.file("ada", "bullish", 0.7, &[]);
    desk
}

fn is_opening(line: &swarm_core::domain::LogLine) -> bool {
    matches!(line.entry, LogEntry::Opening(_))
}

fn openings(desk: &mut Desk) -> Vec<&mut swarm_core::domain::OpeningEntry> {
    desk.lines
        .iter_mut()
        .filter_map(|line| match &mut line.entry {
            LogEntry::Opening(opening) => Some(opening),
            _ => None,
        })
        .collect()
}
