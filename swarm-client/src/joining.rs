//! Joining: application and token claim.

use serde::Serialize;
use swarm_core::MemberId;
use swarm_core::answers::ApplicationState;
use swarm_core::domain::{
    Application, Contact, KeyReplacement, KeyReplacementRequest, Lens, Name, TokenClaim,
};
use swarm_core::proof::{ChallengeText, KeyPair};

use crate::connection::{Client, Credential, address};
use crate::error::{Error, unreadable};
use crate::reading::path_segment;
use crate::served::answer;

impl Client {
    /// Applies with this key; returns the member id. Only operators see `contact`; the rest is public once the
    /// member is activated.
    ///
    /// # Errors
    /// [`Error::Refused`] with the code `key-registered` when an application with this key exists.
    pub fn apply(
        &self,
        key: &KeyPair,
        name: &str,
        contact: &str,
        lens: &str,
    ) -> Result<MemberId, Error> {
        let application = key.sign(Application {
            name: Name::parse(name)?,
            contact: Contact::parse(contact)?,
            lens: Lens::parse(lens)?,
            public_key: key.public_key().to_string(),
        });
        let mut applied = self.post("/api/swarm/apply", Credential::None, &application)?;
        applied.text("memberId").and_then(MemberId::parse).map_err(unreadable)
    }

    /// Returns the state of an application.
    ///
    /// # Errors
    /// [`Error::Refused`] with the code `not-found` when there is none.
    pub fn application(&self, member: &MemberId) -> Result<ApplicationState, Error> {
        let found = self.get(&format!("/api/swarm/apply/{}", path_segment(member.as_str())))?;
        answer(found)
    }

    /// Claims the bearer token of an activated member. The service shows it only once.
    ///
    /// # Errors
    /// [`Error::OtherService`] when the challenge names another service than [`Client::service`]. Nothing is
    /// signed then: the signature could be used to claim the member's token at that other service.
    /// [`Error::Refused`] with the code `claim-refused` before an operator has activated the member, and
    /// `already-claimed` after the first time.
    pub fn claim(&self, key: &KeyPair, member: &MemberId) -> Result<String, Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct ChallengeRequest<'a> {
            member_id: &'a MemberId,
        }
        let request = ChallengeRequest { member_id: member };
        let mut given =
            self.post("/api/swarm/token-claim/challenge", Credential::None, &request)?;
        // The texts exactly as received: they are what is signed.
        let challenge = given.text("challenge").map_err(unreadable)?;
        let named = ChallengeText::service(&challenge).unwrap_or_default();
        if address(named).as_deref() != Some(self.service()) {
            let (named, expected) = (named.to_owned(), self.service().to_owned());
            return Err(Error::OtherService { named, expected });
        }
        let claim = key.sign(TokenClaim {
            member_id: member.clone(),
            challenge,
            expires_at: given.text("expiresAt").map_err(unreadable)?,
        });
        let mut claimed = self.post("/api/swarm/token-claim", Credential::None, &claim)?;
        claimed.text("token").map_err(unreadable)
    }

    /// Replaces the key of the member with this bearer token: `old` endorses `new`. The token stays. It is sent without
    /// retries: after [`Error::NoAnswer`], see which key the member has.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn replace_key(
        &self,
        token: &str,
        member: &MemberId,
        [old, new]: [&KeyPair; 2],
    ) -> Result<(), Error> {
        let replacement = KeyReplacement {
            member_id: member.clone(),
            public_key: new.public_key().to_string(),
            replaces: old.public_key().to_string(),
        };
        let [endorsement, proof] = [old, new].map(|key| key.sign(replacement.clone()).signature);
        let body =
            KeyReplacementRequest { public_key: new.public_key().to_string(), endorsement, proof };
        self.post("/api/swarm/key", Credential::Bearer(token), &body).map(drop)
    }
}
