//! Refusals of a policy: a rule of the program around the service (API.md, 5.9).

use crate::domain::Invalid;

/// Why the program around the service refuses a take that all rules of the service accept. Its `Display` is the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct PolicyRefusal {
    kind: PolicyKind,
    code: String,
    text: String,
}

/// The kind of a refusal of a policy, which decides its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyKind {
    /// The member may not file this: 403.
    Forbidden,
    /// Something is in the way, and may not be later: 409.
    Conflict,
}

impl PolicyRefusal {
    /// Maximum length of a code and of a text, in characters.
    const MAX_CODE: usize = 50;
    const MAX_TEXT: usize = 200;

    /// A refusal with this code, such as `position-limit`, and this text for people.
    ///
    /// # Errors
    /// [`Invalid`] unless the code has 1 to 50 lower-case letters, digits and hyphens, and the text is a line of 1 to 200
    /// characters.
    pub fn new(
        kind: PolicyKind,
        code: impl Into<String>,
        text: impl Into<String>,
    ) -> Result<Self, Invalid> {
        let (code, text) = (code.into(), text.into());
        let is_letter =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if !(1..=Self::MAX_CODE).contains(&code.len()) || !code.bytes().all(is_letter) {
            let rule = "must be 1 to 50 lower-case letters, digits and hyphens";
            return Err(Invalid::new("code", rule));
        }
        let is_line = !text.trim().is_empty() && !text.contains(char::is_control);
        if !is_line || text.chars().count() > Self::MAX_TEXT {
            return Err(Invalid::new("text", "must be a line of 1 to 200 characters"));
        }
        Ok(Self { kind, code, text })
    }

    /// Returns the kind.
    pub fn kind(&self) -> PolicyKind {
        self.kind
    }

    /// Returns the code.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_texts_are_short_lines() {
        let new = |code: &str, text: &str| PolicyRefusal::new(PolicyKind::Conflict, code, text);
        assert!(
            new("position-limit-2", "Too large: é.").is_ok_and(|it| it.to_string() == it.text())
        );
        let long = "a".repeat(201);
        for (code, text) in [
            ("", "x"),
            ("A", "x"),
            ("a_b", "x"),
            (&long[..51], "x"),
            ("a", ""),
            ("a", " "),
            ("a", "x\ny"),
            ("a", &long),
        ] {
            assert!(new(code, text).is_err(), "{code:?} {text:?}");
        }
    }
}
