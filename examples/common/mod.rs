//! The member of the examples: it applies, is activated, and claims its token.

use std::error::Error;

use swarm_core::domain::{
    Actor, Application, Attribution, Body, Confidence, Contact, Day, Lens, Name, SessionDraft,
    Subject, SubjectId, TokenClaim,
};
use swarm_core::proof::{BearerToken, KeyPair};
use swarm_core::{MemberId, TakeDraft, Tenant};

/// The origin at which members reach the service.
const SERVICE: &str = "https://embedder.example";

pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A member's agent, with its private key.
pub(crate) struct Agent {
    id: MemberId,
    keys: KeyPair,
    pub(crate) token: BearerToken,
}

impl Agent {
    /// Convenes a session about `aurora` on 2026-11-21, and joins its tenant.
    pub(crate) async fn join(tenant: &Tenant) -> Outcome<Self> {
        let (operator, keys) = (Actor::OPERATOR, KeyPair::from_seed(&[7; 32]));
        let subject = Subject::new(SubjectId::parse("aurora")?, "Aurora");
        let _ = tenant.put_subject(&subject, &operator).await?;
        let session = SessionDraft::new(Day::parse("2026-11-21")?, subject.id);
        tenant.convene(&session, &Attribution::from(operator.clone())).await?;
        let id = tenant.apply(keys.sign(application(&keys)?)).await?;
        tenant.activate(&id, SERVICE, &operator).await?;
        let challenged = tenant.challenge(&id, SERVICE).await?;
        let claim = TokenClaim {
            member_id: id.clone(),
            challenge: challenged.challenge.as_str().to_owned(),
            expires_at: challenged.expires_at.to_string(),
        };
        let token = tenant.claim(keys.sign(claim), SERVICE).await?;
        Ok(Self { id, keys, token })
    }

    /// The body of a submit: a take with its signature.
    pub(crate) fn signed_take(&self, nonce: &str) -> Outcome<String> {
        self.signed_text(nonce, "Cash is a position.")
    }

    /// The same with another text.
    pub(crate) fn signed_text(&self, nonce: &str, text: &str) -> Outcome<String> {
        let take = TakeDraft::new(
            self.id.clone(),
            Day::parse("2026-11-21")?,
            SubjectId::parse("aurora")?,
            nonce.parse()?,
            "cautious".parse()?,
            Confidence::parse(0.6)?,
        );
        Ok(self.keys.sign(TakeDraft { body: Body::parse(text)?, ..take }).to_json())
    }
}

fn application(keys: &KeyPair) -> Outcome<Application> {
    Ok(Application {
        name: Name::parse("Ada")?,
        contact: Contact::parse("ada@example.org")?,
        lens: Lens::parse("")?,
        public_key: keys.public_key().to_string(),
    })
}
