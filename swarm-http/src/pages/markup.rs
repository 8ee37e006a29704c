//! HTML that is safe to insert into a template, and the escaping that makes it so.

use std::fmt::{Display, Formatter, Result, Write as _};

use askama::filters::HtmlSafe;
use swarm_core::json::is_unprintable;

/// HTML whose text parts are already escaped. Templates insert it unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Markup(pub(crate) String);

impl Display for Markup {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Markup {}

impl Markup {
    /// Text, escaped.
    pub(crate) fn text(text: &str) -> Self {
        Self(escape(text))
    }
}

/// A link.
pub(crate) fn anchor(href: &str, text: &str) -> Markup {
    Markup(format!("<a href=\"{}\">{}</a>", escape(href), quoted(text)))
}

/// Text from outside, in a `bdi` element.
pub(crate) fn quoted(text: &str) -> Markup {
    Markup(format!("<bdi>{}</bdi>", escape(text)))
}

/// `1 take`, `2 takes`
pub(crate) fn count(number: usize, one: &str, more: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {more}") }
}

/// The text with a capital letter at its beginning.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// Escapes text for HTML, between tags and in quoted attributes.
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

/// Escapes text and keeps its bidirectional controls as character references, which [`printable`] does
/// not remove. For a block element that is to be copied from: the controls do not reach beyond it.
pub(crate) fn exact(text: &str) -> Markup {
    let mut exact = String::new();
    for letter in escape(text).chars() {
        if is_bidi_control(letter) {
            let _infallible = write!(exact, "&#{};", u32::from(letter));
        } else {
            exact.push(letter);
        }
    }
    Markup(exact)
}

/// Ends each line with a line feed, replaces the characters that HTML does not allow by U+FFFD, and removes bidirectional
/// controls, which could reorder text outside of the one that contains them.
pub(crate) fn printable(page: String) -> String {
    if page.contains(|letter| is_forbidden(letter) || is_bidi_control(letter)) {
        let page = page.replace("\r\n", "\n").replace('\r', "\n");
        page.replace(is_forbidden, "\u{fffd}").replace(is_bidi_control, "")
    } else {
        page
    }
}

/// Whether HTML allows all characters of a text.
pub(crate) fn is_allowed(text: &str) -> bool {
    !text.contains(is_forbidden)
}

/// Control characters and noncharacters.
fn is_forbidden(letter: char) -> bool {
    let control = letter.is_control() && !matches!(letter, '\n' | '\t');
    control || matches!(letter, '\u{fdd0}'..='\u{fdef}') || u32::from(letter) & 0xfffe == 0xfffe
}

/// Embeddings, overrides and isolates, which change the direction of the text after them.
fn is_bidi_control(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The name as a page shows it, or `other` if the name has no visible character.
pub(crate) fn named(name: &str, other: &str) -> String {
    if name.chars().all(is_invisible) {
        other.to_owned()
    } else {
        name.replace(is_bidi_control, "")
    }
}

/// Whether a character alone is invisible: spaces, format characters, variation selectors, fillers.
fn is_invisible(letter: char) -> bool {
    letter.is_whitespace() || letter == '\u{2800}' || is_unprintable(letter)
}

/// Returns whether a character alone has no shape: controls and marks, but not spaces.
#[cfg(feature = "pictures")]
pub(crate) fn is_unseen(letter: char) -> bool {
    is_forbidden(letter) || (is_invisible(letter) && !letter.is_whitespace())
}

/// Cuts a text to about `room` letters of average width. For places with the whole text nearby.
pub(crate) fn clipped(text: &str, room: usize) -> String {
    // `fits`: the bytes that leave room for the ellipsis.
    let (mut used, mut fits) = (0, 0);
    for (at, letter) in text.char_indices() {
        used += letter_width(letter);
        if used > room {
            return format!("{}…", &text[..fits]);
        }
        if used < room {
            fits = at + letter.len_utf8();
        }
    }
    text.to_owned()
}

/// The approximate width of a text, in letters of average width.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(letter_width).sum()
}

/// Scripts from Hangul on count twice, as do M, W, @ and %. Combining accents count too, so that a
/// text with stacked accents is cut earlier.
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
    fn bidi_controls_are_removed() {
        assert_eq!(printable("\u{202e}a\u{2066}b\u{200f}\u{1b}".to_owned()), "ab\u{200f}\u{fffd}");
    }

    #[test]
    fn exact_text_keeps_bidi_controls() {
        let exact = exact("<\u{202e}\u{2066}a\u{200f}\u{2069}");
        assert_eq!(printable(exact.0), "&lt;&#8238;&#8294;a\u{200f}&#8297;");
    }

    #[test]
    fn invisible_names_are_replaced() {
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
    fn forbidden_characters_are_replaced() {
        assert_eq!(printable("a\u{0}b\u{1b}c\u{85}\u{ffff}\n\t".to_owned()), "a�b�c��\n\t");
        assert_eq!(printable("a\r\nb\rc\n\r".to_owned()), "a\nb\nc\n\n");
    }

    #[test]
    fn long_text_is_clipped_by_its_width() {
        assert_eq!(clipped("Rosalind", 8), "Rosalind");
        assert_eq!(clipped("Rosalinde", 8), "Rosalin…");
        assert_eq!(clipped("金融市场分析师", 8), "金融市…");
    }
}
