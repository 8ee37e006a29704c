//! What other crates see: types with names of their own, and of the rules only what is used.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::layering::modules::Modules;
use crate::layering::{root, sources};

/// The crates that a program imports from.
const CRATES: [&str; 11] = [
    "swarm-core",
    "swarm-client",
    "swarm-http",
    "swarm-maintenance",
    "swarm-server",
    "swarm-store-memory",
    "swarm-store-postgres",
    "swarm-store-redis",
    "swarm-store-sqlite",
    "swarm-testing",
    "swarm-verifier-wasm",
];

/// Names that several types have: the error of each crate, and those of `store::backend`, which only stores import.
const SHARED: [&str; 6] = ["Answer", "Body", "Check", "Error", "Operation", "Snapshot"];

#[test]
fn public_types_have_names_of_their_own() {
    let mut definers: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for name in CRATES {
        let types = Modules::read(&root().join(name).join("src")).public_types();
        assert!(!types.is_empty() || name == "swarm-verifier-wasm", "no types in {name}");
        for (of_type, module) in types {
            definers.entry(of_type).or_default().insert(format!("{name}/{module}"));
        }
    }
    assert!(definers.len() > 500, "only {} types were found", definers.len());
    definers.retain(|_, definers| definers.len() > 1);
    let shared: Vec<_> = definers.keys().collect();
    assert_eq!(shared, SHARED.iter().collect::<Vec<_>>(), "{definers:#?}");
}

/// A function that only the service calls is not shown, so that it can change.
#[test]
fn rules_are_shown_only_if_front_ends_use_them() {
    let rules = fs::read_to_string(root().join("swarm-core/src/rules/mod.rs")).unwrap();
    let shown = rules.split("#[doc(hidden)]").next().unwrap();
    let exports = shown.split(";\n").filter(|line| line.trim_start().starts_with("pub use "));
    let names = exports.flat_map(|export| export.split("::").skip(1)).flat_map(words);
    let is_function = |name: &&str| name.starts_with(|first: char| first.is_lowercase());
    let functions: BTreeSet<_> = names.filter(is_function).collect();
    assert!(functions.len() > 10, "{functions:?}");
    let users = ["swarm-http/src", "swarm-maintenance/src", "swarm-server/src", "examples"];
    let users: Vec<_> = users.into_iter().flat_map(sources).collect();
    for name in functions {
        let is_used = users.iter().any(|(_, code)| words(code).any(|word| word == name));
        assert!(is_used, "no front end uses rules::{name}");
    }
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|it: char| !it.is_alphanumeric() && it != '_')
}

mod of_this_test {
    use super::*;

    #[test]
    fn one_name_of_two_types_is_found() {
        let modules = Modules::of(&BTreeMap::from([
            ("", "mod a; mod b; pub use a::{One, Two}; pub(crate) use b::Three;"),
            ("a", "pub struct One;\n    pub enum Three { A }\nmade!(Two);"),
            ("b", "pub type One = u8;\npub fn four() {}\npub const FIVE: u8 = 5;"),
        ]));
        let found = [("One", "a"), ("One", "b"), ("Three", "a"), ("Two", "a")];
        let found = found.map(|(name, module)| (name.to_owned(), module.to_owned()));
        assert_eq!(modules.public_types(), BTreeSet::from(found));
    }
}
