//! Members that can sign.

use super::records::{claimed, creation, id, key, keys, secret};
use swarm_core::domain::{
    Body, Confidence, Member, MemberId, MemoUrl, Nonce, PublicKey, Session, Stance, TakeDraft,
    TokenHash,
};
use swarm_core::proof::KeyPair;
use swarm_core::rules::Submission;
use swarm_core::store::{Basis, BasisQuery, Caller, MemberChange, Records, Result};

/// A member with a key pair and a bearer token that are derived from its name.
#[derive(Debug)]
pub struct Author {
    /// Its id, which is its name.
    pub id: MemberId,
    /// The hash of its bearer token.
    pub token: TokenHash,
    /// Its key pair.
    pub keys: KeyPair,
}

impl Author {
    /// A member that is not stored yet.
    pub fn named(name: &str) -> Self {
        Self { id: id(name), token: secret(name), keys: keys(name) }
    }

    /// Its public key.
    pub fn key(&self) -> PublicKey {
        key(self.id.as_str())
    }

    /// Its record, with a claimed token.
    pub fn member(&self) -> Member {
        claimed(self.id.as_str())
    }

    /// The change that creates it.
    pub fn creation(&self) -> MemberChange {
        creation(&self.member())
    }

    /// A minimal take for `session`.
    pub fn draft(&self, session: &Session, nonce: &str) -> TakeDraft {
        TakeDraft {
            member_id: self.id.clone(),
            date: session.date,
            subject_id: session.subject_id.clone(),
            nonce: Nonce::parse(nonce).unwrap(),
            stance: Stance::parse("bullish").unwrap(),
            confidence: Confidence::parse(0.5).unwrap(),
            body: Body::parse("").unwrap(),
            memo_url: MemoUrl::parse("").unwrap(),
            weights: None,
        }
    }

    /// Signs a take.
    pub fn sign(&self, draft: TakeDraft) -> Submission {
        Submission::new(self.keys.sign(draft))
    }

    /// A minimal signed take for `session`.
    pub fn submission(&self, session: &Session, nonce: &str) -> Submission {
        self.sign(self.draft(session, nonce))
    }

    /// The facts that a submission with its token is judged on.
    ///
    /// # Errors
    /// The error of the store.
    pub async fn basis(&self, store: &Records, submission: &Submission) -> Result<Basis> {
        let TakeDraft { date, subject_id, nonce, .. } = submission.draft();
        store
            .basis(&BasisQuery {
                caller: Caller::Bearer(&self.token),
                date: *date,
                subject_id,
                nonce,
            })
            .await
    }
}
