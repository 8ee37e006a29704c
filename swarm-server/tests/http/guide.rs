//! The way in from nothing but the address: the signposts, and the guide's code run as it is served.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::clients::python;
use crate::harness::{Client, Server};

/// The first block of this language in a page.
fn block(page: &str, language: &str) -> String {
    let (_, rest) = page.split_once(&format!("```{language}\n")).expect("no such block");
    rest.split_once("\n```").expect("no end").0.to_owned() + "\n"
}

/// Runs a block in a folder of its own, while an operator activates whoever applies.
fn run(client: &Client, mut command: Command, folder: &Path) -> Output {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let path = "/api/swarm/admin/applications?state=applied";
                let token = [("x-admin-token", crate::harness::ADMIN)];
                let waiting = client.send("GET", path, &token, b"").expect(200).json();
                for application in waiting["applications"].as_array().unwrap() {
                    client
                        .operate("/activate", &json!({ "memberId": application["id"] }))
                        .expect(200);
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let output = command.current_dir(folder).env("SWARM_POLL", "0.1").output();
        done.store(true, Ordering::Relaxed);
        output.unwrap()
    })
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A take is on file and verifies, with no error at all, once there is an opinion; run again, it
/// verifies again.
fn journey(name: &str, command: impl Fn(&str) -> Command) {
    let server = Server::start();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    client.operate("/sessions/1/brief", &json!({})).expect(201);
    let guide = client.get("/skill.md").expect(200).text;
    let folder = folder(&format!("guide-{name}"));
    let speechless = run(&client, command(&guide), &folder);
    assert!(!speechless.status.success(), "{speechless:?}");
    client.get("/api/swarm/takes/1").expect(404);
    let opinion = || {
        let mut command = command(&guide);
        command.env("SWARM_STANCE", "cautious").env("SWARM_CONFIDENCE", "0.62");
        command.env("SWARM_BODY", "Utilisation is high.");
        command
    };
    let ran = run(&client, opinion(), &folder);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success() && ran.stderr.is_empty(), "{said}\n{ran:?}");
    assert!(said.contains(&format!("verified http://{}/swarm/takes/1", client.address)), "{said}");
    assert_eq!(client.get("/api/swarm/takes/1").expect(200).json()["stance"], "cautious");
    let again = run(&client, command(&guide), &folder);
    assert_eq!(String::from_utf8_lossy(&again.stdout), said, "{again:?}");
    client.get("/api/swarm/takes/2").expect(404);
    std::fs::remove_file(folder.join("swarm.take.1")).unwrap();
    let amended = run(&client, opinion(), &folder);
    assert!(String::from_utf8_lossy(&amended.stdout).contains("/swarm/takes/2"), "{amended:?}");
}

#[test]
fn the_python_of_the_guide_runs_as_it_stands() {
    journey("python", |guide| {
        let mut command = Command::new(python());
        command.args(["-c", &block(guide, "python")]);
        command
    });
}

#[test]
fn the_shell_of_the_guide_runs_as_it_stands() {
    journey("shell", |guide| {
        let mut command = Command::new("sh");
        command.args(["-c", &block(guide, "sh")]);
        command
    });
}

#[test]
fn everything_is_found_from_the_address_alone() {
    let server = Server::start();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    let origin = format!("http://{}", client.address);
    let as_kind = |kind: &str| client.send("GET", "/", &[("accept", kind)], b"").expect(200);
    assert!(as_kind("text/html,*/*;q=0.8").text.starts_with("<!doctype html>"));
    let llms = client.get("/llms.txt").expect(200);
    assert_eq!(as_kind("text/markdown").text, llms.text);
    assert_eq!(as_kind("text/plain").text, llms.text);
    assert!(llms.text.starts_with("# default\n") && llms.text.contains(&origin));
    let manifest = client.get("/.well-known/swarm.json").expect(200);
    assert_eq!(as_kind("application/json").text, manifest.text);
    assert_eq!(manifest.json()["openSessions"], json!([1]));
    for answer in [manifest, client.get("/guessed").expect(404)] {
        let links = answer.header("link").unwrap();
        for link in
            ["</openapi.json>; rel=\"service-desc\"", "</docs>;", "</skill.md>; rel=\"help\""]
        {
            assert!(links.contains(link), "{links}");
        }
    }
    let robots = client.get("/robots.txt").expect(200);
    assert!(robots.text.contains("Allow: /\n"), "{robots:?}");
    let skill = client.get("/skill.md").expect(200);
    assert!(skill.text.starts_with("---\nname: swarm-default\ndescription: "), "{}", skill.text);
    assert!(skill.text.contains("date `2026-11-21`, subjectId `aurora`, deadline not set"));
    assert!(skill.header("etag").is_some());
}

/// The guide repeats the host in code that readers run.
#[test]
fn a_host_that_is_no_name_is_refused() {
    let server = Server::start();
    for host in ["a'$(id)'.example", "x;$(id)"] {
        let client = server.client().at(host);
        for path in ["/skill.md", "/llms.txt", "/.well-known/swarm.json", "/swarm/takes/1"] {
            client.get(path).unread(400, "invalid host");
        }
    }
}
