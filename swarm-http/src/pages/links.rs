//! Where the pages are. Ids of members and subjects are any text, and percent-encoded in paths.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use swarm_core::domain::{Day, MemoId, SubjectId};
use swarm_core::{MemberId, SessionId, TakeId};

/// All but what RFC 3986 lets stand everywhere.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(crate) fn session(id: SessionId) -> String {
    format!("/swarm/sessions/{id}")
}

pub(crate) fn member(id: &MemberId) -> String {
    format!("/swarm/members/{}", part(id.as_str()))
}

pub(crate) fn subject(id: &SubjectId) -> String {
    format!("/swarm/subjects/{}", part(id.as_str()))
}

pub(crate) fn take(id: TakeId) -> String {
    format!("/swarm/takes/{id}")
}

pub(crate) fn memo(id: MemoId) -> String {
    format!("/swarm/memos/{id}")
}

pub(crate) fn committee(date: Day) -> String {
    format!("/swarm/committee/{date}")
}

/// A text as one part of a path, or as the value of a parameter. One that is dots alone would be
/// taken for a way up; no encoding hides it from the parsers of addresses, so nothing links to it.
pub(crate) fn part(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// The text as the target of a link, where it is one that a page may have: http or https.
pub(crate) fn web(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    web.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_one_part_of_a_path() {
        let id = SubjectId::parse("a/b?c#d%e f\u{e9}\"<").unwrap();
        assert_eq!(subject(&id), "/swarm/subjects/a%2Fb%3Fc%23d%25e%20f%C3%A9%22%3C");
    }

    #[test]
    fn only_web_addresses_are_links() {
        assert_eq!(web("HTTPS://memo.example/a?b#c"), Some("HTTPS://memo.example/a?b#c"));
        for text in ["javascript:alert(1)", "data:text/html,x", "//memo.example", "not a url", ""] {
            assert_eq!(web(text), None, "{text}");
        }
    }
}
