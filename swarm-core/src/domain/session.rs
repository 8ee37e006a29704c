//! Sessions: one subject, one date, an optional deadline, and an optional roster.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::form::{
    Described, FormSchema, NamedSchema, form, list_of, nested, one_of, parsed, value,
};
use super::json::Json;
use super::{
    Bucket, Day, Declaration, Invalid, MemberId, Outcome, Question, QuestionPatch, SessionId,
    Snapshot, SubjectId, Timestamp, Voided,
};

/// The state of a session. It is informational: deadline and roster decide whether a take is
/// accepted (API.md, 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// Planned.
    Scheduled,
    /// Takes are being collected.
    Collecting,
    /// The window has closed.
    WindowClosed,
    /// The snapshot is written and frozen.
    Aggregated,
    /// The aggregate is public.
    Published,
}

impl SessionState {
    /// The states of sessions that are not published, in their order.
    pub const UNPUBLISHED: [Self; 4] =
        [Self::Scheduled, Self::Collecting, Self::WindowClosed, Self::Aggregated];

    /// Returns the state with this name on the wire.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Scheduled, Self::Collecting, Self::WindowClosed, Self::Aggregated, Self::Published]
            .into_iter()
            .find(|state| state.as_str() == text)
    }

    /// Returns the name of the state on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Collecting => "collecting",
            Self::WindowClosed => "window_closed",
            Self::Aggregated => "aggregated",
            Self::Published => "published",
        }
    }
}

value!(
    SessionState,
    |fields, name| parsed(fields, name, |text| text.parse()),
    FormSchema::reference("SessionState")
);

impl std::fmt::Display for SessionState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

form! {
    /// A member on the roster of a session, expected or excused.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    pub struct RosterEntry {
        /// The member.
        pub member_id: MemberId = "memberId",
        /// Whether the member is excused: listed, but not expected, and not allowed to file.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(!default))]
        pub excused: bool = "excused" default(false),
    }
}

/// The members that a session expects, each listed once (API.md, 6.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(try_from = "Vec<RosterEntry>")]
pub struct Roster(Vec<RosterEntry>);

impl TryFrom<Vec<RosterEntry>> for Roster {
    type Error = Invalid;

    fn try_from(entries: Vec<RosterEntry>) -> Result<Self, Invalid> {
        Self::parse(entries)
    }
}

impl Roster {
    /// Checks the entries and keeps their order.
    ///
    /// # Errors
    /// [`Invalid`] when a member is listed twice.
    pub fn parse(entries: Vec<RosterEntry>) -> Result<Self, Invalid> {
        let mut seen = HashSet::new();
        if entries.iter().all(|entry| seen.insert(&entry.member_id)) {
            return Ok(Self(entries));
        }
        Err(Invalid::new("roster", "must list each member once"))
    }

    /// The schema of the lists that are read.
    fn list_schema() -> Json {
        let mut schema = list_of(RosterEntry::schema()).into_object();
        schema.set("description", "Each member once.".into());
        Json::Object(schema)
    }

    /// Returns the entries, in the order given.
    pub fn entries(&self) -> &[RosterEntry] {
        &self.0
    }

    /// Returns the entry of this member.
    pub fn entry(&self, member: &MemberId) -> Option<&RosterEntry> {
        self.0.iter().find(|entry| entry.member_id == *member)
    }

    /// Returns the members that are not excused, in the order given.
    pub fn expected(&self) -> impl Iterator<Item = &MemberId> {
        self.0.iter().filter(|entry| !entry.excused).map(|entry| &entry.member_id)
    }

    pub(crate) fn entry_mut(&mut self, member: &MemberId) -> Option<&mut RosterEntry> {
        self.0.iter_mut().find(|entry| entry.member_id == *member)
    }
}

value!(
    Roster,
    |fields, name| {
        let roster = fields.list_if_any(name, nested)?.map(Self::parse).transpose();
        roster.map_err(|invalid| Invalid { field: name, ..invalid })
    },
    named NamedSchema::new("sessions", "RosterDraft", Self::list_schema)
);

value!(
    /// The state in which a session is convened.
    Opening for SessionState,
    |fields, name| parsed(fields, name, |text| match SessionState::parse(&text) {
        Some(state) if state <= SessionState::Collecting => Ok(Self(state)),
        _ => Err(Invalid::new(name, "must be scheduled or collecting")),
    }),
    one_of(["scheduled", "collecting"])
);

form! {
    /// A session to convene (API.md, 7.3).
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct SessionDraft "SessionDraft" in "sessions" {
        /// The day; it exists in the calendar.
        pub date: Day = "date",
        /// Scheduled or collecting.
        pub state: SessionState = "state" default(SessionState::Collecting) from Opening:
            "The state to begin in.",
        /// The subject.
        pub subject_id: SubjectId = "subjectId",
        /// The last time at which takes are accepted; `None`: no deadline yet.
        pub window_closes_at: Option<Timestamp> = "windowClosesAt": "The deadline.",
        /// The quorum.
        pub quorum: Option<u32> = "quorum": "How many members it needs.",
        pub buckets: Option<Vec<Bucket>> = "buckets": "The buckets of a bucket-weight session.",
        /// The expected members.
        pub roster: Option<Roster> = "roster",
        /// See API.md, 5.8.
        pub blind: bool = "blind" default(false):
            "Whether takes are sealed until the session is opened; never changed.",
        /// Every active member may file then, and the takes count in no result (API.md, 7.3).
        pub practice: bool = "practice" default(false):
            "Whether it is for practice, and counts nowhere; never changed.",
        pub finish: bool = "finish" default(false):
            "Whether the server aggregates it once its window has closed, and publishes it.",
        /// What its takes are about, and how its outcome is determined.
        #[serde(flatten)]
        pub question: Question = flatten,
        /// Its own stances, number of revisions and method of aggregation.
        #[serde(flatten)]
        pub declaration: Declaration = flatten,
    }
    check Self::check;
    example r#"{
        "date": "2026-11-21", "subjectId": "aurora", "windowClosesAt": "2026-11-21T18:00:00Z", "quorum": 3,
        "buckets": ["hold", "reduce"], "note": "Convened for the weekly review."
    }"#;

    /// A change of a session's deadline, quorum or question: `None` keeps the value, `Some(None)` clears it
    /// (API.md, 7.3).
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct SessionPatch "SessionPatch" in "sessions" {
        /// The new deadline.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub window_closes_at: Option<Option<Timestamp>> = "windowClosesAt",
        #[serde(skip_serializing_if = "Option::is_none")]
        pub quorum: Option<Option<u32>> = "quorum": "How many members it needs, or null.",
        /// The changes of the question.
        #[serde(flatten)]
        pub question: QuestionPatch = flatten,
    }
    description "Null clears a field.";
    example r#"{"windowClosesAt": "2026-11-21T20:00:00Z", "note": "Two hours more: the data came late."}"#;

    /// The request of an operator to advance the state of a session.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct StateChange "StateChange" in "sessions" {
        /// The new state.
        pub state: SessionState = "state",
        pub end_window: bool = "endWindow" default(false):
            "With window_closed: the deadline becomes now, unless it has passed.",
    }
    check |change| match change.end_window && change.state != SessionState::WindowClosed {
        true => Err(Invalid::new("endWindow", "goes with the state window_closed")),
        false => Ok(()),
    };
    example r#"{"state": "window_closed", "note": "Closed early: all have filed."}"#;

    /// The request of an operator to freeze the roster of a session.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct RosterFreeze "RosterFreeze" in "sessions" {
        /// The roster.
        pub members: Roster = "members",
    }
    example r#"{"members": [
        {"memberId": "3f0c9d52-8a4e-4b5c-9c27-6d1e0f6a2b11"},
        {"memberId": "a2d1e7b4-1c55-4b57-8f3e-0a9b8c7d6e5f", "excused": true}
    ]}"#;

    /// The request of an operator to excuse a member of the roster, or to expect it again.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct ExcuseOrder "Excuse" in "sessions" {
        /// The member.
        pub member_id: MemberId = "memberId",
        /// Whether the member is excused from the session.
        pub excused: bool = "excused",
    }
    example r#"{"memberId": "3f0c9d52-8a4e-4b5c-9c27-6d1e0f6a2b11", "excused": true, "note": "On leave."}"#;
}

impl SessionDraft {
    /// Returns a session that collects takes, with no optional field.
    pub fn new(date: Day, subject_id: SubjectId) -> Self {
        Self {
            date,
            subject_id,
            state: SessionState::Collecting,
            window_closes_at: None,
            quorum: None,
            buckets: None,
            roster: None,
            blind: false,
            practice: false,
            finish: false,
            question: Question::default(),
            declaration: Declaration::default(),
        }
    }

    /// Checks that the day exists in the calendar, and that a practice session has no roster and no quorum.
    ///
    /// # Errors
    /// [`Invalid`], naming the field.
    pub(crate) fn check(&self) -> Result<(), Invalid> {
        if !self.date.is_in_calendar() {
            return Err(Day::not_in_calendar("date"));
        }
        check_practice(self.practice, self.roster.is_some(), self.quorum)
    }

    /// Returns the convened session, with the id and the time that the commit assigned.
    pub fn convened(&self, id: SessionId, convened_at: Timestamp) -> Session {
        let draft = self.clone();
        Session {
            id,
            version: 1,
            date: draft.date,
            subject_id: draft.subject_id,
            state: draft.state,
            window_closes_at: draft.window_closes_at,
            convened_at,
            quorum: draft.quorum,
            buckets: draft.buckets,
            roster: draft.roster,
            blind: draft.blind,
            practice: draft.practice,
            finish: draft.finish,
            question: draft.question,
            declaration: draft.declaration,
            opened_at: None,
            published_at: None,
            outcome: None,
            voided: None,
            snapshot: None,
        }
    }
}

/// Checks that a practice session has no roster and no quorum: it is open to every active member, and has no result
/// that counts.
///
/// # Errors
/// [`Invalid`], naming the one that it has.
pub(super) fn check_practice(
    practice: bool,
    has_roster: bool,
    quorum: Option<u32>,
) -> Result<(), Invalid> {
    let field = match (has_roster, quorum) {
        _ if !practice => return Ok(()),
        (true, _) => "roster",
        (false, Some(_)) => "quorum",
        (false, None) => return Ok(()),
    };
    Err(Invalid::new(field, "must not be given for a practice session"))
}

value!(
    Vec<Bucket>,
    |fields, name| {
        let buckets = fields.list_if_any(name, |bucket| match bucket {
            Json::Text(text) => Bucket::parse(text),
            _ => Err(Invalid::new(name, "must hold names")),
        })?;
        let mut seen = HashSet::new();
        if !buckets.iter().flatten().all(|bucket| seen.insert(bucket)) {
            return Err(Invalid::new(name, "must name each bucket once"));
        }
        if buckets.as_ref().is_some_and(Vec::is_empty) {
            return Err(Invalid::new(name, "must name a bucket"));
        }
        Ok(buckets)
    },
    [("type", "array".into()), ("minItems", 1.0.into()), ("items", Bucket::schema())].into()
);

/// A session (API.md, 6.4).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The id.
    pub id: SessionId,
    /// The number of acts on it: 1 when it is convened, one more with each act. The entries of the log have it
    /// (API.md, 11.2), the public record does not: a session that was read from its record has 0.
    #[serde(skip)]
    pub version: u64,
    /// The day.
    pub date: Day,
    /// The subject.
    pub subject_id: SubjectId,
    /// The state. It is informative: it closes nothing but amendments after aggregation, the deadline decides about takes.
    pub state: SessionState,
    /// The deadline: the last moment for takes, itself included; `None` if none is set.
    pub window_closes_at: Option<Timestamp>,
    /// The time when it was convened, by the store's clock.
    pub convened_at: Timestamp,
    /// The number of members required for a quorum.
    pub quorum: Option<u32>,
    /// The buckets over which takes have weights; `None` if takes have none.
    pub buckets: Option<Vec<Bucket>>,
    /// The expected members; `None`: every member may file.
    pub roster: Option<Roster>,
    /// Whether takes are sealed until the session is opened; omitted on the wire if they are not
    /// (API.md, 5.8).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blind: bool,
    /// Whether the session is for practice, and counts nowhere; omitted on the wire if it is not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub practice: bool,
    /// Whether the server aggregates it once its window has closed, and publishes it; omitted on the wire if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub finish: bool,
    /// What its takes are about, and how its outcome is determined.
    #[serde(flatten)]
    pub question: Question,
    /// Its own stances, number of revisions and method of aggregation; they never change.
    #[serde(flatten)]
    pub declaration: Declaration,
    /// The time when its takes were opened, if it is blind, by the store's clock; omitted on the wire until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<Timestamp>,
    /// The time when it was published, by the store's clock; omitted on the wire until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Timestamp>,
    /// What came of it; omitted on the wire until that is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The mark that it counts for nothing; omitted on the wire while it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voided: Option<Voided>,
    /// The result of aggregation; `None` until then.
    pub snapshot: Option<Arc<Snapshot>>,
}

impl Session {
    /// Returns the terms on which takes in the session are judged.
    pub fn terms(&self) -> SessionTerms {
        SessionTerms {
            id: self.id,
            version: self.version,
            state: self.state,
            window_closes_at: self.window_closes_at,
            buckets: self.buckets.clone(),
            roster: self.roster.clone(),
            sealed: self.is_sealed(),
            declaration: self.declaration.clone(),
        }
    }

    /// Returns whether its result counts: not for practice, and not once it was voided.
    pub fn counts(&self) -> bool {
        !self.practice && self.voided.is_none()
    }

    /// Returns whether the session is blind and not opened yet: the public sees nothing of the content of its
    /// takes, and takes filed now get a seal.
    pub fn is_sealed(&self) -> bool {
        self.blind && self.opened_at.is_none()
    }

    /// Returns whether takes of this member count: without a roster always, otherwise when the
    /// member is listed and not excused.
    pub fn expects(&self, member: &MemberId) -> bool {
        let Some(roster) = &self.roster else { return true };
        roster.entry(member).is_some_and(|entry| !entry.excused)
    }
}

/// The part of a session that decides whether a take is accepted, and which warnings it gets. It
/// excludes the snapshot, whose size grows with the number of takes.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionTerms {
    /// The id.
    pub id: SessionId,
    /// The number of acts on it.
    pub version: u64,
    /// The state.
    pub state: SessionState,
    /// The last moment for takes, itself included; `None`: no deadline yet.
    pub window_closes_at: Option<Timestamp>,
    /// The buckets of a bucket-weight session.
    pub buckets: Option<Vec<Bucket>>,
    /// The expected members; `None`: every member may file.
    pub roster: Option<Roster>,
    /// Whether takes that are filed now are sealed (API.md, 5.8).
    pub sealed: bool,
    /// Its own stances, number of revisions and method of aggregation.
    pub declaration: Declaration,
}
