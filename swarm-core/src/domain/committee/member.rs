//! The members of the committee.

use serde::Serialize;

use crate::domain::form::{FormSchema, form, one_of, parsed, value};
use crate::domain::text::text;
use crate::domain::{ApiKeyHash, Invalid, Lens, Name, Timestamp};

/// The id of a member (API.md, 8.1): `[a-z0-9][a-z0-9_-]{0,99}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct CommitteeMemberId(String);

impl CommitteeMemberId {
    /// Parses an id.
    ///
    /// # Errors
    /// [`Invalid`], naming the field `id`, when it does not match the pattern.
    pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        let letters = text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'));
        if (1..=100).contains(&text.len()) && letters && !text.starts_with(['_', '-']) {
            return Ok(Self(text));
        }
        Err(Invalid::new("id", "must match [a-z0-9][a-z0-9_-]{0,99}"))
    }

    /// Returns the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for CommitteeMemberId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

text!(
    /// The voice document of a member, which describes its style. Empty when none is registered.
    Voice, "voice", 0..=20_000
);

form! {
    /// A member as the operator creates it (API.md, 8.8).
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct CommitteeMemberDraft "CommitteeMemberDraft" in "committee" {
        /// The id.
        pub id: CommitteeMemberId = "id",
        pub name: Name = "name": "The name.",
        pub lens: Lens = "lens" default(Lens::none()): "How it looks at subjects.",
        pub voice: Voice = "voice" default(Voice::none()): "How it writes.",
    }
    example r#"{"id": "ada", "name": "Ada", "lens": "Cash flow before stories.", "voice": "Short sentences."}"#;

    /// A change of what is known of a member (API.md, 8.8). What is `None` stays.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    #[non_exhaustive]
    pub struct CommitteeMemberPatch "CommitteeMemberPatch" in "committee" {
        pub name: Option<Name> = "name": "The name.",
        pub lens: Option<Lens> = "lens": "How it looks at subjects.",
        pub voice: Option<Voice> = "voice": "How it writes.",
    }
    at_least_one "must have name, lens or voice";
    example r#"{"lens": "Cash flow before stories."}"#;

    /// A request of an operator to let a member submit, or not (API.md, 8.8).
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct StatusOrder "CommitteeStatus" in "committee" {
        pub status: CommitteeStatus = "status": "Whether the member may submit.",
    }
    example r#"{"status": "inactive"}"#;
}

impl CommitteeMemberDraft {
    /// A member without lens and voice.
    pub fn new(id: CommitteeMemberId, name: Name) -> Self {
        Self { id, name, lens: Lens::none(), voice: Voice::none() }
    }
}

impl Voice {
    /// No voice document.
    pub fn none() -> Self {
        Self(String::new())
    }
}

value!(
    CommitteeMemberId,
    |fields, name| parsed(fields, name, Self::parse),
    FormSchema::reference("CommitteeMemberId")
);

value!(
    CommitteeStatus,
    |fields, name| parsed(fields, name, |text| text.parse()),
    one_of(["active", "inactive"])
);

/// Whether a member may submit (API.md, 8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "lowercase")]
pub enum CommitteeStatus {
    /// The member may submit, and gets briefs.
    Active,
    /// The member may not submit, and gets no briefs.
    Inactive,
}

impl CommitteeStatus {
    /// Returns the status with this name on the wire.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Active, Self::Inactive].into_iter().find(|status| status.as_str() == text)
    }

    /// Returns the name of the status on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
        }
    }
}

impl std::fmt::Display for CommitteeStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A stored member. Serialized for operators, without its key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommitteeMember {
    /// The id.
    pub id: CommitteeMemberId,
    /// The name.
    pub name: Name,
    /// Its point of view; may be empty.
    pub lens: Lens,
    /// Its voice document; empty when none is registered.
    pub voice: Voice,
    /// Whether the member may submit.
    pub status: CommitteeStatus,
    /// The time when it was created, by the store's clock.
    pub created_at: Timestamp,
    /// The hash of its API key (API.md, 8.1).
    #[serde(skip)]
    pub key: ApiKeyHash,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_match_their_pattern() {
        for good in ["a", "0", "ada_l-1", "a_", &"x".repeat(100)] {
            assert!(CommitteeMemberId::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "_a", "-a", "Ada", "a.b", "a/b", "ä", &"x".repeat(101)] {
            assert!(CommitteeMemberId::parse(bad).is_err(), "{bad}");
        }
    }
}
