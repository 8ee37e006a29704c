//! Checks the layers of each crate (`ARCHITECTURE.md`): modules use only lower modules, and imports
//! have no cycles.
#![allow(clippy::unwrap_used, reason = "a test panics")]

mod cancellation;
mod citations;
mod guides;
mod modules;
mod paths;
mod public_names;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use modules::{Arrow, ITSELF, Modules};

/// The modules of each crate, from the bottom up: a module uses only modules of earlier rows. The
/// items of `lib.rs` or `main.rs` are called `itself`.
const CRATES: [(&str, &[&str]); 13] = [
    ("swarm-core/src", &LAYERS),
    ("swarm-store-memory/src", &["tables", "backend", ITSELF]),
    (
        "swarm-store-postgres/src",
        &[
            "failure script sql tls_stream",
            "connect schema values",
            "commits options reads",
            "settings",
            "compiled tls",
            "connector",
            "pool",
            "changes database health",
            "transaction",
            "transfer",
            "backend",
            ITSELF,
        ],
    ),
    (
        "swarm-store-redis/src",
        &[
            "schema script_call tls value",
            "script scripts",
            "keys",
            "connection encode",
            "decode",
            "changes health layout",
            "tenant",
            "loading snapshot",
            "backend",
            ITSELF,
        ],
    ),
    (
        "swarm-store-sqlite/src",
        &[
            "failure",
            "clock connection layout opened_file sql",
            "readers tables writer",
            "database",
            "backend",
            ITSELF,
        ],
    ),
    (
        "swarm-testing/src",
        &[
            "assertions clock race records round_robin",
            "author entropy",
            "test_tenant",
            "committee",
            "log_scenario sealed",
            ITSELF,
            "backend conformance",
        ],
    ),
    ("swarm-verifier-wasm/src", &["report", "abi", ITSELF]),
    ("swarm-redis-testing/src", &["clock ports proxy", "server", "cluster"]),
    (
        "swarm-client/src",
        &[
            "authorities",
            "error",
            "connection",
            "served",
            "log reading takes timestamp webhook witness",
            "committee joining operating",
            ITSELF,
        ],
    ),
    (
        "swarm-maintenance/src",
        &[
            "directory outage",
            "job",
            "acts applications briefs clocks log mail sessions tenant_tasks timestamps webhooks witnesses",
            ITSELF,
        ],
    ),
    (
        "swarm-http/src",
        &[
            "applications certificate client_address committee log_tail memory_share movements schema without_committee",
            "fairness",
            "budget console token_attempts workers",
            "tenants",
            "following metrics",
            "response",
            "cache",
            "site",
            "request",
            "desk",
            "pages",
            "discovery",
            "routes",
            "filters",
            ITSELF,
        ],
    ),
    (
        "swarm-server/src",
        &[
            "activity limits request_head",
            "socket tracked_body",
            "connections tls without_tls",
            ITSELF,
        ],
    ),
    (
        "swarm-server/src/bin/swarm",
        &[
            "console descriptors failure memory outgoing successions text_file",
            "arguments schedule store",
            "log secrets trust",
            "mail signing_key webhooks without_mail",
            "command config",
            "admin export member timestamp_check timestamps tls_files transfer without_tls witnesses",
            "brief_files command_line effective_settings tenants",
            "open_site",
            "export_briefs serve",
            "check demo",
            "verify",
            "watch",
            ITSELF,
        ],
    ),
];

/// The layers of the core.
const LAYERS: [&str; 9] =
    ["domain", "proof", "records", "rules", "answers", "audit", "store", "service", "wire"];

/// The layers that may be async.
const ASYNC: [&str; 2] = ["store", "service"];

#[test]
fn modules_use_only_lower_modules() {
    for (folder, rows) in CRATES {
        for [from, to] in Modules::read(&root().join(folder)).arrows().remove("").unwrap() {
            let height = |module: &str| {
                let row = rows.iter().position(|row| row.split(' ').any(|it| it == module));
                row.unwrap_or_else(|| panic!("{folder}: {module} has no place in the table"))
            };
            assert!(height(&from) > height(&to), "{folder}: {from} uses {to}");
        }
    }
}

#[test]
fn modules_have_no_import_cycles() {
    for (folder, _) in CRATES {
        for (inner, arrows) in Modules::read(&root().join(folder)).arrows() {
            let circle = arrows_in_cycles(&arrows);
            assert!(circle.is_empty(), "{folder}/{inner}: a circle in {circle:?}");
        }
    }
}

#[test]
fn modules_with_submodules_are_folders_with_mod_rs() {
    for (folder, _) in CRATES {
        let mut folders = vec![root().join(folder)];
        while let Some(folder) = folders.pop() {
            let twin = folder.with_extension("rs");
            assert!(!twin.exists(), "{}: belongs into the folder beside it", twin.display());
            let inside = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
            folders.extend(inside.filter(|path| path.is_dir()));
        }
    }
}

/// The arrows in cycles: what remains after repeatedly removing modules that use nothing or are
/// used by nothing.
fn arrows_in_cycles(arrows: &BTreeSet<Arrow>) -> BTreeSet<Arrow> {
    let mut left = arrows.clone();
    loop {
        let users: BTreeSet<_> = left.iter().map(|[from, _]| from.clone()).collect();
        let used: BTreeSet<_> = left.iter().map(|[_, to]| to.clone()).collect();
        let before = left.len();
        left.retain(|[from, to]| users.contains(to) && used.contains(from));
        if left.len() == before {
            return left;
        }
    }
}

#[test]
fn rules_are_not_async() {
    for layer in LAYERS.iter().filter(|layer| !ASYNC.contains(layer)) {
        for (path, code) in sources(&format!("swarm-core/src/{layer}")) {
            for word in ["async ", ".await"] {
                assert!(!code.contains(word), "{path:?}: {word}");
            }
        }
    }
}

/// A commit elsewhere would have no span, and would not record the acts of operators.
#[test]
fn record_layer_commits_in_one_place() {
    let committing = |(path, code): (PathBuf, String)| {
        let code: String = code.split_whitespace().collect();
        code.contains("backend.commit(").then(|| path.file_name().unwrap().to_owned())
    };
    let found = sources("swarm-core/src/store").into_iter().filter_map(committing);
    let found: BTreeSet<_> = found.collect();
    assert_eq!(found, ["commit.rs", "dry_run.rs"].map(Into::into).into());
}

#[test]
fn crates_use_only_permitted_dependencies() {
    let foreign = ["tokio::", "warp::", "hyper::", "redis::", "swarm_http", "swarm_store_"];
    absent("swarm-core/src", &foreign);
    absent("swarm-testing/src", &["warp::", "hyper::", "redis::", "swarm_http", "swarm_store_"]);
    absent("swarm-store-memory/src", &["tokio::", "warp::", "hyper::", "swarm_http"]);
    absent("swarm-store-redis/src", &["warp::", "hyper::", "swarm_http", "swarm_store_memory"]);
    absent("swarm-store-sqlite/src", &["warp::", "hyper::", "swarm_http", "swarm_store_memory"]);
    let served = ["tokio::", "warp::", "hyper::", "swarm_http", "swarm_store_"];
    absent("swarm-client/src", &served);
    absent("swarm-maintenance/src", &["warp::", "hyper::", "http::", "swarm_http", "swarm_store_"]);
    absent("swarm-http/src", &["swarm_server", "swarm_store_"]);
    for (path, code) in sources("swarm-server/src") {
        let program = path.components().any(|part| part.as_os_str() == "bin");
        assert!(program || !code.contains("swarm_store_"), "{path:?} knows a store");
    }
}

fn absent(folder: &str, words: &[&str]) {
    for (path, code) in sources(folder) {
        for word in words {
            assert!(!code.contains(word), "{path:?} uses {word}");
        }
    }
}

/// Each Rust file below a folder of the workspace, without comments.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let code = |path: PathBuf| {
        let code = without_comments(&fs::read_to_string(&path).unwrap());
        (path, code)
    };
    let found: Vec<_> = files(&root().join(folder)).into_iter().map(code).collect();
    assert!(!found.is_empty(), "no sources in {folder}");
    found
}

/// The Rust files below a folder, except in `target`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}

fn without_comments(text: &str) -> String {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

mod of_this_test {
    use super::*;

    fn arrows(of: &[[&str; 2]]) -> BTreeSet<Arrow> {
        of.iter().map(|arrow| arrow.map(str::to_owned)).collect()
    }

    #[test]
    fn import_cycles_are_found() {
        assert!(arrows_in_cycles(&arrows(&[["a", "b"], ["b", "c"], ["a", "c"]])).is_empty());
        let circle = [["b", "c"], ["c", "d"], ["d", "b"]];
        let more = [&circle[..], &[["a", "b"], ["d", "e"]]].concat();
        assert_eq!(arrows_in_cycles(&arrows(&more)), arrows(&circle));
    }

    #[test]
    fn reexports_resolve_to_the_defining_module() {
        let modules = Modules::of(&BTreeMap::from([
            ("", "mod a; mod b; mod c; pub use a::{One, Two as Three}; use b::Four;"),
            ("a", "use super::b; use crate::c::Five as Six; b::four(); Vec::new();"),
            ("b", "use crate::Three;"),
            ("c", "fn five() -> super::Four { $crate::nine() }"),
        ]));
        let expected = [["a", "b"], ["a", "c"], ["b", "a"], ["c", "b"], [ITSELF, "b"]];
        assert_eq!(modules.arrows(), BTreeMap::from([(String::new(), arrows(&expected))]));
    }
}
