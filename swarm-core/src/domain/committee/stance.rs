//! The stances of the committee.

use serde::Serialize;

use crate::domain::Stance;

/// The five stances of the committee (API.md, 8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "KnownStance"))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words say it")]
pub enum CommitteeStance {
    Bullish,
    Constructive,
    Neutral,
    Cautious,
    Bearish,
}

impl CommitteeStance {
    /// All of them, in the order of API.md, 8.4.
    pub const ALL: [Self; 5] =
        [Self::Bullish, Self::Constructive, Self::Neutral, Self::Cautious, Self::Bearish];

    /// Returns the stance with exactly this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stance| stance.as_str() == text)
    }

    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bullish => "bullish",
            Self::Constructive => "constructive",
            Self::Neutral => "neutral",
            Self::Cautious => "cautious",
            Self::Bearish => "bearish",
        }
    }
}

impl From<CommitteeStance> for Stance {
    fn from(stance: CommitteeStance) -> Self {
        Self::of_service(stance.as_str())
    }
}

impl std::fmt::Display for CommitteeStance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
