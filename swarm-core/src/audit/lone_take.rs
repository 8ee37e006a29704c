//! Offline verification of the record of a take alone.

use std::sync::Arc;

use super::finding::Verdict;
use super::key::{KeySource, LogKey};
use super::lines::Lines;
use crate::domain::json::{self, Json, Object, printable, printable_json};
use crate::domain::{Digest, Invalid, PublicKey, Salt, Signed, TakeDraft, TakeId};
use crate::proof;
use crate::rules::Submission;

/// Verifies the record of a take, without asking a service.
///
/// The lines say who signed what, and what is not proven. Nothing fails where the signature verifies and the record is consistent,
/// or where texts are withheld, so that the signature cannot be verified; then the last line says that nothing was.
///
/// `key` is the public key of the member in base64, known from another source. Without it, the key in the
/// record is used, and a line says that this does not prove whose key it is. `asked` is the id of the
/// requested take, if any.
///
/// # Errors
/// [`Invalid`] when `record` is not a take, or `key` is not the key of a member.
///
/// ```
/// use swarm_core::audit::verify_take;
/// use swarm_core::json::Json;
///
/// let record = Json::read(br#"{"memberId": "ada", "date": "2026-11-21", "subjectId": "aurora",
///     "nonce": "1", "stance": "cautious", "confidence": 0.62, "signature": "?", "publicKey": "?"}"#)?;
/// let lines = verify_take(&record.into_object(), None, None)?;
/// assert!(!lines.holds());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn verify_take(
    record: &Object,
    key: Option<&str>,
    asked: Option<TakeId>,
) -> Result<Lines, Invalid> {
    let submission = Submission::read(&mut record.clone())?;
    let key = key.map(|key| member_key("key", key)).transpose()?;
    let mut fields = record.clone();
    let has_body = fields.has("body");
    let mark = fields.take("withheld").filter(|_| !has_body).map(Json::into_object);
    let named = match (fields.text_if_any("publicKey")?, &key) {
        (Some(named), _) => named,
        (None, Some(key)) => key.to_string(),
        (None, None) => return Err(Invalid::missing("publicKey")),
    };
    let salt = fields.text_if_any("salt")?.map(Salt::parse).transpose()?;
    let seal = salt.map(|salt| salt.seal(submission.signed()));
    let sealed = fields.text_if_any("sealed")?.map(Digest::parse).transpose()?;
    let got = fields.take("id").map_or_else(|| "null".to_owned(), |id| json::write(&id));
    let mut lines = Lines::default();
    let fault = if let Some(asked) = asked.filter(|asked| asked.to_string() != got) {
        format!("asked for take {asked}, got take {}", printable_json(&got))
    } else if key.as_ref().is_some_and(|key| key.to_string() != named) {
        format!("the record names the key {}, not the one given", printable(&named))
    } else if seal.is_some() != sealed.is_some() {
        FOREIGN_SEAL.to_owned()
    } else if let Some(mut mark) = mark {
        let (at, note) = (mark.text("at")?, mark.text("note")?);
        let since = format!(
            "notable: body and memoUrl are withheld since {}, note {}",
            printable(&at),
            printable(&note)
        );
        lines.push(Verdict::Notable, since);
        lines.push(Verdict::Unproven, UNVERIFIED);
        if let Some(sealed) = sealed {
            let text = format!("unproven: that the seal {sealed} is of this take and its salt");
            lines.push(Verdict::Unproven, text);
        }
        push_statements(&mut lines, submission.draft(), key.is_some());
        lines.push_unverified();
        return Ok(lines);
    } else if !is_signed(submission.signed(), &named) {
        format!("the key {} did not sign these fields", printable(&named))
    } else if seal != sealed {
        FOREIGN_SEAL.to_owned()
    } else {
        lines.push(Verdict::Holds, format!("holds: the key {named} signed this, to the byte"));
        if let Some(seal) = seal {
            let text = format!("holds: the seal {seal} is of this take and its salt");
            lines.push(Verdict::Holds, text);
        }
        push_statements(&mut lines, submission.draft(), key.is_some());
        return Ok(lines);
    };
    lines.push(Verdict::Fails, format!("does not hold: {fault}"));
    Ok(lines)
}

/// The key of a member that the caller gave as `field`: a text that is none is no other key than that of the record.
pub(super) fn member_key(field: &'static str, text: &str) -> Result<PublicKey, Invalid> {
    PublicKey::parse(text).map_err(|_| match LogKey::parse(text, KeySource::Given) {
        Ok(_) => Invalid::new(
            field,
            "is that of a log: a take alone is verified by the key of its member, and by that of the log with its proof",
        ),
        Err(_) => Invalid::new(field, "must be base64 of the 32 raw bytes of a strong Ed25519 key"),
    })
}

fn is_signed(take: &Arc<Signed<TakeDraft>>, key: &str) -> bool {
    PublicKey::parse(key).is_ok_and(|key| proof::verify(take, &key).is_some())
}

/// Adds what the take says, and what its signature does not prove.
fn push_statements(lines: &mut Lines, take: &TakeDraft, is_known: bool) {
    let shown = |text: &str| printable(text);
    let said = format!(
        "member {} says of {} on \"{}\": {}, confidence {}",
        shown(take.member_id.as_str()),
        shown(take.subject_id.as_str()),
        take.date,
        shown(take.stance.as_str()),
        json::write(&take.confidence)
    );
    lines.push(None, said);
    for (name, text) in [("body", take.body.as_str()), ("memoUrl", take.memo_url.as_str())] {
        if !text.is_empty() {
            lines.push(None, format!("{name}: {}", shown(text)));
        }
    }
    if let Some(weights) = &take.weights {
        lines.push(None, format!("weights: {}", printable_json(&json::write(weights))));
    }
    lines.push(None, format!("nonce: {}", shown(take.nonce.as_str())));
    match is_known {
        true => lines.push(None, GIVEN),
        false => lines.push(Verdict::Unproven, UNPROVEN),
    }
    lines.push(Verdict::Unproven, SERVICE_SAYS);
}

const FOREIGN_SEAL: &str = "the seal is not of this take and its salt";
const UNVERIFIED: &str = "unproven: that the key signed this: its texts are withheld. Its proof shows that the log has it, \
                          and the digest that the log has of it";
const GIVEN: &str = "given: the key is the one that you named";
const UNPROVEN: &str = "unproven: that this is the member's key; it came with the take, and whoever makes one \
                        can make both. Name the member's key, from another source, with --key";
const SERVICE_SAYS: &str =
    "unproven: when it was filed, and as which revision: this is the server's word";
