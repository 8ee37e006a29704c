//! The documentation of the service: a method that changes something says what dropping its future means.

use std::fs;

use super::{files, root};

#[test]
fn changes_say_what_dropping_their_future_means() {
    let mut changes = 0;
    for path in files(&root().join("swarm-core/src/service")) {
        let code = fs::read_to_string(&path).unwrap();
        for (name, documentation) in methods(&code) {
            // Reads return something, and say so first.
            if documentation.starts_with("Returns ") {
                continue;
            }
            changes += 1;
            let says = documentation.contains("If the future is dropped, ");
            assert!(
                says,
                "{path:?}: {name} neither returns something nor says what dropping it means"
            );
        }
    }
    assert!(changes > 60, "{changes} changes");
}

/// The public asynchronous methods, each with its documentation.
fn methods(code: &str) -> Vec<(&str, String)> {
    let (mut found, mut documentation) = (Vec::new(), String::new());
    for line in code.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            documentation.push_str(text.trim_start());
            documentation.push(' ');
        } else if let Some(method) = line.strip_prefix("pub async fn ") {
            let end = method.find(['(', '<']).unwrap();
            found.push((&method[..end], std::mem::take(&mut documentation)));
        } else if !line.starts_with("#[") {
            documentation.clear();
        }
    }
    found
}

mod of_this_test {
    use super::methods;

    #[test]
    fn documentation_of_a_method_is_found() {
        let code = "/// Of a type.\nstruct A;\n/// Changes\n/// it.\n#[must_use]\npub async fn a<T>() {}\npub async fn b() {}";
        assert_eq!(methods(code), [("a", "Changes it. ".to_owned()), ("b", String::new())]);
    }
}
