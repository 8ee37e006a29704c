//! Takes: signed here, filed once.

use serde::Serialize;
use swarm_core::domain::{Body, Confidence, MemoUrl, Nonce, Signature, Signed, Stance, Weights};
use swarm_core::json::{self, Json};
use swarm_core::proof::{KeyPair, Payload, hex};
use swarm_core::{Entropy, MemberId, Session, SystemEntropy, TakeDraft, TakeId};

use crate::answers::{Diagnosis, Preflight, id};
use crate::connection::{Client, Credential};
use crate::error::Error;

/// What a member says of a session's subject. Limits are those of the service, and are checked when
/// it is signed.
#[derive(Clone, Debug, Default)]
pub struct TakeFields {
    stance: String,
    confidence: f64,
    body: String,
    memo_url: String,
    weights: Option<Weights>,
}

impl TakeFields {
    /// This stance, held with this confidence, 0 to 1.
    pub fn new(stance: impl Into<String>, confidence: f64) -> Self {
        Self { stance: stance.into(), confidence, ..Self::default() }
    }

    /// With a write-up, Markdown of at most 10,000 characters.
    #[must_use]
    pub fn with_body(self, body: impl Into<String>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// With the address of a longer memo.
    #[must_use]
    pub fn with_memo(self, url: impl Into<String>) -> Self {
        Self { memo_url: url.into(), ..self }
    }

    /// With a division of a whole among buckets.
    #[must_use]
    pub fn with_weights(self, weights: Weights) -> Self {
        Self { weights: Some(weights), ..self }
    }
}

/// A take on this session, with a fresh nonce, signed for the service with this origin (see
/// [`Client::service`]). Keep it until it is filed: sent again, it is the same take, while another
/// signature would be another.
///
/// # Errors
/// [`Error::Invalid`] when a field breaks its rule, [`Error::NoEntropy`].
pub fn sign_take(
    service: &str,
    key: &KeyPair,
    member: &MemberId,
    session: &Session,
    fields: &TakeFields,
) -> Result<Signed<TakeDraft>, Error> {
    Ok(key.sign(TakeDraft {
        member_id: member.clone(),
        date: session.date,
        subject_id: session.subject_id.clone(),
        nonce: new_nonce(service)?,
        stance: Stance::parse(fields.stance.as_str())?,
        confidence: Confidence::parse(fields.confidence)?,
        body: Body::parse(fields.body.as_str())?,
        memo_url: MemoUrl::parse(fields.memo_url.as_str())?,
        weights: fields.weights.clone(),
    }))
}

/// A nonce that was never used: the origin of the service where it fits, so that whoever reads the take
/// sees which service it was signed for, and 128 random bits.
///
/// # Errors
/// [`Error::NoEntropy`].
pub fn new_nonce(service: &str) -> Result<Nonce, Error> {
    let random = hex(&random::<16>()?);
    Ok(Nonce::parse(format!("{service} {random}")).or_else(|_| Nonce::parse(random))?)
}

/// A new key pair. Keep its seed elsewhere if it is to outlive the process: see
/// [`KeyPair::from_seed`].
///
/// # Errors
/// [`Error::NoEntropy`].
pub fn new_key() -> Result<KeyPair, Error> {
    Ok(KeyPair::from_seed(&random::<32>()?))
}

fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    SystemEntropy.fill(&mut bytes).map_err(|_| Error::NoEntropy)?;
    Ok(bytes)
}

impl Client {
    /// Files a take; answers its id. It is sent until there is an answer: one nonce is filed once, and
    /// where it had arrived before, its id comes all the same.
    ///
    /// # Errors
    /// [`Error::NoAnswer`]: whether it is on file is not known; the same take may be sent again.
    pub fn submit(&self, token: &str, take: &Signed<TakeDraft>) -> Result<TakeId, Error> {
        let body = signed_text(take);
        match self.post_until_answered("/api/swarm/submit", Credential::Bearer(token), &body) {
            Ok(receipt) => id(receipt, "recommendationId").map(TakeId),
            // This very take is on file: its answer was lost.
            Err(Error::Refused(refused))
                if refused.status == 409 && refused.body.has("recommendationId") =>
            {
                id(refused.body, "recommendationId").map(TakeId)
            }
            Err(error) => Err(error),
        }
    }

    /// All that would refuse a take at this moment. Nothing is filed, no nonce is spent.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn preflight(&self, token: &str, take: &Signed<TakeDraft>) -> Result<Preflight, Error> {
        let (credential, body) = (Credential::Bearer(token), signed_text(take));
        Preflight::read(self.post_until_answered("/api/swarm/preflight", credential, &body)?)
    }

    /// What is wrong with the signature in `body`: that of a submit, an application or a token claim,
    /// whole, with `publicKey` beside it where its member has none on file.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn diagnose(&self, body: &Json) -> Result<Diagnosis, Error> {
        let body = json::write(body);
        Diagnosis::read(self.post_until_answered("/api/swarm/diagnose", Credential::None, &body)?)
    }
}

/// What was signed with its signature beside its fields, as it is sent: for one payload always the
/// same text.
pub fn signed_text<T: Payload>(signed: &Signed<T>) -> String {
    json::write(&Sent::of(signed))
}

#[derive(Serialize)]
pub(crate) struct Sent<'a, T> {
    #[serde(flatten)]
    payload: &'a T,
    signature: &'a Signature,
}

impl<'a, T> Sent<'a, T> {
    pub(crate) fn of(signed: &'a Signed<T>) -> Self {
        Self { payload: &signed.payload, signature: &signed.signature }
    }
}
