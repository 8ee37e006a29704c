//! The layout of the console: the parts of its pages, redirects, and pages of errors.

use askama::Template;
use http::header::{LOCATION, REFERRER_POLICY};
use http::{HeaderValue, StatusCode};
use swarm_core::json::Json;

use super::form::{FormView, Kind};
use super::table::Table;
use crate::pages::markup::escape;
use crate::pages::{Markup, html};
use crate::response::{Answer, ApiError};
use crate::tenants::ServedTenant;

/// A page of the console.
#[derive(Template, Default)]
#[template(path = "console/page.html")]
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) lead: Option<Markup>,
    /// Breadcrumbs: paths and names of the pages above this page.
    pub(crate) crumbs: Vec<(String, String)>,
    pub(crate) blocks: Vec<Block>,
    /// The name of the tenant.
    pub(crate) tenant: String,
    /// The signed-in operator: name and role.
    pub(crate) who: Option<(String, &'static str)>,
    /// Whether the operator can sign out here.
    pub(crate) signs_out: bool,
    /// The sections: path, name, and whether the page is in the section.
    pub(crate) sections: Vec<(&'static str, &'static str, bool)>,
    /// A message about the change that was just made.
    pub(crate) notice: Option<String>,
    /// Why the submitted form was refused.
    pub(crate) fault: Option<String>,
}

/// A part of a page.
pub(crate) enum Block {
    Heading(String),
    Text(Markup),
    /// Names and values.
    Record(Vec<(&'static str, Markup)>),
    Table(Table),
    Form(Box<FormView>),
    /// Forms of one button each.
    Buttons(Vec<FormView>),
    /// A text, and forms of one button each beside it.
    Row(Markup, Vec<FormView>),
    /// A text to be copied.
    Secret(String),
}

impl Page {
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    pub(super) fn with_lead(self, lead: impl Into<String>) -> Self {
        Self { lead: Some(Markup::text(&lead.into())), ..self }
    }

    pub(super) fn below(mut self, path: impl Into<String>, name: impl Into<String>) -> Self {
        self.crumbs.push((path.into(), name.into()));
        self
    }

    pub(super) fn heading(&mut self, heading: impl Into<String>) {
        self.blocks.push(Block::Heading(heading.into()));
    }

    pub(super) fn text(&mut self, text: Markup) {
        self.blocks.push(Block::Text(text));
    }

    pub(super) fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    /// Adds a form, if there is one: a role that may not submit it has none.
    pub(super) fn form(&mut self, form: Option<FormView>) {
        self.blocks.extend(form.map(|form| Block::Form(Box::new(form))));
    }

    /// Adds a heading and the forms below it, if there are any.
    pub(super) fn forms(
        &mut self,
        heading: &str,
        forms: impl IntoIterator<Item = Option<FormView>>,
    ) {
        let mut forms = forms.into_iter().flatten().peekable();
        if forms.peek().is_some() {
            self.heading(heading);
            self.blocks.extend(forms.map(|form| Block::Form(Box::new(form))));
        }
    }

    /// Adds forms of one button each, in a line.
    pub(super) fn buttons(&mut self, forms: impl IntoIterator<Item = Option<FormView>>) {
        let forms: Vec<_> = forms.into_iter().flatten().collect();
        if !forms.is_empty() {
            self.blocks.push(Block::Buttons(forms));
        }
    }

    /// Renders the page.
    pub(super) fn answer(mut self, status: StatusCode) -> Answer {
        let mut nth = 0;
        for block in &mut self.blocks {
            let forms: &mut [FormView] = match block {
                Block::Form(form) => std::slice::from_mut(&mut **form),
                Block::Buttons(forms) | Block::Row(_, forms) => forms,
                _ => &mut [],
            };
            for form in forms {
                nth += 1;
                form.id = format!("form{nth}");
            }
        }
        let mut answer = html(status, &self);
        // A browser sends no origin with a form of a page whose policy is no-referrer.
        answer.headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        answer
    }
}

/// A link.
pub(super) fn anchor(href: &str, text: &str) -> Markup {
    Markup(format!("<a href=\"{}\"><bdi>{}</bdi></a>", escape(href), escape(text)))
}

/// Text from outside, in a `bdi` element.
pub(super) fn quoted(text: &str) -> Markup {
    Markup(format!("<bdi>{}</bdi>", escape(text)))
}

/// A cell of two lines, the second in small letters.
pub(super) fn two_lines(first: &Markup, second: &Markup) -> Markup {
    Markup(format!("{first}<br><span class=\"quiet\">{second}</span>"))
}

/// `1 take`, `2 takes`
pub(super) fn count(number: usize, one: &str, more: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {more}") }
}

/// 303, which a browser follows with a GET.
pub(super) fn see_other(location: &str) -> Answer {
    let mut answer = Answer::empty(StatusCode::SEE_OTHER);
    if let Ok(location) = HeaderValue::try_from(location) {
        answer.headers.insert(LOCATION, location);
    }
    answer
}

/// The status and headers of an error, with this page as its body.
pub(super) fn with_error(error: Answer, page: Page) -> Answer {
    let page = page.answer(error.status);
    let (mut headers, problem) = (error.headers, error.problem);
    headers.extend(page.headers.clone());
    Answer { headers, problem, error_json: Some(error.body), ..page }
}

/// The error and its detail, as one text.
pub(super) fn error_text(error: &Answer) -> String {
    let body = Json::read(&error.body).ok();
    let mut body = body.map(Json::into_object).unwrap_or_default();
    let text = body.text("error").unwrap_or_else(|_| "refused".to_owned());
    let mut letters = text.chars();
    let text: String =
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    match body.text("detail") {
        Ok(detail) => format!("{text}: {detail}."),
        Err(_) => format!("{text}."),
    }
}

/// The page with the layout for a client that is not signed in.
pub(super) fn signed_out_page(served: &ServedTenant, page: Page) -> Page {
    Page { tenant: served.config().name.clone(), ..page }
}

/// The page of an error for a client that is not signed in.
pub(super) fn signed_out_error(
    served: &ServedTenant,
    error: impl Into<ApiError>,
    title: &str,
    lead: &str,
) -> Answer {
    let page = signed_out_page(served, Page::new(title).with_lead(lead));
    with_error(error.into().into_answer(), page)
}
