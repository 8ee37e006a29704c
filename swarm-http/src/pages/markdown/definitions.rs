//! Definitions of links, `[name]: address`, of which a page has no text of its own.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, Options, Parser, Tag};

use super::super::links::web;
use super::bounds::{MAX_PIECE, marks};

/// Stands before a bracket that begins no definition. The sanitizer drops it.
pub(super) const NO_DEFINITION: char = '\0';

/// Whether a link to this address is one on the page.
fn is_shown(address: &str) -> bool {
    web(address).is_some() && address.len() <= MAX_PIECE
}

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
            && is_shown(&dest_url)
        {
            names.push(id);
        }
    }
    let definitions = parser.reference_definitions();
    let used = names.iter().filter_map(|name| definitions.get(name));
    let of_rest = definitions.iter().map(|(_, definition)| definition);
    let of_rest = of_rest.filter(|definition| is_cut && is_shown(&definition.dest));
    let used: BTreeSet<_> = used.chain(of_rest).map(|definition| definition.span.start).collect();
    let mut marked = String::with_capacity(text.len() + text.len() / 16);
    let mut at = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        let (before, rest) = line.split_at(marks(line));
        if used.contains(&(at + before.len())) {
            // What is before it may now be a paragraph, within which nothing is a definition.
            if before.trim_matches([' ', '\t', '>']).is_empty() {
                marked.extend([before, "\n"]);
            }
            marked.push_str(before);
        } else {
            marked.push_str(before);
            marked.extend(rest.starts_with('[').then_some(NO_DEFINITION));
        }
        marked.push_str(rest);
        at += line.len();
    }
    marked
}
