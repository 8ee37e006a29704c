//! The clients under `examples/clients` with invalid answers, interrupted, and with unwritable output.
#![allow(clippy::disallowed_methods, reason = "deadlines are measured from outside")]

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{ClientProgram, python};
use crate::verification::{answering, clients, dribbling, endless, raw, scripted, whole};

const SECOND: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(30);

/// The origin of the scripted services.
const ORIGIN: &str = "--origin=https://acme.example";

const FILED: &str = r#"{"ok":true,"status":201,"recommendationId":7,"verified":true}"#;

fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Submits a take.
fn submit(client: &ClientProgram) -> Output {
    client.run(&["keygen", "my.key"]);
    fs::write(client.folder.join("my.token"), "tok").unwrap();
    client.run(&[
        "submit",
        "--url",
        &client.url,
        "--key=my.key",
        "--token-file=my.token",
        "--member=ada",
        "--date=2026-11-21",
        "--subject=aurora",
        "--stance=cautious",
        "--confidence=0.62",
    ])
}

/// Claims a token, into `my.token`.
fn claim(client: &ClientProgram) -> Command {
    client.run(&["keygen", "my.key"]);
    let files = ["--key=my.key", "--token-file=my.token", "--member=ada", ORIGIN];
    client.command(&[&["claim", "--url", &client.url], &files[..]].concat())
}

#[test]
fn slow_answer_times_out() {
    let says = r#"
import sys; sys.path.insert(0, sys.argv[1])
import swarm_client
from swarm_client import Swarm, new_key, sign, take
swarm_client.TIMEOUT = 2
signed = sign(take("ada", "2026-11-21", "aurora", "cautious", 0.62), new_key())
print(int(Swarm(sys.argv[2]).submit("tok", signed)["recommendationId"]))
"#;
    let (url, _bodies) = answering([
        dribbling("HTTP/1.1 201 "),
        dribbling("HTTP/1.1 201 -\r\ncontent-length: 1000\r\n\r\n"),
        whole(201, FILED),
    ]);
    let folder = format!("{}/../examples/clients", env!("CARGO_MANIFEST_DIR"));
    let start = Instant::now();
    let output = Command::new(python()).args(["-B", "-c", says, &folder, &url]).output().unwrap();
    assert_eq!(output.stdout, b"7\n", "{output:?}");
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

/// Another service could relay it. No file is left behind.
#[test]
fn challenge_of_another_service_is_not_signed() {
    for named in ["https://other.example c", "c", "http://acme.example c"] {
        let challenge = json!({ "challenge": named, "expiresAt": "2026-11-21T00:00:00Z" });
        for which in [0, 1] {
            let (url, bodies) = scripted(vec![(200, challenge.to_string())]);
            let client = &clients("other-service", &url, &[])[which];
            let output = claim(client).output().unwrap();
            let error = errors(&output);
            assert!(error.contains("for another service than https://acme.example"), "{error}");
            assert_eq!((output.status.code(), bodies.try_iter().count()), (Some(1), 1));
            assert!(!client.folder.join("my.token").exists());
        }
    }
}

#[test]
fn oversized_answer_is_not_retried() {
    for which in [0, 1] {
        let (url, bodies) = answering([endless(), endless()]);
        let client = &clients("too-long", &url, &[])[which];
        let output = submit(client);
        assert_eq!(errors(&output).trim(), "the answer is too long");
        assert_eq!((output.status.code(), bodies.try_iter().count()), (Some(1), 1));
    }
}

#[test]
fn success_that_is_not_json_is_not_printed() {
    let challenge =
        json!({ "challenge": "https://acme.example c", "expiresAt": "2026-11-21T00:00:00Z" })
            .to_string();
    let cut = r#"{"ok":true,"token":"swarm_tok_sec"#;
    for which in [0, 1] {
        let (url, bodies) = scripted(vec![(200, challenge.clone()), (201, cut.to_owned())]);
        let client = &clients("no-json", &url, &[])[which];
        let output = claim(client).output().unwrap();
        assert_eq!(errors(&output).trim(), "an answer that is no JSON");
        assert_eq!((output.status.code(), bodies.try_iter().count()), (Some(1), 2));
        let left: Vec<_> = fs::read_dir(&client.folder).unwrap().collect();
        assert_eq!(left.len(), 1, "the key alone: {left:?}");
    }
}

#[test]
fn control_characters_of_a_server_are_not_printed() {
    let answers = std::iter::repeat_with(|| raw("\u{1b}[31mred\u{202e}\r\n\r\n"));
    let (url, _bodies) = answering(answers.take(4));
    for client in clients("red", &url, &[]) {
        for command in ["status", "verify"] {
            let output = client.run(&[command, "--url", &url, "5"]);
            let text = errors(&output);
            assert!(!output.status.success() && text.trim_end().len() > 3, "{text}");
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
        }
    }
}

#[test]
fn file_that_is_not_json_is_not_printed() {
    let secret = "\u{1b}[31m MC4CAQAwBQYDK2Vw";
    for client in clients("no-json-file", "http://127.0.0.1:1", &[("my.key", secret)]) {
        for command in [&["verify"][..], &["diagnose", "--url", &client.url]] {
            let output = client.run(&[command, &["my.key"]].concat());
            let text = errors(&output);
            assert!(!output.status.success() && !text.is_empty(), "{text}");
            assert!(!text.contains('\u{1b}') && !text.contains("MC4"), "{text}");
        }
        let mut canonical = client.command(&["canonical"]);
        canonical.stdin(File::open(client.folder.join("my.key")).unwrap());
        let text = errors(&canonical.output().unwrap());
        assert!(!text.contains('\u{1b}') && !text.contains("MC4"), "{text}");
    }
}

#[test]
fn bad_usage_has_its_exit_status_without_stderr() {
    for client in clients("full", "http://127.0.0.1:1", &[]) {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let status = client.command(&["nonsense"]).stderr(full).status().unwrap();
        assert_eq!(status.code(), Some(2), "{}", client.script.display());
    }
}

/// Node.js creates non-blocking pipes, and passes them on.
#[test]
fn full_pipe_is_awaited_without_busy_waiting() {
    let (url, _bodies) = scripted(vec![(200, json!("long".repeat(1 << 20)).to_string())]);
    let [_, client] = clients("full-pipe", &url, &[]);
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let mut command = client.command(&["status", "--url", &url, "5"]);
    let mut child = command.stdout(OwnedFd::from(theirs)).spawn().unwrap();
    drop(command); // and with it our copy of the other end
    let mut said = vec![0];
    ours.read_exact(&mut said).unwrap();
    sleep(SECOND / 2);
    let before = processor_ticks(&child);
    sleep(SECOND);
    let used = processor_ticks(&child) - before;
    ours.read_to_end(&mut said).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(said.len(), (4 << 20) + "\"\"\n".len());
    assert!(used < 20, "{used} of 100 ticks");
}

/// The processor time of a process, in hundredths of a second.
fn processor_ticks(child: &Child) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let fields = stat.rsplit_once(") ").unwrap().1.split(' '); // from the third on
    fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

#[test]
fn private_file_is_written_atomically() {
    for which in [0, 1] {
        let (url, bodies) = answering([dribbling(""), whole(200, "{}")]);
        let client = &clients("stopped", &url, &[])[which];
        let mut child = claim(client).spawn().unwrap();
        bodies.recv_timeout(LONG).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let path = client.folder.join("my.token");
        assert!(!path.exists());

        let key = fs::metadata(client.folder.join("my.key")).unwrap();
        assert_eq!(key.permissions().mode() & 0o777, 0o600);
        fs::write(&path, "another").unwrap();
        let output = claim(client).output().unwrap();
        assert!(errors(&output).contains("my.token exists"), "{output:?}");
        assert_eq!(
            (output.status.code(), fs::read(&path).unwrap()),
            (Some(1), b"another".to_vec())
        );
        assert!(bodies.try_recv().is_err(), "no request is sent in vain");
    }
}
