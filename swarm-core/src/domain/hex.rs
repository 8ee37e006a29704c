//! Hexadecimal digits.

/// Encodes each byte as two lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    text.extend(nibbles.filter_map(|nibble| char::from_digit(nibble.into(), 16)));
    text
}

/// Decodes two hexadecimal digits for each byte; `None` for any other text.
pub(crate) fn parse_hex<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if digits.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        *byte = byte_of(pair)?;
    }
    Some(bytes)
}

/// As [`parse_hex`], for any number of bytes.
pub(crate) fn parse_any_hex(digits: &str) -> Option<Vec<u8>> {
    digits.as_bytes().chunks(2).map(byte_of).collect()
}

fn byte_of(pair: &[u8]) -> Option<u8> {
    let digit = |at: usize| pair.get(at).and_then(|c| char::from(*c).to_digit(16));
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}
