//! HTML that is whole already: what charts, times and Markdown hand to a template.

use std::fmt::{Display, Formatter, Result, Write as _};

use askama::filters::HtmlSafe;

/// HTML that was made here, from text that was escaped on the way in. A template shows it as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Markup(pub(crate) String);

impl Display for Markup {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Markup {}

/// Text as it may stand in HTML, between tags and in quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Text with each letter that turns others kept, as a reference, which [`printable`] leaves: for a block
/// of its own, beyond which nothing in it reaches, and from which it is copied.
pub(crate) fn exact(text: &str) -> Markup {
    let mut exact = String::new();
    for letter in escape(text).chars() {
        if turns(letter) {
            let _infallible = write!(exact, "&#{};", u32::from(letter));
        } else {
            exact.push(letter);
        }
    }
    Markup(exact)
}

/// A page with its control characters, which HTML does not allow, replaced by a visible mark, and without
/// those that turn the order of what follows, which may lie outside of the text that they stand in.
pub(crate) fn printable(page: String) -> String {
    if page.contains(|letter| is_odd(letter) || turns(letter)) {
        page.replace(is_odd, "\u{fffd}").replace(turns, "")
    } else {
        page
    }
}

/// Whether a page may hold all letters of a text.
pub(crate) fn may_hold(text: &str) -> bool {
    !text.contains(is_odd)
}

fn is_odd(letter: char) -> bool {
    let control = letter.is_control() && !matches!(letter, '\n' | '\t');
    control || matches!(letter, '\u{fdd0}'..='\u{fdef}') || u32::from(letter) & 0xfffe == 0xfffe
}

/// Whether a letter turns the order of those that follow.
fn turns(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What something is called, as a page shows it: its name, or another where nothing of the name can be seen.
pub(crate) fn named(name: &str, other: &str) -> String {
    if name.chars().all(is_invisible) { other.to_owned() } else { name.replace(turns, "") }
}

/// Whether a letter shows nothing by itself: a space, a mark that only forms others, a filler.
fn is_invisible(letter: char) -> bool {
    letter.is_whitespace()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// The beginning of a text, in at most about `room` letters of ordinary width, for where the whole
/// of it stands nearby.
pub(crate) fn clipped(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut clipped = String::new();
    let mut left = room.saturating_sub(1);
    for letter in text.chars() {
        let Some(rest) = left.checked_sub(letter_width(letter)) else { break };
        left = rest;
        clipped.push(letter);
    }
    let _infallible = write!(clipped, "…");
    clipped
}

/// About how many letters of ordinary width a text is wide.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(letter_width).sum()
}

/// Scripts from Hangul on are about twice as wide, as are M, W, @ and %; accents that combine are counted,
/// too: whoever stacks them gets less of them shown.
fn letter_width(letter: char) -> usize {
    match letter {
        'M' | 'W' | '@' | '%' | '\u{1100}'.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_turns_the_order_of_what_follows() {
        assert_eq!(printable("\u{202e}a\u{2066}b\u{200f}\u{1b}".to_owned()), "ab\u{200f}\u{fffd}");
    }

    #[test]
    fn exact_text_keeps_what_turns_the_order() {
        let exact = exact("<\u{202e}\u{2066}a\u{200f}\u{2069}");
        assert_eq!(printable(exact.0), "&lt;&#8238;&#8294;a\u{200f}&#8297;");
    }

    #[test]
    fn what_cannot_be_seen_is_no_name() {
        for nothing in ["", " ", "\u{200b}\u{200b}\u{2060}", "\u{202e}\u{3000}\u{3164}\u{fe0f}"] {
            assert_eq!(named(nothing, "its id"), "its id");
        }
        for name in ["Ada", "\u{5d0}\u{200f}", "\u{1f680}", "."] {
            assert_eq!(named(name, "its id"), name);
        }
        assert_eq!(named("\u{202e}\u{2066}Ada", "its id"), "Ada");
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("<a b='c' d=\"e\">&"), "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;");
    }

    #[test]
    fn what_no_document_may_hold_is_replaced() {
        assert_eq!(printable("a\u{0}b\u{1b}c\u{85}\u{ffff}\n\t".to_owned()), "a�b�c��\n\t");
    }

    #[test]
    fn long_text_is_clipped_by_its_width() {
        assert_eq!(clipped("Rosalind", 8), "Rosalind");
        assert_eq!(clipped("Rosalinde", 8), "Rosalin…");
        assert_eq!(clipped("金融市场分析师", 8), "金融市…");
    }
}
