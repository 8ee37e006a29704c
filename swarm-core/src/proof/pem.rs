//! PEM files, as they are before their sections are read.

/// Returns the text of a PEM file, without the byte order mark that some editors write before it.
///
/// `None` if a section does not begin and end with lines of its own, as where files were joined without a line end: parsers leave
/// out what follows, without a word.
pub fn pem_text(file: &[u8]) -> Option<&[u8]> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    let text = file.strip_prefix(MARK).unwrap_or(file);
    let is_whole = |line: &[u8]| match line.trim_ascii_end().strip_prefix(b"-----END ") {
        Some(rest) => {
            let label = rest.strip_suffix(b"-----");
            label.is_some_and(|label| !label.windows(5).any(|it| it == b"-----"))
        }
        // The mark of a file that was joined to another one.
        None => line.strip_prefix(MARK).is_none_or(|line| !line.starts_with(b"-----BEGIN ")),
    };
    text.split(|byte| matches!(byte, b'\n' | b'\r')).all(is_whole).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_have_lines_of_their_own() {
        let one = "-----BEGIN A-B-----\nAAAA\n-----END A-B-----";
        for whole in ["", "no PEM", one, &format!("{one}  \r\n{one}\n"), &format!("# {one}\n{one}")]
        {
            assert_eq!(pem_text(whole.as_bytes()), Some(whole.as_bytes()), "{whole}");
            let marked = format!("\u{feff}{whole}");
            assert_eq!(pem_text(marked.as_bytes()), Some(whole.as_bytes()), "{whole}");
        }
        for joined in [
            format!("{one}{one}"),
            format!("{one} {one}\n"),
            format!("{one}#\n{one}"),
            format!("{one}\n\u{feff}{one}"),
        ] {
            assert_eq!(pem_text(joined.as_bytes()), None, "{joined}");
        }
    }
}
