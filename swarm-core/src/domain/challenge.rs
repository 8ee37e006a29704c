//! Challenges, which a member signs to claim its token.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::hex::parse_hex;
use super::{Invalid, Timestamp};

/// A stored challenge: the seed of its text, and its validity.
#[derive(Clone, Debug, PartialEq)]
pub struct Challenge {
    /// The seed. The text of the challenge is derived from it and the member's id.
    pub seed: ChallengeSeed,
    /// Until this time, further requests for the member's challenge receive this one.
    pub reusable_until: Timestamp,
    /// The last time at which a claim with it may be committed.
    pub expires_at: Timestamp,
}

/// The challenge that a member claimed its token with. It is kept with the member, so that a repeated claim is recognized until it expires,
/// even if another challenge was given out since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsedChallenge {
    /// Its seed.
    pub seed: ChallengeSeed,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// The random bytes that a challenge is derived from. They are not secret: challenges are public.
/// `Display` writes 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChallengeSeed(pub [u8; 32]);

impl ChallengeSeed {
    /// Parses what `Display` writes.
    ///
    /// # Errors
    /// [`Invalid`] unless the text is 64 hexadecimal digits.
    pub fn parse(digits: impl AsRef<str>) -> Result<Self, Invalid> {
        let bytes = parse_hex(digits.as_ref());
        bytes.map(Self).ok_or_else(|| Invalid::new("seed", "must be 64 hexadecimal digits"))
    }
}

impl fmt::Display for ChallengeSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for ChallengeSeed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

super::parsed::parsed!(ChallengeSeed);
super::parsed::deserialized!(ChallengeSeed);
