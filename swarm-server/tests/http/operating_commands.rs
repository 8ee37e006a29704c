//! The commands of OPERATING.md, run in their order against a real server.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{env, fs};

use swarm_redis_testing::free_port;

use crate::program::Program;
use crate::tenant_configuration::tenant;

/// Blocks that begin with this are not run.
const ELSEWHERE: &str = "# elsewhere: ";

#[test]
fn commands_of_the_operating_manual_run() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../OPERATING.md");
    let manual = fs::read_to_string(manual).unwrap();
    let blocks = manual.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let (elsewhere, blocks): (Vec<_>, Vec<_>) =
        blocks.partition(|block| block.starts_with(ELSEWHERE));
    // A block that is not run is an exception: each new one is counted here.
    assert_eq!((elsewhere.len(), blocks.len()), (2, 14), "{elsewhere:?}");

    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    // At last, as an operator on the machine itself.
    let console = format!("curl -sfo console.html http://localhost:{port}/operate");
    let script = format!("set -eux\ntrap 'kill $(jobs -p)' EXIT\n{}\n{console}", blocks.concat());
    let postgres = swarm_postgres_testing::Server::start(&[]);
    let script = script.replace("127.0.0.1:8080", &address);
    let script = script.replace("postgres://swarm@localhost/swarm", &postgres.address());
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &script);
}

/// Runs these commands in a folder, with other ports for the restored copy.
#[track_caller]
fn run(folder: &Path, script: &str) {
    let [copy, its_metrics] = [(); 2].map(|()| format!("127.0.0.1:{}", free_port()));
    let script = script.replace("127.0.0.1:8081", &copy).replace("127.0.0.1:8082", &its_metrics);
    let programs = Path::new(env!("CARGO_BIN_EXE_swarm")).parent().unwrap().display();
    let path = env::var("PATH").unwrap();
    let output = Command::new("timeout")
        .args(["300", "bash", "-c", &script])
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .env("PATH", format!("{programs}:{path}"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let log = fs::read_to_string(folder.join("swarm.log")).unwrap_or_default();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}\nserver: {log}");
    // A file that is emptied while it is written has them, unless each write appends.
    assert!(!log.contains('\0'), "{log:?}");
}

/// The copy is served with the file of the server that runs meanwhile.
#[test]
fn drill_runs_beside_a_server_with_an_address_for_metrics() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../OPERATING.md");
    let manual = fs::read_to_string(manual).unwrap();
    let (_, rest) = manual.split_once("## Backup and restore drill").unwrap();
    let drill = rest.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let metrics = format!("metrics_listen = \"127.0.0.1:{}\"\n", free_port());
    let tenant = tenant("acme", "").replace("acme.example", "127.0.0.1");
    fs::write(folder.path().join("swarm.toml"), metrics + &tenant).unwrap();
    let program = Program::start_in(Arc::clone(&folder), &["serve", "--config=swarm.toml"], &[]);
    assert_eq!(program.client.convene("2026-11-21", "aurora"), 1);
    run(folder.path(), &format!("set -eux\n{drill}"));
}

/// The commands in the text, between the blocks: their verbs and flags are those of the program.
#[test]
fn commands_in_the_text_of_the_manual_exist() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../OPERATING.md");
    let manual = fs::read_to_string(manual).unwrap();
    let text: String = manual.split("```").step_by(2).collect();
    let spans = text.split('`').skip(1).step_by(2);
    let commands: Vec<_> = spans.filter(|span| span.starts_with("swarm ")).collect();
    assert!(commands.len() > 30, "{commands:?}");
    for command in commands {
        let words: Vec<_> = command.split_whitespace().skip(1).collect();
        let is_verb =
            |word: &&&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        let flags = words.iter().filter(|word| word.starts_with("--") && **word != "--version");
        let mut verbs: Vec<_> = words.iter().take_while(is_verb).copied().collect();
        verbs.retain(|word| !word.starts_with("--"));
        let help = |verbs: &[&str]| {
            let run = Command::new(env!("CARGO_BIN_EXE_swarm")).args(verbs).arg("--help").output();
            let run = run.unwrap();
            run.status.success().then(|| String::from_utf8(run.stdout).unwrap())
        };
        // The last words may be values, such as `accept key`.
        let found =
            (0..=verbs.len()).rev().find_map(|length| Some((length, help(&verbs[..length])?)));
        let (length, help) = found.unwrap();
        assert!(length + 1 >= verbs.len() && (length > 0 || verbs.is_empty()), "{command}");
        for flag in flags {
            let name = flag.split('=').next().unwrap();
            assert!(help.contains(name), "{command}: no {name} in {help}");
        }
    }
}
