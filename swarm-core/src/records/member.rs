//! The record of a member, which no answer shows whole.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

use super::Record;
use crate::domain::{
    Contact, Digest, Lens, Member, MemberId, MemberState, Name, PublicKey, Timestamp, TokenHash,
    json,
};

/// The fields of a member.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MemberText<'a> {
    id: Cow<'a, MemberId>,
    name: Cow<'a, Name>,
    /// `None` once it was erased.
    contact: Option<Cow<'a, Contact>>,
    /// `None` once the member was erased.
    lens: Option<Cow<'a, Lens>>,
    public_key: Option<Cow<'a, PublicKey>>,
    state: MemberState,
    applied_at: Timestamp,
    reviewed_at: Option<Timestamp>,
    joined_at: Option<Timestamp>,
    claimed_at: Option<Timestamp>,
    #[serde(default, with = "super::secret_hash")]
    token: Option<TokenHash>,
    /// Older records have no such field.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_claimed_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    used_claim: Option<Digest>,
}

impl Record for Member {
    fn to_text(&self) -> String {
        json::write(&MemberText {
            id: Cow::Borrowed(&self.id),
            name: Cow::Borrowed(&self.name),
            contact: (!self.contact.is_erased()).then_some(Cow::Borrowed(&self.contact)),
            lens: (!self.is_erased()).then_some(Cow::Borrowed(&self.lens)),
            public_key: self.public_key.as_ref().map(Cow::Borrowed),
            state: self.state,
            applied_at: self.applied_at,
            reviewed_at: self.reviewed_at,
            joined_at: self.joined_at,
            claimed_at: self.claimed_at,
            token: self.token,
            token_claimed_at: self.token_claimed_at,
            used_claim: self.used_claim,
        })
    }
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let it = MemberText::deserialize(deserializer)?;
        Ok(Self {
            id: it.id.into_owned(),
            name: it.name.into_owned(),
            contact: it.contact.map_or_else(Contact::erased, Cow::into_owned),
            lens: it.lens.map_or_else(Lens::none, Cow::into_owned),
            public_key: it.public_key.map(Cow::into_owned),
            state: it.state,
            applied_at: it.applied_at,
            reviewed_at: it.reviewed_at,
            joined_at: it.joined_at,
            claimed_at: it.claimed_at,
            token: it.token,
            token_claimed_at: it.token_claimed_at,
            used_claim: it.used_claim,
        })
    }
}
