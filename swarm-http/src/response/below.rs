//! An answer of a tenant that is served below a path (API.md, 2.3).
//!
//! Handlers, templates and charts write paths as if each tenant were served at the root of its host. The base path is put
//! before these paths here, once the answer is made: in `Location`, in `Link`, and in the attributes of a page that are
//! links. Absolute addresses have it already, because they begin with the address of the tenant.

use http::HeaderValue;
use http::header::{CONTENT_TYPE, LINK, LOCATION};

use super::Answer;
use crate::tenants::BasePath;

/// The attributes of HTML whose values are links.
const LINKS: [&str; 4] = ["href", "src", "action", "formaction"];

impl Answer {
    /// Puts the base path before every path that the answer links to. To be called once, before the ETag is computed.
    pub(crate) fn below(mut self, base: &BasePath) -> Self {
        let base = base.as_str();
        if base.is_empty() {
            return self;
        }
        if let Some(path) = self.header(&LOCATION).filter(|location| is_path(location))
            && let Ok(location) = HeaderValue::try_from([base, path].concat())
        {
            self.headers.insert(LOCATION, location);
        }
        for (_, links) in self.headers.iter_mut().filter(|(name, _)| **name == LINK) {
            let whole = links.to_str().ok().map(|links| links.replace("</", &format!("<{base}/")));
            if let Some(Ok(whole)) = whole.map(HeaderValue::try_from) {
                *links = whole;
            }
        }
        let is_page = self.header(&CONTENT_TYPE).is_some_and(|it| it.starts_with("text/html"));
        if let Some(page) = std::str::from_utf8(&self.body).ok().filter(|_| is_page) {
            self.body = relinked(page, base).into();
        }
        self
    }
}

/// Whether a link is a path of this host.
fn is_path(link: &str) -> bool {
    link.starts_with('/') && !link.starts_with("//")
}

/// A page with the base path before the paths in its links. Text may look like an attribute, but has no `<`, because it is
/// escaped; so only what is between `<` and `>` is changed. A value in quotes may have a `>`.
fn relinked(page: &str, base: &str) -> String {
    let mut relinked = String::with_capacity(page.len() + page.len() / 16);
    let (mut rest, mut is_in_tag) = (page, false);
    loop {
        let ends: &[char] = if is_in_tag { &['"', '\'', '>'] } else { &['<'] };
        let Some(end) = rest.find(ends) else { break };
        let (before, after) = rest.split_at(end + 1);
        relinked.push_str(before);
        rest = after;
        let quote = match before.as_bytes().last() {
            Some(b'<') => {
                is_in_tag = true;
                continue;
            }
            Some(b'>') => {
                is_in_tag = false;
                continue;
            }
            Some(b'"') => '"',
            _ => '\'',
        };
        if is_path(rest) && is_link(before) {
            relinked.push_str(base);
        }
        let (value, after) = rest.split_at(rest.find(quote).map_or(rest.len(), |end| end + 1));
        relinked.push_str(value);
        rest = after;
    }
    relinked.push_str(rest);
    relinked
}

/// Whether the text ends with the name of an attribute that is a link, an equals sign and a quote.
fn is_link(before: &str) -> bool {
    let name = before.get(..before.len().saturating_sub(1)).and_then(|it| it.strip_suffix('='));
    let name = name.and_then(|name| name.rsplit([' ', '\n', '\t']).next());
    name.is_some_and(|name| LINKS.contains(&name))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use http::StatusCode;

    use super::*;

    fn below(answer: Answer) -> Answer {
        answer.below(&BasePath::parse("/a/b").unwrap())
    }

    #[test]
    fn links_of_pages_are_below_the_base_path() {
        for (page, expected) in [
            ("<a href=\"/x\">", "<a href=\"/a/b/x\">"),
            ("<a class=\"c\"\n href='/'>", "<a class=\"c\"\n href='/a/b/'>"),
            (
                "<img src=\"/x\"><form action=\"/y\">",
                "<img src=\"/a/b/x\"><form action=\"/a/b/y\">",
            ),
            (
                "<button formaction=\"/y\" value=\"/z\">",
                "<button formaction=\"/a/b/y\" value=\"/z\">",
            ),
            ("<a title=\"a > b\" href=\"/x\">", "<a title=\"a > b\" href=\"/a/b/x\">"),
        ] {
            assert_eq!(relinked(page, "/a/b"), expected);
        }
        for same in [
            "<p>href=\"/x\" src=\"/y\"</p>",
            "<a href=\"//x\"><a href=\"https://x/y\"><a href=\"#x\"><a href=\"?x\">",
            "<p title=\"href='/x'\" data-href=\"/x\" content=\"/x\">",
            "<p>&lt;a href=\"/x\"&gt;</p>",
            "<a href=\"/",
            "<a href=",
            "",
        ] {
            let expected = if same == "<a href=\"/" { "<a href=\"/a/b/" } else { same };
            assert_eq!(relinked(same, "/a/b"), expected);
        }
    }

    /// Whatever a member writes is escaped, and shown as it was written.
    #[test]
    fn text_that_looks_like_a_link_stays() {
        for text in ["<a href=\"/x\">", "\" href=\"/x", "' href='/x", "> <a href=/x", "href=\"/x\""]
        {
            let pairs = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")];
            let text = pairs.iter().fold(text.to_owned(), |text, (is, to)| text.replace(is, to));
            let page = format!("<p title=\"{text}\">{text}</p>");
            assert_eq!(relinked(&page, "/a/b"), page);
        }
    }

    #[test]
    fn headers_are_below_the_base_path() {
        let mut answer = Answer::new(StatusCode::CREATED, "application/json", "\"/x\"".to_owned());
        answer.headers.insert(LOCATION, HeaderValue::from_static("/x"));
        answer.headers.insert(LINK, HeaderValue::from_static("</x>; rel=\"a\", </y>; rel=\"b\""));
        let answer = below(answer.with_next("/z?a=b"));
        assert_eq!(answer.header(&LOCATION), Some("/a/b/x"));
        let links: Vec<_> = answer.headers.get_all(LINK).iter().collect();
        assert_eq!(
            links,
            ["</a/b/x>; rel=\"a\", </a/b/y>; rel=\"b\"", "</a/b/z?a=b>; rel=\"next\""]
        );
        assert_eq!(answer.body, "\"/x\"");
    }

    #[test]
    fn other_addresses_stay() {
        for location in ["https://acme.example/x", "//acme.example/x", "?x"] {
            let mut answer = Answer::empty(StatusCode::SEE_OTHER);
            answer.headers.insert(LOCATION, HeaderValue::from_static(location));
            assert_eq!(below(answer).header(&LOCATION), Some(location));
        }
    }
}
