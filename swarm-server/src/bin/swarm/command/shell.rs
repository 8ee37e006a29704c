//! Commands that are shown to be run next: text as a word of a shell.

use std::path::Path;

/// The text as one word of a shell, quoted where it needs to be. Line ends and other control characters are left out.
pub(crate) fn shell_word(text: &str) -> String {
    let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:@%+,".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) && !text.starts_with('-') {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// ` --name value`, if there is a value.
pub(crate) fn flag(name: &str, value: Option<impl AsRef<Path>>) -> String {
    let value = value.map(|value| shell_word(&value.as_ref().to_string_lossy()));
    value.map(|value| format!(" --{name} {value}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_split_or_expand_them() {
        for (text, word) in [
            ("aurora", "aurora"),
            ("https://acme.example:8443", "https://acme.example:8443"),
            ("Zoë", "Zoë"),
            ("", "''"),
            ("-x", "'-x'"),
            ("two words", "'two words'"),
            ("$(id)", "'$(id)'"),
            ("it's", r"'it'\''s'"),
            ("a\u{1b}[2J\nb", "'a[2Jb'"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }
}
