//! Checks the framing of request bodies.

use http::HeaderMap;
use http::header::TRANSFER_ENCODING;
use swarm_core::wire::RequestError;

/// Refuses a body with several transfer encodings or one other than chunked, because a proxy might see a
/// different end of the body (RFC 9112, section 6.3). hyper refuses invalid lengths.
pub(crate) fn check_framing(headers: &HeaderMap) -> Result<(), RequestError> {
    let mut encodings = headers.get_all(TRANSFER_ENCODING).iter();
    let chunked =
        encodings.next().is_none_or(|one| one.as_bytes().eq_ignore_ascii_case(b"chunked"));
    if chunked && encodings.next().is_none() { Ok(()) } else { Err(RequestError::InvalidFraming) }
}
