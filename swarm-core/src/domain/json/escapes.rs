//! Decodes the escapes in JSON strings.

use memchr::memchr;

use super::error::Stop;

/// Decodes the text between the quotes of a string with escapes.
pub(super) fn unescape(written: &str) -> Result<String, Stop> {
    let mut text = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        let (plain, escape) = rest.split_at(at);
        let (character, length) = character(escape)?;
        text.push_str(plain);
        text.push(character);
        rest = escape.get(length..).ok_or(Stop::Syntax)?;
    }
    text.push_str(rest);
    // A stored take should not occupy more memory than its request had bytes.
    if text.len() < written.len() / 2 {
        text.shrink_to_fit();
    }
    Ok(text)
}

/// Decodes the escape at the start of the text; also returns its length in bytes.
fn character(escape: &str) -> Result<(char, usize), Stop> {
    let character = match escape.as_bytes().get(1).ok_or(Stop::Syntax)? {
        letter @ (b'"' | b'\\' | b'/') => char::from(*letter),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(escape),
        _ => return Err(Stop::Syntax),
    };
    Ok((character, 2))
}

/// Decodes `\uXXXX`, or two of them that form a surrogate pair.
fn unicode(escape: &str) -> Result<(char, usize), Stop> {
    let unit = |at: usize| {
        let digits = escape.get(at..at + 6)?.strip_prefix("\\u")?;
        let hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
    };
    let first = unit(0).ok_or(Stop::Syntax)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Ok((character, 6));
    }
    let pair = |second| char::decode_utf16([first, second]).next()?.ok();
    Ok((unit(6).and_then(pair).ok_or(Stop::HalfPair)?, 12))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use proptest::prelude::*;

    use super::super::{Json, JsonDocument};

    proptest! {
        /// `serde_json` accepts the same strings and decodes them to the same text.
        #[test]
        fn strings_decode_as_in_serde_json(
            parts in proptest::collection::vec(
                prop_oneof![
                    r#"\\["\\/bfnrtu]"#,
                    r"\\u[0-9a-fA-F]{3,4}",
                    r"\\u[dD][89a-fA-F][0-9a-f]{2}",
                    ".", "\\PC*", "\u{0}|\u{1f}|\u{7f}|\"|\\\\",
                ],
                0..6,
            ),
        ) {
            let text = format!("\"{}\"", parts.concat());
            let expected = serde_json::from_str::<String>(&text).ok().map(Json::Text);
            prop_assert_eq!(Json::read(text.as_bytes()).ok(), expected);
        }
    }

    #[test]
    fn decoded_string_keeps_no_spare_capacity() {
        let text = format!("\"{}\"", "\\u0041".repeat(1_000));
        let Json::Text(text) = JsonDocument::read(text.as_bytes()).unwrap().into_json() else {
            panic!("a text");
        };
        assert_eq!((text.len(), text.capacity()), (1_000, 1_000));
    }
}
