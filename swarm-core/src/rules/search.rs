//! Search in texts: what `?q=` on pages finds (API.md, 10.4).

/// A text to look for. Case is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needle(String);

impl Needle {
    /// The maximum length in characters; the rest is ignored.
    pub const MAX: usize = 100;

    /// The needle for this text; `None` if it has nothing but spaces.
    pub fn new(text: &str) -> Option<Self> {
        let text: String = text.trim().chars().take(Self::MAX).collect();
        (!text.is_empty()).then(|| Self(text.to_lowercase()))
    }

    /// Returns whether a text contains it.
    pub fn is_in(&self, text: &str) -> bool {
        text.to_lowercase().contains(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_ignores_case_and_outer_spaces() {
        let needle = Needle::new("  UtiliSation ").unwrap();
        assert!(needle.is_in("Back at 71 %: utilisation alone") && !needle.is_in("utilised"));
        assert!(Needle::new("É").unwrap().is_in("caf\u{e9}"));
        assert_eq!(Needle::new(" \t"), None);
    }
}
