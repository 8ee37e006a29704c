//! Members and their applications. An application creates the record of the member.

use serde::Serialize;

use super::form::form;
use super::{Contact, Digest, Lens, MemberId, Name, PublicKey, Signature, Timestamp, TokenHash};

form! {
    /// The signed fields of an application (API.md, 3.1). The order of the fields matters.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Application "Application" in "members" {
        /// The name of the member.
        pub name: Name = "name",
        /// The address at which the operator reaches the member.
        pub contact: Contact = "contact": "Shown to operators only.",
        /// Its point of view; empty when omitted.
        pub lens: Lens = "lens" default(Lens::none()),
        /// The text of its public key, not yet parsed.
        pub public_key: String = "publicKey":
            "A PublicKey; any other encoding is refused as a wrong signature.",
    }
    description "What is signed is the line of JSON of name, contact, lens (the empty string when absent) and publicKey, \
        in this order, as JSON.stringify writes it.";
    example r#"{
        "name": "Ada", "contact": "ada@desk.example", "lens": "Cash flow before stories.",
        "publicKey": "cHJPUSdG9XlGh/lG8peTuzR1IBW56umVsG2mMtrk2Pc=",
        "signature": "9PltPhgoSCbHpNFtZXoRDksHsRu0jEM+HSvLnzib7CPrn6tXhZ68L05HPz5NMMX59QeY5h5ExiNWTIqlk0ECBw=="
    }"#;

    /// A request that names a member.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct MemberName "MemberName" in "members" {
        /// The member.
        pub member_id: MemberId = "memberId",
    }
    example r#"{"memberId": "3f0c9d52-8a4e-4b5c-9c27-6d1e0f6a2b11"}"#;
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

form! {
    /// A change of what operators keep about a member (API.md, 7.2). What is `None` stays.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    #[non_exhaustive]
    pub struct MemberPatch {
        pub name: Option<Name> = "name": "The name.",
        pub contact: Option<Contact> = "contact": "The address at which it is reached.",
        pub lens: Option<Lens> = "lens": "How it looks at subjects.",
    }
    at_least_one "must have name, contact or lens";

    /// The request of an operator to change what is kept about a member.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct MemberUpdate "MemberPatch" in "members" {
        /// The member.
        pub member_id: MemberId = "memberId",
        /// The change.
        #[serde(flatten)]
        pub patch: MemberPatch = flatten,
    }
    example r#"{"memberId": "3f0c9d52-8a4e-4b5c-9c27-6d1e0f6a2b11", "contact": "ada@test.example"}"#;

    /// The request of an operator to erase a member.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Erasure "Erasure" in "members" {
        /// The member.
        pub member_id: MemberId = "memberId",
        pub texts: bool = "texts" default(false):
            "Also withholds and erases the write-ups and memo addresses of its takes.",
    }
    example r#"{"memberId": "3f0c9d52-8a4e-4b5c-9c27-6d1e0f6a2b11", "texts": true}"#;

    /// The request of an operator for a new token of a member.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct KeyRotation "KeyRotation" in "members" {
        pub public_key: Option<PublicKey> = "publicKey": "A new public key too.",
        /// The member.
        pub member_id: MemberId = "memberId",
    }
    example r#"{"memberId": "3f0c9d52-8a4e-4b5c-9c27-6d1e0f6a2b11"}"#;

    /// The signed fields of a token claim (API.md, 3.1). The order of the fields matters.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct TokenClaim "TokenClaim" in "members" {
        /// The member that claims its token.
        pub member_id: MemberId = "memberId",
        /// The challenge that the member received.
        pub challenge: String = "challenge",
        /// The expiry of that challenge: the text exactly as received.
        pub expires_at: String = "expiresAt",
    }
    description "What is signed is the line of JSON of memberId, challenge and expiresAt, in this order, with the values \
        as received, as JSON.stringify writes it.";
    example r#"{
        "memberId": "3f0c9d52-8a4e-4b5c-9c27-6d1e0f6a2b11",
        "challenge": "kZ7S1l3yq0mXgq9tT2u5cB8rV4wJ6dHnEoPaYiUxLsM", "expiresAt": "2026-11-21T10:10:00.000Z",
        "signature": "fAtHJf3nHyTXob3I1oBUCX2jfgMKDj53U0H87tTqSLVGMJ3dFQOd2lGe58QrNzhY1iPnespU7Os0k4fySF1jCA=="
    }"#;
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

form! {
    /// The request of a member to replace its own key, which both keys signed.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct KeyReplacementRequest "KeyReplacement" in "members" {
        /// The new key, exactly as received.
        pub public_key: String = "publicKey":
            "A PublicKey; any other encoding is refused as a wrong signature.",
        pub endorsement: Signature = "endorsement":
            "Signature of {memberId, publicKey, replaces} by the key that is replaced.",
        pub proof: Signature = "proof": "Signature of the same by the new key.",
    }
    example r#"{
        "publicKey": "gTl3Dqh9F19Wo1Rmw0x+zMuNipG07jeiXfYPW4/Js5Q=",
        "endorsement": "i5G4St5VvWcQnDtYw3lrpkNf7lAGCO1xVbVNnAtJTi0CiwWU476oDXpZpsUMlv9OImbs8zGP/mp0vV2y1/VVBA==",
        "proof": "vNJBYLUo3ZKH1VZF7F2/rdbIrdVYEfiWEFPtjSwE3eIGanQPS8XABPrhD1Hqc5ssnjK8ZhV4mp4xxm2xKGsADw=="
    }"#;
}

/// The state of a member (API.md, 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The digest of the claim by which it got its last token, so that the same claim is recognized.
    pub used_claim: Option<Digest>,
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
