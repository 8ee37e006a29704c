//! Comments cite sections of `API.md` and `MANUAL.md` by number: each cited section exists, and no chapter is long.

use std::collections::BTreeSet;
use std::fs;

use crate::layering::{files, root};

/// The documents with numbered sections. No two have a section in common.
const DOCUMENTS: [&str; 2] = ["API.md", "MANUAL.md"];

#[test]
fn cited_sections_exist() {
    let texts = DOCUMENTS.map(|name| fs::read_to_string(root().join(name)).unwrap());
    let sections = texts.each_ref().map(|text| sections(text));
    let in_both: Vec<_> = sections[0].intersection(&sections[1]).collect();
    assert!(in_both.is_empty(), "{in_both:?}");
    let mut citations = 0;
    for path in files(&root()) {
        let text = fs::read_to_string(&path).unwrap();
        let words: Vec<_> =
            text.split_whitespace().filter(|word| !word.starts_with("//")).collect();
        for (name, sections) in DOCUMENTS.iter().zip(&sections) {
            let cites = |word: &str| word.ends_with(&format!("{name},"));
            for cited in words.windows(2).filter(|pair| cites(pair[0])) {
                let Some(section) = number(cited[1]) else { continue };
                assert!(sections.contains(section), "{path:?} cites {name}, {section}");
                citations += 1;
            }
        }
    }
    assert!(citations > 100, "only {citations} were found");
}

/// The numbers of the sections of a document.
fn sections(document: &str) -> BTreeSet<&str> {
    let headings =
        document.lines().filter_map(|line| line.trim_start_matches('#').strip_prefix(' '));
    headings.filter_map(number).collect()
}

/// So that a reader, or a tool with a small window, gets a chapter whole.
#[test]
fn chapters_are_short() {
    const MAX_CHAPTER: usize = 30 * 1024;
    let texts = DOCUMENTS.map(|name| fs::read_to_string(root().join(name)).unwrap());
    let chapters: Vec<_> = texts.iter().flat_map(|text| text.split("\n## ")).collect();
    assert!(chapters.len() > 15, "{} parts were found", chapters.len());
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
