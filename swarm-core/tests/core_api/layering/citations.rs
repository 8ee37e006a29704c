//! Comments cite sections of `API.md` by number: each cited section exists, and no chapter is long.

use std::collections::BTreeSet;
use std::fs;

use crate::layering::{files, root};

#[test]
fn cited_sections_of_the_api_reference_exist() {
    let reference = fs::read_to_string(root().join("API.md")).unwrap();
    let headings =
        reference.lines().filter_map(|line| line.trim_start_matches('#').strip_prefix(' '));
    let sections: BTreeSet<_> = headings.filter_map(number).collect();
    let mut citations = 0;
    for path in files(&root()) {
        let text = fs::read_to_string(&path).unwrap();
        let words: Vec<_> =
            text.split_whitespace().filter(|word| !word.starts_with("//")).collect();
        for cited in words.windows(2).filter(|pair| pair[0].ends_with("API.md,")) {
            let Some(section) = number(cited[1]) else { continue };
            assert!(sections.contains(section), "{path:?} cites API.md, {section}");
            citations += 1;
        }
    }
    assert!(citations > 100, "only {citations} were found");
}

/// So that a reader, or a tool with a small window, gets a chapter whole.
#[test]
fn chapters_of_the_api_reference_are_short() {
    const MAX_CHAPTER: usize = 30 * 1024;
    let reference = fs::read_to_string(root().join("API.md")).unwrap();
    let chapters: Vec<_> = reference.split("\n## ").collect();
    assert!(chapters.len() > 10, "{} chapters were found", chapters.len());
    for chapter in chapters {
        let heading = chapter.lines().next();
        assert!(chapter.len() < MAX_CHAPTER, "{heading:?} has {} bytes", chapter.len());
    }
}

/// The number that a text begins with, such as `4` or `4.2`.
fn number(text: &str) -> Option<&str> {
    let end = text.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(text.len());
    let number = text[..end].trim_end_matches('.');
    (!number.is_empty()).then_some(number)
}
