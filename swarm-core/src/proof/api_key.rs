//! The API keys of the committee. Only their hashes are stored (API.md, 8.1).

use super::hex;
use crate::domain::ApiKeyHash;
use crate::domain::committee::{CommitteeMemberId, KeyPrefix};

/// An API key, `<prefix>_<member_id>_<32 hex>`. It is shown once and never stored, and `Debug`
/// hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Makes the key of `member` from 16 random bytes.
    pub fn mint(prefix: &KeyPrefix, member: &CommitteeMemberId, random: [u8; 16]) -> Self {
        Self(format!("{prefix}_{member}_{}", hex(&random)))
    }

    /// Parses a text of the form of a key, with any prefix, or returns `None`. Hexadecimal digits
    /// may have either case, although keys are minted in lower case.
    pub fn parse(text: &str) -> Option<Self> {
        let (prefix, rest) = text.split_once('_')?;
        let (member, digits) = rest.rsplit_once('_')?;
        let hex = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let shaped =
            hex && KeyPrefix::parse(prefix).is_ok() && CommitteeMemberId::parse(member).is_ok();
        shaped.then(|| Self(text.to_owned()))
    }

    /// Returns whether the key begins with `prefix`.
    pub fn has_prefix(&self, prefix: &KeyPrefix) -> bool {
        self.0.split_once('_').is_some_and(|(start, _)| start == prefix.as_str())
    }

    /// Returns the text of the key, to be shown to the operator once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the hash to store.
    pub fn hash(&self) -> ApiKeyHash {
        ApiKeyHash::of(self.0.as_bytes())
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minted_key_parses_and_debug_hides_it() {
        let prefix = KeyPrefix::parse("ic").unwrap();
        let member = CommitteeMemberId::parse("ada_l-1").unwrap();
        let key = ApiKey::mint(&prefix, &member, [0xab; 16]);
        assert_eq!(key.reveal(), format!("ic_ada_l-1_{}", "ab".repeat(16)));
        assert_eq!(ApiKey::parse(key.reveal()), Some(key.clone()));
        assert!(key.has_prefix(&prefix) && !key.has_prefix(&KeyPrefix::parse("i").unwrap()));
        assert_eq!(format!("{key:?}"), "ApiKey(..)");
    }

    #[test]
    fn parse_refuses_other_forms() {
        let hex = "0123456789abcdefABCDEF0123456789";
        for good in [format!("ic_a_{hex}"), format!("desk_a_b-_{hex}"), format!("a_0___{hex}")] {
            assert!(ApiKey::parse(&good).is_some(), "{good}");
        }
        for bad in [
            String::new(),
            hex.to_owned(),
            format!("ic_{hex}"),
            format!("_a_{hex}"),
            format!("ic__{hex}"),
            format!("IC_a_{hex}"),
            format!("i1_a_{hex}"),
            format!("ic_A_{hex}"),
            format!("ic_a_{hex}0"),
            format!("ic_a_{}", &hex[1..]),
            format!("ic_a_g{}", &hex[1..]),
            format!("ic_a_{hex} "),
            format!(" ic_a_{hex}"),
            format!("ic-a-{hex}"),
            format!("{}_a_{hex}", "x".repeat(17)),
            format!("ic_{}_{hex}", "x".repeat(101)),
        ] {
            assert!(ApiKey::parse(&bad).is_none(), "{bad}");
        }
    }
}
