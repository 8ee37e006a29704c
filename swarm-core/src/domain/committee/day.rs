//! The days of the committee. A day becomes a session when its briefs are generated.

use serde::{Deserialize, Serialize};

use crate::domain::form::{FormSchema, form, parsed, value};
use crate::domain::text::text;
use crate::domain::{Day, Invalid, SubjectId, Timestamp};

/// The record of a day, without its briefs and takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitteeDay {
    /// The day, in UTC.
    pub date: Day,
    /// The subject that an operator set for it.
    pub subject: Option<SubjectId>,
    /// The latest generation of its briefs.
    pub generation: Option<Generation>,
    /// The operator's synthesis of its takes.
    pub synthesis: Option<Synthesis>,
}

impl CommitteeDay {
    /// A day without any data.
    pub fn blank(date: Day) -> Self {
        Self { date, subject: None, generation: None, synthesis: None }
    }
}

/// A generation of briefs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generation {
    /// The subject of the day's takes.
    pub subject_id: SubjectId,
    /// The number of the day's submissions that belong to withdrawn generations. They are the first
    /// ones of the day, and do not count.
    pub withdrawn: usize,
    /// The last time at which a take is accepted. It may be on a later day.
    pub deadline: Timestamp,
    /// When the briefs were generated, by the store's clock. If that was in the same second as the
    /// generation before, the next whole second.
    pub generated_at: Timestamp,
    /// The number of briefs.
    pub briefs: usize,
}

text!(
    /// A text in which an operator sums up the takes of a day.
    Synthesis, "synthesis", 1..=4_000
);

form! {
    /// A request of an operator to set the subject of a day (API.md, 8.8).
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct SubjectOrder "CommitteeDaySubject" in "committee" {
        /// The day.
        pub date: Day = "date",
        /// The subject.
        pub subject_id: SubjectId = "subject_id",
    }
    example r#"{"date": "2026-11-21", "subject_id": "aurora"}"#;

    /// A request of an operator to generate the briefs of today (API.md, 8.8).
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct GenerationOrder "CommitteeOrder" in "committee" {
        /// The subject. It also becomes the subject set for the day.
        pub subject_id: Option<SubjectId> = "subject_id",
        #[serde(rename = "deadline_utc")]
        pub deadline: Option<Timestamp> = "deadline_utc": "The deadline.",
    }
    checks_first "deadline_utc": Option<String>;
    example r#"{"subject_id": "aurora", "deadline_utc": "2026-11-21T23:25:00Z"}"#;

    /// A request of an operator to set the synthesis of a day (API.md, 8.8).
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct SynthesisOrder "CommitteeSynthesis" in "committee" {
        /// The day.
        pub date: Day = "date",
        pub synthesis: Synthesis = "synthesis": "The text.",
    }
    example r#"{"date": "2026-11-21", "synthesis": "Cautious: flat revenue outweighs the new fee."}"#;

    /// A request of an operator to withdraw a day (API.md, 8.8).
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct WithdrawalOrder "CommitteeDayName" in "committee" {
        /// The day, which need not exist in the calendar.
        pub date: Day = "date" from AnyDay,
    }
    example r#"{"date": "2026-11-21"}"#;
}

value!(
    /// A day that need not exist in the calendar.
    AnyDay for Day,
    |fields, name| parsed(fields, name, |text| Day::parse(&text).map(Self)),
    FormSchema::reference("Day")
);
