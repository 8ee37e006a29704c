//! The days of the committee. A day whose briefs were generated is a session.

use crate::domain::json::Object;
use crate::domain::text::text;
use crate::domain::{Day, Invalid, SubjectId, Timestamp, bounded};

/// What is on file of a day, but for its briefs and takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitteeDay {
    /// The day, in UTC.
    pub date: Day,
    /// The subject that an operator set for it.
    pub subject: Option<SubjectId>,
    /// The latest generation of its briefs.
    pub generation: Option<Generation>,
    /// What an operator wrote of its takes.
    pub synthesis: Option<Synthesis>,
}

impl CommitteeDay {
    /// A day of which nothing is known.
    pub fn blank(date: Day) -> Self {
        Self { date, subject: None, generation: None, synthesis: None }
    }
}

/// A generation of briefs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// What the day's takes are about.
    pub subject_id: SubjectId,
    /// How many submissions of the day, its first ones, are of generations that were withdrawn: they
    /// do not count.
    pub withdrawn: usize,
    /// The last moment at which a take is accepted. It may be on a later day.
    pub deadline: Timestamp,
    /// When the briefs were generated, by the store's clock.
    pub generated_at: Timestamp,
    /// How many there are.
    pub briefs: usize,
}

text!(
    /// What an operator writes of the takes of a day.
    Synthesis, "synthesis", 1..=4_000
);

/// An operator's wish to set the subject of a day (API.md, 8.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectOrder {
    /// The day.
    pub date: Day,
    /// Its subject.
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

/// An operator's wish to generate the briefs of today (API.md, 8.8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GenerationOrder {
    /// The subject, which also becomes the one set for the day.
    pub subject_id: Option<SubjectId>,
    /// The deadline: any moment.
    pub deadline: Option<Timestamp>,
}

impl GenerationOrder {
    /// Reads `subject_id` and `deadline_utc`, which may be absent.
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

/// An operator's synthesis of a day (API.md, 8.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthesisOrder {
    /// The day.
    pub date: Day,
    /// What its takes come to.
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
