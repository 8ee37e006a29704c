//! The reference as pages: an index, and a chapter for each section of paths, for the codes, and for each
//! topic of schemas.

use std::collections::HashMap;

use askama::Template;
use http::StatusCode;
use swarm_core::json::{Json, Object};
use swarm_core::wire::{Audience, Problem};

use super::route_properties::problems;
use super::schemas::Topics;
use crate::pages::{Frame, Markup, SiteContext, html};
use crate::request::RequestContext;
use crate::request::route::Route;
use crate::response::Answer;

/// The chapter of the errors, whose anchors are the types of problem details.
const ERRORS: &str = "errors";

/// The former name of that chapter, which links may still have.
const FORMER_ERRORS: &str = "codes";

/// The content of the pages, without the tenant.
pub(super) struct Pages {
    groups: Vec<Group>,
    topics: Vec<Topic>,
}

#[derive(Template)]
#[template(path = "docs.html")]
struct IndexPage<'a> {
    frame: Frame,
    groups: &'a [Group],
    topics: &'a [Topic],
}

#[derive(Template)]
#[template(path = "docs_chapter.html")]
struct ChapterPage<'a> {
    frame: Frame,
    title: &'a str,
    operations: &'a [Operation],
    problems: Vec<Problem>,
    schemas: &'a [Schema],
}

/// The schemas of a topic.
struct Topic {
    name: &'static str,
    schemas: Vec<Schema>,
}

struct Group {
    name: &'static str,
    anchor: String,
    operations: Vec<Operation>,
}

struct Operation {
    method: String,
    path: &'static str,
    summary: &'static str,
    /// Labels and values: credential, query, body, answers, refusals.
    facts: Vec<(&'static str, Markup)>,
}

struct Schema {
    name: String,
    description: String,
    /// The type, unless it is an object.
    form: Option<Markup>,
    fields: Vec<Field>,
    /// An example, of a request body.
    example: Option<String>,
}

struct Field {
    name: String,
    form: Markup,
    is_required: bool,
    description: String,
}

impl Pages {
    /// The pages of these routes, with the schemas of these names.
    pub(super) fn of(routes: &[Route], mut schemas: Topics, names: &[String]) -> Self {
        schemas
            .iter_mut()
            .for_each(|(_, schemas)| schemas.retain(|(name, _)| names.contains(name)));
        schemas.retain(|(_, schemas)| !schemas.is_empty());
        let of_topic = |(topic, schemas): &(&'static str, Vec<(String, Json)>)| {
            let topic = *topic;
            schemas.iter().map(move |(name, _)| (name.clone(), topic)).collect::<Vec<_>>()
        };
        let links = Links(schemas.iter().flat_map(of_topic).collect());
        let sections = routes.chunk_by(|one, next| one.section == next.section);
        let groups = sections.filter_map(|routes| links.group(routes)).collect();
        let topic = |(name, schemas): (_, Vec<_>)| Topic {
            name,
            schemas: schemas.into_iter().map(|schema| links.schema(schema)).collect(),
        };
        Self { groups, topics: schemas.into_iter().map(topic).collect() }
    }

    /// The index.
    pub(super) fn index(&self, request: &RequestContext) -> Answer {
        let frame = Frame::new(SiteContext::of(request), "Reference", "/docs");
        html(StatusCode::OK, &IndexPage { frame, groups: &self.groups, topics: &self.topics })
    }

    /// A chapter; `None` if there is none of this name.
    pub(super) fn chapter(&self, request: &RequestContext, name: &str) -> Option<Answer> {
        let name = if name == FORMER_ERRORS { ERRORS } else { name };
        let schemas = name.strip_prefix("schemas-");
        let topic = schemas.and_then(|name| self.topics.iter().find(|topic| topic.name == name));
        let group = self.groups.iter().find(|group| group.anchor == name);
        let title = match (group, topic, name) {
            (Some(group), ..) => group.name.to_owned(),
            (_, Some(topic), _) => format!("Schemas: {}", topic.name),
            (.., ERRORS) => "Errors".to_owned(),
            _ => return None,
        };
        let frame = Frame::new(SiteContext::of(request), title.as_str(), format!("/docs/{name}"));
        let page = ChapterPage {
            frame: frame.showing("Reference").below("/docs", "Reference"),
            title: &title,
            operations: group.map_or(&[], |group| &group.operations),
            problems: if name == ERRORS { all_problems() } else { Vec::new() },
            schemas: topic.map_or(&[], |topic| &topic.schemas),
        };
        Some(html(StatusCode::OK, &page))
    }
}

/// The errors that a request may get.
fn all_problems() -> Vec<Problem> {
    let is_served =
        |it: &Problem| cfg!(feature = "committee") || it.audience() != Audience::Committee;
    Problem::ALL.iter().copied().filter(is_served).collect()
}

/// The topic of each schema, for links.
struct Links(HashMap<String, &'static str>);

impl Links {
    /// The routes of one section.
    fn group(&self, routes: &[Route]) -> Option<Group> {
        let name = routes.first()?.section.heading();
        let anchor = name.to_lowercase().replace(", ", "-").replace(' ', "-");
        let operations = routes.iter().map(|route| self.describe(route)).collect();
        Some(Group { name, anchor, operations })
    }

    fn describe(&self, route: &Route) -> Operation {
        let mut facts = Vec::new();
        if let Some(scheme) = route.access.scheme() {
            facts.push(("Credential", Markup(format!("<code>{}</code>", scheme.sent))));
        }
        if let Some(role) = route.access.role() {
            facts.push(("Role", Markup(role.as_str().to_owned())));
        }
        let query: Vec<_> = route.parameters().map(|it| self.parameter(&it)).collect();
        if !query.is_empty() {
            facts.push(("Query", Markup(query.join(", "))));
        }
        if let Some(rule) = route.body {
            let or_none = if rule.optional { ", or none" } else { "" };
            facts.push(("Body", Markup(self.link(rule.schema) + or_none)));
        }
        let answers = route.about.answers.iter().map(|(status, forms)| {
            let forms: Vec<_> = forms.iter().map(|form| self.link(form)).collect();
            format!("{status} {}", forms.join(" or "))
        });
        facts.push(("Answers", Markup(answers.collect::<Vec<_>>().join(", "))));
        let own: Vec<_> = problems(route).into_iter().filter(|it| is_specific(*it)).collect();
        if !own.is_empty() {
            let by_status = own.chunk_by(|one, next| one.status() == next.status());
            let refusals: Vec<_> = by_status.map(refusals).collect();
            facts.push(("Refusals", Markup(refusals.join("<br>"))));
        }
        Operation {
            method: route.method.to_string(),
            path: route.path,
            summary: route.about.summary,
            facts,
        }
    }

    fn parameter(&self, (name, schema): &(&str, &str)) -> String {
        format!("<code>{name}</code> {}", self.link(schema))
    }

    /// A link to a schema, or a media type.
    fn link(&self, form: &str) -> String {
        match form.split_once('/') {
            Some(_) => format!("<code>{form}</code>"),
            None => {
                let topic = self.0.get(form).copied().unwrap_or("common");
                format!("<a href=\"/docs/schemas-{topic}#{form}\">{form}</a>")
            }
        }
    }

    fn schema(&self, (name, schema): (String, Json)) -> Schema {
        let object = schema.clone().into_object();
        let fields = self.fields(&object);
        let form = fields.is_empty().then(|| Markup(self.form(&schema)));
        let example = items(object.get("examples")).first().map(swarm_core::json::write);
        Schema { name, description: text(&object, "description"), form, fields, example }
    }

    fn fields(&self, object: &Object) -> Vec<Field> {
        let required: Vec<_> = items(object.get("required")).iter().map(plain).collect();
        let Some(Json::Object(properties)) = object.get("properties") else { return Vec::new() };
        let field = |(name, schema): (&str, &Json)| Field {
            name: name.to_owned(),
            form: Markup(self.form(schema)),
            is_required: required.iter().any(|required| required == name),
            description: text(&schema.clone().into_object(), "description"),
        };
        properties.members().map(field).collect()
    }

    /// The type of a value, in words and links.
    fn form(&self, schema: &Json) -> String {
        let object = schema.clone().into_object();
        if let Some(place) = object.get("$ref") {
            return self.link(plain(place).rsplit('/').next().unwrap_or_default());
        }
        for choice in ["anyOf", "oneOf"] {
            let choices = items(object.get(choice)).iter();
            let forms: Vec<_> = choices.map(|choice| self.form(choice)).collect();
            if !forms.is_empty() {
                return forms.join(" or ");
            }
        }
        if let Some(value) = object.get("const") {
            return code(value);
        }
        let values: Vec<_> = items(object.get("enum")).iter().map(code).collect();
        if !values.is_empty() {
            return values.join(", ");
        }
        let kinds = match object.get("type") {
            Some(Json::List(kinds)) => kinds.iter().map(plain).collect(),
            Some(kind) => vec![plain(kind)],
            None => vec!["anything".to_owned()],
        };
        let kinds: Vec<_> = kinds.into_iter().map(|kind| self.kind_in(&kind, &object)).collect();
        kinds.join(" or ")
    }

    /// One of a schema's types, with its limits.
    fn kind_in(&self, kind: &str, object: &Object) -> String {
        match kind {
            "array" => match object.get("items") {
                Some(items) => format!("list of {}", self.form(items)),
                None => "list".to_owned(),
            },
            "object" => {
                let fields = self.fields(object);
                let field = |field: &Field| {
                    let mark = if field.is_required { "" } else { "?" };
                    format!("<code>{}</code>{mark} {}", field.name, field.form)
                };
                let fields: Vec<_> = fields.iter().map(field).collect();
                if fields.is_empty() {
                    kind.to_owned()
                } else {
                    format!("{{ {} }}", fields.join(", "))
                }
            }
            "string" => kind.to_owned() + &range(object, "minLength", "maxLength", " characters"),
            "number" | "integer" => kind.to_owned() + &range(object, "minimum", "maximum", ""),
            _ => kind.to_owned(),
        }
    }
}

/// Whether to list the error with each route; those that any request may get are listed once.
fn is_specific(problem: Problem) -> bool {
    !matches!(
        problem,
        Problem::MissingHost
            | Problem::InvalidHost
            | Problem::InvalidTarget
            | Problem::InvalidFraming
            | Problem::Busy
            | Problem::UnknownHost
            | Problem::InvalidJson
            | Problem::BodyIncomplete
            | Problem::BodyTooSlow
            | Problem::BodyTooLarge
            | Problem::NotJsonType
            | Problem::Internal
            | Problem::Unavailable
    )
}

/// The error codes of one status.
fn refusals(problems: &[Problem]) -> String {
    let link = |problem: &Problem| format!("<a href=\"/docs/errors#{0}\">{0}</a>", problem.code());
    let links: Vec<_> = problems.iter().map(link).collect();
    let status = problems.first().map_or(0, |problem| problem.status());
    format!("{status} {}", links.join(", "))
}

fn range(object: &Object, min: &str, max: &str, unit: &str) -> String {
    let bound = |name| object.get(name).map(swarm_core::json::write::<Json>);
    match (bound(min), bound(max)) {
        (Some(min), Some(max)) => format!(", {min} to {max}{unit}"),
        (Some(min), None) => format!(", from {min}{unit}"),
        (None, Some(max)) => format!(", up to {max}{unit}"),
        (None, None) => String::new(),
    }
}

fn code(value: &Json) -> String {
    match value {
        Json::Text(text) => format!("<code>{text}</code>"),
        value => swarm_core::json::write(value),
    }
}

fn items(list: Option<&Json>) -> &[Json] {
    match list {
        Some(Json::List(items)) => items,
        _ => &[],
    }
}

fn text(object: &Object, name: &str) -> String {
    object.get(name).map(plain).unwrap_or_default()
}

fn plain(value: &Json) -> String {
    match value {
        Json::Text(text) => text.clone(),
        _ => String::new(),
    }
}
