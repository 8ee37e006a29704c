//! The exact bytes that are signed (API.md, 3).

use serde::Serialize;

use crate::domain::json;
use crate::domain::{Application, TakeDraft, TokenClaim};

/// What can be signed. The fields of the type, in their order, are the keys of the canonical JSON
/// object: nothing is ever added to it.
pub trait Payload: Serialize + sealed::Sealed {}

impl Payload for TakeDraft {}
impl Payload for Application {}
impl Payload for TokenClaim {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::TakeDraft {}
    impl Sealed for super::Application {}
    impl Sealed for super::TokenClaim {}
}

/// The canonical text of `payload`: what ECMAScript's `JSON.stringify` gives. Its UTF-8 bytes are
/// what is signed.
pub fn canonical<T: Payload>(payload: &T) -> String {
    json::write_with_room(payload, USUAL)
}

/// More bytes than most takes have.
const USUAL: usize = 2_048;
