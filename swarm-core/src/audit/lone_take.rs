//! Offline verification of the record of a take alone.

use std::sync::Arc;

use crate::domain::json::{self, Json, Object, printable, printable_json};
use crate::domain::{Digest, Invalid, PublicKey, Salt, Signed, TakeDraft, TakeId};
use crate::proof;
use crate::rules::Submission;

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TakeVerdict {
    /// Whether the signature verifies and the record is consistent; also true where texts are withheld, so that the signature
    /// cannot be verified.
    pub holds: bool,
    /// Whether texts are withheld.
    pub withheld: bool,
    /// The findings for people, one sentence each: who signed what, and what is not proven.
    pub sentences: Vec<String>,
}

/// Verifies the record of a take, without asking a service.
///
/// `key` is the public key of the member in base64, known from another source. Without it, the key in the
/// record is used, and the verdict says that this does not prove whose key it is. `asked` is the id of the
/// requested take, if any.
///
/// # Errors
/// [`Invalid`] when `record` is not a take.
///
/// ```
/// use swarm_core::audit::verify_take;
/// use swarm_core::json::Json;
///
/// let record = Json::read(br#"{"memberId": "ada", "date": "2026-11-21", "subjectId": "aurora",
///     "nonce": "1", "stance": "cautious", "confidence": 0.62, "signature": "?", "publicKey": "?"}"#)?;
/// let verdict = verify_take(&record.into_object(), None, None)?;
/// assert!(!verdict.holds);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn verify_take(
    record: &Object,
    key: Option<&str>,
    asked: Option<TakeId>,
) -> Result<TakeVerdict, Invalid> {
    let submission = Submission::read(&mut record.clone())?;
    let mut fields = record.clone();
    let has_body = fields.has("body");
    let mark = fields.take("withheld").filter(|_| !has_body).map(Json::into_object);
    let named = match (fields.text_if_any("publicKey")?, key) {
        (Some(named), _) => named,
        (None, Some(key)) => key.to_owned(),
        (None, None) => return Err(Invalid::missing("publicKey")),
    };
    let salt = fields.text_if_any("salt")?.map(Salt::parse).transpose()?;
    let seal = salt.map(|salt| salt.seal(submission.signed()));
    let sealed = fields.text_if_any("sealed")?.map(Digest::parse).transpose()?;
    let got = fields.take("id").map_or_else(|| "null".to_owned(), |id| json::write(&id));
    let fault = if let Some(asked) = asked.filter(|asked| asked.to_string() != got) {
        format!("asked for take {asked}, got take {}", printable_json(&got))
    } else if key.is_some_and(|key| key != named) {
        format!("the record names the key {}, not the one given", printable(&named))
    } else if let Some(mut mark) = mark {
        let (at, note) = (mark.text("at")?, mark.text("note")?);
        let mut sentences = findings(submission.draft(), &named, key.is_some());
        if let Some(first) = sentences.first_mut() {
            *first = UNVERIFIED.to_owned();
        }
        let since = format!(
            "notable: body and memoUrl are withheld since {}, note {}",
            printable(&at),
            printable(&note)
        );
        sentences.insert(0, since);
        return Ok(TakeVerdict { holds: true, withheld: true, sentences });
    } else if !is_signed(submission.signed(), &named) {
        format!("the key {} did not sign these fields", printable(&named))
    } else if seal != sealed {
        "the seal is not of this take and its salt".to_owned()
    } else {
        let mut sentences = findings(submission.draft(), &named, key.is_some());
        if let Some(seal) = seal {
            sentences.insert(1, format!("holds: the seal {seal} is of this take and its salt"));
        }
        return Ok(TakeVerdict { holds: true, withheld: false, sentences });
    };
    let sentences = vec![format!("does not hold: {fault}")];
    Ok(TakeVerdict { holds: false, withheld: false, sentences })
}

fn is_signed(take: &Arc<Signed<TakeDraft>>, key: &str) -> bool {
    PublicKey::parse(key).is_ok_and(|key| proof::verify(take, &key).is_some())
}

fn findings(take: &TakeDraft, key: &str, is_known: bool) -> Vec<String> {
    let shown = |text: &str| printable(text);
    let mut findings = vec![
        format!("holds: the key {key} signed this, to the byte"),
        format!(
            "member {} says of {} on \"{}\": {}, confidence {}",
            shown(take.member_id.as_str()),
            shown(take.subject_id.as_str()),
            take.date,
            shown(take.stance.as_str()),
            json::write(&take.confidence)
        ),
    ];
    for (name, text) in [("body", take.body.as_str()), ("memoUrl", take.memo_url.as_str())] {
        if !text.is_empty() {
            findings.push(format!("{name}: {}", shown(text)));
        }
    }
    if let Some(weights) = &take.weights {
        findings.push(format!("weights: {}", printable_json(&json::write(weights))));
    }
    findings.push(format!("nonce: {}", shown(take.nonce.as_str())));
    findings.push(if is_known { GIVEN.to_owned() } else { UNPROVEN.to_owned() });
    findings.push(SERVICE_SAYS.to_owned());
    findings
}

const UNVERIFIED: &str = "unproven: that the key signed this: its texts are withheld. Its proof shows that the log has it, \
                          and the digest that the log has of it";
const GIVEN: &str = "given: the key is the one that you named";
const UNPROVEN: &str = "unproven: that this is the member's key; it came with the take, and whoever makes one \
                        can make both. Name the member's key, from another source, with --key";
const SERVICE_SAYS: &str =
    "unproven: when it was filed, and as which revision: this is the server's word";
