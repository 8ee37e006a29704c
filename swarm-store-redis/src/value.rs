//! What scripts make of values, and what is read of what they stored.

use swarm_core::domain::hex;
use swarm_core::store::backend::Value;

/// No value begins with this byte, so it is higher than all that may follow a prefix.
pub(crate) const BEYOND: u8 = 255;

/// How many hexadecimal digits of a digest are kept.
pub(crate) const DIGEST: usize = 28;

/// Appends a digest of the bytes of values, as scripts make it: with SHA-1, since Redis has no other. Who can choose all values
/// could find two lists with the same digest in some 2^56 attempts. The second record is then refused as if it had the values of the first.
pub(crate) fn append_digest(out: &mut Vec<u8>, bytes: &[u8]) {
    let digest = hex(&sha1_smol::Sha1::from(bytes).digest().bytes());
    out.extend(digest.bytes().take(DIGEST));
}

/// Reads what is stored, from the front. `None` if it is not there.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    /// An unsigned integer of so many bytes.
    pub(crate) fn fixed(&mut self, length: usize) -> Option<u64> {
        Some(self.take(length)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    pub(crate) fn value(&mut self) -> Option<Value> {
        Value::read(&mut self.0)
    }

    pub(crate) fn integer(&mut self) -> Option<i64> {
        self.value()?.integer()
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        u64::try_from(self.integer()?).ok()
    }
}
