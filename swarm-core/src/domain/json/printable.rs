//! Makes untrusted text safe to print on a terminal, and to read by lines.

use std::fmt::Write as _;

use serde::Serialize;

use super::write;

/// Returns a text as JSON on one line, safe to print on a terminal: control characters, marks that change the direction of
/// text, and characters that are not shown are escaped.
pub fn printable(text: &str) -> String {
    printable_json(&write(text))
}

/// JSON escapes the control characters of ASCII; this escapes the others, other line breaks, and what is not shown. The
/// result is JSON of the same value.
pub fn printable_json(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    for character in json.chars() {
        if character == '\u{7f}' || is_unprintable(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(plain, "\\u{unit:04x}");
            }
        } else {
            plain.push(character);
        }
    }
    plain
}

/// Returns the JSON of a value as a line that ends with a line feed. The other characters at which readers divide lines are
/// escaped: U+0085, U+2028 and U+2029.
pub fn write_line<T: Serialize + ?Sized>(value: &T) -> String {
    let json = write(value);
    let mut line = String::with_capacity(json.len() + 1);
    for character in json.chars() {
        match character {
            '\u{85}' => line.push_str("\\u0085"),
            '\u{2028}' => line.push_str("\\u2028"),
            '\u{2029}' => line.push_str("\\u2029"),
            _ => line.push(character),
        }
    }
    line.push('\n');
    line
}

/// Returns a text of several lines, safe to print on a terminal: what [`printable`] escapes is escaped, but line feeds, tabs,
/// quotation marks and backslashes stay.
pub fn printable_lines(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => plain.push(character),
            character if character.is_ascii_control() || is_unprintable(character) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(plain, "\\u{unit:04x}");
                }
            }
            character => plain.push(character),
        }
    }
    plain
}

/// Returns whether a character outside of ASCII is a control character, separates lines, changes the direction of text, or is
/// not shown (Default_Ignorable_Code_Point of Unicode).
pub fn is_unprintable(character: char) -> bool {
    matches!(
        character,
        '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::json::Json;

    #[test]
    fn line_has_one_end_for_every_reader() {
        let text = Json::Text("a\u{85}b\u{2028}c\u{2029}d\u{b}\n\u{feff}".to_owned());
        let line = write_line(&text);
        assert_eq!(line, "\"a\\u0085b\\u2028c\\u2029d\\u000b\\n\u{feff}\"\n");
        assert_eq!(Json::read(line.as_bytes()).unwrap(), text);
    }

    #[test]
    fn unprintable_characters_are_escaped_and_values_stay() {
        let hostile = "\u{1b}[2J\u{9b}31m\u{7f}\r\n\u{202e}\u{2066}\u{200f}\u{61c}a\u{200b}\u{feff}\u{ad}\u{e0041}ë\u{1f600}\"\\";
        let shown = printable(hostile);
        let expected = r#""\u001b[2J\u009b31m\u007f\r\n\u202e\u2066\u200f\u061ca\u200b\ufeff\u00ad\udb40\udc41ë😀\"\\""#;
        assert_eq!(shown, expected);
        assert_eq!(Json::read(shown.as_bytes()).unwrap(), Json::Text(hostile.to_owned()));
        assert_eq!(
            printable_lines("a\tb\n\u{1b}[2J\r\\\u{202e}"),
            "a\tb\n\\u001b[2J\\u000d\\\\u202e"
        );
    }
}
