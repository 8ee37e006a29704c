//! The guides for contributors name files and folders by path, and documents link to each other: each named file, folder
//! and heading exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::layering::root;

/// The folders that a path of a guide may begin in.
const BASES: [&str; 4] = ["", "swarm-core/src", "swarm-core/tests/core_api", "swarm-server/tests"];

#[test]
fn paths_in_the_guides_exist() {
    for guide in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root().join(guide)).unwrap();
        let mut found = 0;
        for line in text.lines() {
            let missing = missing_paths(line, &mut found);
            assert!(missing.is_empty(), "{guide} names {missing:?}, which do not exist: {line}");
        }
        assert!(found > 30, "{guide}: only {found} paths were found");
    }
}

#[test]
fn folders_and_modules_of_the_map_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let section = text.split("## Where things live").nth(1).unwrap();
    let map = section.split("```").nth(1).unwrap().trim_start_matches("text\n");
    let (mut folder, mut found) = (PathBuf::new(), 0);
    for line in map.lines() {
        let names = line.trim_start().split("  ").next().unwrap().split(' ');
        match line.len() - line.trim_start().len() {
            0 => folder = root().join(line.split(' ').next().unwrap()),
            2 => {
                for name in names {
                    let module = folder.join(format!("{name}.rs"));
                    assert!(module.exists() || folder.join(name).is_dir(), "{folder:?}: no {name}");
                    found += 1;
                }
            }
            // A line that continues a description.
            _ => {}
        }
        assert!(folder.is_dir(), "no {folder:?}");
    }
    assert!(found > 60, "only {found} names were found");
}

#[test]
fn links_between_documents_lead_to_headings() {
    let mut found = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for link in links(&text).filter(|link| !link.starts_with("http")) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => document.clone(),
                path => document.parent().unwrap().join(path),
            };
            assert!(target.exists(), "{document:?} links to {link}");
            if !heading.is_empty() {
                let exists = anchors(&fs::read_to_string(target).unwrap()).contains(heading);
                assert!(exists, "{document:?} links to {link}");
            }
            found += 1;
        }
    }
    assert!(found > 200, "only {found} links were found");
}

/// The documents at the root, the READMEs of the folders below it, and what is in `docs`.
fn documents() -> Vec<PathBuf> {
    let entries =
        |folder: PathBuf| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries(root()).collect();
    let folders = found.iter().filter(|path| path.is_dir()).map(|folder| folder.join("README.md"));
    let readmes: Vec<_> = folders.filter(|path| path.exists()).collect();
    found.extend(readmes);
    found.extend(entries(root().join("docs")).chain(entries(root().join("docs/decisions"))));
    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    found
}

/// The targets of the links of a document.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// The anchors of the headings of a document, as hosts of repositories make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let headings = headings.map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| {
        let kept = |it: &char| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_');
        heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// The paths in backticks and in links on a line that do not exist. A name of a file without a folder belongs to the
/// folder of the path before it.
fn missing_paths(line: &str, found: &mut usize) -> Vec<String> {
    let quoted = line.split('`').skip(1).step_by(2);
    let linked = links(line).filter_map(|link| link.split('#').next());
    let is_path = |text: &&str| {
        let letters = |it: char| it.is_ascii_alphanumeric() || matches!(it, '/' | '.' | '-' | '_');
        let named = text.ends_with(".rs") || text.ends_with(".md") || text.contains('/');
        named && !text.starts_with(['/', '.']) && text.chars().all(letters)
    };
    let (mut missing, mut folder) = (Vec::new(), PathBuf::new());
    for path in quoted.chain(linked).filter(is_path) {
        *found += 1;
        let beside = (!path.contains('/')).then(|| folder.join(path));
        let candidates = BASES.iter().map(|base| root().join(base).join(path)).chain(beside);
        match candidates.into_iter().find(|candidate| candidate.exists()) {
            Some(existing) => folder = existing.parent().unwrap_or(Path::new("")).to_owned(),
            None => missing.push(path.to_owned()),
        }
    }
    missing
}

mod of_this_test {
    use super::*;

    #[test]
    fn missing_paths_are_found() {
        let mut found = 0;
        let line =
            "`rules/judge.rs`, `refusal.rs` beside it, `no/such.rs`, `/healthz`, [x](NONE.md#y)";
        assert_eq!(missing_paths(line, &mut found), ["no/such.rs", "NONE.md"]);
        assert_eq!(found, 4);
    }
}
