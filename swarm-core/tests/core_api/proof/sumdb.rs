//! Notes, tiles and proofs, verified by Go's `golang.org/x/mod/sumdb`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::log_key::ServerSecret;
use swarm_core::proof::tile::{TileId, TilePath, hashes_tile};
use swarm_core::proof::tree::{TreeHash, consistency, inclusion, root};

use crate::proof::{Leaves, entry};

const ORIGIN: &str = "acme.example/swarm/log/acme";

#[test]
fn sumdb_of_go_verifies_notes_tiles_and_proofs() {
    for size in [1, 2, 3, 255, 256, 257, 1_000] {
        verify(&case(size));
    }
    let mut wrong = case(300);
    wrong["Tiles"]["1/000.p/1"] = json!(STANDARD.encode([0; 32]));
    assert!(!run(&wrong).is_empty(), "a wrong tile is found");
}

fn verify(case: &Value) {
    assert_eq!(run(case), "");
}

fn case(size: u64) -> Value {
    let leaves = Leaves::new(size);
    let Ok(tree) = root(size, leaves.read());
    let key = ServerSecret::new([3; 32]).log_key(ORIGIN).unwrap();
    let checkpoint = Checkpoint { origin: ORIGIN.to_owned(), size, root: tree };
    let included = [0, size / 3, size / 2, size - 1].map(|index| {
        let Ok(proof) = inclusion(index, size, leaves.read());
        json!({ "Index": index, "Proof": base64(&proof) })
    });
    let continued = [1, size / 3, size / 2, size - 1, size].map(|old| {
        let old = old.max(1);
        let (Ok(before), Ok(proof)) =
            (root(old, leaves.read()), consistency(old, size, leaves.read()));
        json!({ "Old": old, "Root": STANDARD.encode(before.0), "Proof": base64(&proof) })
    });
    json!({
        "Key": key.verifier().to_string(),
        "Note": checkpoint.sign(&key).to_string(),
        "Text": checkpoint.to_string(),
        "Entries": (0..size).map(entry).collect::<Vec<_>>(),
        "Root": STANDARD.encode(tree.0),
        "Inclusion": included,
        "Consistency": continued,
        "Tiles": tiles(&leaves),
    })
}

fn tiles(leaves: &Leaves) -> Map<String, Value> {
    let size = leaves.0.len() as u64;
    let (mut hashes, mut tiles) = (leaves.0.clone(), Map::new());
    for level in 0.. {
        for (index, tile) in hashes.chunks(256).enumerate() {
            let id = TileId { level, index: index as u64 };
            let path = TilePath { level: Some(level), index: id.index, width: id.width(size) };
            tiles.insert(path.to_string(), json!(STANDARD.encode(hashes_tile(tile))));
        }
        hashes = hashes.chunks_exact(256).map(TreeHash::complete).collect();
        if hashes.is_empty() {
            break;
        }
    }
    tiles
}

fn base64(hashes: &[TreeHash]) -> Vec<String> {
    hashes.iter().map(TreeHash::to_string).collect()
}

/// Returns the error messages of the Go program; empty if it accepts everything.
fn run(case: &Value) -> String {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/core_api/proof/sumdb.go");
    // Debian packages provide the libraries, which are found by path, not by module.
    // Fails where Go is missing; ./check installs it.
    let mut child = Command::new("go")
        .arg("run")
        .arg(program)
        .env("GO111MODULE", "off")
        .env("GOPATH", "/usr/share/gocode")
        .env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go"))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(case.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.success(), said.is_empty(), "{said}");
    said
}
