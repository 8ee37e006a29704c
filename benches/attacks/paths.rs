//! 32 readers of each public path, taken from the API description, in many spellings; and 32 clients that send large bodies to
//! each path that takes one.

use serde_json::Value;
use swarm_benches::shipped::{ADMIN, ServerFixture, load};

use crate::desk::LARGE;
use crate::strangers::{Strangers, Then};

const READERS: usize = 32;

/// Requests of each path before they repeat: more than answers are cached of one path.
const VARIANTS: usize = 240;

/// Ways to spell a request.
const SPELLINGS: usize = 6;

/// A public path, and the requests of its readers.
pub struct PublicPath {
    /// As the description spells it.
    pub template: String,
    texts: Vec<Vec<u8>>,
}

impl PublicPath {
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
        Self { template: "documents of another tenant".to_owned(), texts: texts.collect() }
    }

    /// All paths that take a body, with bodies of each [`Filling`]. The credentials are made up, but of operators: those of
    /// the second tenant are its own.
    pub fn with_bodies(fixture: &ServerFixture) -> Vec<Self> {
        let values = Values::of(fixture);
        let (first, second) = (fixture.server.address.to_string(), swarm_benches::shipped::host(1));
        let mut paths = Vec::new();
        for (template, is_of_operators) in described_with_bodies(fixture) {
            let path = values.path(&template);
            let host = if is_of_operators { &second } else { &first };
            let texts = FILLINGS.iter().map(|filling| filling.request(host, &path)).collect();
            paths.push(Self { template: format!("POST {template}"), texts });
        }
        paths
    }

    fn new(host: &str, template: String, query: &[String], values: &Values) -> Self {
        let path = values.path(&template);
        let mut texts = Vec::new();
        for variant in 0..VARIANTS {
            let given = query.iter().map(|name| format!("{name}={}", values.query(name, variant)));
            let queries: Vec<String> = given.chain([String::new()]).collect();
            let query = queries.get(variant / SPELLINGS % queries.len()).expect("within");
            texts.push(spelled(host, &path, query, variant));
        }
        Self { template, texts }
    }

    /// Readers that do not pause.
    pub fn readers(&self) -> Strangers {
        let texts = self.texts.clone();
        Strangers { addresses: 1, connections: READERS, texts, then: Then::Read }
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

/// The paths that take a JSON body, and whether operators alone may send one.
fn described_with_bodies(fixture: &ServerFixture) -> Vec<(String, bool)> {
    let answer = load::ask(fixture.server.address, fixture.get("/openapi.json", None));
    let document: Value = serde_json::from_slice(answer.body()).expect("JSON");
    let mut paths = Vec::new();
    for (template, methods) in document["paths"].as_object().expect("paths") {
        let post = &methods["post"];
        if post["requestBody"]["content"]["application/json"].is_object() {
            let schemes = post["security"].as_array().into_iter().flatten();
            let is_of_operators = schemes.into_iter().any(|scheme| scheme["operator"].is_array());
            paths.push((template.clone(), is_of_operators));
        }
    }
    paths
}

/// What fills a large body: `before`, then `part` again and again, then `after`.
struct Filling {
    before: &'static str,
    part: &'static str,
    after: &'static str,
}

const FILLINGS: [Filling; 3] = [
    Filling { before: "{\"nonce\":[", part: "1,", after: "1]}" },
    Filling { before: "{\"body\":\"", part: "\\u0041", after: "\"}" },
    Filling { before: "{\"a\":", part: "[", after: "" },
];

/// The size of these bodies in bytes, which most routes refuse and the others read.
const BODY: usize = 250_000;

impl Filling {
    fn request(&self, host: &str, path: &str) -> Vec<u8> {
        let count = (BODY - self.before.len() - self.after.len()) / self.part.len();
        let body = [self.before, &self.part.repeat(count), self.after].concat();
        format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Authorization: Bearer tok_made_up\r\nX-Admin-Token: {ADMIN}\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }
}

/// What stands for the parameters.
struct Values {
    session: String,
    subject: String,
    member: String,
}

impl Values {
    fn of(fixture: &ServerFixture) -> Self {
        let session = fixture.sessions.get(LARGE).expect("a session");
        let member = fixture.authors.first().expect("an author").id().as_str().to_owned();
        Self { session: session.id.to_string(), subject: session.subject_id.to_string(), member }
    }

    fn path(&self, template: &str) -> String {
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
