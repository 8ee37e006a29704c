//! Validates every answer in these tests against `/openapi.json`.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use boon::{Compiler, SchemaIndex, Schemas};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use crate::clients::python;
use crate::committee_fixture::{chair, submit};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Answer, Server};
use crate::schema::verdicts;

/// The media types whose bodies are JSON.
const JSON_TYPES: [&str; 2] = ["application/json", "application/problem+json"];

/// The ids of the document for the validator: as served for requests, closed for answers.
const SENT: &str = "http://sent.example/openapi.json";
const ANSWERED: &str = "http://answered.example/openapi.json";

/// Checks that status, body and code of an answer are declared in the document, and the body of an accepted
/// request.
#[track_caller]
pub fn is_described(method: &str, target: &str, sent: &[u8], answer: &Answer) {
    let described = description();
    let path = target.split('?').next().unwrap_or_default();
    let Some((template, methods)) = described.path(path) else { return unknown(answer, target) };
    let verb = if method == "HEAD" { "get" } else { &method.to_ascii_lowercase() };
    let Some(operation) = methods.get(verb) else { return undeclared(method, template, answer) };
    let place = format!("{method} {template}");
    let response = &operation["responses"][answer.status.to_string()];
    let (response, at) = described.response(response, &place, answer);
    let code = answer.header("swarm-error");
    let codes = &response["headers"]["Swarm-Error"]["schema"]["enum"];
    assert!(
        code.is_none_or(|code| codes.as_array().is_some_and(|all| all.contains(&json!(code)))),
        "{place}: {code:?} is not among {codes} of a {}",
        answer.status
    );
    let kind = answer.header("content-type").unwrap_or_default().split(';').next().unwrap();
    if method == "HEAD" || answer.status == 304 {
        return;
    }
    let content = &response["content"][kind];
    assert!(content.is_object(), "{place}: no {kind:?} with a {}", answer.status);
    if JSON_TYPES.contains(&kind) {
        let body = serde_json::from_str(&answer.text).expect("JSON");
        let kind = kind.replace('/', "~1");
        described.holds(&format!("{at}/content/{kind}/schema"), &body, &place);
    }
    // A preflight accepts any body.
    let judged = answer.status < 300 && template != "/api/swarm/preflight";
    if judged && !sent.is_empty() && operation["requestBody"].is_object() {
        let at = pointer(&["paths", template, verb, "requestBody", "content"]);
        let body = serde_json::from_slice(sent).expect("what was accepted is JSON");
        let at = format!("{SENT}#{at}/application~1json/schema");
        described.holds(&at, &body, &format!("the body of {place}"));
    }
}

/// Checks an answer for an unknown path or host, or of the console, which is no API.
#[track_caller]
fn unknown(answer: &Answer, target: &str) {
    let is_of_console = ["/operate", "/swarm/console.css"].iter().any(|it| target.starts_with(it));
    let theirs = answer.status < 400 || is_of_console;
    let codes = ["unknown-path", "unknown-host", "missing-host", "invalid-host", "invalid-target"];
    let code = answer.header("swarm-error").unwrap_or_default();
    assert!(theirs || codes.contains(&code), "{target} is not described: {answer:?}");
}

/// Checks an answer for a method that the path does not have.
#[track_caller]
fn undeclared(method: &str, template: &str, answer: &Answer) {
    let expected: &[u16] = if method == "OPTIONS" { &[204] } else { &[405] };
    let early = matches!(answer.status, 400 | 421);
    assert!(early || expected.contains(&answer.status), "{method} {template}: {answer:?}");
}

struct Description {
    document: Value,
    schemas: Schemas,
    compiled: HashMap<String, SchemaIndex>,
}

/// The document as served, read once.
fn description() -> &'static Description {
    static DESCRIPTION: OnceLock<Description> = OnceLock::new();
    DESCRIPTION.get_or_init(|| {
        let server = Server::start();
        let url = format!("http://{}/openapi.json", server.address);
        let text = ureq::get(&url).call().unwrap().body_mut().read_to_string().unwrap();
        Description::of(serde_json::from_str(&text).unwrap())
    })
}

impl Description {
    fn of(document: Value) -> Self {
        let mut strict = document.clone();
        for schema in strict["components"]["schemas"].as_object_mut().unwrap().values_mut() {
            close(schema);
        }
        let mut places = places(&document);
        let mut compiler = Compiler::new();
        compiler.add_resource(ANSWERED, strict).unwrap();
        compiler.add_resource(SENT, document.clone()).unwrap();
        let mut schemas = Schemas::new();
        let compiled = places.drain(..).map(|place| {
            let index =
                compiler.compile(&place.replace('{', "%7B").replace('}', "%7D"), &mut schemas);
            (place.clone(), index.unwrap_or_else(|error| panic!("{place}: {error:#}")))
        });
        let compiled = compiled.collect();
        Self { document, schemas, compiled }
    }

    /// The path template that this path matches; of several, the one with the fewest parameters, then the
    /// longest. A path that does not decode to UTF-8 matches none.
    fn path(&self, path: &str) -> Option<(&str, &Map<String, Value>)> {
        let parts: Vec<_> = path.split('/').collect();
        let is_open = |part: &str| part.starts_with('{');
        let fits = |template: &str| {
            let templates: Vec<_> = template.split('/').collect();
            let same = |(part, template): (&&str, &&str)| {
                let fills = || !part.is_empty() && percent_decode_str(part).decode_utf8().is_ok();
                let suffix = template.rsplit('}').next().unwrap_or_default();
                if is_open(template) { part.ends_with(suffix) && fills() } else { part == template }
            };
            // The number of a tile may be of several segments.
            let is_tile = template.ends_with("/{number}") && parts.len() > templates.len();
            // A subject may be called `bundle` or `scores`: its path has a day where theirs have a number.
            let names = ["/{id}/bundle", "/{id}/scores"];
            let is_day = names.iter().any(|name| template.ends_with(name)) && path.contains('-');
            (templates.len() == parts.len() || is_tile)
                && !is_day
                && parts.iter().zip(&templates).all(same)
        };
        let paths = self.document["paths"].as_object().unwrap().iter();
        let (template, methods) =
            paths.filter(|(template, _)| fits(template)).min_by_key(|(template, _)| {
                let open = template.split('/').filter(|part| is_open(part)).count();
                (open, std::cmp::Reverse(template.len()))
            })?;
        Some((template, methods.as_object().unwrap()))
    }

    /// The declaration of this status, and its location.
    #[track_caller]
    fn response<'a>(
        &'a self,
        declared: &'a Value,
        place: &str,
        answer: &Answer,
    ) -> (&'a Value, String) {
        assert!(declared.is_object(), "{place} declares no {}: {answer:?}", answer.status);
        let Some(name) = declared["$ref"].as_str() else {
            let (method, template) = place.split_once(' ').unwrap();
            let method = if method == "HEAD" { "get" } else { &method.to_ascii_lowercase() };
            let status = answer.status.to_string();
            let at = pointer(&["paths", template, method, "responses", &status]);
            return (declared, format!("{ANSWERED}#{at}"));
        };
        let name = name.rsplit('/').next().unwrap();
        let at = pointer(&["components", "responses", name]);
        (&self.document["components"]["responses"][name], format!("{ANSWERED}#{at}"))
    }

    #[track_caller]
    fn holds(&self, place: &str, value: &Value, what: &str) {
        let schema = *self.compiled.get(place).unwrap_or_else(|| panic!("no schema at {place}"));
        if let Err(error) = self.schemas.validate(value, schema) {
            panic!("{what} is not as described: {error}\n{value:.2000}");
        }
    }
}

/// Forbids undeclared members in all objects.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(close);
            if members.contains_key("properties") && !members.contains_key("additionalProperties") {
                members.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// Reads a description on standard input, and fails if it is not valid.
const VALIDATE: &str = r#"
import json, sys
from openapi_spec_validator import validate
for document in json.load(sys.stdin):
    validate(document)
"#;

/// The description of the operations for an audience.
fn audience(name: &str) -> Value {
    let server = Server::start();
    server.client().get(&format!("/openapi.json?audience={name}")).expect(200).json()
}

#[test]
fn each_operation_is_described_for_one_audience() {
    let whole = &description().document;
    let mut described = 0;
    for (name, example) in [
        ("public", ["post", "/api/swarm/apply"]),
        ("member", ["get", "/api/swarm/me"]),
        ("operator", ["post", "/api/swarm/admin/sessions"]),
        ("page", ["get", "/swarm/takes"]),
    ] {
        let document = audience(name);
        let [method, path] = example;
        assert_eq!(document["paths"][path][method]["x-audience"], name, "{path}");
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                assert_eq!(operation["x-audience"], name, "{method} {path}");
                assert_eq!(*operation, whole["paths"][path][method], "{method} {path}");
                described += 1;
            }
        }
        for kind in ["schemas", "responses"] {
            let all = &whole["components"][kind];
            for (name, component) in document["components"][kind].as_object().unwrap() {
                assert_eq!(*component, all[name], "{name}");
            }
        }
    }
    let all = whole["paths"].as_object().unwrap().values().flat_map(|it| it.as_object().unwrap());
    assert_eq!(described, all.count());
    let server = Server::start();
    let answer = server.client().get("/openapi.json?audience=everyone");
    let rule = "audience: must be one of public, member, operator, page";
    assert_eq!(answer.header("swarm-hint"), Some(rule));
    answer.unread(400, "invalid query");
}

/// A field of no type, or one whose alternatives have no name, has no name in a generated client.
/// No cache keeps it, and it goes on after an event by a header.
#[test]
fn stream_of_events_is_described_as_a_stream() {
    let events = &description().document["paths"]["/api/swarm/events"]["get"];
    let answers = events["responses"].as_object().unwrap();
    assert!(!answers.contains_key("304") && answers["200"]["headers"].is_null(), "{answers:?}");
    let parameters = events["parameters"].as_array().unwrap();
    let header = parameters.iter().find(|parameter| parameter["in"] == "header").unwrap();
    assert_eq!(header["name"], "Last-Event-ID");
    assert!(header["schema"]["default"].is_null(), "{header}");
    assert!(parameters.iter().any(|parameter| parameter["name"] == "lastEventId"), "{events}");
}

#[test]
fn limits_and_advice_of_the_document_are_those_of_the_service() {
    let document = &description().document;
    assert_eq!(document["components"]["schemas"]["Weights"]["maxItems"], 1_000);
    let body = example("CommitteeSubmission")["body"].as_str().unwrap().to_owned();
    let labels = body.split("\n\n").map(|paragraph| paragraph.split(':').next().unwrap());
    assert_eq!(labels.collect::<Vec<_>>(), ["REGIME", "ALLOCATION", "SUBJECT"]);
    // A replacement of a key is no body of a diagnosis.
    let refusals = document["components"]["responses"].to_string();
    assert!(!refusals.contains("same body to /api/swarm/diagnose"), "{refusals}");
}

#[test]
fn variants_have_names_and_discriminators() {
    let schemas = &description().document["components"]["schemas"];
    for (name, schema) in schemas.as_object().unwrap() {
        for choice in ["oneOf", "anyOf"] {
            let variants = schema[choice].as_array().into_iter().flatten();
            for variant in variants.filter(|variant| variant["type"] != "null") {
                assert!(variant["$ref"].is_string(), "a variant of {name}: {variant}");
            }
        }
        let Some(mapping) = schema["discriminator"]["mapping"].as_object() else { continue };
        let property = schema["discriminator"]["propertyName"].as_str().unwrap();
        for (value, place) in mapping {
            let variant = &schemas[place.as_str().unwrap().rsplit('/').next().unwrap()];
            // A variant that has variants itself is checked with its own.
            let variants = match variant["oneOf"].as_array() {
                Some(variants) => variants.iter().map(|it| it["$ref"].as_str().unwrap()).collect(),
                None => vec![place.as_str().unwrap()],
            };
            for place in variants {
                let variant = &schemas[place.rsplit('/').next().unwrap()];
                assert_eq!(variant["properties"][property]["const"], **value, "{place}");
            }
        }
    }
    assert!(schemas["LogEntry"]["discriminator"].is_object());
    assert_eq!(schemas["Day"]["format"], "date");
    assert_eq!(schemas["Instant"]["format"], "date-time");
}

#[test]
fn document_is_valid_by_an_independent_validator() {
    let mut child = Command::new(python())
        .args(["-c", VALIDATE])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{} does not run: {error}", python()));
    let document = &description().document;
    let document = json!([document, audience("member"), audience("operator")]).to_string();
    child.stdin.take().unwrap().write_all(document.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What is no error of the service is none of the description either.
#[test]
fn schema_of_errors_refuses_nonsense() {
    let described = description();
    let schema = json!({
        "$ref": "#/components/schemas/Error",
        "components": described.document["components"],
    });
    let conflict = json!({
        "ok": false, "status": 409, "error": "public key already registered", "memberId": "ada",
    });
    let unsigned = json!({
        "ok": false, "status": 400, "error": "signature verification failed", "expectedPayload": "{}",
    });
    let good = [conflict.clone(), unsigned, json!({ "error": "invalid json body" })];
    let with = |field: &str, value: Value| {
        let mut error = conflict.clone();
        error[field] = value;
        error
    };
    let bad = [
        json!({}),
        json!({ "ok": {} }),
        json!({ "ok": {}, "error": "x" }),
        json!({ "ok": true, "status": 409, "error": "x" }),
        json!({ "error": "" }),
        json!({ "error": 7 }),
        with("ok", json!({})),
        with("status", json!(200)),
        with("status", Value::Null),
        with("memberId", json!(7)),
        with("expectedPayload", json!({})),
        with("recommendationId", json!("1")),
    ];
    assert_eq!(verdicts(&schema, &good), vec![true; good.len()]);
    assert_eq!(verdicts(&schema, &bad), vec![false; bad.len()]);
}

/// Null counts as absent: a field that must be given refuses it, one of several allows it beside another.
#[test]
fn schemas_of_requests_take_null_where_the_service_does() {
    let components = &description().document["components"];
    let signal =
        |payload: Value| json!({ "signal_key": "k", "date": "2026-11-21", "payload": payload });
    for (name, good, bad) in [
        ("Signal", signal(json!(0)), signal(Value::Null)),
        (
            "MemberPatch",
            json!({ "memberId": "m", "name": null, "lens": "l" }),
            json!({ "memberId": "m", "name": null }),
        ),
        (
            "CommitteeMemberPatch",
            json!({ "name": null, "voice": "v" }),
            json!({ "name": null, "lens": null }),
        ),
    ] {
        let place = format!("#/components/schemas/{name}");
        let schema = json!({ "$ref": place, "components": components });
        assert_eq!(verdicts(&schema, &[good, bad]), [true, false], "{name}");
    }
}

/// The example of a schema, as the document has it.
fn example(schema: &str) -> Value {
    let schema = &description().document["components"]["schemas"][schema];
    schema["examples"][0].clone()
}

#[test]
fn each_request_body_has_an_example() {
    let described = description();
    for (path, methods) in described.document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let Some(name) = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()) else {
                assert!(operation["requestBody"].is_null(), "{method} {path}");
                continue;
            };
            let example = example(name);
            assert!(example.is_object(), "{name} has no example");
            let at = pointer(&["paths", path, method, "requestBody", "content"]);
            described.holds(&format!("{SENT}#{at}/application~1json/schema"), &example, name);
        }
    }
}

#[test]
fn examples_are_accepted_unchanged() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    for listed in example("RosterFreeze")["members"].as_array().unwrap() {
        fixture.author_named(listed["memberId"].as_str().unwrap().parse().unwrap());
    }
    for (path, schema, status) in [
        ("/subjects", "SubjectDraft", 201),
        ("/subjects/aurora/snapshots", "SnapshotDraft", 201),
        ("/regime", "RegimeDraft", 200),
        ("/signals", "Signal", 200),
        ("/sessions", "SessionDraft", 201),
        ("/sessions/1/roster", "RosterFreeze", 200),
        ("/sessions/1/roster/excuse", "Excuse", 200),
        ("/sessions/1/brief", "BriefOrder", 201),
        ("/sessions/1/state", "StateChange", 200),
    ] {
        client.operate(path, &example(schema)).expect(status);
    }
    let operator = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    let patch = example("SessionPatch").to_string();
    let session = "/api/swarm/admin/sessions/1";
    client.send("PATCH", session, &operator, patch.as_bytes()).expect(200);
    let author = fixture.author();
    let memo = example("MemoDraft").to_string();
    client.post("/api/swarm/memos", &[("authorization", &author.bearer())], &memo).expect(201);

    let key = chair(client, "/members", &example("CommitteeMemberDraft")).expect(201).json();
    let key = key["api_key"].as_str().unwrap();
    chair(client, "/briefs", &example("CommitteeOrder")).expect(201);
    submit(client, key, &example("CommitteeSubmission")).expect(200);
    chair(client, "/synthesis", &example("CommitteeSynthesis")).expect(200);
    chair(client, "/members/ada/status", &example("CommitteeStatus")).expect(200);
}

#[test]
fn examples_have_valid_signatures() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let application = example("Application");
    client.post("/api/swarm/apply", &[], &application.to_string()).expect(201);
    assert_eq!(example("Signed")["publicKey"], application["publicKey"]);
    let mut submission = example("Signed");
    submission.as_object_mut().unwrap().remove("publicKey");
    assert_eq!(submission, example("Submission"));
    submission.as_object_mut().unwrap().remove("signature");
    assert_eq!(submission, example("TakeDraft"));
    let mut claim = example("TokenClaim");
    claim["publicKey"] = application["publicKey"].clone();
    for signed in [example("Signed"), claim] {
        let diagnosis = client.post("/api/swarm/diagnose", &[], &signed.to_string()).expect(200);
        assert_eq!(diagnosis.json()["verified"], true, "{signed}");
    }
}

/// The location of each JSON body in the document.
fn places(document: &Value) -> Vec<String> {
    let mut places = Vec::new();
    let mut add = |of: &str, holder: &Value, at: &[&str]| {
        for kind in JSON_TYPES.iter().filter(|kind| holder["content"][**kind].is_object()) {
            let kind = kind.replace('/', "~1");
            places.push(format!("{of}#{}/content/{kind}/schema", pointer(at)));
        }
    };
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            add(SENT, &operation["requestBody"], &["paths", path, method, "requestBody"]);
            for (status, response) in operation["responses"].as_object().unwrap() {
                add(ANSWERED, response, &["paths", path, method, "responses", status]);
            }
        }
    }
    for (name, response) in document["components"]["responses"].as_object().unwrap() {
        add(ANSWERED, response, &["components", "responses", name]);
    }
    places
}

fn pointer(parts: &[&str]) -> String {
    parts.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect()
}
