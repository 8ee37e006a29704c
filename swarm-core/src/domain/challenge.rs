//! The challenges that token claims sign.

use std::fmt;

use super::secret::parse_hex;
use super::{Invalid, Timestamp};

/// A challenge as the store keeps it: what its text is made from, and until when it is good.
#[derive(Clone, Debug, PartialEq)]
pub struct Challenge {
    /// What its text is made from, together with the id of the member that is to sign it.
    pub seed: ChallengeSeed,
    /// Until this moment, requests for the member's challenge are given this one.
    pub reusable_until: Timestamp,
    /// The last moment at which a claim may be committed with it.
    pub expires_at: Timestamp,
}

/// Random bytes that challenges are made from. No secret: a challenge is told to whoever asks. Its
/// `Display` is 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChallengeSeed(pub [u8; 32]);

impl ChallengeSeed {
    /// Reads the digits back.
    ///
    /// # Errors
    /// [`Invalid`] unless there are 64 of them.
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
