//! The layout of the console: the parts of its pages, redirects, and pages of errors.

use askama::Template;
use http::header::{LOCATION, REFERRER_POLICY};
use http::{HeaderValue, StatusCode};
use swarm_core::json::Json;
use swarm_core::wire::RequestError;

use super::form::{Button, Field, FormView, Kind, Panels};
use super::table::Table;
pub(super) use crate::pages::markup::{anchor, count, quoted};
use crate::pages::markup::{capitalized, escape};
use crate::pages::{Markup, html};
use crate::response::{Answer, ApiError};
use crate::tenants::{ServedTenant, SignOnUnavailable};

/// A page of the console.
#[derive(Template, Default)]
#[template(path = "console/page.html")]
pub(crate) struct Page {
    pub(crate) title: String,
    /// The title on the page, in which names are set apart.
    pub(crate) heading: Markup,
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
    /// Why the submitted form was refused, unless it was because of fields of the page, which say so.
    pub(crate) fault: Option<String>,
    /// The refused fields: their ids and labels.
    pub(crate) refused_fields: Vec<(String, String)>,
}

/// A part of a page.
pub(crate) enum Block {
    Heading(String),
    Text(Markup),
    /// Names and values.
    Record(Vec<(&'static str, Markup)>),
    Table(Table),
    /// A table whose rows have forms of one button each.
    ActTable(ActTable),
    Form(Box<FormView>),
    /// The acts on one record.
    Panels(Box<Panels>),
    /// The stages of a session: names, and whether each is over (`None`: it is the present one); and a remark.
    Stages(Vec<(&'static str, Option<bool>)>, Markup),
    /// Forms of one button each.
    Buttons(Vec<FormView>),
    /// A text, and forms of one button each beside it.
    #[cfg_attr(
        not(feature = "committee"),
        expect(dead_code, reason = "members of the committee have rows")
    )]
    Row(Markup, Vec<FormView>),
    /// What is to be done, each with the link or form that does it. Whether it needs somebody now: then the first is filled.
    Agenda(Vec<AgendaRow>, bool),
    /// What needs nobody.
    Fine(Vec<Markup>),
    /// A text to be copied.
    Secret(String),
}

/// A table whose rows have forms of one button each, in a column of their own.
pub(crate) struct ActTable {
    pub(crate) label: &'static str,
    /// The columns before that of the forms.
    pub(crate) head: Vec<&'static str>,
    pub(crate) rows: Vec<(Vec<Markup>, Vec<FormView>)>,
    pub(crate) empty: &'static str,
}

/// A row of an agenda.
pub(crate) struct AgendaRow {
    /// When it is.
    pub(crate) when: Markup,
    pub(crate) text: Markup,
    pub(crate) act: AgendaAct,
}

/// What a row of an agenda offers.
pub(crate) enum AgendaAct {
    Nothing,
    /// A path, and what is there.
    Link(String, &'static str),
    Form(Box<FormView>),
}

impl Page {
    /// A page whose title is in the words of the console.
    pub(super) fn new(title: impl Into<String>) -> Self {
        let title = title.into();
        Self { heading: Markup::text(&title), title, ..Self::default() }
    }

    /// A page whose title begins with a name from outside.
    pub(super) fn named(name: &str, rest: &str) -> Self {
        let heading = Markup(format!("{}{}", quoted(name), escape(rest)));
        Self { heading, title: format!("{name}{rest}"), ..Self::default() }
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

    pub(super) fn table(
        &mut self,
        label: &'static str,
        head: impl Into<Vec<&'static str>>,
        rows: impl IntoIterator<Item = Vec<Markup>>,
        empty: &'static str,
    ) {
        let (head, rows) = (head.into(), rows.into_iter().collect());
        self.blocks.push(Block::Table(Table { label, head, rows, empty }));
    }

    /// Adds a table whose rows have forms of one button each.
    pub(super) fn act_table(
        &mut self,
        label: &'static str,
        head: impl Into<Vec<&'static str>>,
        rows: impl IntoIterator<Item = (Vec<Markup>, Vec<FormView>)>,
        empty: &'static str,
    ) {
        let (head, rows) = (head.into(), rows.into_iter().collect());
        self.blocks.push(Block::ActTable(ActTable { label, head, rows, empty }));
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

    /// Adds a heading and the form below it, if there is one.
    pub(super) fn section(&mut self, heading: &str, lead: &str, form: Option<FormView>) {
        self.forms(heading, [form.map(|form| form.with_lead(lead))]);
    }

    /// Adds a form that is folded until it is opened, if there is one.
    pub(super) fn fold(&mut self, summary: &str, lead: &str, form: Option<FormView>) {
        self.form(form.map(|form| form.with_lead(lead).folded(summary)));
    }

    /// Adds a form that only searches.
    pub(super) fn search(&mut self, action: &str, button: &str, field: Field) {
        let button = Button::new(button);
        self.form(Some(FormView::new("get", action.to_owned(), button, vec![field])));
    }

    /// Adds the link to the page that goes on.
    pub(super) fn more(&mut self, path: &str, text: &str) {
        self.text(Markup(format!("<a rel=\"next\" href=\"{}\">{text}</a>", escape(path))));
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
        let mut refused = Vec::new();
        for block in &mut self.blocks {
            if let Block::Panels(panels) = block {
                nth += 1;
                panels.id = format!("form{nth}");
                mark_refused(&panels.id.clone(), panels.fields_mut(), &mut refused);
            }
            for form in block.forms_mut() {
                nth += 1;
                form.id = format!("form{nth}");
                mark_refused(&form.id, form.fields.iter_mut().collect(), &mut refused);
            }
        }
        // Each fault is told once: at its field, if the page has it.
        if !refused.is_empty() {
            self.fault = None;
        }
        self.refused_fields = refused;
        let mut answer = html(status, &self);
        // A browser sends no origin with a form of a page whose policy is no-referrer.
        answer.headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        answer
    }
}

/// Lists the refused fields of a form. The page opens at the first of them.
fn mark_refused(form: &str, fields: Vec<&mut Field>, refused: &mut Vec<(String, String)>) {
    for field in fields.into_iter().filter(|field| field.fault.is_some()) {
        field.has_focus = refused.is_empty();
        refused.push((format!("{form}-{}", field.name), field.label.clone()));
    }
}

impl Block {
    fn forms_mut(&mut self) -> Vec<&mut FormView> {
        match self {
            Self::Form(form) => vec![&mut **form],
            Self::Buttons(forms) | Self::Row(_, forms) => forms.iter_mut().collect(),
            Self::ActTable(table) => table.rows.iter_mut().flat_map(|(_, forms)| forms).collect(),
            Self::Agenda(rows, _) => rows.iter_mut().filter_map(AgendaRow::form).collect(),
            _ => Vec::new(),
        }
    }
}

impl AgendaRow {
    fn form(&mut self) -> Option<&mut FormView> {
        match &mut self.act {
            AgendaAct::Form(form) => Some(form),
            _ => None,
        }
    }
}

/// A cell of two lines, the second in small letters.
pub(super) fn two_lines(first: &Markup, second: &Markup) -> Markup {
    Markup(format!("{first}<br><span class=\"quiet\">{second}</span>"))
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
    error.shown_as(page)
}

/// The status and headers of an error, with the body of this page.
pub(super) fn with_status_of(error: Answer, page: Answer) -> Answer {
    let (mut headers, problem) = (error.headers, error.problem);
    headers.extend(page.headers.clone());
    Answer { status: error.status, headers, problem, ..page }
}

/// The error and its detail, as one text.
pub(super) fn error_text(error: &Answer) -> String {
    let body = Json::read(&error.body).ok();
    let mut body = body.map(Json::into_object).unwrap_or_default();
    let text = body.text("error").unwrap_or_else(|_| "refused".to_owned());
    let text = capitalized(&text);
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
fn signed_out_error(
    served: &ServedTenant,
    error: impl Into<ApiError>,
    title: &str,
    lead: &str,
) -> Answer {
    let page = signed_out_page(served, Page::new(title).with_lead(lead));
    with_error(error.into().into_answer(), page)
}

/// The page of a request that the console refuses: over plain HTTP, or from another site.
pub(super) fn refusal_page(served: &ServedTenant, error: RequestError) -> Answer {
    let (title, lead) = match error {
        RequestError::PlainHttp => (
            "The console needs HTTPS",
            "Over plain HTTP everybody on the way could read the token. Open this page over HTTPS or, on \
             the machine of the server itself, at localhost.",
        ),
        _ => (
            "Not sent from the console",
            "This form came from a page of another site, or the browser does not say which. Nothing was \
             changed. Open the console and send it from there.",
        ),
    };
    signed_out_error(served, error, title, lead)
}

/// The text of a page where it cannot be determined who the operator is.
pub(super) const UNAVAILABLE: &str =
    "Who you are cannot be checked now. Nothing was changed: try again.";

/// The page of a request whose operator cannot be determined.
pub(super) fn unavailable_page(served: &ServedTenant, error: SignOnUnavailable) -> Answer {
    signed_out_error(served, error, "The sign-on does not answer", UNAVAILABLE)
}
