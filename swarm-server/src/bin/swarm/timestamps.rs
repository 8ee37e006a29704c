//! The time-stamping authority of a tenant's log, over HTTP (RFC 3161; API.md, 11.6).
//!
//! A token is kept only if it is of the digest and the nonce that were sent. Whose it is, is not checked here: whoever verifies
//! a bundle decides which authority to trust.

use std::sync::Arc;

use async_trait::async_trait;
use der::asn1::{ContextSpecific, ObjectIdentifier, OctetStringRef, Utf8StringRef};
use der::{AnyRef, Decode, Encode, Reader, Sequence, SliceReader, Tag, TagNumber, Tagged as _};
use swarm_client::{TimestampClient, printable};
use swarm_core::audit::MAX_TOKEN;
use swarm_core::domain::{Digest, shown_url};
use swarm_core::service::signed_log::TimestampAuthority;
use swarm_core::{Entropy as _, SystemEntropy};
use swarm_http::TenantConfig;

use crate::outgoing::Outgoing;

/// The requests to authorities.
static REQUESTS: Outgoing = Outgoing::new("timestamp");

/// Checks the URL of a tenant's authority. The error is the reason.
pub(crate) fn configured(url: &str) -> Result<String, String> {
    TimestampClient::new(url).map_err(|error| format!("{:?}: {error}", shown_url(url)))?;
    Ok(url.to_owned())
}

/// The authority of a tenant, if it has one.
pub(crate) fn of(tenant: &TenantConfig) -> Option<Arc<dyn TimestampAuthority>> {
    let client = TimestampClient::new(tenant.timestamp_url.as_deref()?).ok()?;
    Some(Arc::new(HttpAuthority(client)))
}

struct HttpAuthority(TimestampClient);

#[async_trait]
impl TimestampAuthority for HttpAuthority {
    async fn timestamp(&self, digest: Digest) -> Result<Vec<u8>, String> {
        let nonce = new_nonce()?;
        let request = request(&digest, &nonce).map_err(|error| error.to_string())?;
        let client = self.0.clone();
        match REQUESTS.send(move || client.request(&request)).await? {
            (200, body) => token(&body, &digest, &nonce),
            (status, _) => Err(format!("it answered {status}")),
        }
    }
}

/// SHA-256 (RFC 5754).
const SHA_256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");
/// `id-signedData` (RFC 5652).
const SIGNED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.2");
/// `id-ct-TSTInfo` (RFC 3161).
const TST_INFO: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.1.4");

#[derive(Sequence)]
struct TimeStampReq<'a> {
    version: u8,
    message_imprint: MessageImprint<'a>,
    nonce: AnyRef<'a>,
    cert_req: bool,
}

#[derive(Debug, PartialEq, Eq, Sequence)]
struct MessageImprint<'a> {
    hash_algorithm: AlgorithmIdentifier<'a>,
    hashed_message: OctetStringRef<'a>,
}

#[derive(Debug, PartialEq, Eq, Sequence)]
struct AlgorithmIdentifier<'a> {
    algorithm: ObjectIdentifier,
    #[asn1(optional = "true")]
    parameters: Option<AnyRef<'a>>,
}

/// A positive number of 8 bytes.
type Nonce = [u8; 8];

fn new_nonce() -> Result<Nonce, String> {
    let mut nonce = Nonce::default();
    SystemEntropy.fill(&mut nonce).map_err(|error| error.to_string())?;
    // Neither negative nor with a zero in front, so that it is its own encoding.
    let [first, ..] = &mut nonce;
    *first = *first & 0x7f | 0x40;
    Ok(nonce)
}

fn request(digest: &Digest, nonce: &Nonce) -> der::Result<Vec<u8>> {
    let hash_algorithm = AlgorithmIdentifier { algorithm: SHA_256, parameters: Some(AnyRef::NULL) };
    let hashed_message = OctetStringRef::new(digest.as_bytes())?;
    let message_imprint = MessageImprint { hash_algorithm, hashed_message };
    let nonce = AnyRef::new(Tag::Integer, nonce)?;
    TimeStampReq { version: 1, message_imprint, nonce, cert_req: true }.to_der()
}

/// The token in a `TimeStampResp`. The error is the reason why there is none.
fn token(answer: &[u8], digest: &Digest, nonce: &Nonce) -> Result<Vec<u8>, String> {
    let answer = Response::read(answer).map_err(|_| "its answer is no TimeStampResp")?;
    let Some(token) = answer.token.filter(|_| answer.status <= 1) else {
        let text: String =
            answer.text.iter().map(|text| format!(": {}", printable(text))).collect();
        return Err(format!("it refused, with the status {}{text}", answer.status));
    };
    let info = TstInfo::of(token).map_err(|_| "its token is none of RFC 3161")?;
    let is_of_request = info.message_imprint.hash_algorithm.algorithm == SHA_256
        && info.message_imprint.hashed_message.as_bytes() == digest.as_bytes()
        && info.nonce == Some(nonce);
    if !is_of_request {
        return Err("its token is of another request".to_owned());
    }
    let token = token.to_der().map_err(|error| error.to_string())?;
    let size = token.len();
    (size <= MAX_TOKEN).then_some(token).ok_or_else(|| format!("its token has {size} bytes"))
}

/// A `TimeStampResp`.
struct Response<'a> {
    status: u8,
    text: Option<String>,
    token: Option<AnyRef<'a>>,
}

impl<'a> Response<'a> {
    fn read(answer: &'a [u8]) -> der::Result<Self> {
        let mut reader = SliceReader::new(answer)?;
        let response = reader.sequence(|reader| {
            let (status, text) = reader.sequence(|reader| {
                let status = u8::decode(reader)?;
                let text = match reader.is_finished() {
                    true => None,
                    false => Some(AnyRef::decode(reader)?),
                };
                skip(reader)?;
                Ok((status, text))
            })?;
            let token = match reader.is_finished() {
                true => None,
                false => Some(AnyRef::decode(reader)?),
            };
            Ok(Self { status, text: text.and_then(first_text), token })
        })?;
        reader.finish(response)
    }
}

/// The first text of a `PKIFreeText`.
fn first_text(text: AnyRef<'_>) -> Option<String> {
    let texts = text.decode_as::<Vec<Utf8StringRef<'_>>>().ok()?;
    texts.first().map(|text| text.as_str().to_owned())
}

/// What a token says.
struct TstInfo<'a> {
    message_imprint: MessageImprint<'a>,
    nonce: Option<&'a [u8]>,
}

impl<'a> TstInfo<'a> {
    /// Reads the content of a token, whatever its signature.
    fn of(token: AnyRef<'a>) -> der::Result<Self> {
        let signed = token.sequence(|reader| content(reader, SIGNED_DATA))?;
        let encapsulated = signed.sequence(|reader| {
            let (_version, _algorithms) = (u8::decode(reader)?, AnyRef::decode(reader)?);
            let info = reader.sequence(|reader| content(reader, TST_INFO))?;
            skip(reader)?;
            Ok(info)
        })?;
        let info = encapsulated.decode_as::<OctetStringRef<'_>>()?.as_bytes();
        AnyRef::from_der(info)?.sequence(|reader| {
            let (_version, _policy) = (u8::decode(reader)?, ObjectIdentifier::decode(reader)?);
            let message_imprint = MessageImprint::decode(reader)?;
            let (_serial, _time) = (AnyRef::decode(reader)?, AnyRef::decode(reader)?);
            let mut nonce = None;
            while !reader.is_finished() {
                let field = AnyRef::decode(reader)?;
                if field.tag() == Tag::Integer {
                    nonce = Some(field.value());
                }
            }
            Ok(Self { message_imprint, nonce })
        })
    }
}

/// The content of a `ContentInfo`, or of an `EncapsulatedContentInfo`, of this type.
fn content<'a>(reader: &mut impl Reader<'a>, kind: ObjectIdentifier) -> der::Result<AnyRef<'a>> {
    if ObjectIdentifier::decode(reader)? != kind {
        return Err(Tag::ObjectIdentifier.value_error());
    }
    let content = ContextSpecific::<AnyRef<'a>>::decode_explicit(reader, TagNumber::N0)?;
    content.map(|content| content.value).ok_or_else(|| Tag::Sequence.value_error())
}

/// Reads what follows.
fn skip<'a>(reader: &mut impl Reader<'a>) -> der::Result<()> {
    while !reader.is_finished() {
        AnyRef::decode(reader)?;
    }
    Ok(())
}
