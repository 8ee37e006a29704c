//! The rules for the texts of takes that operators withhold, restore or erase (API.md, 7.10).
//!
//! The mark of a take changes together with the snapshot of its session, which quotes the take. So the version of the
//! session guards both, and an aggregation knows all marks.

use std::collections::HashSet;
use std::sync::Arc;

use super::log::{self, Act};
use super::{Refusal, Versioned};
use crate::domain::{
    Attribution, MemberId, Note, Session, SessionId, Take, TakeId, TakeMarkAct, Timestamp, Version,
    Withheld,
};

/// The note of texts that are erased and were not withheld before.
const ERASED_NOTE: &str = "texts erased";

/// A change of the marks of takes in one session.
#[derive(Clone, Debug)]
pub struct TakeMarks {
    /// The session after the change. Only the quotes of its snapshot differ.
    pub session: Session,
    /// The version of the session that was judged.
    pub expected: Version,
    /// Guard: this member still has this version.
    pub author: Option<(MemberId, Version)>,
    /// The takes, each with what becomes of its mark.
    pub takes: Vec<(Arc<Take>, TakeMark)>,
    /// Its entries in the log, in order.
    pub acts: Vec<Act>,
}

/// What becomes of the mark of a take.
#[derive(Clone, Debug, PartialEq)]
pub enum TakeMark {
    /// Its texts are withheld from the time of the commit on, with this note.
    Withheld(Note),
    /// It has no mark any more.
    Restored,
    /// Its texts are removed from the store. Unless it has a mark, it gets one with this note.
    Erased(Note),
}

impl TakeMarks {
    /// Returns the session whose takes are marked.
    pub fn session_id(&self) -> SessionId {
        self.session.id
    }

    /// Returns the takes after a commit at this time, in the order of [`takes`](Self::takes).
    pub fn marked(&self, at: Timestamp) -> impl Iterator<Item = Take> {
        self.takes.iter().map(move |(take, mark)| {
            let withheld = |note: &Note| Withheld { at, note: note.clone(), removed: None };
            match mark {
                TakeMark::Withheld(note) => {
                    Take { withheld: Some(withheld(note)), ..Take::clone(take) }
                }
                TakeMark::Restored => Take { withheld: None, ..Take::clone(take) },
                TakeMark::Erased(note) => {
                    let mark = take.withheld.clone().unwrap_or_else(|| withheld(note));
                    take.without_texts(&mark)
                }
            }
        })
    }
}

/// Withholds the texts of a take. `take` was read after `session`.
///
/// # Errors
/// [`Refusal::TakesSealed`]; [`Refusal::TakeWithheld`].
pub fn withhold(
    session: &Versioned<Session>,
    take: &Arc<Take>,
    note: Note,
    by: &Attribution,
) -> Result<TakeMarks, Refusal> {
    check_opened(&session.record)?;
    if take.withheld.is_some() {
        return Err(Refusal::TakeWithheld);
    }
    let by = Attribution { note: Some(note.clone()), ..by.clone() };
    Ok(TakeMarks {
        session: withholding(&session.record, [take.id]),
        expected: session.version,
        author: None,
        takes: vec![(Arc::clone(take), TakeMark::Withheld(note))],
        acts: vec![log::take_marked(TakeMarkAct::Withheld, take.id, &by)],
    })
}

/// Shows the texts of a take again. `take` was read after `session`.
///
/// # Errors
/// [`Refusal::TakeNotWithheld`]; [`Refusal::TextsErased`].
pub fn restore(
    session: &Versioned<Session>,
    take: &Arc<Take>,
    by: &Attribution,
) -> Result<TakeMarks, Refusal> {
    if take.withheld.is_none() {
        return Err(Refusal::TakeNotWithheld);
    }
    if !take.has_texts() {
        return Err(Refusal::TextsErased);
    }
    let mut restored = Session::clone(&session.record);
    let snapshot = restored.snapshot.as_ref();
    restored.snapshot =
        snapshot.map(|snapshot| Arc::new(snapshot.restoring(take.id, &take.draft().body)));
    Ok(TakeMarks {
        session: restored,
        expected: session.version,
        author: None,
        takes: vec![(Arc::clone(take), TakeMark::Restored)],
        acts: vec![log::take_marked(TakeMarkAct::Restored, take.id, by)],
    })
}

/// Erases the texts of a member's takes in a session. `takes` were read after `session`. The member, with this version, is
/// not active, so it files no more. `None` when all of them are erased already.
///
/// # Errors
/// [`Refusal::TakesSealed`].
pub fn erase_texts(
    session: &Versioned<Session>,
    takes: &[Arc<Take>],
    member: (MemberId, Version),
    by: &Attribution,
) -> Result<Option<TakeMarks>, Refusal> {
    check_opened(&session.record)?;
    let left: Vec<_> = takes.iter().filter(|take| take.has_texts()).collect();
    if left.is_empty() {
        return Ok(None);
    }
    let note = Note::parse(ERASED_NOTE).map_err(Refusal::InvalidRequest)?;
    let by = Attribution { note: Some(note.clone()), ..by.clone() };
    let shown = left.iter().filter(|take| take.withheld.is_none());
    let act = |take: &&Arc<Take>| log::take_marked(TakeMarkAct::Withheld, take.id, &by);
    Ok(Some(TakeMarks {
        session: withholding(&session.record, left.iter().map(|take| take.id)),
        expected: session.version,
        author: Some(member),
        acts: shown.map(act).collect(),
        takes: left
            .into_iter()
            .map(|take| (Arc::clone(take), TakeMark::Erased(note.clone())))
            .collect(),
    }))
}

/// Checks that no take of the session is sealed.
fn check_opened(session: &Session) -> Result<(), Refusal> {
    if session.is_sealed() { Err(Refusal::TakesSealed) } else { Ok(()) }
}

fn withholding(session: &Session, takes: impl IntoIterator<Item = TakeId>) -> Session {
    let takes: HashSet<_> = takes.into_iter().collect();
    let snapshot = session.snapshot.as_ref();
    let snapshot = snapshot.map(|snapshot| Arc::new(snapshot.withholding(&takes)));
    Session { snapshot, ..session.clone() }
}
