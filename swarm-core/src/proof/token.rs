//! Bearer tokens and the texts of challenges. Only the hashes of tokens are stored (API.md, 4.4).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use sha2::{Digest, Sha256};

use crate::domain::{ChallengeSeed, MemberId, TokenHash};

/// The bearer token of a member, `tok_<memberId>_<uuid>`. It is shown once and never stored, and
/// `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken(String);

impl BearerToken {
    /// Makes the token of `member` from 16 random bytes.
    pub fn mint(member: &MemberId, random: [u8; 16]) -> Self {
        let uuid = uuid::Builder::from_random_bytes(random).into_uuid();
        Self(format!("tok_{member}_{uuid}"))
    }

    /// Returns the text of the token, to be shown to its member once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the hash to store.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(self.0.as_bytes())
    }
}

impl std::fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BearerToken(..)")
    }
}

/// The text of a token-claim challenge: the origin of the service, a space, and a digest of 32 random
/// bytes and the member's id.
///
/// The origin tells the member which service its signature is for. A service that the member also signs
/// for cannot pass a challenge of this one on as its own. Members that share a seed have different texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChallengeText(String);

impl ChallengeText {
    /// The challenge that this seed makes for `member` at the service with this origin, such as
    /// `https://acme.example`.
    pub fn of(service: &str, member: &MemberId, seed: &ChallengeSeed) -> Self {
        let digest = Sha256::new().chain_update(seed.0).chain_update(member.as_str()).finalize();
        Self(format!("{service} {}", URL_SAFE_NO_PAD.encode(digest)))
    }

    /// Returns the origin that a challenge names, as far as it names one.
    pub fn service(challenge: &str) -> Option<&str> {
        challenge.split_once(' ').map(|(service, _)| service)
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minted_token_has_its_form_and_debug_hides_it() {
        let member = MemberId::parse("m-1");
        let token = member.map(|member| BearerToken::mint(&member, [0xff; 16]));
        let shown = token.as_ref().map(|token| token.reveal().to_owned());
        assert_eq!(shown, Ok("tok_m-1_ffffffff-ffff-4fff-bfff-ffffffffffff".to_owned()));
        assert_eq!(format!("{token:?}"), "Ok(BearerToken(..))");
    }

    /// The expected value was computed with Python: SHA-256 of the 32 bytes and "ada".
    #[test]
    fn challenge_is_origin_and_url_safe_base64_of_sha256() {
        let (service, seed) = ("https://acme.example", ChallengeSeed([7; 32]));
        let text = |id| ChallengeText::of(service, &MemberId::parse(id).unwrap(), &seed);
        let ada = "https://acme.example cW74HgUFHceYtzxQMb0x4ZEMvi6yQwP6e2XIF_uhXuQ";
        assert_eq!(text("ada").as_str(), ada);
        assert_ne!(text("grace"), text("ada"));
        assert_eq!(ChallengeText::service(ada), Some(service));
        assert_eq!(ChallengeText::service("cW74HgUFHceY"), None);
    }
}
