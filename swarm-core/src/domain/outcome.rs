//! What a session asks, what came of it, and whether it counts (API.md, 7.3).

use serde::{Deserialize, Serialize};

use super::json::{Object, write};
use super::text::{Note, text};
use super::{Invalid, StanceScale, Timestamp};

text!(
    /// What a stance in a session is about.
    QuestionText, "question", 1..=500
);
text!(
    /// How, by which source and when the outcome of a session is determined.
    Resolution, "resolution", 1..=1_000
);
text!(
    /// Where the outcome of a session was read.
    OutcomeSource, "source", 0..=500
);

/// What the takes of a session are about, and how its outcome is determined. All fields are optional, and omitted on
/// the wire if they are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// What a stance is about.
    #[serde(rename = "question", default, skip_serializing_if = "Option::is_none")]
    pub text: Option<QuestionText>,
    /// How, by which source and when the outcome is determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    /// When the outcome will be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolves_at: Option<Timestamp>,
}

impl Question {
    /// Reads the optional fields `question`, `resolution` and `resolvesAt`.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        let resolves_at = fields.text_if_any("resolvesAt")?;
        let resolves_at = resolves_at.map(|text| Timestamp::parse("resolvesAt", &text));
        Ok(Self {
            text: fields.text_if_any("question")?.map(QuestionText::parse).transpose()?,
            resolution: fields.text_if_any("resolution")?.map(Resolution::parse).transpose()?,
            resolves_at: resolves_at.transpose()?,
        })
    }

    /// Returns whether no field is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A change of a [`Question`]: `None` keeps the value, `Some(None)` clears it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionPatch {
    /// What a stance is about.
    pub text: Option<Option<QuestionText>>,
    /// How the outcome is determined.
    pub resolution: Option<Option<Resolution>>,
    /// When the outcome will be known.
    pub resolves_at: Option<Option<Timestamp>>,
}

impl QuestionPatch {
    /// Reads a change, in which `null` clears a value.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        let [text, resolution, resolves_at] =
            ["question", "resolution", "resolvesAt"].map(|field| fields.has(field));
        let to = Question::read(fields)?;
        Ok(Self {
            text: text.then_some(to.text),
            resolution: resolution.then_some(to.resolution),
            resolves_at: resolves_at.then_some(to.resolves_at),
        })
    }

    /// Returns the changed question.
    pub fn apply(&self, to: &Question) -> Question {
        let to = to.clone();
        Question {
            text: self.text.clone().unwrap_or(to.text),
            resolution: self.resolution.clone().unwrap_or(to.resolution),
            resolves_at: self.resolves_at.unwrap_or(to.resolves_at),
        }
    }
}

/// The outcome of a session on the scale of its stances: −2 (bearish) to 2 (bullish), unless it declares others.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct OutcomeValue(f64);

impl OutcomeValue {
    /// Checks that `value` is on the scale of some session. Negative zero becomes zero.
    ///
    /// # Errors
    /// [`Invalid`] for any other number, and for NaN.
    pub fn parse(value: f64) -> Result<Self, Invalid> {
        if value.abs() <= StanceScale::MAX_RANK {
            return Ok(Self(if value == 0.0 { 0.0 } else { value }));
        }
        Err(Self::invalid(StanceScale::of_service()))
    }

    /// Checks that the outcome is on this scale: from its lowest rank to its highest.
    ///
    /// # Errors
    /// [`Invalid`] if it is not.
    pub fn check(self, scale: &StanceScale) -> Result<(), Invalid> {
        let is_on_scale = (scale.lowest()..=scale.highest()).contains(&self.0);
        if is_on_scale { Ok(()) } else { Err(Self::invalid(scale)) }
    }

    fn invalid(scale: &StanceScale) -> Invalid {
        let [from, to] = [scale.lowest(), scale.highest()].map(|rank| write(&rank));
        Invalid::new("value", format!("must be a number from {from} to {to}, or null"))
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for OutcomeValue {
    type Error = Invalid;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        Self::parse(value)
    }
}

/// What came of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The value; `None`: annulled, nothing is scored.
    pub value: Option<OutcomeValue>,
    /// Where it was read.
    pub source: Option<OutcomeSource>,
    /// When it was recorded, by the store's clock.
    pub recorded_at: Timestamp,
}

impl Outcome {
    /// Reads an outcome from its record.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        Ok(Self {
            value: fields.number_if_any("value")?.map(OutcomeValue::parse).transpose()?,
            source: fields.text_if_any("source")?.map(OutcomeSource::parse).transpose()?,
            recorded_at: Timestamp::parse("recordedAt", &fields.text("recordedAt")?)?,
        })
    }
}

/// An outcome to record (API.md, 7.3).
#[derive(Clone, Debug, PartialEq)]
pub struct OutcomeDraft {
    /// The value; `None`: annulled, nothing is scored.
    pub value: Option<OutcomeValue>,
    /// Where it was read.
    pub source: Option<OutcomeSource>,
}

impl OutcomeDraft {
    /// Reads an outcome to record. Unlike elsewhere, `null` is not the same as absent: it annuls.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        if !fields.has("value") {
            return Err(Invalid::missing("value"));
        }
        Ok(Self {
            value: fields.number_if_any("value")?.map(OutcomeValue::parse).transpose()?,
            source: fields.text_if_any("source")?.map(OutcomeSource::parse).transpose()?,
        })
    }

    /// Checks that the value is on this scale.
    ///
    /// # Errors
    /// [`Invalid`] if it is not.
    pub fn check(&self, scale: &StanceScale) -> Result<(), Invalid> {
        self.value.map_or(Ok(()), |value| value.check(scale))
    }

    /// Returns the outcome, with the time that the store's clock gave.
    pub fn recorded(&self, recorded_at: Timestamp) -> Outcome {
        Outcome { value: self.value, source: self.source.clone(), recorded_at }
    }
}

/// The mark of a session that counts for nothing (API.md, 7.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Voided {
    /// When it was voided, by the store's clock.
    pub at: Timestamp,
    /// Why.
    pub note: Note,
}

impl Voided {
    /// Reads the mark from its record.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        Ok(Self {
            at: Timestamp::parse("at", &fields.text("at")?)?,
            note: Note::parse(fields.text("note")?)?,
        })
    }
}
