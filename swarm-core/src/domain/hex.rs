//! Hexadecimal digits.

/// Encodes each byte as two lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    text.extend(nibbles.filter_map(|nibble| char::from_digit(nibble.into(), 16)));
    text
}

/// Decodes 64 hexadecimal digits.
pub(super) fn parse_hex(digits: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if digits.len() != 64 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        let digit = |at: usize| pair.get(at).and_then(|c| char::from(*c).to_digit(16));
        *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    }
    Some(bytes)
}
