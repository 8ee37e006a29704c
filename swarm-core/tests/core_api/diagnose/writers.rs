//! JSON in the styles of other programs, independent of the writer of the diagnosis.

use std::fmt::Write as _;

/// `", "` and `": "`, outside of strings.
pub(crate) fn spaced(compact: &str) -> String {
    outside(compact, |structural| match structural {
        ',' => ", ".to_owned(),
        ':' => ": ".to_owned(),
        other => other.to_string(),
    })
}

/// One member per line, each level indented by this string.
pub(crate) fn pretty(compact: &str, indent: &str) -> String {
    let mut depth = 0;
    outside(compact, |structural| match structural {
        '{' | '[' => {
            depth += 1;
            format!("{structural}\n{}", indent.repeat(depth))
        }
        '}' | ']' => {
            depth -= 1;
            format!("\n{}{structural}", indent.repeat(depth))
        }
        ',' => format!(",\n{}", indent.repeat(depth)),
        ':' => ": ".to_owned(),
        other => other.to_string(),
    })
}

fn outside(compact: &str, mut structural: impl FnMut(char) -> String) -> String {
    let (mut text, mut quoted, mut escaped) = (String::new(), false, false);
    for character in compact.chars() {
        if quoted {
            text.push(character);
        } else {
            text.push_str(&structural(character));
        }
        if character == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = character == '\\' && !escaped;
    }
    text
}

/// With all characters outside ASCII escaped.
pub(crate) fn ascii(compact: &str, upper: bool) -> String {
    let mut text = String::new();
    for unit in compact.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => text.push(char::from(byte)),
            _ if upper => write!(text, "\\u{unit:04X}").unwrap(),
            _ => write!(text, "\\u{unit:04x}").unwrap(),
        }
    }
    text
}

/// As Python, which escapes U+007F too.
pub(crate) fn python(compact: &str) -> String {
    ascii(compact, false).replace('\u{7f}', "\\u007f")
}

/// With the HTML escapes of Go.
pub(crate) fn html(compact: &str) -> String {
    let mut text = compact.to_owned();
    for character in ['<', '>', '&', '\u{2028}', '\u{2029}'] {
        text = text.replace(character, &format!("\\u{:04x}", u32::from(character)));
    }
    text
}
