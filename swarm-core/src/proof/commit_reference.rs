//! The receipt of a committee take.

use sha2::{Digest, Sha256};

use crate::domain::committee::CommitteeTake;
use crate::domain::json;
use crate::proof::hex;

/// The reference of a record: `sha256:` and the hexadecimal digest of its canonical text
/// (API.md, 8.6).
///
/// That text is what ECMAScript's `JSON.stringify` gives for an object with the keys `member_id`,
/// `date`, `subject_id`, `stance`, `confidence`, `body`, `model` (`null` where none was told),
/// `generated_at` and `received_at`, in this order, all with the values that the published session
/// shows; the digest is of its UTF-8 bytes. So a member can compute it from its own record.
pub fn commit_reference(take: &CommitteeTake) -> String {
    format!("sha256:{}", hex(&Sha256::digest(json::write(take).as_bytes())))
}
