//! Definitions of links, `[name]: address`, of which a page has no text of its own.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, Options, Parser, Tag};

use super::address::is_link;
use super::bounds::marks;

/// Stands before a bracket that begins no definition. The sanitizer drops it.
pub(super) const NO_DEFINITION: char = '\0';

/// The text in which only those lines are definitions that a link to a web address uses, or may use behind the cut if `is_cut`. Others,
/// such as `[BTC]: 45000`, are words of the author, which the parser would take off the page.
pub(super) fn with_used_definitions(text: &str, options: Options, is_cut: bool) -> String {
    if !text.contains("]:") {
        return text.to_owned();
    }
    let mut parser = Parser::new_ext(text, options);
    let mut names = Vec::new();
    for event in parser.by_ref() {
        if let Event::Start(Tag::Link { dest_url, id, .. }) = event
            && is_link(&dest_url)
        {
            names.push(id);
        }
    }
    let definitions = parser.reference_definitions();
    let used = names.iter().filter_map(|name| definitions.get(name));
    let of_rest = definitions.iter().map(|(_, definition)| definition);
    let of_rest = of_rest.filter(|definition| is_cut && is_link(&definition.dest));
    let spans = used.chain(of_rest).map(|definition| (definition.span.start, definition.span.end));
    let ends: BTreeMap<_, _> = spans.collect();
    // What stands before a definition may now be a paragraph, within which nothing is one. So all are at the top.
    let mut top = String::new();
    let mut marked = String::with_capacity(text.len() + text.len() / 16);
    let mut at = 0;
    while let Some(line) = text.get(at..).and_then(first_line) {
        let (before, rest) = line.split_at(marks(line));
        let start = at + before.len();
        at += line.len();
        marked.push_str(before);
        if let Some(end) = ends.get(&start) {
            for part in text.get(start..*end).unwrap_or_default().lines() {
                top.extend([part.trim_start_matches(is_indentation), " "]);
            }
            top.push('\n');
            // What is left of its lines is blank. An item of a list would end there, so its first line keeps it.
            if before.trim_matches(is_indentation).is_empty() {
                at = *end;
                continue;
            }
        } else if rest.starts_with('[') {
            marked.push(NO_DEFINITION);
        }
        marked.push_str(rest);
    }
    match top.is_empty() {
        true => marked,
        false => top + "\n" + &marked,
    }
}

fn first_line(text: &str) -> Option<&str> {
    text.split_inclusive(['\n', '\r']).next()
}

/// Returns whether the character may precede the words of a line: indentation, or the mark of a quote.
fn is_indentation(character: char) -> bool {
    matches!(character, ' ' | '\t' | '>')
}
