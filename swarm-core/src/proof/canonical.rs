//! The canonical text of a payload: the exact bytes that are signed (API.md, 3).

use serde::Serialize;

use crate::domain::json;
use crate::domain::{Application, KeyReplacement, TakeDraft, TokenClaim};

/// A payload that can be signed. The fields of the type, in order, are the keys of the canonical
/// JSON object.
pub trait Payload: Serialize + sealed::Sealed {}

impl Payload for TakeDraft {}
impl Payload for Application {}
impl Payload for TokenClaim {}
impl Payload for KeyReplacement {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::TakeDraft {}
    impl Sealed for super::Application {}
    impl Sealed for super::TokenClaim {}
    impl Sealed for super::KeyReplacement {}
}

/// Returns the canonical text of `payload`, as `JSON.stringify` of ECMAScript writes it. Its UTF-8
/// bytes are signed.
pub fn canonical<T: Payload>(payload: &T) -> String {
    json::write_with_capacity(payload, TYPICAL_BYTES)
}

/// The initial capacity of the text: most takes are shorter.
const TYPICAL_BYTES: usize = 2_048;
