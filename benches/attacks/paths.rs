//! 32 readers of each public path, taken from the API description, in many spellings.

use serde_json::Value;
use swarm_benches::shipped::{ServerFixture, load};

use crate::BUDGET;
use crate::desk::LARGE;
use crate::strangers::{Strangers, Then};

/// The connections of an attack on a path.
const CONNECTIONS: usize = 32;

/// Requests of each path before they repeat: more than answers are cached of one path.
const VARIANTS: usize = 240;

/// Ways to spell a request.
const SPELLINGS: usize = 6;

/// An attack on a path: clients that each send one of the texts, then the next, without a pause.
pub struct PathAttack {
    /// A public path as the description spells it, or a method and a path.
    pub name: String,
    pub texts: Vec<Vec<u8>>,
    /// The budget of the 99th percentile of takes, in that without the attack.
    pub budget: f64,
    /// How many addresses the clients have.
    pub addresses: u8,
}

impl PathAttack {
    /// All public paths of the first tenant.
    pub fn all(fixture: &ServerFixture) -> Vec<Self> {
        let host = fixture.server.address.to_string();
        let all = described(fixture).into_iter();
        all.map(|(template, query)| Self::new(&host, template, &query, &Values::of(fixture)))
            .collect()
    }

    /// The same paths of the second tenant, whose documents are the largest, all at once.
    pub fn of_the_large_tenant(fixture: &ServerFixture) -> Self {
        let values = Values {
            subject: "large-100".to_owned(),
            session: "1".to_owned(),
            ..Values::of(fixture)
        };
        let host = swarm_benches::shipped::host(1);
        let paths = described(fixture).into_iter();
        let paths = paths
            .filter(|(template, _)| template.contains("subject") || template.contains("brief"));
        let texts =
            paths.flat_map(|(template, query)| Self::new(&host, template, &query, &values).texts);
        Self::of_readers("documents of another tenant".to_owned(), texts.collect())
    }

    fn new(host: &str, template: String, query: &[String], values: &Values) -> Self {
        let path = values.path(&template);
        let mut texts = Vec::new();
        for variant in 0..VARIANTS {
            let given = query.iter().map(|name| format!("{name}={}", values.query(name, variant)));
            let mut queries: Vec<String> = given.chain([String::new()]).collect();
            if query.iter().any(|name| name == "wait") {
                // Looks through the whole log.
                queries.push("kind=operation&wait=1".to_owned());
            }
            let query = queries.get(variant / SPELLINGS % queries.len()).expect("within");
            texts.push(spelled(host, &path, query, variant));
        }
        Self::of_readers(template, texts)
    }

    fn of_readers(name: String, texts: Vec<Vec<u8>>) -> Self {
        Self { name, texts, budget: BUDGET, addresses: 1 }
    }

    pub fn clients(&self) -> Strangers {
        let Self { texts, addresses, .. } = self;
        Strangers {
            addresses: *addresses,
            connections: CONNECTIONS * usize::from(*addresses),
            texts: texts.clone(),
            then: Then::Read,
        }
    }
}

/// The GET paths without a credential, with the names of their query parameters.
fn described(fixture: &ServerFixture) -> Vec<(String, Vec<String>)> {
    let answer = load::ask(fixture.server.address, fixture.get("/openapi.json", None));
    let document: Value = serde_json::from_slice(answer.body()).expect("JSON");
    let mut paths = Vec::new();
    for (template, methods) in document["paths"].as_object().expect("paths") {
        let get = &methods["get"];
        // Without a scheme, or with an empty one among them, a request needs no credential.
        let schemes = get["security"].as_array();
        let is_public = schemes.is_none_or(|all| {
            all.is_empty() || all.iter().any(|it| it == &Value::Object(Default::default()))
        });
        if get.is_null() || !is_public {
            continue;
        }
        let parameters = get["parameters"].as_array().into_iter().flatten();
        let query = parameters.filter(|parameter| parameter["in"] == "query");
        let name = |parameter: &Value| parameter["name"].as_str().expect("a name").to_owned();
        paths.push((template.clone(), query.map(name).collect()));
    }
    paths
}

/// The values of parameters.
pub struct Values {
    session: String,
    subject: String,
    member: String,
}

impl Values {
    pub fn of(fixture: &ServerFixture) -> Self {
        let session = fixture.sessions.get(LARGE).expect("a session");
        let member = fixture.authors.first().expect("an author").id().as_str().to_owned();
        Self { session: session.id.to_string(), subject: session.subject_id.to_string(), member }
    }

    pub fn with_member(self, member: String) -> Self {
        Self { member, ..self }
    }

    pub fn path(&self, template: &str) -> String {
        let mut path = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').expect("it is closed");
            path += before;
            path += self.part(name, &path);
            rest = after;
        }
        path + rest
    }

    /// The value of a path parameter that follows `before`.
    fn part(&self, name: &str, before: &str) -> &str {
        match name {
            "id" if before.ends_with("/sessions/") => &self.session,
            "id" if before.ends_with("/subjects/") => &self.subject,
            "id" if before.ends_with("/members/") || before.ends_with("/apply/") => &self.member,
            "id" => "1",
            "date" => "2026-11-21",
            "subject" => &self.subject,
            "tenant" => "t0",
            "log" => "1",
            "level" => "entries",
            "number" | "*number" => "000",
            "seq" => "1",
            "chapter" => "takes",
            "file" => "m0.json",
            _ => panic!("{before}{{{name}}} needs a value"),
        }
    }

    /// The value of a query parameter.
    fn query(&self, name: &str, variant: usize) -> String {
        match name {
            "before" | "after" | "from" => (variant + 300).to_string(),
            "limit" => (500 - variant).to_string(),
            "session" => self.session.clone(),
            "subject" => self.subject.clone(),
            "member" => self.member.clone(),
            "date" => "2026-11-21".to_owned(),
            "q" => format!("lend {variant}"),
            "stance" => "constructive".to_owned(),
            "state" => "published".to_owned(),
            "superseded" => "true".to_owned(),
            "to" => (variant + 400).to_string(),
            "view" => "summary".to_owned(),
            "audience" => "member".to_owned(),
            "kind" => "session".to_owned(),
            "wait" => "0".to_owned(),
            "since" => "2026-11-21".to_owned(),
            "min" => (variant % 20 + 2).to_string(),
            "take" => "1".to_owned(),
            "sort" => "distance".to_owned(),
            "format" => "json".to_owned(),
            "url" => format!("http://127.0.0.1/swarm/sessions/{}", variant + 1),
            _ => panic!("?{name}= needs a value"),
        }
    }
}

/// A request for a path, spelled in one of [`SPELLINGS`] ways.
fn spelled(host: &str, path: &str, query: &str, variant: usize) -> Vec<u8> {
    let (mut path, mut query, mut header) = (path.to_owned(), query.to_owned(), "");
    match variant % SPELLINGS {
        0 => {}
        1 => path = percent_encoded(&path),
        2 => query += &format!("&unknown{variant}={}", "x".repeat(600)),
        3 => path += "/",
        4 => header = "Accept-Encoding: gzip\r\n",
        _ => header = "Accept: application/json\r\n",
    }
    let head =
        format!("GET {path}?{query} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{header}\r\n");
    head.into_bytes()
}

/// With the letters and digits of the last part encoded.
fn percent_encoded(path: &str) -> String {
    let (before, last) = path.rsplit_once('/').expect("a path");
    let last = last.bytes().map(|byte| match byte {
        b'%' | b'.' => char::from(byte).to_string(),
        _ => format!("%{byte:02x}"),
    });
    format!("{before}/{}", last.collect::<String>())
}
