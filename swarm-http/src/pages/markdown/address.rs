//! The addresses to which members' Markdown may link.

use ammonia::Url;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::bounds::MAX_PIECE;
use crate::pages::links::web;

/// What the writer of HTML encodes in an address, beside what is not ASCII.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Whether a link to this address is one on the page: it is not too long, and one of the web, as the sanitizer reads it.
pub(super) fn is_link(address: &str) -> bool {
    web(address).is_some()
        && address.len() <= MAX_PIECE
        && Url::parse(&utf8_percent_encode(address, ENCODED).to_string()).is_ok()
}
