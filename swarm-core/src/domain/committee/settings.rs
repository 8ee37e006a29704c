//! The settings of a tenant's committee (MANUAL.md, 13.2).

use crate::domain::{Invalid, TimeOfDay};

/// The settings of a tenant's committee. They come from the configuration and are not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitteeSettings {
    key_prefix: KeyPrefix,
    brief_at: TimeOfDay,
    deadline: TimeOfDay,
}

impl CommitteeSettings {
    /// API keys begin with `key_prefix`, briefs are generated at `brief_at`, and takes are accepted
    /// until `deadline`, both in UTC.
    ///
    /// # Errors
    /// [`Invalid`] unless the deadline is later in the day than the briefs.
    pub fn new(
        key_prefix: KeyPrefix,
        brief_at: TimeOfDay,
        deadline: TimeOfDay,
    ) -> Result<Self, Invalid> {
        if brief_at >= deadline {
            return Err(Invalid::new("deadline", "must be later in the day than brief_at"));
        }
        Ok(Self { key_prefix, brief_at, deadline })
    }

    /// Returns the prefix of API keys.
    pub fn key_prefix(&self) -> &KeyPrefix {
        &self.key_prefix
    }

    /// When briefs are generated, in UTC.
    pub fn brief_at(&self) -> TimeOfDay {
        self.brief_at
    }

    /// Returns the deadline for takes, in UTC: the start of this minute.
    pub fn deadline(&self) -> TimeOfDay {
        self.deadline
    }
}

impl Default for CommitteeSettings {
    /// `ic`, 22:45 and 23:25 (MANUAL.md, 13.2).
    fn default() -> Self {
        Self {
            key_prefix: KeyPrefix("ic".to_owned()),
            brief_at: TimeOfDay::from_minutes(22 * 60 + 45),
            deadline: TimeOfDay::from_minutes(23 * 60 + 25),
        }
    }
}

/// The prefix of a committee's API keys: `[a-z]{1,16}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPrefix(String);

impl KeyPrefix {
    /// Parses a prefix.
    ///
    /// # Errors
    /// [`Invalid`] when it does not match the pattern.
    pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        if (1..=16).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase()) {
            return Ok(Self(text));
        }
        Err(Invalid::new("key_prefix", "must match [a-z]{1,16}"))
    }

    /// Returns the prefix.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for KeyPrefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_committee_settings() {
        let settings = CommitteeSettings::default();
        let shown = [settings.brief_at, settings.deadline].map(|time| time.to_string());
        assert_eq!(
            (settings.key_prefix.as_str(), shown),
            ("ic", ["22:45", "23:25"].map(str::to_owned))
        );
    }

    #[test]
    fn deadline_must_be_later_than_the_briefs() {
        let time = TimeOfDay::from_minutes;
        let prefix = || KeyPrefix::parse("ic").unwrap();
        assert!(CommitteeSettings::new(prefix(), time(1), time(2)).is_ok());
        assert!(CommitteeSettings::new(prefix(), time(2), time(2)).is_err());
        assert!(CommitteeSettings::new(prefix(), time(3), time(2)).is_err());
    }

    #[test]
    fn prefixes_match_their_pattern() {
        for bad in ["", "IC", "i-c", "ic_", "i1", "ä", "abcdefghijklmnopq"] {
            assert!(KeyPrefix::parse(bad).is_err(), "{bad}");
        }
    }
}
