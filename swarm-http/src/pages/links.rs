//! Paths of the pages. Ids of members and subjects may be any text, so paths percent-encode them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use swarm_core::domain::{Day, MemoId, SubjectId};
use swarm_core::{MemberId, SessionId, TakeId};

/// Everything but the unreserved characters of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(crate) fn session(id: SessionId) -> String {
    format!("/swarm/sessions/{id}")
}

pub(crate) fn member(id: &MemberId) -> String {
    format!("/swarm/members/{}", part(id.as_str()))
}

/// A subject without [a path of its own](has_path) is linked by the list of its sessions.
pub(crate) fn subject(id: &SubjectId) -> String {
    match has_path(id.as_str()) {
        true => subject_path(id),
        false => format!("/swarm/sessions?subject={}", part(id.as_str())),
    }
}

/// The path of a subject. Where the id ends as the name of a file does, its dot is encoded: without that it would be the path of the files
/// of another subject.
pub(crate) fn subject_path(id: &SubjectId) -> String {
    let part = part(id.as_str());
    let file = [".csv", ".json"]
        .iter()
        .find_map(|ending| Some((part.strip_suffix(ending)?, &ending[1..])));
    match file {
        Some((stem, ending)) => format!("/swarm/subjects/{stem}%2E{ending}"),
        None => format!("/swarm/subjects/{part}"),
    }
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

/// Whether a record with this id can have a path. The segments `.` and `..` cannot be encoded: URL parsers resolve them in every
/// form. In a query they are as any other text.
pub(crate) fn has_path(id: &str) -> bool {
    !matches!(id, "." | "..")
}

/// Encodes a text as one path segment or query value.
pub(crate) fn part(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// The text as a link target, if its scheme is http or https.
pub(crate) fn web(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    web.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_encoded_as_one_path_segment() {
        let id = SubjectId::parse("a/b?c#d%e f\u{e9}\"<").unwrap();
        assert_eq!(subject(&id), "/swarm/subjects/a%2Fb%3Fc%23d%25e%20f%C3%A9%22%3C");
        for (id, path) in [("a.csv", "a%2Ecsv"), ("a.b.json", "a.b%2Ejson"), ("a.b", "a.b")] {
            let id = SubjectId::parse(id).unwrap();
            assert_eq!(subject(&id), format!("/swarm/subjects/{path}"));
        }
        for id in [".", ".."] {
            let link = subject(&SubjectId::parse(id).unwrap());
            assert_eq!(
                link,
                format!("/swarm/sessions?subject={id}"),
                "a browser resolves the path"
            );
        }
    }

    #[test]
    fn only_http_and_https_are_linked() {
        assert_eq!(web("HTTPS://memo.example/a?b#c"), Some("HTTPS://memo.example/a?b#c"));
        for text in ["javascript:alert(1)", "data:text/html,x", "//memo.example", "not a url", ""] {
            assert_eq!(web(text), None, "{text}");
        }
    }
}
