//! How long a request says its body is.

use http::HeaderMap;
use http::header::TRANSFER_ENCODING;
use swarm_core::wire::RequestError;

/// Refuses a body that is encoded twice, or otherwise than in chunks: a proxy in front of us may
/// see another end of the body (RFC 9112, section 6.3). Wrong lengths are refused by hyper.
pub(crate) fn check_framing(headers: &HeaderMap) -> Result<(), RequestError> {
    let mut encodings = headers.get_all(TRANSFER_ENCODING).iter();
    let chunked =
        encodings.next().is_none_or(|one| one.as_bytes().eq_ignore_ascii_case(b"chunked"));
    if chunked && encodings.next().is_none() { Ok(()) } else { Err(RequestError::InvalidFraming) }
}
