//! What keeps the work that a text makes in proportion to its length.

use pulldown_cmark::{CowStr, Event, TagEnd};

/// The most bytes of marks of lists and quotes, and of spaces, that a line begins with: each line is looked at once for
/// each list and quote that it may stand in.
const MOST_MARKS: usize = 60;

/// How deep lists and quotes may stand in one another, and emphasis in itself. What is deeper stands there
/// without its form: each level takes room from the page, and makes all that is in it more work.
pub(super) const DEEPEST: usize = 6;

/// The text, of whose lines none begins with more marks than there may be.
pub(super) fn bounded(text: &str) -> String {
    let mut bounded = String::with_capacity(text.len());
    for line in text.split_inclusive(['\n', '\r']) {
        let (mut rest, mut left) = (line, Some(MOST_MARKS));
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

/// How long the mark of a list or a quote, or the space, is that a text begins with, if it does.
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

/// The most letters of a text, and bytes of an address, that the sanitizer writes in one piece: the time
/// it takes may grow with the square of them.
pub(super) const PIECE: usize = 1_000;

/// The same, with a comment wherever a text gets longer than a piece, be it in one event or in many; code in
/// a line that is longer is text. No comment comes out of the sanitizer.
pub(super) fn in_pieces(events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    const CUT: Event<'static> = Event::InlineHtml(CowStr::Borrowed("<!---->"));
    let mut pieces = Vec::with_capacity(events.len());
    let mut length = 0;
    for event in events {
        if let Event::Text(text) | Event::Code(text) = &event {
            length += text.len();
            if length > PIECE {
                pieces.push(CUT);
                length = text.len();
            }
            let (mut rest, mut is_long) = (&**text, false);
            while let Some((end, _)) = rest.char_indices().nth(PIECE) {
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

/// How deep a text stands in what may stand in its like without an end.
#[derive(Default)]
pub(super) struct Depth {
    /// In lists and quotes.
    blocks: usize,
    /// In emphasis.
    marks: usize,
}

impl Depth {
    /// Whether this event begins or ends what is too deep to have its form. To be asked of each event.
    pub(super) fn drops(&mut self, event: &Event<'_>) -> bool {
        let (tag, begins) = match event {
            Event::Start(tag) => (tag.to_end(), true),
            Event::End(tag) => (*tag, false),
            _ => return false,
        };
        let depth = match tag {
            TagEnd::BlockQuote(_) | TagEnd::List(_) => &mut self.blocks,
            // It stands in its list.
            TagEnd::Item => return self.blocks > DEEPEST,
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => &mut self.marks,
            _ => return false,
        };
        *depth += usize::from(begins);
        let is_too_deep = *depth > DEEPEST;
        *depth -= usize::from(!begins);
        is_too_deep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_begin_with_so_many_marks_and_no_more() {
        for mark in [">", "> ", "- ", "1. ", "12) ", "\t", "+ "] {
            let line = bounded(&(mark.repeat(200) + "text\n"));
            assert!(line.len() <= MOST_MARKS + 5 && line.ends_with("text\n"), "{line}");
            assert!(line.len() > MOST_MARKS - 4 && line.starts_with(mark), "{line}");
        }
        for whole in [
            "-".repeat(200),
            "*".repeat(200),
            "1".repeat(200),
            "a\r\n> b\n\nc".to_owned(),
            format!("{}a", "> ".repeat(MOST_MARKS / 2)),
            "word ".repeat(100),
        ] {
            assert_eq!(bounded(&whole), whole);
        }
    }
}
