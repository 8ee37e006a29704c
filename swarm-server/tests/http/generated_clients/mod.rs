//! Clients that are generated from `/openapi.json`: they compile, and read everything to the end (API.md, 9.1).

mod nightly;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::clients::{node, node_tools, python};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Client};
use crate::program::scratch_folder;

/// The descriptions: of all operations, and of those for one audience.
const DESCRIPTIONS: [&str; 5] = [
    "/openapi.json",
    "/openapi.json?audience=public",
    "/openapi.json?audience=member",
    "/openapi.json?audience=operator",
    "/openapi.json?audience=page",
];

/// An empty folder with the description of this address in `openapi.json`.
fn folder_with(client: &Client, name: &str, address: &str) -> PathBuf {
    let folder = scratch_folder().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let description = client.get(address).expect(200).text;
    std::fs::write(folder.join("openapi.json"), description).unwrap();
    folder
}

/// The output of a command, which must succeed.
#[track_caller]
fn output(command: &mut Command) -> String {
    let ran = command.output().unwrap_or_else(|error| panic!("{command:?} does not run: {error}"));
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{command:?}: {said}{complaint}");
    said
}

/// A program of a package of Node.js, in this folder.
fn node_program(folder: &Path, program: &str) -> Command {
    let mut command = Command::new(node());
    let program = format!("{}/node_modules/{program}", node_tools());
    command.arg(program).current_dir(folder);
    command
}

/// The generator formats and checks its client with ruff, and fails if it is no valid program.
fn python_client(folder: &Path) {
    let python = PathBuf::from(python());
    let programs = python.parent().unwrap().to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([programs].into_iter().chain(std::env::split_paths(&path)));
    let generate = ["-m", "openapi_python_client", "generate", "--path=openapi.json"];
    let generate = [&generate[..], &["--output-path=client", "--meta=none"]].concat();
    let mut command = Command::new(python);
    output(command.args(generate).env("PATH", path.unwrap()).current_dir(folder));
}

#[test]
fn python_client_reads_everything() {
    let (fixture, author) = Fixture::with_records();
    let client = &fixture.client;
    for day in 22..=24 {
        client.convene(&format!("2026-11-{day}"), "aurora");
        client.submit(&author, author.draft(&format!("2026-11-{day}"), "aurora")).expect(201);
        let memo = json!({ "title": "A memo", "body": "Long." }).to_string();
        client.post("/api/swarm/memos", &[("authorization", &author.bearer())], &memo).expect(201);
        fixture.author();
    }
    client.operate("/subjects", &json!({ "id": "borealis", "name": "Borealis" })).expect(201);
    client.operate("/sessions/2/state", &json!({ "state": "aggregated" })).expect(200);
    let over = json!({ "windowClosesAt": fixture.clock.now().to_string() }).to_string();
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    client.send("PATCH", "/api/swarm/admin/sessions/2", &headers, over.as_bytes()).expect(200);
    fixture.clock.move_by(1);
    client.operate("/sessions/2/outcome", &json!({ "value": 1 })).expect(200);
    fixture.sign_log();
    let folder = folder_with(client, "python-client", "/openapi.json");
    python_client(&folder);
    let script = include_str!("read_everything.py");
    std::fs::write(folder.join("read_everything.py"), script).unwrap();
    let mut program = Command::new(python());
    program.args(["read_everything.py", &client.url(), &author.token, ADMIN]).current_dir(&folder);
    let counts: Value = serde_json::from_str(&output(&mut program)).unwrap();
    let entries = client.log_entries().len();
    for (operation, count) in [
        ("get_sessions", 4),
        ("get_sessions_by_id", 1),
        ("get_sessions_by_id_scores", 1),
        ("get_takes", 4),
        ("get_memos", 4),
        ("get_subjects", 2),
        ("get_members", 4),
        ("get_log", entries),
        ("get_me", 3),
        ("get_admin_applications", 4),
        ("get_swarm_sessions", 4),
        ("get_swarm_takes", 4),
        ("get_swarm_takes_csv", 4),
        ("get_swarm_memos", 4),
        ("get_swarm_subjects", 2),
        ("get_swarm_log_csv", entries),
    ] {
        assert_eq!(counts[operation], count, "{operation} of {counts}");
    }
    // No read is missing from the client.
    let description = client.get("/openapi.json").json();
    let methods = description["paths"].as_object().unwrap().values();
    let reads = methods.filter(|methods| methods["get"].is_object()).count();
    assert_eq!(counts.as_object().unwrap().len(), reads);
}

/// Compiles the program `read.ts` with the types of this server's description, into `compiled` of the folder that is returned.
fn typescript_program(client: &Client, name: &str) -> PathBuf {
    let folder = folder_with(client, name, "/openapi.json");
    output(node_program(&folder, "openapi-typescript/bin/cli.js").args([
        "openapi.json",
        "--output",
        "types.ts",
    ]));
    std::fs::write(folder.join("read.ts"), include_str!("read.ts")).unwrap();
    output(
        node_program(&folder, "typescript/bin/tsc")
            .args(["--strict", "--target", "es2022", "--module", "commonjs"])
            .args(["--lib", "es2022,dom", "--outDir", "compiled", "types.ts", "read.ts"]),
    );
    folder
}

#[test]
fn typescript_program_compiles() {
    let (fixture, _) = Fixture::with_records();
    typescript_program(&fixture.client, "typescript-client");
}

#[test]
fn descriptions_are_valid_by_redocly() {
    let (fixture, _) = Fixture::with_records();
    for (number, address) in DESCRIPTIONS.into_iter().enumerate() {
        let folder = folder_with(&fixture.client, &format!("redocly-{number}"), address);
        output(
            node_program(&folder, "@redocly/cli/bin/cli.js")
                .args(["lint", "openapi.json"])
                .env("REDOCLY_TELEMETRY", "off")
                .env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true"),
        );
    }
}
