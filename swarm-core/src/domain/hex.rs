//! Hexadecimal encoding.

/// Encodes each byte as two lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    text.extend(nibbles.filter_map(|nibble| char::from_digit(nibble.into(), 16)));
    text
}
