//! A member of the demonstration, as its agent: the key never leaves it.

use serde::Serialize;
use swarm_core::MemberId;
use swarm_core::domain::{
    Application, Body, Bucket, Confidence, Contact, Day, Lens, MemoUrl, Name, Nonce, Signature,
    Signed, Stance, SubjectId, TakeDraft, TokenClaim, Weight, Weights,
};
use swarm_core::json::Object;
use swarm_core::proof::{KeyPair, hex};
use warp::http::Method;

use super::words::Analyst;
use crate::Failure;
use crate::client::Client;
use crate::secrets::random_bytes;

pub(super) struct Author {
    pub(super) id: MemberId,
    pub(super) analyst: &'static Analyst,
    key: KeyPair,
    token: String,
}

/// What is said of a session.
pub(super) struct Opinion<'a> {
    pub(super) date: Day,
    pub(super) subject: &'a str,
    pub(super) stance: &'a str,
    pub(super) confidence: f64,
    pub(super) body: String,
    /// How a whole would be divided, where the session asks for it.
    pub(super) weights: Vec<(&'a str, f64)>,
}

impl Author {
    /// Applies, is activated, and claims its token by key proof.
    pub(super) async fn join(client: &Client, analyst: &'static Analyst) -> Result<Self, Failure> {
        let key = KeyPair::from_seed(&random_bytes()?);
        let application = key.sign(Application {
            name: Name::parse(analyst.name)?,
            contact: Contact::parse("desk@demo.example")?,
            lens: Lens::parse(analyst.lens)?,
            public_key: key.public_key(),
        });
        let applied = client.post("/api/swarm/apply", &Sent::from(&application)).await;
        let id = MemberId::parse(applied?.text("memberId")?)?;
        let member = Member { member_id: &id };
        client.operate(Method::POST, "/api/swarm/admin/activate", &member).await?;
        let mut given = client.post("/api/swarm/token-claim/challenge", &member).await?;
        let claim = key.sign(TokenClaim {
            member_id: id.clone(),
            challenge: given.text("challenge")?,
            expires_at: given.text("expiresAt")?,
        });
        let claimed = client.post("/api/swarm/token-claim", &Sent::from(&claim)).await;
        let token = claimed?.text("token")?;
        Ok(Self { id, analyst, key, token })
    }

    pub(super) fn public_key(&self) -> String {
        self.key.public_key()
    }

    /// Signs a take and files it; answers its id.
    pub(super) async fn file(&self, client: &Client, said: &Opinion<'_>) -> Result<u64, Failure> {
        let weight = |(bucket, weight): &(&str, f64)| {
            Ok(Weight { bucket: Bucket::parse(*bucket)?, weight: *weight })
        };
        let weights: Vec<_> = said.weights.iter().map(weight).collect::<Result<_, Failure>>()?;
        let take = self.key.sign(TakeDraft {
            member_id: self.id.clone(),
            date: said.date,
            subject_id: SubjectId::parse(said.subject)?,
            nonce: Nonce::parse(hex(&random_bytes()?))?,
            stance: Stance::parse(said.stance)?,
            confidence: Confidence::parse(said.confidence)?,
            body: Body::parse(said.body.as_str())?,
            memo_url: MemoUrl::parse("")?,
            weights: if weights.is_empty() { None } else { Some(Weights::parse(weights)?) },
        });
        let mut receipt = client.submit(&self.token, &Sent::from(&take)).await?;
        number(&mut receipt, "recommendationId")
    }

    /// Publishes a memo on a subject.
    pub(super) async fn publish(
        &self,
        client: &Client,
        title: &str,
        body: &str,
        subject_id: &str,
    ) -> Result<(), Failure> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Memo<'a> {
            title: &'a str,
            body: &'a str,
            subject_id: &'a str,
        }
        client.publish(&self.token, &Memo { title, body, subject_id }).await.map(drop)
    }
}

/// A payload with its signature beside its fields, as it is sent.
#[derive(Serialize)]
struct Sent<'a, T> {
    #[serde(flatten)]
    payload: &'a T,
    signature: &'a Signature,
}

impl<'a, T> From<&'a Signed<T>> for Sent<'a, T> {
    fn from(signed: &'a Signed<T>) -> Self {
        Self { payload: &signed.payload, signature: &signed.signature }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Member<'a> {
    member_id: &'a MemberId,
}

pub(super) fn number(answer: &mut Object, field: &'static str) -> Result<u64, Failure> {
    Ok(swarm_core::json::write(&answer.number(field)?).parse()?)
}
