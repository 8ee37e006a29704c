//! The endorsement of a key that a member puts in the place of its own (API.md, 4.7). `keys` asks for it by way of `whole_log`, and
//! `replay` of each entry.

use std::sync::Arc;

use crate::domain::{KeyReplacement, MemberId, PublicKey, Signature, Signed};
use crate::proof::verify;

/// Returns whether the key before signed its replacement by another one.
pub(super) fn is_endorsed(
    member: &MemberId,
    key: &PublicKey,
    before: &PublicKey,
    endorsement: &Signature,
) -> bool {
    let payload = KeyReplacement {
        member_id: member.clone(),
        public_key: key.to_string(),
        replaces: before.to_string(),
    };
    verify(&Arc::new(Signed { payload, signature: endorsement.clone() }), before).is_some()
}
