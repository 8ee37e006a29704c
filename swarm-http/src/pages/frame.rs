//! The parts that all pages share: the head, the breadcrumbs, and the security headers.

use askama::Template;
use http::{HeaderName, HeaderValue, StatusCode};
use swarm_core::Timestamp;

use super::markup::{clipped, printable};
use super::time_text::Reading;
use crate::request::RequestContext;
use crate::response::Answer;
use crate::tenants::ServedTenant;

/// The content security policy: no scripts, no embedded content, no forms; styles and images only
/// from this origin.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// How many letters a title has room for, in a tab and in the results of a search.
const TITLE: usize = 68;
const CRUMB: usize = 40;

/// The tenant whose pages they are.
#[derive(Clone, Debug)]
pub(crate) struct Desk {
    /// What it is called.
    pub(crate) name: String,
    /// A paragraph about it; may be empty.
    pub(crate) about: String,
    /// The origin in use: `https://acme.example`.
    pub(crate) origin: String,
    /// Whether it has a committee.
    pub(crate) committee: bool,
}

impl Desk {
    pub(crate) fn of(request: &RequestContext) -> Self {
        Self::new(&request.served, request.origin())
    }

    pub(crate) fn new(served: &ServedTenant, origin: String) -> Self {
        let config = served.config();
        Self {
            name: config.name.clone(),
            about: config.about.clone(),
            origin,
            committee: served.committee().is_some(),
        }
    }
}

/// What stands around the content of a page.
pub(crate) struct Frame {
    pub(crate) desk: Desk,
    /// The page's own title.
    pub(crate) title: String,
    /// Its path, with the parameters that make it another page; `None` where there is no page.
    pub(crate) path: Option<String>,
    /// The way to it from the home page: paths and their names, without itself.
    pub(crate) crumbs: Vec<(String, String)>,
    /// What it is called at the end of that way.
    pub(crate) here: String,
    /// The type of the page, for sites that show a preview of a link to it.
    pub(crate) kind: &'static str,
    /// What it shows, for the title of the document: other things may have the same name.
    pub(crate) shows: Option<String>,
}

impl Frame {
    /// A page that is called `title`, at `path`.
    pub(crate) fn new(desk: Desk, title: impl Into<String>, path: impl Into<String>) -> Self {
        let title = title.into();
        let here = clipped(&title, CRUMB);
        let (path, crumbs, kind) = (Some(path.into()), Vec::new(), "website");
        Self { desk, here, title, path, crumbs, kind, shows: None }
    }

    /// Below the list at this path.
    pub(crate) fn below(mut self, path: impl Into<String>, name: impl AsRef<str>) -> Self {
        self.crumbs.push((path.into(), clipped(name.as_ref(), CRUMB)));
        self
    }

    /// Under another name at the end of the breadcrumbs.
    pub(crate) fn called(self, here: &str) -> Self {
        Self { here: clipped(here, CRUMB), ..self }
    }

    /// Of a thing of this sort.
    pub(crate) fn showing(self, sort: impl Into<String>) -> Self {
        Self { shows: Some(sort.into()), ..self }
    }

    /// Something that somebody wrote.
    pub(crate) fn article(self) -> Self {
        Self { kind: "article", ..self }
    }

    /// The title of the document: the page's own, what it shows, then whose it is.
    pub(crate) fn document_title(&self) -> String {
        if self.path.as_deref() == Some("/") {
            return clipped(&self.desk.name, TITLE);
        }
        let name = clipped(&self.desk.name, TITLE / 3);
        let end = match &self.shows {
            Some(sort) => format!(" · {sort} · {name}"),
            None => format!(" · {name}"),
        };
        let room = TITLE.saturating_sub(end.chars().count());
        clipped(&self.title, room) + &end
    }

    /// The parts of the site, and which of them this page is in.
    pub(crate) fn sections(&self) -> Vec<(&'static str, &'static str, bool)> {
        let all = [
            ("/swarm/sessions", "Sessions"),
            ("/swarm/members", "Members"),
            ("/swarm/subjects", "Subjects"),
            ("/swarm/committee", "Committee"),
            ("/swarm/log", "Log"),
        ];
        let top = self.crumbs.first().map(|(path, _)| path.as_str()).or(self.path.as_deref());
        let served = |(path, _): &(&str, &str)| self.desk.committee || *path != "/swarm/committee";
        all.into_iter()
            .filter(served)
            .map(|(path, name)| (path, name, top.is_some_and(|top| top == path)))
            .collect()
    }
}

/// The time that a page is read at.
pub(crate) async fn reading(request: &RequestContext) -> Result<Reading, swarm_core::Error> {
    let now: Timestamp = request.tenant().now().await?;
    Ok(Reading { now })
}

/// A page as the answer.
pub(crate) fn html(status: StatusCode, page: &impl Template) -> Answer {
    // Writing to a string fails only where a field's Display fails, and none of ours does.
    let text = printable(page.render().unwrap_or_default());
    let mut answer = Answer::new(status, "text/html; charset=utf-8", text);
    for (name, value) in [("content-security-policy", POLICY), ("referrer-policy", "no-referrer")] {
        answer.headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    answer
}
