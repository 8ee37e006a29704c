//! The days of the committee. A day becomes a session when its briefs are generated.

use crate::domain::json::Object;
use crate::domain::text::text;
use crate::domain::{Day, Invalid, SubjectId, Timestamp};

/// The record of a day, without its briefs and takes.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// A request of an operator to set the subject of a day (API.md, 8.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectOrder {
    /// The day.
    pub date: Day,
    /// The subject.
    pub subject_id: SubjectId,
}

impl SubjectOrder {
    /// Reads `date` and `subject_id`.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        Ok(Self { date: Day::read(fields)?, subject_id: subject(fields.text("subject_id")?)? })
    }
}

/// A request of an operator to generate the briefs of today (API.md, 8.8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GenerationOrder {
    /// The subject. It also becomes the subject set for the day.
    pub subject_id: Option<SubjectId>,
    /// The deadline: any time.
    pub deadline: Option<Timestamp>,
}

impl GenerationOrder {
    /// Reads the optional fields `subject_id` and `deadline_utc`.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        let deadline = fields.text_if_any("deadline_utc")?;
        Ok(Self {
            subject_id: fields.text_if_any("subject_id")?.map(subject).transpose()?,
            deadline: deadline.map(|text| Timestamp::parse("deadline_utc", &text)).transpose()?,
        })
    }
}

/// A request of an operator to set the synthesis of a day (API.md, 8.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthesisOrder {
    /// The day.
    pub date: Day,
    /// The text.
    pub synthesis: Synthesis,
}

impl SynthesisOrder {
    /// Reads `date` and `synthesis`.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        let date = Day::read(fields)?;
        Ok(Self { date, synthesis: Synthesis::parse(fields.text("synthesis")?)? })
    }
}

fn subject(text: String) -> Result<SubjectId, Invalid> {
    SubjectId::parse(text).map_err(|invalid| Invalid { field: "subject_id", ..invalid })
}
