//! Secrets that the service mints. Only their hashes are ever stored (API.md, 4.4).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use sha2::{Digest, Sha256};

use crate::domain::{ChallengeSeed, MemberId, TokenHash};

/// A member's bearer token, `tok_<memberId>_<uuid>`: shown once, never stored, never printed by
/// `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken(String);

impl BearerToken {
    /// The token that these 16 random bytes make for `member`.
    pub fn mint(member: &MemberId, random: [u8; 16]) -> Self {
        let uuid = uuid::Builder::from_random_bytes(random).into_uuid();
        Self(format!("tok_{member}_{uuid}"))
    }

    /// The token to show to its member, this once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is stored of it.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(self.0.as_bytes())
    }
}

impl std::fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BearerToken(..)")
    }
}

/// The text of a token-claim challenge: a digest of 32 random bytes and the member's id, opaque to
/// whoever gets it. So members that share a seed have different texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChallengeText(String);

impl ChallengeText {
    /// The challenge that this seed makes for `member`.
    pub fn of(member: &MemberId, seed: &ChallengeSeed) -> Self {
        let digest = Sha256::new().chain_update(seed.0).chain_update(member.as_str()).finalize();
        Self(URL_SAFE_NO_PAD.encode(digest))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_its_form_and_hides_itself() {
        let member = MemberId::parse("m-1");
        let token = member.map(|member| BearerToken::mint(&member, [0xff; 16]));
        let shown = token.as_ref().map(|token| token.reveal().to_owned());
        assert_eq!(shown, Ok("tok_m-1_ffffffff-ffff-4fff-bfff-ffffffffffff".to_owned()));
        assert_eq!(format!("{token:?}"), "Ok(BearerToken(..))");
    }

    /// SHA-256 of 32 bytes and "ada", by Python.
    #[test]
    fn a_challenge_is_a_digest_in_base64_for_urls() {
        let text = |id| ChallengeText::of(&MemberId::parse(id).unwrap(), &ChallengeSeed([7; 32]));
        assert_eq!(text("ada").as_str(), "cW74HgUFHceYtzxQMb0x4ZEMvi6yQwP6e2XIF_uhXuQ");
        assert_ne!(text("grace"), text("ada"));
    }
}
