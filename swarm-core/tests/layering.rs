//! The arrows between the layers point one way (`ARCHITECTURE.md`). This reads the sources and
//! fails when one points back.
#![allow(clippy::unwrap_used, reason = "a test panics")]

use std::fs;
use std::path::{Path, PathBuf};

/// The layers of the core, from the bottom up: each may use those before it.
const LAYERS: [&str; 8] =
    ["domain", "proof", "rules", "store", "service", "wire", "testing", "conformance"];

/// The layers that wait for something.
const ASYNC: [&str; 4] = ["store", "service", "testing", "conformance"];

/// The layers that are for tests alone.
const FOR_TESTS: [&str; 2] = ["testing", "conformance"];

#[test]
fn a_layer_uses_only_those_below_it() {
    for (height, layer) in LAYERS.iter().enumerate() {
        for (path, code) in sources(&format!("swarm-core/src/{layer}")) {
            for above in LAYERS.iter().skip(height + 1) {
                assert!(!code.contains(&format!("crate::{above}")), "{path:?} uses {above}");
            }
        }
    }
}

#[test]
fn rules_do_not_wait() {
    for layer in LAYERS.iter().filter(|layer| !ASYNC.contains(layer)) {
        for (path, code) in sources(&format!("swarm-core/src/{layer}")) {
            for word in ["async ", ".await"] {
                assert!(!code.contains(word), "{path:?}: {word}");
            }
        }
    }
}

#[test]
fn a_crate_uses_only_what_it_may_know() {
    let foreign = ["tokio::", "warp::", "hyper::", "redis::", "swarm_http", "swarm_store_"];
    for layer in LAYERS.iter().filter(|layer| !FOR_TESTS.contains(layer)) {
        absent(&format!("swarm-core/src/{layer}"), &foreign);
    }
    absent("swarm-store-memory/src", &["tokio::", "warp::", "hyper::", "swarm_http"]);
    absent("swarm-store-redis/src", &["warp::", "hyper::", "swarm_http", "swarm_store_memory"]);
    absent("swarm-store-sqlite/src", &["warp::", "hyper::", "swarm_http", "swarm_store_memory"]);
    for (path, code) in sources("swarm-http/src") {
        let program = path.components().any(|part| part.as_os_str() == "bin");
        assert!(program || !code.contains("swarm_store_"), "{path:?} knows a store");
    }
}

#[test]
fn files_stay_short() {
    for folder in [
        "swarm-core",
        "swarm-store-memory",
        "swarm-store-redis",
        "swarm-store-sqlite",
        "swarm-http",
    ] {
        for (path, code) in sources(&format!("{folder}/src")) {
            assert!(code.lines().count() <= 400, "{path:?} is too long");
        }
    }
}

fn absent(folder: &str, words: &[&str]) {
    for (path, code) in sources(folder) {
        for word in words {
            assert!(!code.contains(word), "{path:?} uses {word}");
        }
    }
}

/// Each Rust file below a folder of the workspace, without its comments.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                found.push((path, code.collect::<Vec<_>>().join("\n")));
            }
        }
    }
    assert!(!found.is_empty(), "no sources in {folder}");
    found
}
