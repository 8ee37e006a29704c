//! The tables of API.md that repeat declarations are made from these.
//!
//! Such a table stands between `<!-- table: NAME -->` and `<!-- end -->`. Its head is of people, and so is its last column where
//! it has words: they are kept for the row that has the same first cell. `UPDATE_TABLES=1 cargo test -p swarm-http tables`
//! writes all other cells, and adds and removes rows.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test panics")]

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::Value;
use swarm_core::rules::CautionCode;
use swarm_core::wire::Problem;

use crate::discovery::reference::Reference;
use crate::request::credential::Access;
use crate::request::route::Route;
use crate::routes;
use crate::site::Parts;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../API.md");

struct Table {
    name: &'static str,
    /// The cells that are declared. The first one tells the rows apart.
    rows: Vec<Vec<String>>,
    words: Words,
}

/// The words of people in the last column.
#[derive(Clone, Copy, PartialEq)]
enum Words {
    None,
    /// Each row may have some.
    Allowed,
    /// Each row has some.
    Required,
}

impl Table {
    /// The document with this table as it is declared.
    fn made_in(&self, document: &str) -> String {
        let name = self.name;
        let (before, rest) = document
            .split_once(&format!("<!-- table: {name} -->\n"))
            .unwrap_or_else(|| panic!("API.md has no table {name}"));
        let (old, after) = rest.split_once("<!-- end -->").unwrap();
        let (head, old) = old.split_at(old.match_indices('\n').nth(1).unwrap().0 + 1);
        let old: Vec<Vec<_>> =
            old.lines().map(|line| line.trim_matches('|').split('|').collect()).collect();
        let words: HashMap<_, _> =
            old.iter().map(|cells| (cells[0].trim(), cells[cells.len() - 1].trim())).collect();
        let mut made = format!("{before}<!-- table: {name} -->\n{head}");
        for row in &self.rows {
            let words = words.get(row[0].as_str()).copied().unwrap_or_default();
            let words = (self.words != Words::None).then_some(words);
            for cell in row.iter().map(String::as_str).chain(words) {
                let space = if cell.is_empty() { "" } else { " " };
                write!(made, "|{space}{cell} ").unwrap();
            }
            made.push_str("|\n");
        }
        made + "<!-- end -->" + after
    }

    /// Fails if a row lacks its words.
    fn check_words(&self, document: &str) {
        if self.words == Words::Required {
            for row in &self.rows {
                let wordless =
                    row.iter().fold(String::new(), |line, cell| line + "| " + cell + " ");
                let wordless = wordless.replace("|  ", "| ") + "| |";
                assert!(!document.contains(&wordless), "say in the last column of {wordless}");
            }
        }
    }
}

#[test]
fn tables_of_the_manual_are_those_of_the_declarations() {
    let document = std::fs::read_to_string(PATH).unwrap();
    let tables = tables();
    let made = tables.iter().fold(document.clone(), |document, table| table.made_in(&document));
    tables.iter().for_each(|table| assert!(!table.rows.is_empty(), "{} is empty", table.name));
    if std::env::var_os("UPDATE_TABLES").is_some() {
        std::fs::write(PATH, &made).unwrap();
    } else {
        for (line, declared) in document.lines().zip(made.lines()) {
            assert_eq!(line, declared, "UPDATE_TABLES=1 writes what is declared");
        }
        assert_eq!(document, made);
    }
    tables.iter().for_each(|table| table.check_words(&made));
}

/// Other tables, whose rows have words of people beside several errors, name them with their statuses.
#[test]
fn errors_in_other_tables_have_their_statuses() {
    let documents = [PATH, concat!(env!("CARGO_MANIFEST_DIR"), "/../MANUAL.md")];
    let (mut is_of_errors, mut compared) = (false, 0);
    for line in documents.map(|path| std::fs::read_to_string(path).unwrap()).join("\n").lines() {
        is_of_errors = line.starts_with("| status |") || is_of_errors && line.starts_with('|');
        let status = line.split('|').nth(1).and_then(|cell| cell.trim().parse::<u16>().ok());
        let Some(status) = status.filter(|_| is_of_errors) else { continue };
        for named in line.split('`').skip(1).step_by(2) {
            let is_named = |it: &&Problem| it.code() == named || it.text() == Some(named);
            let mut problems = Problem::ALL.iter().filter(is_named).peekable();
            compared += usize::from(problems.peek().is_some());
            let is_right =
                problems.peek().is_none() || problems.any(|problem| problem.status() == status);
            assert!(is_right, "{named} does not come with {status}: {line}");
        }
    }
    assert!(compared > 30, "{compared} errors are in tables");
}

/// Also what no table has is named in the document.
#[test]
fn each_path_of_the_interfaces_is_in_the_manual() {
    let document = std::fs::read_to_string(PATH).unwrap();
    for route in routes::site(Parts::ALL).iter().filter(|route| route.path.starts_with("/api/")) {
        let path = below(&path(route), &["/api/swarm/admin", "/api/ic/admin"]);
        let is_named =
            document.contains(&format!("{path}`")) || document.contains(&format!("{path}?"));
        assert!(is_named, "{} {path} is not in API.md", route.method);
    }
}

fn tables() -> Vec<Table> {
    let routes = routes::site(Parts::ALL);
    let document = Reference::of(&routes).openapi("http://a.example", None).body;
    let document: Value = serde_json::from_slice(&document).unwrap();
    let schemas = Schemas(&document["components"]["schemas"]);
    let requests = |name, base: &'static str, below: &'static [&'static str]| Table {
        name,
        rows: (routes.iter())
            .filter(|route| route.access.role().is_some())
            .filter(|route| {
                below.iter().any(|below| route.path.starts_with(&[base, below].concat()))
            })
            .map(|route| request(route, base, schemas))
            .collect(),
        words: Words::Required,
    };
    let reads = |name, base: &'static str| Table {
        name,
        rows: (routes.iter())
            .filter(|route| route.method == "GET" && route.path.starts_with(base))
            .filter(|route| matches!(route.access, Access::Public | Access::PublicOrMember))
            .map(|route| vec![code(&(path(route) + &query(route)))])
            .collect(),
        words: Words::Required,
    };
    let codes = |name, codes: Vec<&str>| Table {
        name,
        rows: codes.into_iter().map(|it| vec![code(it)]).collect(),
        words: Words::Required,
    };
    let warnings = &schemas.0["Preflight"]["properties"]["warnings"]["items"];
    vec![
        Table {
            name: "errors",
            rows: Problem::ALL.iter().map(|problem| error(*problem)).collect(),
            words: Words::None,
        },
        Table {
            name: "fields of a take",
            rows: schemas.fields("Submission"),
            words: Words::Allowed,
        },
        Table {
            name: "checks of a take",
            rows: checks(&routes, "/api/swarm/submit"),
            words: Words::Allowed,
        },
        reads("reads", "/api/swarm/"),
        codes("cautions", CautionCode::ALL.map(CautionCode::as_str).to_vec()),
        requests(
            "requests about members",
            "/api/swarm/admin",
            &[
                "/applications",
                "/activate",
                "/members",
                "/reject",
                "/deactivate",
                "/reset-claim",
                "/erase",
                "/rotate-key",
            ],
        ),
        requests("requests about sessions", "/api/swarm/admin", &["/sessions"]),
        requests(
            "requests about subjects",
            "/api/swarm/admin",
            &["/subjects", "/regime", "/signals", "/memos"],
        ),
        requests("requests about takes", "/api/swarm/admin", &["/takes"]),
        reads("reads of the committee", "/api/ic/"),
        requests("requests about the committee", "/api/ic/admin", &["/"]),
        codes("warnings", texts(&warnings["properties"]["code"]["enum"])),
        Table { name: "entries", rows: schemas.entries(), words: Words::Allowed },
        requests("requests about webhooks", "/api/swarm/admin", &["/webhooks"]),
    ]
}

/// The code, the status and the text of an error.
fn error(problem: Problem) -> Vec<String> {
    let text = problem.text().map_or_else(String::new, code);
    vec![code(problem.code()), problem.status().to_string(), text]
}

/// What the checks of a take refuse, in their order. What a policy refuses comes after them.
fn checks(routes: &[Route], path: &str) -> Vec<Vec<String>> {
    let refusals = routes.iter().find(|route| route.path == path).unwrap().about.refusals;
    let of_policy = [Problem::PolicyForbids, Problem::PolicyConflict];
    let refusals = refusals.iter().filter(|problem| !of_policy.contains(problem));
    let before = [Problem::MissingBearer, Problem::InvalidJson];
    before.iter().chain(refusals).map(|problem| error(*problem)).collect()
}

/// Method and path, role and body of a request of operators.
fn request(route: &Route, base: &str, schemas: Schemas<'_>) -> Vec<String> {
    let place =
        format!("{} {}", route.method, code(&(below(&path(route), &[base]) + &query(route))));
    let body = route.body.map_or_else(String::new, |body| {
        let fields = schemas.shape(&schemas.0[body.schema]);
        let at_least = match schemas.0[body.schema]["minProperties"] {
            Value::Null => "",
            _ => ", at least one",
        };
        let or_none = if body.optional { ", or none" } else { "" };
        if fields.is_empty() { fields } else { code(&fields) + at_least + or_none }
    });
    vec![place, route.access.role().unwrap().as_str().to_owned(), body]
}

/// The path, with names in angles.
fn path(route: &Route) -> String {
    route.path.replace("{*", "<").replace('{', "<").replace('}', ">")
}

fn below(path: &str, bases: &[&str]) -> String {
    bases.iter().find_map(|base| path.strip_prefix(base)).unwrap_or(path).to_owned()
}

/// The query parameters: filters, then the position and the size of the page.
fn query(route: &Route) -> String {
    let mut names: Vec<_> = route.query.iter().map(|(name, _)| *name).collect();
    names.sort_by_key(|name| match *name {
        "limit" => 2,
        "before" | "after" => 1,
        _ => 0,
    });
    let query: Vec<_> = names.iter().map(|name| format!("{name}=")).collect();
    if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The schemas of the description, by name.
#[derive(Clone, Copy)]
struct Schemas<'a>(&'a Value);

impl<'a> Schemas<'a> {
    /// The schema that this one refers to, or that has its values but null.
    fn resolved(self, schema: &'a Value) -> &'a Value {
        if schema["$ref"].is_string() {
            return self.resolved(self.at(&schema["$ref"]));
        }
        let either = schema["anyOf"].as_array().into_iter().flatten();
        either.clone().find(|it| it["type"] != "null").map_or(schema, |it| self.resolved(it))
    }

    /// The fields of an object as they are written, those that may be absent with a question mark; empty for a plain value.
    fn shape(self, schema: &'a Value) -> String {
        let schema = self.resolved(schema);
        if schema["items"].is_object() {
            let items = self.shape(&schema["items"]);
            return if items.is_empty() { items } else { format!("[{items}]") };
        }
        let fields = schema["properties"].as_object().into_iter().flatten().map(|(name, field)| {
            let mark = if texts(&schema["required"]).contains(&name.as_str()) { "" } else { "?" };
            let shape = self.shape(field);
            let shape = if shape.is_empty() { shape } else { format!(": {shape}") };
            format!("{name}{mark}{shape}")
        });
        let fields: Vec<_> = fields.collect();
        if fields.is_empty() { String::new() } else { format!("{{{}}}", fields.join(", ")) }
    }

    /// The fields of a form, and what each may hold.
    fn fields(self, form: &str) -> Vec<Vec<String>> {
        let required = texts(&self.0[form]["required"]);
        let fields = self.0[form]["properties"].as_object().unwrap();
        let row = |(name, field): (&String, &'a Value)| {
            let is_required = required.contains(&name.as_str());
            let optional = if is_required { "" } else { "optional, " };
            vec![code(name), format!("{optional}{}", self.limits(field))]
        };
        fields.iter().map(row).collect()
    }

    /// What a value may be, in words.
    fn limits(self, field: &'a Value) -> String {
        let schema = self.resolved(field);
        let bound = |name: &str| schema[name].as_u64().map(grouped);
        match (bound("minLength"), bound("maxLength"), bound("minimum"), bound("maximum")) {
            (Some(min), Some(max), ..) => format!("{min}–{max} characters"),
            (None, Some(max), ..) => format!("at most {max} characters"),
            (.., Some(min), Some(max)) => format!("a number from {min} to {max}"),
            _ if schema["format"] == "date" => "`YYYY-MM-DD`".to_owned(),
            _ => code(&self.shape(schema)),
        }
    }

    /// The kinds of entries: their acts, and their fields after number, time and kind.
    fn entries(self) -> Vec<Vec<String>> {
        let kinds = self.0["LogEntry"]["discriminator"]["mapping"].as_object().unwrap();
        let row = |(kind, place): (&String, &'a Value)| {
            let entry = self.at(place);
            let entries: Vec<_> = match entry["discriminator"]["mapping"].as_object() {
                Some(acts) => acts.values().map(|place| self.at(place)).collect(),
                None => vec![entry],
            };
            let (mut acts, mut fields) = (Vec::new(), Vec::<&str>::new());
            for entry in &entries {
                let act = &entry["properties"]["act"];
                acts.extend(texts(&act["enum"]).into_iter().chain(act["const"].as_str()).map(code));
                fields.extend(entry["properties"].as_object().unwrap().keys().map(String::as_str));
            }
            let mut seen = HashSet::from(["seq", "at", "kind"]);
            fields.retain(|name| seen.insert(name));
            let fields = fields.iter().map(|name| {
                let is_always = entries.iter().all(|it| texts(&it["required"]).contains(name));
                code(&format!("{name}{}", if is_always { "" } else { "?" }))
            });
            vec![code(kind), acts.join(", "), fields.collect::<Vec<_>>().join(", ")]
        };
        kinds.iter().map(row).collect()
    }

    /// The schema at a place.
    fn at(self, place: &Value) -> &'a Value {
        &self.0[place.as_str().unwrap().rsplit('/').next().unwrap()]
    }
}

/// A whole number with commas between groups of three digits.
fn grouped(number: u64) -> String {
    match number / 1_000 {
        0 => number.to_string(),
        thousands => format!("{},{:03}", grouped(thousands), number % 1_000),
    }
}
