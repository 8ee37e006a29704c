//! The commands of OPERATING.md, run in their order against a real server.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use swarm_redis_testing::free_port;

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
    assert_eq!((elsewhere.len(), blocks.len()), (1, 10), "{elsewhere:?}");

    let address = format!("127.0.0.1:{}", free_port());
    let script = format!("set -eux\ntrap 'kill $(jobs -p)' EXIT\n{}", blocks.concat());
    let postgres = swarm_postgres_testing::Server::start(&[]);
    let script = script.replace("127.0.0.1:8080", &address);
    let script = script.replace("127.0.0.1:8081", &format!("127.0.0.1:{}", free_port()));
    let script = script.replace("postgres://swarm@localhost/swarm", &postgres.address());
    let folder = tempfile::tempdir().unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_swarm")).parent().unwrap().display();
    let path = env::var("PATH").unwrap();
    let output = Command::new("timeout")
        .args(["300", "bash", "-c", &script])
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .env("PATH", format!("{programs}:{path}"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let log = fs::read_to_string(folder.path().join("swarm.log")).unwrap_or_default();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}\nserver: {log}");
}
