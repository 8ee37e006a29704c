//! What a session asks, what came of it, and whether it counts (API.md, 7.3).

use serde::{Deserialize, Serialize};

use super::form::{Nullable, form, number_schema, value};
use super::json::write;
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

form! {
    /// What the takes of a session are about, and how its outcome is determined. All fields are optional, and omitted on
    /// the wire if they are absent.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    pub struct Question {
        #[serde(rename = "question", default, skip_serializing_if = "Option::is_none")]
        pub text: Option<QuestionText> = "question": "What a stance is about.",
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub resolution: Option<Resolution> = "resolution":
            "How, by which source and when the outcome is determined.",
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub resolves_at: Option<Timestamp> = "resolvesAt": "When the outcome will be known.",
    }
    checks_first "resolvesAt": Option<String>;

    /// A change of a [`Question`]: `None` keeps the value, `Some(None)` clears it.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct QuestionPatch {
        #[serde(rename = "question", skip_serializing_if = "Option::is_none")]
        pub text: Option<Option<QuestionText>> = "question": "What a stance is about.",
        #[serde(skip_serializing_if = "Option::is_none")]
        pub resolution: Option<Option<Resolution>> = "resolution":
            "How, by which source and when the outcome is determined.",
        #[serde(skip_serializing_if = "Option::is_none")]
        pub resolves_at: Option<Option<Timestamp>> = "resolvesAt": "When the outcome will be known.",
    }
    checks_first "resolvesAt": Option<String>;
}

impl Question {
    /// Returns whether no field is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl QuestionPatch {
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
pub struct OutcomeValue(#[serde(serialize_with = "crate::domain::json::exact")] f64);

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

value!(
    OutcomeValue,
    |fields, name| fields.number_if_any(name)?.map(Self::parse).transpose(),
    number_schema("number", -1_000, 1_000)
);

impl TryFrom<f64> for OutcomeValue {
    type Error = Invalid;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        Self::parse(value)
    }
}

form! {
    /// What came of a session.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    pub struct Outcome {
        /// The value: from -2, bearish, to 2, bullish, or from the lowest to the highest rank that the session declares;
        /// `None`: annulled, nothing is scored.
        pub value: Option<OutcomeValue> = "value",
        /// Where it was read.
        pub source: Option<OutcomeSource> = "source",
        /// When it was recorded, by the store's clock.
        pub recorded_at: Timestamp = "recordedAt",
    }

    /// The mark of a session that counts for nothing (API.md, 7.3).
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub struct Voided {
        /// When it was voided, by the store's clock.
        pub at: Timestamp = "at",
        /// Why.
        pub note: Note = "note",
    }

    /// An outcome to record (API.md, 7.3).
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct OutcomeDraft "OutcomeDraft" in "scores" {
        pub value: Option<OutcomeValue> = "value" from Nullable<OutcomeValue>:
            "From -2, bearish, to 2, bullish, or from the lowest to the highest rank that the session declares; \
             null annuls: nothing is scored.",
        pub source: Option<OutcomeSource> = "source": "Where it was read.",
    }
    example r#"{"value": 1, "source": "https://prices.example/aurora", "note": "Read at noon."}"#;
}

impl OutcomeDraft {
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
