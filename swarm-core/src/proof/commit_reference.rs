//! The commit reference of a committee take, which its author can recompute.

use sha2::{Digest, Sha256};

use crate::domain::committee::CommitteeTake;
use crate::domain::json;
use crate::proof::hex;

/// Returns the commit reference: `sha256:` and the hexadecimal digest of the take's canonical text
/// (API.md, 8.6).
///
/// That text is `JSON.stringify` of an object with the keys `member_id`, `date`, `subject_id`,
/// `stance`, `confidence`, `body`, `model` (`null` if not given), `generated_at` and `received_at`,
/// in this order, with the values that the published session shows. The digest is taken over its
/// UTF-8 bytes.
pub fn commit_reference(take: &CommitteeTake) -> String {
    format!("sha256:{}", hex(&Sha256::digest(json::write(take).as_bytes())))
}
