//! Verification of texts that are at hand: which kind they are, and the lines to print. `swarm verify` and the verifier in
//! the browser print the same, because both call this.

use super::finding::{Check, Finding, Verdict};
use super::key::{KeySource, LogKey};
use super::keys::MemberKeys;
use super::lines::Lines;
use super::lone_take::{member_key, verify_take};
use super::receipt::{ReceivedAnswer, SentRequest, audit_receipt};
use super::take::audit_take;
use super::{Bundle, Evidence, audit};
use crate::domain::json::{NotJson, Object, RawJson};
use crate::domain::{Invalid, SessionId, TakeId};
use crate::proof::tlog_policy::TlogPolicy;
use crate::proof::tlog_proof::TlogProof;

/// What a reader has besides the texts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// The key: of a take alone its member's, otherwise the log's.
    pub key: Option<&'a str>,
    /// The key that the server names as its log's. It counts where no key is given.
    pub served_key: Option<&'a str>,
    /// The key of the member, for a take with its proof.
    pub member_key: Option<&'a str>,
    /// The method and the path of the request that a receipt answers.
    pub request: Option<&'a str>,
    /// Keys of members, for a bundle.
    pub members: Option<&'a str>,
    /// The witnesses that must have cosigned the checkpoint of a bundle.
    pub policy: Option<&'a str>,
    /// The take that was asked for.
    pub asked_take: Option<TakeId>,
    /// The session whose bundle was asked for.
    pub asked_session: Option<SessionId>,
}

/// Why nothing was verified: the texts are of no kind that can be, or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unverifiable(String);

impl From<&str> for Unverifiable {
    fn from(why: &str) -> Self {
        Self(why.to_owned())
    }
}

impl From<Invalid> for Unverifiable {
    fn from(error: Invalid) -> Self {
        Self(error.to_string())
    }
}

impl From<NotJson> for Unverifiable {
    fn from(error: NotJson) -> Self {
        Self(format!("it is no JSON that is read here: {}", error.position))
    }
}

/// Verifies a take, a bundle, a take and its proof, a receipt, or a receipt and the body of its request. The order of two
/// texts does not matter.
///
/// # Errors
/// [`Unverifiable`] if they are something else, or a key is missing or is none.
pub fn verify_texts(texts: &[&[u8]], known: &Known<'_>) -> Result<Lines, Unverifiable> {
    let of_bundle = known.members.is_some() || known.policy.is_some();
    if of_bundle && (texts.len() > 1 || known.request.is_some()) {
        return Err(OF_BUNDLE.into());
    }
    match (known.request, texts) {
        (None, [text]) => verify_alone(text, known),
        (None, [proof, take] | [take, proof]) if is_proof(without_mark(proof)) => {
            with_proof(take, proof, known)
        }
        (None, [take, proof]) => with_proof(take, proof, known),
        (Some(request), [receipt]) => of_receipt(receipt, request, None, known),
        (Some(request), [body, receipt] | [receipt, body]) if is_receipt(without_mark(receipt)) => {
            of_receipt(receipt, request, Some(body), known)
        }
        (Some(request), [receipt, body]) => of_receipt(receipt, request, Some(body), known),
        _ => Err("--request is for a receipt, and perhaps the body of the request".into()),
    }
}

const OF_BUNDLE: &str = "--log, --policy and --members are for a bundle";

fn verify_alone(text: &[u8], known: &Known<'_>) -> Result<Lines, Unverifiable> {
    let bundle = match VerifiableRecord::read(text)? {
        VerifiableRecord::Bundle(bundle) => bundle,
        VerifiableRecord::Other(_) if known.members.is_some() || known.policy.is_some() => {
            return Err(OF_BUNDLE.into());
        }
        VerifiableRecord::Other(record) => {
            return verify_record(&record, known.key, known.asked_take);
        }
    };
    let key = log_key(known)?;
    let members = known.members.map(MemberKeys::parse).transpose()?;
    let policy = known.policy.map(TlogPolicy::parse).transpose()?;
    let (key, members, policy) = (key.as_ref(), members.as_ref(), policy.as_ref());
    let asked = known.asked_session;
    let evidence = Evidence { key, members, policy, asked, ..Evidence::default() };
    Ok(Lines::of_bundle(audit(&bundle, &evidence)))
}

/// A record in JSON, by its form.
#[derive(Clone, Debug)]
pub enum VerifiableRecord<'a> {
    /// A bundle.
    Bundle(Bundle<'a>),
    /// Any other record, perhaps a take.
    Other(Object),
}

impl<'a> VerifiableRecord<'a> {
    /// Reads the record of a take, a session or a bundle. So much of it must be text that no part of it takes more than
    /// about eight times the memory of the whole.
    ///
    /// # Errors
    /// [`Unverifiable`] if the text is none.
    pub fn read(text: &'a [u8]) -> Result<Self, Unverifiable> {
        let text = without_mark(text);
        if is_receipt(text) {
            return Err("a receipt is verified with --request 'POST /api/swarm/submit'".into());
        }
        let json = bounded(text)?;
        if Bundle::is_one(json) {
            return Ok(Self::Bundle(Bundle::read(json)?));
        }
        Ok(Self::Other(json.to_object()))
    }
}

/// Verifies the record of a take alone, as [`verify_take`] does.
///
/// # Errors
/// [`Unverifiable`] if it is the record of something else, or sealed, or the key is none of a member.
pub fn verify_record(
    record: &Object,
    key: Option<&str>,
    asked: Option<TakeId>,
) -> Result<Lines, Unverifiable> {
    if record.has("session") && record.has("takes") {
        return Err("this is a session: verify its bundle, which is at …/bundle".into());
    }
    check_whole(record)?;
    Ok(verify_take(record, key, asked)?)
}

/// Refuses a sealed take, of which nothing can be verified yet.
fn check_whole(record: &Object) -> Result<(), Unverifiable> {
    if record.has("sealed") && !record.has("signature") {
        return Err(
            "this take is sealed until its session is opened; its author reads it whole".into()
        );
    }
    Ok(())
}

fn with_proof(take: &[u8], proof: &[u8], known: &Known<'_>) -> Result<Lines, Unverifiable> {
    let (take, proof) = (without_mark(take), without_mark(proof));
    let take = bounded(take)?.to_object();
    check_whole(&take)?;
    let proof = TlogProof::parse(std::str::from_utf8(proof).map_err(|_| "it is no text")?)?;
    let member_key = known.member_key.map(|key| member_key("memberKey", key)).transpose()?;
    let mut findings =
        audit_take(&take, &proof, &log_key(known)?.ok_or(NO_KEY)?, member_key.as_ref());
    let got = take.clone().whole_if_any("id")?.map(TakeId);
    if let (Some(asked), Some(got)) = (known.asked_take, got)
        && asked != got
    {
        let text = format!("asked for take {asked}, got take {got}");
        findings.insert(0, Finding { verdict: Verdict::Fails, check: Check::Record, text });
    }
    Ok(Lines::of_take(findings))
}

fn of_receipt(
    receipt: &[u8],
    request: &str,
    body: Option<&[u8]>,
    known: &Known<'_>,
) -> Result<Lines, Unverifiable> {
    let answer = ReceivedAnswer::parse(without_mark(receipt))?;
    let request = SentRequest::parse(request, body.map(<[u8]>::to_vec))?;
    Ok(audit_receipt(&answer, &request, &log_key(known)?.ok_or(NO_KEY)?).into())
}

const NO_KEY: &str = "name the key of the log with --key";

/// The key of the log: the one given, or else the one that the server names.
fn log_key(known: &Known<'_>) -> Result<Option<LogKey>, Invalid> {
    let given = known.key.map(|key| (key, KeySource::Given));
    let served = known.served_key.map(|key| (key, KeySource::Served));
    given.or(served).map(|(key, source)| LogKey::parse(key, source)).transpose()
}

/// The text without the byte order mark that some editors write before it. The body of a request keeps its bytes: they were
/// sent.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text)
}

fn is_receipt(text: &[u8]) -> bool {
    text.starts_with(b"HTTP/")
}

fn is_proof(text: &[u8]) -> bool {
    text.starts_with(b"c2sp.org/tlog-proof@")
}

fn bounded(text: &[u8]) -> Result<RawJson<'_>, NotJson> {
    /// The values that any text may have.
    const VALUES: usize = 100_000;
    RawJson::read_bounded(text, VALUES.max(text.len() / 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a text is read as without the mark, the error is that of its content.
    #[test]
    fn byte_order_mark_is_no_part_of_a_text() {
        const MARK: &str = "\u{feff}";
        let take = br#"{"id":1,"memberId":"m_1","sessionId":7,"revision":1}"#;
        let key = Some("no key");
        let request = Some("POST /api/swarm/submit");
        let [proof, receipt] = ["c2sp.org/tlog-proof@v1\nindex 0", "HTTP/1.1 200\r\n\r\n"];
        for (texts, known) in [
            (vec![take.to_vec(), proof.into()], Known { key, ..Known::default() }),
            (vec![proof.into(), take.to_vec()], Known { key, ..Known::default() }),
            (vec![take.to_vec()], Known::default()),
            (vec![receipt.into()], Known { key, request, ..Known::default() }),
            (vec![receipt.into(), b"{}".to_vec()], Known { key, request, ..Known::default() }),
        ] {
            let said = |texts: &[Vec<u8>]| {
                let texts: Vec<_> = texts.iter().map(Vec::as_slice).collect();
                verify_texts(&texts, &known).map(|lines| lines.iter().count())
            };
            let marked: Vec<_> =
                texts.iter().map(|text| [MARK.as_bytes(), text].concat()).collect();
            assert_eq!(said(&marked), said(&texts), "{texts:?}");
        }
    }

    #[test]
    fn sealed_take_cannot_be_verified_alone_or_with_its_proof() {
        let take = br#"{"id":1,"memberId":"m_1","sessionId":7,"revision":1,"sealed":"sha256:0"}"#;
        for texts in [&[&take[..]][..], &[&take[..], b"a proof"]] {
            let refused = verify_texts(texts, &Known::default()).err().map(|it| it.to_string());
            let refused = refused.unwrap_or_default();
            assert!(refused.starts_with("this take is sealed until"), "{refused}");
        }
    }
}
