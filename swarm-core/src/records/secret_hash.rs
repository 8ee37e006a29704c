//! Hashes of secrets as records have them: as in configurations, `sha256:` and hexadecimal digits. The type itself is not
//! serialized, so that no answer has a hash by mistake.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::domain::SecretHash;
use crate::proof::hex;

pub(super) fn serialize<S: Serializer, K>(
    hash: &Option<SecretHash<K>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let text = hash.as_ref().map(|hash| format!("sha256:{}", hex(hash.as_bytes())));
    text.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>, K>(
    deserializer: D,
) -> Result<Option<SecretHash<K>>, D::Error> {
    let parse = |text: String| {
        SecretHash::parse(&text).ok_or_else(|| D::Error::custom("must be a SHA-256 hash"))
    };
    Option::<String>::deserialize(deserializer)?.map(parse).transpose()
}
