//! Members and their applications. An application creates the record of the member.

use serde::Serialize;

use super::json::Object;
use super::{
    Contact, Invalid, Lens, MemberId, Name, PublicKey, Signature, Signed, Timestamp, TokenHash,
};

/// The signed fields of an application (API.md, 3.1). The order of the fields matters.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Application {
    /// The name of the member.
    pub name: Name,
    /// The address at which the operator reaches the member.
    pub contact: Contact,
    /// Its point of view; empty when omitted.
    pub lens: Lens,
    /// The text of its public key, not yet parsed.
    pub public_key: String,
}

impl Application {
    /// Reads an application and its signature.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Signed<Self>, Invalid> {
        let payload = Self {
            name: Name::parse(fields.text("name")?)?,
            contact: Contact::parse(fields.text("contact")?)?,
            lens: Lens::parse(fields.text_if_any("lens")?.unwrap_or_default())?,
            public_key: fields.text("publicKey")?,
        };
        Ok(Signed { payload, signature: Signature::parse(fields.text("signature")?)? })
    }
}

/// A member that the embedding program brings, without an application.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Enrolment {
    /// The id, which no other member has.
    pub id: MemberId,
    /// The name.
    pub name: Name,
    /// The address at which the operator reaches the member.
    pub contact: Contact,
    /// Its point of view; empty for none.
    pub lens: Lens,
    /// The key with which it signs, which no other member holds.
    pub public_key: PublicKey,
}

impl Enrolment {
    /// A member without a point of view.
    pub fn new(id: MemberId, name: Name, contact: Contact, public_key: PublicKey) -> Self {
        Self { id, name, contact, lens: Lens::none(), public_key }
    }
}

/// A change of what operators keep about a member (API.md, 7.2). What is `None` stays.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MemberPatch {
    /// The name.
    pub name: Option<Name>,
    /// The address at which the operator reaches the member.
    pub contact: Option<Contact>,
    /// Its point of view; empty for none.
    pub lens: Option<Lens>,
}

impl MemberPatch {
    /// Reads a change, which has at least one field.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        let patch = Self {
            name: fields.text_if_any("name")?.map(Name::parse).transpose()?,
            contact: fields.text_if_any("contact")?.map(Contact::parse).transpose()?,
            lens: fields.text_if_any("lens")?.map(Lens::parse).transpose()?,
        };
        match patch == Self::default() {
            true => Err(Invalid::new("body", "must have name, contact or lens")),
            false => Ok(patch),
        }
    }
}

/// The signed fields of a token claim (API.md, 3.1). The order of the fields matters.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenClaim {
    /// The member that claims its token.
    pub member_id: MemberId,
    /// The challenge that the member received.
    pub challenge: String,
    /// The expiry of that challenge: the text exactly as received.
    pub expires_at: String,
}

impl TokenClaim {
    /// Reads a claim and its signature.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Signed<Self>, Invalid> {
        let payload = Self {
            member_id: MemberId::parse(fields.text("memberId")?)?,
            challenge: fields.text("challenge")?,
            expires_at: fields.text("expiresAt")?,
        };
        Ok(Signed { payload, signature: Signature::parse(fields.text("signature")?)? })
    }
}

/// The signed fields of the replacement of a member's own key (API.md, 3.1). The order of the fields matters.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyReplacement {
    /// The member.
    pub member_id: MemberId,
    /// The new key: the text exactly as received.
    pub public_key: String,
    /// The key that it replaces.
    pub replaces: String,
}

/// The request of a member to replace its own key, which both keys signed.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyReplacementRequest {
    /// The new key: the text exactly as received.
    pub public_key: String,
    /// The signature of the [`KeyReplacement`] by the key that is replaced.
    pub endorsement: Signature,
    /// The signature of the same by the new key.
    pub proof: Signature,
}

impl KeyReplacementRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        Ok(Self {
            public_key: fields.text("publicKey")?,
            endorsement: Signature::parse(fields.text("endorsement")?)?,
            proof: Signature::parse(fields.text("proof")?)?,
        })
    }
}

/// The state of a member (API.md, 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MemberState {
    /// Applied; not yet reviewed by an operator.
    Applied,
    /// Activated by an operator; the token is not yet claimed.
    Approved,
    /// Activated, with a claimed token.
    Claimed,
    /// Refused by an operator.
    Rejected,
    /// Deactivated.
    Inactive,
}

impl MemberState {
    /// All states.
    pub const ALL: [Self; 5] =
        [Self::Applied, Self::Approved, Self::Claimed, Self::Rejected, Self::Inactive];

    /// Returns the state with this name on the wire.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Returns the name of the state on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Approved => "approved",
            Self::Claimed => "claimed",
            Self::Rejected => "rejected",
            Self::Inactive => "inactive",
        }
    }

    /// Returns whether a member in this state is active: may claim its token, and file takes with
    /// it.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Approved | Self::Claimed)
    }

    /// Returns whether a member in this state occupies its key: nobody else may apply with it
    /// (API.md, 4.2).
    pub fn holds_key(self) -> bool {
        matches!(self, Self::Applied | Self::Approved | Self::Claimed)
    }
}

impl std::fmt::Display for MemberState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A member, from its application on.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its id: a UUID minted at the application.
    pub id: MemberId,
    /// The name.
    pub name: Name,
    /// The address at which the operator reaches the member. Shown to operators only.
    pub contact: Contact,
    /// Its point of view.
    pub lens: Lens,
    /// The key that verifies its signatures; `None` only for a member that was created without an
    /// application and has not registered one.
    pub public_key: Option<PublicKey>,
    /// The state.
    pub state: MemberState,
    /// The time of the application.
    pub applied_at: Timestamp,
    /// The time when an operator last activated or rejected the member.
    pub reviewed_at: Option<Timestamp>,
    /// The time of the first activation.
    pub joined_at: Option<Timestamp>,
    /// The time when the member claimed its token.
    pub claimed_at: Option<Timestamp>,
    /// The hash of its bearer token, once claimed.
    pub token: Option<TokenHash>,
    /// The time when the member claimed the present token with a proof of its key. `None` without a token, if an
    /// operator minted the token, and in records that are older than this field.
    pub token_claimed_at: Option<Timestamp>,
}

impl Member {
    /// Returns whether its name, contact and lens were erased.
    pub fn is_erased(&self) -> bool {
        self.contact.is_erased()
    }

    /// Returns the key that it holds, if its state holds one: no other member may hold it.
    pub fn held_key(&self) -> Option<&PublicKey> {
        self.public_key.as_ref().filter(|_| self.state.holds_key())
    }
}
