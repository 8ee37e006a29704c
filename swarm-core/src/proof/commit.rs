//! The receipt of a committee take.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::domain::committee::CommitteeTake;
use crate::domain::json;

/// The reference of a record: `sha256:` and the hexadecimal digest of its canonical text
/// (contract, section 6).
///
/// That text is what ECMAScript's `JSON.stringify` gives for an object with the keys `member_id`,
/// `date`, `subject_id`, `stance`, `confidence`, `body`, `model` (`null` where none was told),
/// `generated_at` and `received_at`, in this order, all with the values that the published session
/// shows; the digest is of its UTF-8 bytes. So a member can compute it from its own record.
pub fn commit(take: &CommitteeTake) -> String {
    format!("sha256:{}", hex(&Sha256::digest(json::write(take).as_bytes())))
}

/// Each byte as two lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
