//! What each change of the public record says of itself.

use serde::Serialize;

use super::{digest, mark};
use crate::domain::committee::CommitteeDay;
use crate::domain::json::write;
use crate::domain::{
    Act, Actor, Attribution, Day, Member, MemberId, Memo, Note, PublicKey, Regime, Seq, Session,
    SessionDraft, SessionId, SessionState, Signal, Subject, SubjectId, Timestamp,
};

/// What is done to a session.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::rules) enum SessionAct {
    Convened,
    State,
    Deadline,
    Quorum,
    Roster,
    Excuse,
    Brief,
}

/// A session is convened. Its id and the time are those of the commit.
pub(in crate::rules) fn convened(draft: &SessionDraft, by: &Attribution) -> Act {
    let session = draft.convened(SessionId(0), Timestamp::EPOCH);
    Act::new(session_text(SessionAct::Convened, by, &record(&session, mark::ID, mark::TIME), ""))
}

pub(in crate::rules) fn session_changed(
    act: SessionAct,
    session: &Session,
    by: &Attribution,
) -> Act {
    Act::on(session.id, session_text(act, by, &record_on_file(session), ""))
}

pub(in crate::rules) fn excused(
    session: &Session,
    member: &MemberId,
    excused: bool,
    by: &Attribution,
) -> Act {
    let also = format!(r#","memberId":{},"excused":{excused}"#, write(member));
    Act::on(session.id, session_text(SessionAct::Excuse, by, &record_on_file(session), &also))
}

/// The brief of a session is published.
pub fn brief_published(session: &Session, by: &Attribution) -> Act {
    session_changed(SessionAct::Brief, session, by)
}

fn session_text(act: SessionAct, by: &Attribution, record: &str, also: &str) -> String {
    #[derive(Serialize)]
    struct Head<'a> {
        kind: &'static str,
        act: SessionAct,
        by: &'a Actor,
        note: Option<&'a Note>,
    }
    let head = write(&Head { kind: "session", act, by: &by.by, note: by.note.as_ref() });
    format!(r#"{{{},"session":{record}{also}}}"#, inside(&head))
}

fn record_on_file(session: &Session) -> String {
    record(session, &session.id.to_string(), &session.convened_at.to_string())
}

/// The record of a session as the log has it: digests in place of what may be long.
fn record(session: &Session, id: &str, convened_at: &str) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Before<'a> {
        date: Day,
        subject_id: &'a SubjectId,
        state: SessionState,
        window_closes_at: Option<Timestamp>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct After {
        quorum: Option<u32>,
        buckets_digest: Option<String>,
        roster_digest: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        published_at: Option<Timestamp>,
        snapshot_digest: Option<String>,
    }
    let before = write(&Before {
        date: session.date,
        subject_id: &session.subject_id,
        state: session.state,
        window_closes_at: session.window_closes_at,
    });
    let after = write(&After {
        quorum: session.quorum,
        buckets_digest: session.buckets.as_ref().map(digest),
        roster_digest: session.roster.as_ref().map(digest),
        published_at: session.published_at,
        snapshot_digest: session.snapshot.as_ref().map(digest),
    });
    let (before, after) = (inside(&before), inside(&after));
    format!(r#"{{"id":{id},{before},"convenedAt":"{convened_at}",{after}}}"#)
}

/// What stands between the braces of an object.
fn inside(object: &str) -> &str {
    object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(object)
}

/// What is done to a member.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::rules) enum MemberAct {
    Activated,
    Deactivated,
    Claimed,
    ClaimReset,
    KeyRotated,
}

/// A member is changed, by an operator or, where `by` is `None`, by itself.
pub(in crate::rules) fn member_changed(act: MemberAct, member: &Member, by: Option<&Actor>) -> Act {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Entry<'a> {
        kind: &'static str,
        act: MemberAct,
        by: Option<&'a Actor>,
        id: &'a MemberId,
        status: &'static str,
        public_key: Option<&'a PublicKey>,
    }
    let status = if member.state.is_active() { "active" } else { "inactive" };
    let (id, public_key) = (&member.id, member.public_key.as_ref());
    Act::new(write(&Entry { kind: "member", act, by, id, status, public_key }))
}

/// A memo is published. Its id and its digest are those of the commit.
pub fn memo_published(member: &MemberId) -> Act {
    let (id, digest, member) = (mark::ID, mark::DIGEST, write(member));
    Act::new(format!(
        r#"{{"kind":"memo","act":"published","id":{id},"memberId":{member},"digest":"{digest}"}}"#
    ))
}

/// A memo is retracted.
pub fn memo_retracted(memo: &Memo, by: &Actor) -> Act {
    let (id, digest) = (memo.id, digest(memo));
    let (by, member) = (write(by), write(&memo.member_id));
    Act::new(format!(
        r#"{{"kind":"memo","act":"retracted","by":{by},"id":{id},"memberId":{member},"digest":"{digest}"}}"#
    ))
}

/// A subject is created or replaced.
pub fn subject_put(subject: &Subject, by: &Actor) -> Act {
    document("subject", by, &format!(r#""id":{}"#, write(&subject.id)), &digest(subject))
}

/// A snapshot of a subject is added. Its id and its digest are those of the commit.
pub fn snapshot_added(subject: &SubjectId, by: &Actor) -> Act {
    let key = format!(r#""id":{},"subjectId":{}"#, mark::ID, write(subject));
    document("subject-snapshot", by, &key, mark::DIGEST)
}

/// The regime of a day is recorded.
pub fn regime_put(regime: &Regime, by: &Actor) -> Act {
    document("regime", by, &format!(r#""date":"{}""#, regime.date), &digest(regime))
}

/// A research signal is recorded.
pub fn signal_put(signal: &Signal, by: &Actor) -> Act {
    let key = format!(r#""signal_key":{},"date":"{}""#, write(&signal.signal_key), signal.date);
    document("signal", by, &key, &digest(signal))
}

fn document(kind: &str, by: &Actor, key: &str, digest: &str) -> Act {
    Act::new(format!(r#"{{"kind":"{kind}","by":{},{key},"digest":"{digest}"}}"#, write(by)))
}

/// An operator accepts the store's clock as it is.
pub fn clock_accepted(by: &Actor) -> Act {
    Act::new(format!(r#"{{"kind":"operation","act":"clock-accepted","by":{}}}"#, write(by)))
}

/// An operator accepts the store as it is, and a new log begins. The one before had this size when
/// it was seen last; the number of the new one is minted by the commit.
pub fn store_accepted(before: Seq, by: &Actor) -> Act {
    let (by, log) = (write(by), mark::ID);
    Act::new(format!(
        r#"{{"kind":"operation","act":"store-accepted","by":{by},"log":{log},"before":{{"size":{before}}}}}"#
    ))
}

/// What is done to a day of the committee.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::rules) enum DayAct {
    Generated,
    Subject,
    Synthesis,
    Withdrawn,
}

pub(in crate::rules) fn committee_day(act: DayAct, day: &CommitteeDay, by: &Actor) -> Act {
    #[derive(Serialize)]
    struct Entry<'a> {
        kind: &'static str,
        act: DayAct,
        by: &'a Actor,
        date: Day,
        subject_id: Option<&'a SubjectId>,
        deadline_utc: Option<Timestamp>,
    }
    let made = day.generation.as_ref();
    let subject_id = match act {
        DayAct::Subject => day.subject.as_ref(),
        DayAct::Generated | DayAct::Synthesis | DayAct::Withdrawn => {
            made.map(|made| &made.subject_id)
        }
    };
    let deadline_utc = made.map(|made| made.deadline);
    Act::new(write(&Entry {
        kind: "committee-day",
        act,
        by,
        date: day.date,
        subject_id,
        deadline_utc,
    }))
}
