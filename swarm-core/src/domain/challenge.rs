//! Challenges, which a member signs to claim its token.

use std::fmt;

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

/// The random bytes that a challenge is derived from. They are not secret: challenges are public.
/// `Display` writes 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChallengeSeed(pub [u8; 32]);

impl ChallengeSeed {
    /// Parses what `Display` writes.
    ///
    /// # Errors
    /// [`Invalid`] unless the text is 64 hexadecimal digits.
    pub fn parse(digits: &str) -> Result<Self, Invalid> {
        let bytes = parse_hex(digits);
        bytes.map(Self).ok_or_else(|| Invalid::new("seed", "must be 64 hexadecimal digits"))
    }
}

impl fmt::Display for ChallengeSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
