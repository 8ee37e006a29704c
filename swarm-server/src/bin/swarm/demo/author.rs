//! A member of the demonstration, with its key and token.

use swarm_client::{Client, new_key, new_nonce};
use swarm_core::domain::{
    Body, Bucket, Confidence, Day, MemoUrl, Stance, SubjectId, TakeDraft, Weight, Weights,
};
use swarm_core::proof::KeyPair;
use swarm_core::{MemberId, TakeId};

use super::words::Analyst;
use crate::Failure;

pub(super) struct Author {
    pub(super) id: MemberId,
    pub(super) analyst: &'static Analyst,
    key: KeyPair,
    token: String,
}

/// The content of a take.
pub(super) struct Opinion<'a> {
    pub(super) date: Day,
    pub(super) subject: &'a str,
    pub(super) stance: &'a str,
    pub(super) confidence: f64,
    pub(super) body: String,
    /// Weights by bucket, if the session has buckets.
    pub(super) weights: Vec<(&'a str, f64)>,
}

impl Author {
    /// Applies, is activated, and claims its token by key proof.
    pub(super) fn join(
        client: &Client,
        analyst: &'static Analyst,
        activate: impl FnOnce(&MemberId) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let key = new_key()?;
        let id = client.apply(&key, analyst.name, "desk@demo.example", analyst.lens)?;
        activate(&id)?;
        let token = client.claim(&key, &id)?;
        Ok(Self { id, analyst, key, token })
    }

    pub(super) fn public_key(&self) -> String {
        self.key.public_key().to_string()
    }

    /// Signs and files a take, and returns its id.
    pub(super) fn file(&self, client: &Client, opinion: &Opinion<'_>) -> Result<TakeId, Failure> {
        let weight = |(bucket, weight): &(&str, f64)| {
            Ok(Weight { bucket: Bucket::parse(*bucket)?, weight: *weight })
        };
        let weights: Vec<_> = opinion.weights.iter().map(weight).collect::<Result<_, Failure>>()?;
        let take = self.key.sign(TakeDraft {
            member_id: self.id.clone(),
            date: opinion.date,
            subject_id: SubjectId::parse(opinion.subject)?,
            nonce: new_nonce(client.service())?,
            stance: Stance::parse(opinion.stance)?,
            confidence: Confidence::parse(opinion.confidence)?,
            body: Body::parse(opinion.body.as_str())?,
            memo_url: MemoUrl::parse("")?,
            weights: if weights.is_empty() { None } else { Some(Weights::parse(weights)?) },
        });
        Ok(client.submit(&self.token, &take)?.id)
    }

    /// Publishes a memo on a subject.
    pub(super) fn publish(
        &self,
        client: &Client,
        title: &str,
        body: &str,
        subject_id: &str,
    ) -> Result<(), Failure> {
        let subject = SubjectId::parse(subject_id)?;
        client.publish_memo(&self.token, title, body, Some(&subject), None)?;
        Ok(())
    }
}
