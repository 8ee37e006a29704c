//! The rule for a member that replaces its own key (API.md, 4.7).

use std::sync::Arc;

use super::membership::{MemberChange, change};
use super::{Refusal, Versioned, log};
use crate::domain::{
    EndorsedKey, KeyReplacement, KeyReplacementRequest, Member, PublicKey, Signature, Signed,
};
use crate::proof::{canonical, verify};

/// Checks that both keys signed the replacement, and returns it. The token stays. `None` when the member has that key
/// already, whatever was signed: a member that lost the answer sends the same request again, which names the key before.
///
/// # Errors
/// [`Refusal::NoKey`] when the member has none; [`Refusal::BadKeyReplacement`] unless both keys signed it.
pub(crate) fn replace_own_key(
    member: &Versioned<Member>,
    request: &KeyReplacementRequest,
) -> Result<Option<MemberChange>, Refusal> {
    let record = &member.record;
    let replaces = record.public_key.clone().ok_or(Refusal::NoKey)?;
    let key = PublicKey::parse(&request.public_key).ok();
    if key.as_ref() == Some(&replaces) {
        return Ok(None);
    }
    let payload = KeyReplacement {
        member_id: record.id.clone(),
        public_key: request.public_key.clone(),
        replaces: replaces.to_string(),
    };
    let is_signed = |signature: &Signature, key: &PublicKey| {
        let signed = Signed { payload: payload.clone(), signature: signature.clone() };
        verify(&Arc::new(signed), key).is_some()
    };
    let key = key
        .filter(|key| is_signed(&request.endorsement, &replaces) && is_signed(&request.proof, key));
    let Some(key) = key else {
        return Err(Refusal::BadKeyReplacement { expected_payload: canonical(&payload) });
    };
    let replaced = Member { public_key: Some(key), ..Member::clone(record) };
    let endorsed = EndorsedKey { replaces, endorsement: request.endorsement.clone() };
    let act = Some(log::own_key_replaced(&replaced, endorsed));
    Ok(Some(MemberChange { act, ..change(member, replaced) }))
}
