//! Clients of openapi-generator, in Python, Go and Java, and a program with the types of openapi-typescript: each reads every
//! list to its end. And schemathesis, which sends what the description allows and compares each answer with it (API.md, 9.1).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{folder_with, output, typescript_program};
use crate::clients::{node, python};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Client};
use crate::program::Program;

/// The program, a file of Java that a package of Python brings.
fn generator() -> String {
    let find = "import openapi_generator_cli as it, pathlib; \
                print(next(pathlib.Path(it.__file__).parent.glob('*.jar')))";
    output(Command::new(python()).args(["-c", find])).trim().to_owned()
}

/// The folder `client` with a client of this server that this generator made.
fn generated(client: &Client, name: &str, options: &[&str]) -> PathBuf {
    let folder = folder_with(client, name, "/openapi.json");
    let mut command = Command::new("java");
    let generate = ["generate", "--input-spec=openapi.json", "--output=client"];
    command.args(["-jar", &generator()]).args(generate).args(options).current_dir(&folder);
    output(&mut command);
    folder.join("client")
}

fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Reads each list of the demo to its end, in the longest pages. Returns the number of items of each, by operation.
fn read_whole(client: &Client) -> Value {
    let count = |(operation, path, list): (&str, &str, &str)| {
        let (mut items, mut address) = (0, Some(format!("{path}?limit=500")));
        while let Some(path) = address {
            let page = client.send("GET", &path, &[("x-admin-token", ADMIN)], b"").expect(200);
            items += page.json()[list].as_array().unwrap().len();
            let link = page.header("link").and_then(|link| link.strip_prefix('<'));
            address = link.and_then(|link| Some(link.split_once('>')?.0.to_owned()));
        }
        (operation.to_owned(), json!(items))
    };
    let lists = [
        ("get_admin_acts", "/api/swarm/admin/acts", "acts"),
        ("get_admin_applications", "/api/swarm/admin/applications", "applications"),
        ("get_admin_outbox", "/api/swarm/admin/outbox", "messages"),
        ("get_admin_webhooks", "/api/swarm/admin/webhooks", "deliveries"),
        ("get_ic_sessions", "/api/ic/sessions", "sessions"),
        ("get_log", "/api/swarm/log", "entries"),
        ("get_memos", "/api/swarm/memos", "memos"),
        ("get_sessions", "/api/swarm/sessions", "sessions"),
        ("get_sessions_by_id", "/api/swarm/sessions/1", "takes"),
        ("get_subjects", "/api/swarm/subjects", "subjects"),
        ("get_takes", "/api/swarm/takes", "takes"),
    ];
    let counts: serde_json::Map<_, _> = lists.into_iter().map(count).collect();
    assert!(counts["get_takes"].as_u64() > Some(500) && counts["get_log"].as_u64() > Some(1_000));
    counts.into()
}

#[test]
fn python_client_reads_every_list_to_its_end() {
    let (demo, _) = Program::demo();
    let client = generated(&demo.client, "generator-python", &["--generator-name=python"]);
    write(client.join("read_lists.py"), include_str!("read_lists.py"));
    let mut program = Command::new(python());
    program.args(["read_lists.py", &demo.client.url(), ADMIN]).current_dir(client);
    let counts: Value = serde_json::from_str(&output(&mut program)).unwrap();
    assert_eq!(counts, read_whole(&demo.client));
}

#[test]
fn python_client_is_imported_whole() {
    let (fixture, _) = Fixture::with_records();
    let client = generated(&fixture.client, "generator-modules", &["--generator-name=python"]);
    let import = "import importlib, openapi_client, pkgutil
modules = list(pkgutil.walk_packages(openapi_client.__path__, 'openapi_client.'))
for module in modules: importlib.import_module(module.name)
print(len(modules))";
    let mut command = Command::new(python());
    let count = output(command.args(["-c", import]).current_dir(client));
    assert!(count.trim().parse::<usize>().unwrap() > 200, "{count}");
}

/// The module that checks tags of fields is replaced: the client calls one function of it.
#[test]
fn go_client_reads_every_list_to_its_end() {
    let (demo, _) = Program::demo();
    let options = ["--generator-name=go", "--additional-properties=enumClassPrefix=true"];
    let client = generated(&demo.client, "generator-go", &options);
    let _ = fs::remove_dir_all(client.join("test"));
    write(client.join("validator/go.mod"), "module gopkg.in/validator.v2\n");
    let function = "package validator\n\nfunc Validate(interface{}) error { return nil }\n";
    write(client.join("validator/validator.go"), function);
    write(client.join("read/main.go"), include_str!("read_lists.go"));
    let go = |arguments: &[&str]| {
        output(Command::new("go").args(arguments).env("GOFLAGS", "-mod=mod").current_dir(&client))
    };
    go(&["mod", "edit", "-replace=gopkg.in/validator.v2=./validator"]);
    go(&["vet", ".", "./read"]);
    let printed = go(&["run", "./read", &demo.client.url(), ADMIN]);
    assert_eq!(with_operation_ids(&printed), read_whole(&demo.client));
}

/// Its libraries are those that the generator itself has, but for one annotation.
#[test]
fn java_client_reads_every_list_to_its_end() {
    let (demo, _) = Program::demo();
    let options = [
        "--generator-name=java",
        "--library=native",
        "--additional-properties=openApiNullable=false",
    ];
    let client = generated(&demo.client, "generator-java", &options);
    let source = client.join("src/main/java");
    let annotation = "package javax.annotation;

public @interface Generated {
    String value();
    String date();
    String comments();
}
";
    write(source.join("javax/annotation/Generated.java"), annotation);
    write(source.join("ReadLists.java"), include_str!("ReadLists.java"));
    let mut files = Vec::new();
    sources(&source, &mut files);
    assert!(files.len() > 200, "{files:?}");
    let libraries = generator();
    let mut compiler = Command::new("javac");
    compiler.args(["-parameters", "-proc:none", "-nowarn", "-cp", &libraries, "-d", "classes"]);
    output(compiler.args(files).current_dir(&client));
    let classes = format!("{libraries}:classes");
    let mut program = Command::new("java");
    program.args(["-cp", &classes, "ReadLists", &demo.client.url(), ADMIN, "classes"]);
    let printed = output(program.current_dir(client));
    assert_eq!(with_operation_ids(&printed), read_whole(&demo.client));
}

/// A compiled program, with the types of openapi-typescript.
#[test]
fn typescript_program_reads_every_list_to_its_end() {
    let (demo, _) = Program::demo();
    let folder = typescript_program(&demo.client, "typescript-lists");
    let mut program = Command::new(node());
    program.args(["compiled/read.js", &demo.client.url(), ADMIN]).current_dir(folder);
    let counts: Value = serde_json::from_str(&output(&mut program)).unwrap();
    assert_eq!(counts, read_whole(&demo.client));
}

/// The counts that a program printed, by operation id (`get_admin_acts`) instead of the method that the generator made of it
/// (`GetAdminActs`, `getAdminActs`).
fn with_operation_ids(printed: &str) -> Value {
    let counts: serde_json::Map<String, Value> = serde_json::from_str(printed).unwrap();
    let operation = |method: &str| {
        let letters = method.chars().flat_map(|letter| {
            letter.is_uppercase().then_some('_').into_iter().chain(letter.to_lowercase())
        });
        letters.collect::<String>().trim_start_matches('_').to_owned()
    };
    counts.into_iter().map(|(method, count)| (operation(&method), count)).collect()
}

/// The files of a folder and of those in it.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, files),
            false => files.push(path),
        }
    }
}

/// What an answer is compared with. What the description allows may be refused all the same: that a session exists, or that a
/// signature is valid, is not in it.
const CHECKS: &str = "--checks=not_a_server_error,status_code_conformance,\
                      content_type_conformance,response_headers_conformance,\
                      response_schema_conformance";

/// Removes the parameter with which a request waits for entries: it may wait longer than schemathesis.
fn without_waits(description: &Path) {
    let mut described: Value =
        serde_json::from_str(&fs::read_to_string(description).unwrap()).unwrap();
    let parameters = described.pointer_mut("/paths/~1api~1swarm~1log/get/parameters");
    if let Some(Value::Array(parameters)) = parameters {
        parameters.retain(|parameter| parameter["name"] != "wait");
    }
    fs::write(description, described.to_string()).unwrap();
}

/// Each operation gets a few requests; none waits for entries, and the stream of events, which does not end, gets none.
#[test]
fn schemathesis_finds_no_answer_that_is_not_described() {
    let (fixture, author) = Fixture::with_records();
    for audience in ["public", "page", "member", "operator"] {
        let address = format!("/openapi.json?audience={audience}");
        let folder = folder_with(&fixture.client, &format!("schemathesis-{audience}"), &address);
        without_waits(&folder.join("openapi.json"));
        let program = Path::new(&python()).with_file_name("schemathesis");
        let mut command = Command::new(program);
        command.args(["run", "openapi.json", CHECKS, "--phases=examples,fuzzing"]);
        command.args(["--max-examples=10", "--seed=1", "--exclude-path=/api/swarm/events"]);
        command.args(["--url", &fixture.client.url()]);
        command.args(["--header", &format!("X-Admin-Token: {ADMIN}")]);
        command.args(["--header", &format!("Authorization: {}", author.bearer())]);
        output(command.current_dir(folder));
    }
}
