//! The path below which a tenant is served.

use std::fmt;

use swarm_core::Invalid;

/// The path below which a tenant is served, such as `/opinions`; empty at the root of its host.
///
/// It consists of segments of letters, digits, `-`, `.`, `_` and `~`, each after a slash, so that it needs no escaping in
/// links, headers and cookies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BasePath(String);

impl BasePath {
    /// The root of a host.
    pub const ROOT: Self = Self(String::new());

    /// Maximum length, in bytes.
    const MAX: usize = 200;

    /// Parses a path: empty, or one that begins with a slash and does not end with one.
    ///
    /// # Errors
    /// [`Invalid`] for anything else, also for the segments `.` and `..`, which clients resolve.
    pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let is_segment =
            |segment: &str| !matches!(segment, "" | "." | "..") && segment.bytes().all(is_letter);
        let is_path = match text.strip_prefix('/') {
            Some(segments) => segments.split('/').all(is_segment),
            None => text.is_empty(),
        };
        if is_path && text.len() <= Self::MAX {
            return Ok(Self(text));
        }
        let rule = "must be a path of letters, digits, - . _ and ~, with a slash before each segment and none at the end";
        Err(Invalid::new("base_path", rule))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The rest of a path below this one: empty for the base path itself. `None` for a path elsewhere.
    pub(crate) fn rest<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(&self.0).filter(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for BasePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for BasePath {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::parse(text)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use super::*;

    #[test]
    fn paths_have_plain_segments() {
        for path in ["", "/opinions", "/a/b.c/d-e_f~g", "/..."] {
            assert_eq!(BasePath::parse(path).unwrap().as_str(), path);
        }
        let long = format!("/{}", "a".repeat(BasePath::MAX));
        for path in [
            "/", "a", "/a/", "//a", "/a//b", "/./a", "/a/..", "/a b", "/a%20b", "/é", "/a?b", &long,
        ] {
            assert!(BasePath::parse(path).is_err(), "{path}");
        }
    }

    #[test]
    fn base_ends_where_a_segment_ends() {
        let base = BasePath::parse("/a/b").unwrap();
        assert_eq!(base.rest("/a/b"), Some(""));
        assert_eq!(base.rest("/a/b/"), Some("/"));
        assert_eq!(base.rest("/a/b/c"), Some("/c"));
        for other in ["/a/bc", "/a", "/", "/c", "/A/b/c"] {
            assert_eq!(base.rest(other), None, "{other}");
        }
        assert_eq!(BasePath::default().rest("/a"), Some("/a"));
    }
}
