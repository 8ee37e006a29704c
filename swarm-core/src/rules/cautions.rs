//! What a person should hear before a change by an operator (API.md, 7.1). A dry run answers it, and the console and the command
//! line ask because of it.

use std::collections::HashSet;

use serde::{Serialize, Serializer};

use super::sessions::closes_by_itself;
use super::takes_may_come;
use crate::domain::{MemberId, Session, SessionState, Timestamp};

/// The kind of a caution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CautionCode {
    /// The deadline has passed already.
    DeadlinePast,
    /// The deadline comes earlier, while takes may come.
    DeadlineEarlier,
    /// The session is aggregated while takes may come.
    WindowOpen,
    /// The quorum is more than the members that the roster expects.
    QuorumUnreachable,
    /// The session is aggregated, and misses its quorum.
    QuorumMissed,
    /// Members whom the session expects have not filed.
    NotFiled,
    /// The takes of a blind session are opened.
    OpensSealed,
    /// The change cannot be undone.
    Irreversible,
}

impl CautionCode {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::DeadlinePast,
        Self::DeadlineEarlier,
        Self::WindowOpen,
        Self::QuorumUnreachable,
        Self::QuorumMissed,
        Self::NotFiled,
        Self::OpensSealed,
        Self::Irreversible,
    ];

    /// The codes of a change that ends the filing of takes before its time.
    pub const EARLY: &[Self] = &[Self::WindowOpen, Self::DeadlineEarlier];

    /// Its text, which never changes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DeadlinePast => "deadline-past",
            Self::DeadlineEarlier => "deadline-earlier",
            Self::WindowOpen => "window-open",
            Self::QuorumUnreachable => "quorum-unreachable",
            Self::QuorumMissed => "quorum-missed",
            Self::NotFiled => "not-filed",
            Self::OpensSealed => "opens-sealed",
            Self::Irreversible => "irreversible",
        }
    }
}

impl Serialize for CautionCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A caution: a code, and a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Caution {
    /// The kind of the caution.
    pub code: CautionCode,
    /// What happens, on one line.
    pub message: String,
}

impl Caution {
    pub(super) fn new(code: CautionCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// A change that cannot be undone; `what` says what happens.
    pub fn irreversible(what: impl Into<String>) -> Self {
        Self::new(CautionCode::Irreversible, what)
    }
}

/// What the erasure of a member means.
pub fn erasure(texts: bool) -> Caution {
    Caution::irreversible(match texts {
        true => {
            "name, contact, lens, memos and the texts of its takes are gone for good; stances, confidences and weights stay"
        }
        false => "name, contact, lens and memos are gone for good; signed takes stay",
    })
}

/// What a new token or a new key of a member means, of either interface.
pub fn replaced_credential() -> Caution {
    Caution::irreversible(
        "the token or key in use stops working at once; the new one is shown once",
    )
}

/// What accepting the store, its clock or a key means.
pub fn acceptance() -> Caution {
    Caution::irreversible("it counts as it is now, and the log keeps an entry of it for ever")
}

/// Returns the expected members of a session that have not filed.
pub fn missing(session: &Session, has_filed: impl Fn(&MemberId) -> bool) -> Vec<&MemberId> {
    let expected = session.roster.iter().flat_map(|roster| roster.expected());
    expected.filter(|member| !has_filed(member)).collect()
}

/// Returns how many of these authors, each of whom is named once, count as members that have filed: with a roster those that
/// it expects, who are the others of [`missing`].
pub fn filed<'a>(session: &Session, authors: impl IntoIterator<Item = &'a MemberId>) -> usize {
    authors.into_iter().filter(|author| session.expects(author)).count()
}

/// A change of a session.
#[derive(Debug)]
pub struct ChangedSession<'a> {
    /// The session before; `None` when it is convened.
    pub before: Option<&'a Session>,
    /// The session after.
    pub after: &'a Session,
    /// The members that filed in it.
    pub authors: &'a HashSet<MemberId>,
    /// The time of the change.
    pub now: Timestamp,
}

/// The most members that a caution names.
pub(crate) const MAX_NAMED: usize = 20;

impl ChangedSession<'_> {
    /// Returns what should be heard before this change. `name` returns what people call a member.
    pub fn cautions(&self, name: impl Fn(&MemberId) -> String) -> Vec<Caution> {
        let mut cautions = Vec::from_iter(self.of_deadline());
        cautions.extend(self.of_quorum());
        let before = self.before.map(|before| before.state);
        let enters =
            |state| before.is_some_and(|before| before < state) && self.after.state == state;
        if enters(SessionState::Aggregated) {
            cautions.extend(self.of_aggregation());
        } else if self.before.is_some_and(Session::is_sealed)
            && (!self.after.is_sealed() || self.ends_window())
        {
            cautions.extend(self.opens_sealed());
        }
        let ends = enters(SessionState::WindowClosed) && self.may_be_filed();
        if ends || enters(SessionState::Aggregated) {
            cautions.extend(self.not_filed(name));
        }
        if self.before.is_some_and(|before| before.voided.is_none()) && self.after.voided.is_some()
        {
            let message = "the session counts for nothing from now on, and its page says so";
            cautions.push(Caution::irreversible(message));
        }
        if self.before.is_some_and(|before| before.roster.is_none()) && self.after.roster.is_some()
        {
            cautions.push(Caution::irreversible("the roster cannot be set again"));
        }
        cautions
    }

    /// Returns whether a new deadline that has passed ends the session. The server closes it and opens its sealed takes next.
    fn ends_window(&self) -> bool {
        let before = self.before.and_then(|before| before.window_closes_at);
        let is_over = self.after.window_closes_at.is_some_and(|at| at <= self.now);
        let is_closed = self.after.state == SessionState::WindowClosed;
        (is_closed || closes_by_itself(self.after))
            && self.after.window_closes_at != before
            && is_over
    }

    /// Whether takes may still come in the session as it was.
    fn may_be_filed(&self) -> bool {
        self.before.is_some_and(|before| takes_may_come(before.window_closes_at, self.now))
    }

    fn of_deadline(&self) -> Option<Caution> {
        let to = self.after.window_closes_at?;
        let from = self.before.map(|before| before.window_closes_at);
        if from == Some(Some(to)) {
            return None;
        }
        let is_earlier = match from.flatten() {
            Some(from) => to < from,
            // The first deadline changes the terms of nobody, if it is ahead and no take is on file.
            None => to <= self.now || !self.authors.is_empty(),
        };
        if self.may_be_filed() && is_earlier {
            let message = match from.flatten() {
                Some(from) => format!("the deadline moves from {from} to {to}, which is earlier"),
                None => format!("the session gets a deadline, {to}"),
            };
            return Some(Caution::new(CautionCode::DeadlineEarlier, message));
        }
        (to <= self.now).then(|| {
            Caution::new(CautionCode::DeadlinePast, format!("the deadline, {to}, has passed"))
        })
    }

    fn of_quorum(&self) -> Option<Caution> {
        let quorum = self.after.quorum?;
        let terms = |session: &Session| (session.quorum, session.roster.clone());
        if self.before.is_some_and(|before| terms(before) == terms(self.after)) {
            return None;
        }
        let roster = self.after.roster.as_ref()?;
        let expected = roster.expected().count();
        let is_reachable = usize::try_from(quorum).is_ok_and(|quorum| quorum <= expected);
        let message = format!("the quorum is {quorum}, and {expected} are expected");
        (!is_reachable).then(|| Caution::new(CautionCode::QuorumUnreachable, message))
    }

    fn of_aggregation(&self) -> Vec<Caution> {
        let mut cautions = Vec::new();
        if self.may_be_filed() {
            let closes = self.before.and_then(|before| before.window_closes_at);
            let open = match closes {
                Some(at) => format!("the window is open until {at}"),
                None => "the window has no deadline".to_owned(),
            };
            let message = format!("{open}: takes that are filed later do not count");
            cautions.push(Caution::new(CautionCode::WindowOpen, message));
        }
        if let Some(required) = self.after.quorum.filter(|required| !self.is_met(*required)) {
            let message = format!("the quorum of {required} is missed");
            cautions.push(Caution::new(CautionCode::QuorumMissed, message));
        }
        if self.before.is_some_and(Session::is_sealed) {
            cautions.extend(self.opens_sealed());
        }
        cautions.push(Caution::irreversible("the snapshot is written once"));
        cautions
    }

    fn opens_sealed(&self) -> Option<Caution> {
        let message = format!("the takes of {} members are opened", self.authors.len());
        (!self.authors.is_empty()).then(|| Caution::new(CautionCode::OpensSealed, message))
    }

    /// Whether the takes meet the quorum. The snapshot of a sealed session is not shown, but who filed is.
    fn is_met(&self, required: u32) -> bool {
        match self.after.snapshot.as_ref().and_then(|snapshot| snapshot.figures.quorum.as_ref()) {
            Some(quorum) => quorum.met,
            None => usize::try_from(required).is_ok_and(|required| self.authors.len() >= required),
        }
    }

    fn not_filed(&self, name: impl Fn(&MemberId) -> String) -> Option<Caution> {
        let missing = missing(self.after, |id| self.authors.contains(id));
        let mut names: Vec<_> = missing.iter().take(MAX_NAMED).map(|id| name(id)).collect();
        if missing.len() > MAX_NAMED {
            names.push(format!("{} more", missing.len() - MAX_NAMED));
        }
        let message = format!("not filed yet: {}", names.join(", "));
        (!missing.is_empty()).then(|| Caution::new(CautionCode::NotFiled, message))
    }
}
