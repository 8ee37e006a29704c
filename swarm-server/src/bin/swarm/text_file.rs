//! Texts that people, editors and shells have written into files.

use std::io::{self, Read};

/// Reads a text, without the byte order mark that some editors write before it.
///
/// # Errors
/// If it cannot be read, or is not UTF-8.
pub(crate) fn read_text(source: impl Read) -> io::Result<String> {
    read(source, |bytes| bytes)
}

/// Reads a policy of C2SP, whose comments and names may have any bytes above those of ASCII.
///
/// # Errors
/// If it cannot be read, or is in UTF-16.
pub(crate) fn read_policy(source: impl Read) -> io::Result<String> {
    read(source, |bytes| match is_utf_16(&bytes) {
        true => bytes,
        false => String::from_utf8_lossy(&bytes).into_owned().into_bytes(),
    })
}

fn read(mut source: impl Read, prepared: fn(Vec<u8>) -> Vec<u8>) -> io::Result<String> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    decoded(prepared(bytes)).map_err(|fault| io::Error::new(io::ErrorKind::InvalidData, fault))
}

/// Returns the text of these bytes, without a byte order mark before it.
///
/// # Errors
/// The encoding of the bytes, if it is known, and what to do about it.
pub(crate) fn decoded(bytes: Vec<u8>) -> Result<String, &'static str> {
    if is_utf_16(&bytes) {
        return Err("is in UTF-16: save it in UTF-8");
    }
    let text = String::from_utf8(bytes).map_err(|_| "is not in UTF-8")?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Whether these bytes begin as UTF-16 does, which Windows PowerShell writes.
fn is_utf_16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

/// A secret or an address without the line ends and byte order marks at its ends, which editors and shells leave there.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(['\n', '\r', '\u{feff}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_in_utf_8_with_or_without_a_byte_order_mark() {
        assert_eq!(decoded("a\u{feff}".into()), Ok("a\u{feff}".to_owned()));
        assert_eq!(decoded("\u{feff}a\r\n".into()), Ok("a\r\n".to_owned()));
        assert_eq!(decoded(Vec::new()), Ok(String::new()));
        for utf_16 in [b"\xff\xfea\0", b"\xfe\xff\0a"] {
            assert_eq!(decoded(utf_16.to_vec()), Err("is in UTF-16: save it in UTF-8"));
        }
        assert_eq!(decoded(vec![b'a', 0xe9]), Err("is not in UTF-8"));
    }

    #[test]
    fn policy_may_have_bytes_of_any_encoding_that_extends_ascii() {
        let read = |bytes: &[u8]| read_policy(bytes).ok();
        assert_eq!(read("\u{feff}# é\n".as_bytes()), Some("# é\n".to_owned()));
        assert_eq!(
            read(b"# caf\xe9\nquorum none\n"),
            Some("# caf\u{fffd}\nquorum none\n".to_owned())
        );
        assert_eq!(read(b"\xff\xfea\0"), None, "UTF-16");
    }

    #[test]
    fn line_ends_and_byte_order_marks_are_no_part_of_a_secret() {
        for text in ["a b", "a b\n", "a b\r\n", "\u{feff}a b", "\u{feff}a b\u{feff}\r\n\n"] {
            assert_eq!(trimmed(text), "a b", "{text:?}");
        }
        assert_eq!(trimmed("a\nb\n"), "a\nb");
        assert_eq!(trimmed(" a\n"), " a");
    }
}
