//! Makes untrusted text safe to print on a terminal.

use super::write;

/// A text as JSON on one line, safe to print on a terminal: control characters and marks that
/// change the direction of text are escaped.
pub fn printable(text: &str) -> String {
    printable_json(&write(text))
}

/// JSON escapes the control characters of ASCII; this escapes the others, and other line breaks.
pub fn printable_json(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '\u{7f}'..='\u{9f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                plain.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            character => plain.push(character),
        }
    }
    plain
}
