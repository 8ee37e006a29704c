//! Values as bytes whose order is that of the values, so that Redis can keep them in order.
//!
//! It is the order of [`Value::append_to`], in fewer bytes: an identifier takes as many as it needs.

use std::sync::Arc;

use swarm_core::domain::hex;
use swarm_core::store::backend::Value;

/// What integers begin with: this and the number of bytes that follow; less for negative ones. A null is a zero byte.
const INTEGER: u8 = 24;

/// What texts and bytes begin with. They end with a zero byte; one among them is followed by 255, which no value begins with.
const TEXT: u8 = 48;
const BYTES: u8 = 49;

/// No value begins with this byte, so it is higher than all that may follow a prefix.
pub(crate) const BEYOND: u8 = 255;

/// Appends a value.
pub(crate) fn append(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.push(0),
        Value::Integer(number) => append_integer(out, *number),
        Value::Text(text) => append_bytes(out, TEXT, text.as_bytes()),
        Value::Bytes(bytes) => append_bytes(out, BYTES, bytes),
    }
}

/// How many hexadecimal digits of a digest are kept.
pub(crate) const DIGEST: usize = 28;

/// Appends a digest of the bytes of values, as scripts make it: with SHA-1, since Redis has no other. Who can choose all values
/// could find two lists with the same digest in some 2^56 attempts. The second record is then refused as if it had the values of the first.
pub(crate) fn append_digest(out: &mut Vec<u8>, bytes: &[u8]) {
    let digest = hex(&sha1_smol::Sha1::from(bytes).digest().bytes());
    out.extend(digest.bytes().take(DIGEST));
}

/// Returns the bytes of a value.
pub(crate) fn of(value: impl Into<Value>) -> Vec<u8> {
    let mut out = Vec::new();
    append(&mut out, &value.into());
    out
}

/// Appends an integer: how many bytes it needs, and these. A negative one is the same, above the lowest with as many bytes.
pub(crate) fn append_integer(out: &mut Vec<u8>, number: i64) {
    let magnitude = if number < 0 { !number } else { number };
    let needed = 8 - magnitude.leading_zeros() / 8;
    let needed = u8::try_from(needed).unwrap_or(8).max(u8::from(number < 0));
    out.push(if number < 0 { INTEGER - needed } else { INTEGER + needed });
    out.extend(number.to_be_bytes().iter().skip(8 - usize::from(needed)));
}

fn append_bytes(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    out.push(kind);
    for (place, run) in bytes.split(|byte| *byte == 0).enumerate() {
        if place > 0 {
            out.extend([0, 255]);
        }
        out.extend_from_slice(run);
    }
    out.push(0);
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
        Some(match self.byte()? {
            0 => Value::Null,
            TEXT => Value::Text(String::from_utf8(self.unescaped()?).ok()?.into()),
            BYTES => Value::Bytes(Arc::from(self.unescaped()?)),
            kind => {
                let length = usize::from(kind.abs_diff(INTEGER));
                let mut number = if kind < INTEGER { [255; 8] } else { [0; 8] };
                number.get_mut(8_usize.checked_sub(length)?..)?.copy_from_slice(self.take(length)?);
                Value::Integer(i64::from_be_bytes(number))
            }
        })
    }

    pub(crate) fn integer(&mut self) -> Option<i64> {
        self.value()?.integer()
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        u64::try_from(self.integer()?).ok()
    }

    fn unescaped(&mut self) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        loop {
            let end = self.0.iter().position(|byte| *byte == 0)?;
            all.extend_from_slice(self.take(end)?);
            self.byte()?;
            if self.0.first() != Some(&255) {
                return Some(all);
            }
            self.byte()?;
            all.push(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Vec<Value> {
        let texts = ["", "\0", "\0\0a", "a", "a\0", "a\0b", "aa", "ä"];
        let powers = (0..63).map(|bits| 1_i64 << bits);
        let numbers = powers.flat_map(|it| [it - 1, it, it + 1, -it - 1, -it, 1 - it]);
        let bytes = [&[][..], &[0], &[0, 0], &[0, 255], &[1], &[255, 0, 0]];
        let mut values = vec![Value::Null, Value::Integer(i64::MIN), Value::Integer(i64::MAX)];
        values.extend(numbers.map(Value::Integer));
        values.extend(texts.map(Value::from));
        values.extend(bytes.map(Value::from));
        values
    }

    #[test]
    fn values_are_read_as_they_were_written() {
        for value in values() {
            let written = of(value.clone());
            let mut reader = Reader(&written);
            assert_eq!((reader.value(), reader.0), (Some(value), &[][..]));
        }
        for odd in [&[][..], &[25], &[23], &[48], &[48, 0, 255], &[60, 0], &[255]] {
            assert_eq!(Reader(odd).value(), None, "{odd:?}");
        }
    }

    #[test]
    fn bytes_are_ordered_as_their_values() {
        let second = [Value::Null, Value::from("a"), Value::Integer(7)];
        for one in &values() {
            for other in &values() {
                for (first, last) in second.iter().zip(second.iter().rev()) {
                    let bytes = |value: &Value, next: &Value| [of(value.clone()), of(next.clone())];
                    let (a, b) = (bytes(one, first).concat(), bytes(other, last).concat());
                    assert_eq!([one, first].cmp(&[other, last]), a.cmp(&b), "{one:?} {other:?}");
                }
            }
        }
    }
}
