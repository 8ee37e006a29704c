//! The entry of each change of the public record.

use super::act::{Act, Kind, logged};
use crate::domain::committee::CommitteeDay;
use crate::domain::{
    Actor, Attribution, CommitteeDayEntry, DayAct, Digest, Excuse, LogBefore, LogEntry, Member,
    MemberAct, MemberEntry, MemberId, MemberStatus, Memo, MemoAct, MemoDraft, MemoEntry, Operation,
    Regime, Session, SessionAct, SessionDraft, SessionEntry, Signal, Subject, SubjectId,
    SubjectSnapshotDraft,
};
use crate::proof::note::VerifierKey;

/// A session is convened.
pub(in crate::rules) fn convened(draft: &SessionDraft, by: &Attribution) -> Act {
    Act::new(Kind::Convened(draft.clone(), by.clone()))
}

pub(in crate::rules) fn session_changed(
    act: SessionAct,
    session: &Session,
    by: &Attribution,
) -> Act {
    session_entry(act, session, by, None)
}

pub(in crate::rules) fn excused(
    session: &Session,
    member: &MemberId,
    excused: bool,
    by: &Attribution,
) -> Act {
    let excuse = Excuse { member_id: member.clone(), excused };
    session_entry(SessionAct::Excuse, session, by, Some(excuse))
}

/// The brief of a session is published.
pub fn brief_published(session: &Session, by: &Attribution) -> Act {
    session_entry(SessionAct::Brief, session, by, None)
}

fn session_entry(
    act: SessionAct,
    session: &Session,
    by: &Attribution,
    excuse: Option<Excuse>,
) -> Act {
    let Attribution { by, note } = by.clone();
    let session = logged(session);
    LogEntry::Session(Box::new(SessionEntry { act, by, note, session, excuse })).into()
}

/// A member is changed, by an operator or, if `by` is `None`, by itself.
pub(in crate::rules) fn member_changed(act: MemberAct, member: &Member, by: Option<&Actor>) -> Act {
    let is_active = member.state.is_active();
    LogEntry::Member(MemberEntry {
        act,
        by: by.cloned(),
        id: member.id.clone(),
        status: if is_active { MemberStatus::Active } else { MemberStatus::Inactive },
        public_key: member.public_key.clone(),
    })
    .into()
}

/// A memo is published.
pub fn memo_published(member: &MemberId, draft: &MemoDraft) -> Act {
    Act::new(Kind::MemoPublished(member.clone(), draft.clone()))
}

/// A memo is shown that was held while its session was sealed.
pub fn memo_shown(memo: &Memo) -> Act {
    LogEntry::Memo(MemoEntry {
        act: MemoAct::Published,
        by: None,
        id: memo.id,
        member_id: memo.member_id.clone(),
        digest: Digest::of_json(memo),
    })
    .into()
}

/// A memo is retracted.
pub fn memo_retracted(memo: &Memo, by: &Actor) -> Act {
    LogEntry::Memo(MemoEntry {
        act: MemoAct::Retracted,
        by: Some(by.clone()),
        id: memo.id,
        member_id: memo.member_id.clone(),
        digest: Digest::of_json(memo),
    })
    .into()
}

/// A subject is created or replaced.
pub fn subject_put(subject: &Subject, by: &Actor) -> Act {
    let (id, digest) = (subject.id.clone(), Digest::of_json(subject));
    LogEntry::Subject { by: by.clone(), id, digest }.into()
}

/// A snapshot of a subject is added.
pub fn snapshot_added(subject: &SubjectId, draft: &SubjectSnapshotDraft, by: &Actor) -> Act {
    Act::new(Kind::SnapshotAdded(subject.clone(), draft.clone(), by.clone()))
}

/// The regime of a day is recorded.
pub fn regime_put(regime: &Regime, by: &Actor) -> Act {
    let (date, digest) = (regime.date, Digest::of_json(regime));
    LogEntry::Regime { by: by.clone(), date, digest }.into()
}

/// A research signal is recorded.
pub fn signal_put(signal: &Signal, by: &Actor) -> Act {
    let (signal_key, date) = (signal.signal_key.clone(), signal.date);
    let digest = Digest::of_json(signal);
    LogEntry::Signal { by: by.clone(), signal_key, date, digest }.into()
}

/// An operator accepts the store's clock as it is.
pub fn clock_accepted(by: &Actor) -> Act {
    LogEntry::Operation(Operation::ClockAccepted { by: by.clone() }).into()
}

/// An operator accepts the store as it is, and a new log begins. The commit assigns its number. `before`
/// describes the previous log.
pub fn store_accepted(before: LogBefore, by: &Actor) -> Act {
    Act::new(Kind::StoreAccepted(before, by.clone()))
}

/// An operator accepts the key that signs the log from now on.
pub fn key_accepted(key: &VerifierKey, by: &Actor) -> Act {
    LogEntry::Operation(Operation::KeyAccepted { by: by.clone(), log_key: key.to_string() }).into()
}

/// A day of the committee is changed.
pub(in crate::rules) fn committee_day(act: DayAct, day: &CommitteeDay, by: &Actor) -> Act {
    let generation = day.generation.as_ref();
    let subject_id = match act {
        DayAct::Subject => day.subject.as_ref(),
        DayAct::Generated | DayAct::Synthesis | DayAct::Withdrawn => {
            generation.map(|generation| &generation.subject_id)
        }
    };
    LogEntry::CommitteeDay(CommitteeDayEntry {
        act,
        by: by.clone(),
        date: day.date,
        subject_id: subject_id.cloned(),
        deadline_utc: generation.map(|generation| generation.deadline),
    })
    .into()
}
