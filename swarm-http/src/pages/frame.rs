//! The parts that all pages share: head, navigation, breadcrumbs and security headers.

use askama::Template;
use http::{HeaderName, HeaderValue, StatusCode};
use swarm_core::Timestamp;

use super::markup::{Markup, clipped, escape, printable};
use super::time_text::TimeFormatter;
use crate::request::RequestContext;
use crate::response::Answer;
use crate::tenants::{FooterLink, ServedTenant};

/// The content security policy: no scripts, no embedded content; styles and images only from this origin,
/// forms only to it.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; \
                      form-action 'self'; frame-ancestors 'none'";

/// As [`POLICY`], for the one page with a script: it comes from this origin, may run WebAssembly, and reads this origin alone.
const POLICY_WITH_SCRIPT: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; \
                                  form-action 'self'; frame-ancestors 'none'; \
                                  script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

/// Longest document title, in letters; search engines cut longer ones.
const MAX_TITLE: usize = 68;

/// Longest name in a breadcrumb, in letters.
const MAX_CRUMB: usize = 40;

/// The tenant, as its pages show it.
#[derive(Clone, Debug)]
pub(crate) struct SiteContext {
    /// The tenant's name.
    pub(crate) name: String,
    /// A paragraph about the tenant; may be empty.
    pub(crate) about: String,
    /// The origin in use, with the base path: `https://acme.example`.
    pub(crate) origin: String,
    /// The origin in ids that outlive a move, and in canonical addresses: the configured one, else the origin in use.
    pub(crate) id_origin: String,
    /// Whether the tenant has a committee.
    pub(crate) committee: bool,
    /// Whether the log is signed, so that there are proofs and bundles.
    pub(crate) is_signed: bool,
    /// The links at the foot of every page.
    pub(crate) footer: Vec<FooterLink>,
}

impl SiteContext {
    pub(crate) fn of(request: &RequestContext) -> Self {
        Self::new(&request.served, request.origin())
    }

    pub(crate) fn new(served: &ServedTenant, origin: String) -> Self {
        let config = served.config();
        Self {
            name: config.name.clone(),
            about: config.about.clone(),
            id_origin: config.public_url().unwrap_or_else(|| origin.clone()),
            origin,
            committee: served.committee.is_served(),
            is_signed: served.signed_log().is_some(),
            footer: config.footer.clone(),
        }
    }
}

/// The name of a page in breadcrumbs.
pub(crate) struct Crumb {
    /// Text from outside, in letters of any direction. It is isolated in a `bdi` element.
    name: String,
    /// The day of it, if it has one: `20 Nov`.
    day: Option<String>,
}

impl Crumb {
    pub(crate) fn html(&self) -> Markup {
        let day = self.day.as_ref().map(|day| format!(", {}", escape(day)));
        Markup(format!("<bdi>{}</bdi>{}", escape(&self.name), day.unwrap_or_default()))
    }

    pub(crate) fn text(&self) -> String {
        match &self.day {
            Some(day) => format!("{}, {day}", self.name),
            None => self.name.clone(),
        }
    }
}

impl From<&str> for Crumb {
    fn from(name: &str) -> Self {
        Self { name: clipped(name, MAX_CRUMB), day: None }
    }
}

/// The name, and the day.
impl From<(&str, String)> for Crumb {
    fn from((name, day): (&str, String)) -> Self {
        Self { day: Some(day), ..Self::from(name) }
    }
}

/// Everything around the content of a page.
pub(crate) struct Frame {
    pub(crate) site: SiteContext,
    /// The page's own title.
    pub(crate) title: String,
    /// The canonical path and query; `None` on error pages.
    pub(crate) path: Option<String>,
    /// Breadcrumbs between the home page and this page: paths and names.
    pub(crate) crumbs: Vec<(String, Crumb)>,
    /// The last breadcrumb: the page itself.
    pub(crate) here: Crumb,
    /// The Open Graph type, for link previews.
    pub(crate) kind: &'static str,
    /// The kind of thing shown, for the document title: things of different kinds may share a name.
    pub(crate) shows: Option<String>,
    /// The page in a sentence, for link previews and search engines.
    pub(crate) description: Option<String>,
    /// The path of a picture for link previews.
    pub(crate) picture: Option<String>,
    /// The title and path of the page's own feed.
    pub(crate) feed: Option<(String, String)>,
    /// The address at which oEmbed describes what the page shows.
    pub(crate) oembed: Option<String>,
}

impl Frame {
    /// A page with this title and path.
    pub(crate) fn new(
        site: SiteContext,
        title: impl Into<String>,
        path: impl Into<String>,
    ) -> Self {
        let title = title.into();
        let here = Crumb::from(title.as_str());
        let (path, crumbs, kind) = (Some(path.into()), Vec::new(), "website");
        let (shows, description, picture, feed, oembed) = (None, None, None, None, None);
        Self { site, here, title, path, crumbs, kind, shows, description, picture, feed, oembed }
    }

    /// Adds a breadcrumb above this page.
    pub(crate) fn below(mut self, path: impl Into<String>, name: impl Into<Crumb>) -> Self {
        self.crumbs.push((path.into(), name.into()));
        self
    }

    /// Sets the last breadcrumb, which is the title by default.
    pub(crate) fn called(self, here: impl Into<Crumb>) -> Self {
        Self { here: here.into(), ..self }
    }

    /// Sets the kind of thing shown.
    pub(crate) fn showing(self, sort: impl Into<String>) -> Self {
        Self { shows: Some(sort.into()), ..self }
    }

    /// Sets the Open Graph type to `article`.
    pub(crate) fn article(self) -> Self {
        Self { kind: "article", ..self }
    }

    /// Describes the page in a sentence, of which previews show the beginning.
    pub(crate) fn with_description(self, text: &str) -> Self {
        const MAX_DESCRIPTION: usize = 200;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = clipped(&text, MAX_DESCRIPTION);
        Self { description: (!text.is_empty()).then_some(text), ..self }
    }

    /// Adds the picture of a session for link previews.
    pub(crate) fn pictured(self, session: swarm_core::SessionId) -> Self {
        let picture = cfg!(feature = "pictures");
        Self { picture: picture.then(|| format!("/swarm/sessions/{session}/picture.png")), ..self }
    }

    /// Adds a feed of what the page shows.
    pub(crate) fn with_feed(self, title: impl Into<String>, path: String) -> Self {
        Self { feed: Some((title.into(), path)), ..self }
    }

    /// Adds the address at which oEmbed describes what the page shows.
    pub(crate) fn embedded_at(self, address: String) -> Self {
        Self { oembed: Some(address), ..self }
    }

    /// The document title: the page's title, the kind of thing shown, the tenant's name.
    pub(crate) fn document_title(&self) -> String {
        if self.path.as_deref() == Some("/") {
            return clipped(&self.site.name, MAX_TITLE);
        }
        let name = clipped(&self.site.name, MAX_TITLE / 3);
        let end = match &self.shows {
            Some(sort) => format!(" · {sort} · {name}"),
            None => format!(" · {name}"),
        };
        let room = MAX_TITLE.saturating_sub(end.chars().count());
        clipped(&self.title, room) + &end
    }

    /// The sections of the site: path, name, and whether this page is in it.
    pub(crate) fn sections(&self) -> Vec<(&'static str, &'static str, bool)> {
        let all = [
            ("/swarm/sessions", "Sessions"),
            ("/swarm/takes", "Takes"),
            ("/swarm/members", "Members"),
            ("/swarm/ranking", "Ranking"),
            ("/swarm/subjects", "Subjects"),
            ("/swarm/committee", "Committee"),
            ("/swarm/log", "Log"),
        ];
        let top = self.crumbs.first().map(|(path, _)| path.as_str()).or(self.path.as_deref());
        // A list that is filtered, sorted or paged is the same section.
        let top = top.and_then(|top| top.split('?').next());
        let served = |(path, _): &(&str, &str)| self.site.committee || *path != "/swarm/committee";
        all.into_iter()
            .filter(served)
            .map(|(path, name)| (path, name, top.is_some_and(|top| top == path)))
            .collect()
    }
}

/// The formatter for the times on a page.
pub(crate) async fn time_formatter(
    request: &RequestContext,
) -> Result<TimeFormatter, swarm_core::Error> {
    let now: Timestamp = request.tenant().now().await?;
    Ok(TimeFormatter { now })
}

/// Renders a page that other sites may show in a frame.
pub(crate) fn embeddable(status: StatusCode, page: &impl Template) -> Answer {
    let mut answer = html(status, page);
    let policy = POLICY.replace("frame-ancestors 'none'", "frame-ancestors *");
    if let Ok(policy) = HeaderValue::try_from(policy) {
        answer.headers.insert(HeaderName::from_static("content-security-policy"), policy);
    }
    answer
}

/// Renders a page into an answer.
pub(crate) fn html(status: StatusCode, page: &impl Template) -> Answer {
    html_under(POLICY, status, page)
}

/// As [`html`], for the page with a script.
pub(super) fn html_with_script(status: StatusCode, page: &impl Template) -> Answer {
    html_under(POLICY_WITH_SCRIPT, status, page)
}

fn html_under(policy: &'static str, status: StatusCode, page: &impl Template) -> Answer {
    // Writing to a string fails only if a `Display` fails, and none here does.
    let text = printable(page.render().unwrap_or_default());
    let mut answer = Answer::new(status, "text/html; charset=utf-8", text);
    for (name, value) in [("content-security-policy", policy), ("referrer-policy", "no-referrer")] {
        answer.headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_in_breadcrumbs_is_isolated_from_its_day() {
        let crumb = Crumb::from(("\u{5d0}\u{5d1}<", "20 Nov".to_owned()));
        assert_eq!(crumb.html().0, "<bdi>\u{5d0}\u{5d1}&lt;</bdi>, 20 Nov");
        assert_eq!(crumb.text(), "\u{5d0}\u{5d1}<, 20 Nov");
        let long = Crumb::from((&*"a".repeat(200), "20 Nov".to_owned()));
        assert!(long.text().ends_with("…, 20 Nov"), "{}", long.text());
    }
}
