//! PEM files, as they are before their sections are read.

/// Returns the text of a PEM file, without the byte order mark that some editors write before it.
///
/// `None` if a section does not begin and end with lines of its own, as where files were joined without a line end or lines were indented: parsers
/// leave it out, or what follows, without a word. A line that begins with `#` may have anything in it.
pub fn pem_text(file: &[u8]) -> Option<&[u8]> {
    const MARKS: [&[u8]; 2] = [b"-----BEGIN ", b"-----END "];
    let text = file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file);
    let is_whole = |line: &[u8]| {
        let within = line.get(1..).unwrap_or_default();
        let has_mark = |mark: &&[u8]| within.windows(mark.len()).any(|part| part == *mark);
        if !line.starts_with(b"#") && MARKS.iter().any(has_mark) {
            return false;
        }
        line.trim_ascii_end().strip_prefix(b"-----END ").is_none_or(|rest| {
            let label = rest.strip_suffix(b"-----");
            label.is_some_and(|label| !label.windows(5).any(|it| it == b"-----"))
        })
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
            format!("{one}\n  {one}"),
            format!("{one}\nAAAA{one}"),
            one.replace('\n', ""),
            one.replace("-----END", " -----END"),
        ] {
            assert_eq!(pem_text(joined.as_bytes()), None, "{joined}");
        }
    }
}
