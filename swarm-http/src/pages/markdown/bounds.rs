//! Limits that keep the cost of rendering a text linear in its length.

use pulldown_cmark::{CowStr, Event, TagEnd};

/// Maximum number of bytes of list markers, quote markers and spaces at the start of a line. The
/// parser's work for a line grows with the number of containers that it may belong to.
const MAX_MARKERS: usize = 60;

/// Maximum nesting of lists and quotes, and of emphasis. Deeper levels are shown without formatting,
/// because each level takes space on the page and makes everything inside it more expensive.
pub(super) const MAX_DEPTH: usize = 6;

/// Removes markers beyond [`MAX_MARKERS`] from the start of each line.
pub(super) fn bounded(text: &str) -> String {
    let mut bounded = String::with_capacity(text.len());
    for line in text.split_inclusive(['\n', '\r']) {
        let (mut rest, mut left) = (line, Some(MAX_MARKERS));
        while let Some((mark, after)) = mark(rest).and_then(|length| rest.split_at_checked(length))
        {
            left = left.and_then(|left| left.checked_sub(mark.len()));
            if left.is_some() {
                bounded.push_str(mark);
            }
            rest = after;
        }
        bounded.push_str(rest);
    }
    bounded
}

/// The length of all list markers, quote markers and spaces at the start of a line.
pub(super) fn marks(line: &str) -> usize {
    let mut rest = line;
    while let Some((_, after)) = mark(rest).and_then(|length| rest.split_at_checked(length)) {
        rest = after;
    }
    line.len() - rest.len()
}

/// The length of the list marker, quote marker or space at the start of the text, if there is one.
fn mark(text: &str) -> Option<usize> {
    let ends =
        |at: usize| matches!(text.as_bytes().get(at), None | Some(b' ' | b'\t' | b'\r' | b'\n'));
    match text.as_bytes().first()? {
        b' ' | b'\t' | b'>' => Some(1),
        b'-' | b'+' | b'*' if ends(1) => Some(1),
        b'0'..=b'9' => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let dot = matches!(text.as_bytes().get(digits), Some(b'.' | b')'));
            (dot && digits <= 9 && ends(digits + 1)).then_some(digits + 1)
        }
        _ => None,
    }
}

/// Maximum length of a text (letters) or a URL (bytes) that the sanitizer gets in one piece: its time
/// may grow with the square of that length.
pub(super) const MAX_PIECE: usize = 1_000;

/// Inserts a comment wherever a text, in one event or over many, exceeds [`MAX_PIECE`]. The sanitizer
/// removes comments. Inline code that is longer becomes plain text.
pub(super) fn split_long_text(events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    const CUT: Event<'static> = Event::InlineHtml(CowStr::Borrowed("<!---->"));
    let mut pieces = Vec::with_capacity(events.len());
    let mut length = 0;
    for event in events {
        if let Event::Text(text) | Event::Code(text) = &event {
            length += text.len();
            if length > MAX_PIECE {
                pieces.push(CUT);
                length = text.len();
            }
            let (mut rest, mut is_long) = (&**text, false);
            while let Some((end, _)) = rest.char_indices().nth(MAX_PIECE) {
                let (piece, after) = rest.split_at(end);
                pieces.extend([Event::Text(piece.to_owned().into()), CUT]);
                (rest, is_long) = (after, true);
            }
            if is_long {
                pieces.push(Event::Text(rest.to_owned().into()));
                continue;
            }
        }
        pieces.push(event);
    }
    pieces
}

/// The current nesting of containers that can be nested without limit.
#[derive(Default)]
pub(super) struct Depth {
    /// Open lists and quotes.
    blocks: usize,
    /// Open emphasis.
    marks: usize,
}

impl Depth {
    /// Whether this event starts or ends a container beyond [`MAX_DEPTH`]. Must be called for each event
    /// in order.
    pub(super) fn drops(&mut self, event: &Event<'_>) -> bool {
        let (tag, begins) = match event {
            Event::Start(tag) => (tag.to_end(), true),
            Event::End(tag) => (*tag, false),
            _ => return false,
        };
        let depth = match tag {
            TagEnd::BlockQuote(_) | TagEnd::List(_) => &mut self.blocks,
            // An item is as deep as its list.
            TagEnd::Item => return self.blocks > MAX_DEPTH,
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => &mut self.marks,
            _ => return false,
        };
        *depth += usize::from(begins);
        let is_too_deep = *depth > MAX_DEPTH;
        *depth -= usize::from(!begins);
        is_too_deep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_at_start_of_line_are_limited() {
        for mark in [">", "> ", "- ", "1. ", "12) ", "\t", "+ "] {
            let line = bounded(&(mark.repeat(200) + "text\n"));
            assert!(line.len() <= MAX_MARKERS + 5 && line.ends_with("text\n"), "{line}");
            assert!(line.len() > MAX_MARKERS - 4 && line.starts_with(mark), "{line}");
        }
        for whole in [
            "-".repeat(200),
            "*".repeat(200),
            "1".repeat(200),
            "a\r\n> b\n\nc".to_owned(),
            format!("{}a", "> ".repeat(MAX_MARKERS / 2)),
            "word ".repeat(100),
        ] {
            assert_eq!(bounded(&whole), whole);
        }
    }
}
