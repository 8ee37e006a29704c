//! Takes: signing and submitting.

use swarm_core::answers::PreflightAnswer;
use swarm_core::domain::{Body, Confidence, MemoUrl, Nonce, Salt, Seq, Signed, Stance, Weights};
use swarm_core::json::{self, Json, Object};
use swarm_core::proof::diagnose::Diagnosis;
use swarm_core::proof::{KeyPair, hex};
use swarm_core::{Entropy, MemberId, Session, SystemEntropy, TakeDraft, TakeId};

use crate::connection::{Client, Credential};
use crate::error::{Error, Refused, unreadable};
use crate::served::answer;

/// The fields of a take that its member chooses. Limits (API.md, 5.1) are checked when it is signed.
#[derive(Clone, Debug, Default)]
pub struct TakeFields {
    stance: String,
    confidence: f64,
    body: String,
    memo_url: String,
    weights: Option<Weights>,
}

impl TakeFields {
    /// A stance, with a confidence from 0 to 1.
    pub fn new(stance: impl Into<String>, confidence: f64) -> Self {
        Self { stance: stance.into(), confidence, ..Self::default() }
    }

    /// With a write-up, Markdown of at most 10,000 characters.
    #[must_use]
    pub fn with_body(self, body: impl Into<String>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// With the URL of a longer memo.
    #[must_use]
    pub fn with_memo(self, url: impl Into<String>) -> Self {
        Self { memo_url: url.into(), ..self }
    }

    /// With weights of buckets.
    #[must_use]
    pub fn with_weights(self, weights: Weights) -> Self {
        Self { weights: Some(weights), ..self }
    }
}

/// A take that is on file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubmittedTake {
    /// The id.
    pub id: TakeId,
    /// The salt of its seal, in a blind session that is not opened yet (API.md, 5.8). Keep it with the take:
    /// with both, the [seal](Salt::seal) can be checked without trusting the service. The answer to a replay
    /// has no salt; [`Client::take_for`] returns it.
    pub salt: Option<Salt>,
}

/// The answer to a submit.
#[derive(Debug)]
#[non_exhaustive]
pub struct SubmitAnswer {
    /// The take that is on file, or why it was refused.
    pub outcome: Result<SubmittedTake, Box<Refused>>,
    /// The number of the log's entry of the take, as the service says.
    pub entry: Option<Seq>,
    /// The answer as `curl -i` prints it, if the service signed it.
    pub receipt: Option<String>,
}

/// Returns a take on this session, with a fresh nonce, signed for the service with this origin (see
/// [`Client::service`]). Keep it until it is filed, and send the same one again after a failure. Calling
/// this again makes a different take.
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

/// A new nonce: the origin of the service, then 128 random bits. The origin shows which service the take
/// was signed for; it is left out if it does not fit.
///
/// # Errors
/// [`Error::NoEntropy`].
pub fn new_nonce(service: &str) -> Result<Nonce, Error> {
    let random = hex(&random::<16>()?);
    Ok(Nonce::parse(format!("{service} {random}")).or_else(|_| Nonce::parse(random))?)
}

/// A new key pair. Store its seed if it is to outlive the process: see
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
    /// Submits a take. It is retried while there is no answer, which is idempotent: the answer to a replay
    /// names the take on file.
    ///
    /// # Errors
    /// [`Error::NoAnswer`] when it is unknown whether the take is on file; the same take may be sent again.
    pub fn submit(&self, token: &str, take: &Signed<TakeDraft>) -> Result<SubmittedTake, Error> {
        self.submit_text(token, &take.to_json())
    }

    /// Submits a take that was kept as its [JSON](Signed::to_json), as [`Client::submit`] does.
    ///
    /// # Errors
    /// The errors of [`Client::submit`].
    pub fn submit_text(&self, token: &str, body: &str) -> Result<SubmittedTake, Error> {
        self.submit_for_receipt(token, body)?.outcome.map_err(Error::Refused)
    }

    /// Submits a take that was kept as its [JSON](Signed::to_json), as [`Client::submit`] does, and returns the receipt of the answer,
    /// also of a refusal. Nothing of it is verified: see [`audit_receipt`](swarm_core::audit::audit_receipt).
    ///
    /// # Errors
    /// The errors of [`Client::submit`], except [`Error::Refused`].
    pub fn submit_for_receipt(&self, token: &str, body: &str) -> Result<SubmitAnswer, Error> {
        let credential = Credential::Bearer(token);
        let received = self.post_for_receipt("/api/swarm/submit", credential, body)?;
        let is_signed = received.header("signature").is_some();
        let receipt = received.printed().filter(|_| is_signed);
        let entry = received.header("swarm-entry").and_then(|entry| entry.parse().ok()).map(Seq);
        let filed = |mut fields: Object, salt| {
            Ok::<_, Error>(SubmittedTake { id: fields.take_as("recommendationId")?, salt })
        };
        let outcome = match received.refused() {
            None => {
                let fields = Json::read(&received.body);
                let fields = fields
                    .map_err(|_| Error::Unreadable("an answer that is no JSON".to_owned()))?;
                let salt = received.header("swarm-seal").map(Salt::parse).transpose();
                Ok(filed(fields.into_object(), salt.map_err(unreadable)?)?)
            }
            // A replay: this take is on file, and its answer was lost.
            Some(Error::Refused(refused))
                if refused.status == 409 && refused.body.has("recommendationId") =>
            {
                Ok(filed(refused.body, None)?)
            }
            Some(Error::Refused(refused)) => Err(refused),
            Some(error) => return Err(error),
        };
        Ok(SubmitAnswer { outcome, entry, receipt })
    }

    /// Runs the checks of a submit without filing: everything that would refuse the take now (API.md, 9.3).
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn preflight(
        &self,
        token: &str,
        take: &Signed<TakeDraft>,
    ) -> Result<PreflightAnswer, Error> {
        let (credential, body) = (Credential::Bearer(token), take.to_json());
        answer(self.post_with_retries("/api/swarm/preflight", credential, &body)?)
    }

    /// Diagnoses the signature in `body`: the whole body of a submit, an application or a token claim, with
    /// `publicKey` added if its member has no key on file (API.md, 9.4).
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn diagnose(&self, body: &Json) -> Result<Diagnosis, Error> {
        let body = json::write(body);
        answer(self.post_with_retries("/api/swarm/diagnose", Credential::None, &body)?)
    }
}
