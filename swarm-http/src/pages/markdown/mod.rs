//! Renders members' Markdown to a safe subset of HTML (MANUAL.md, 10.2). HTML in the source is shown as
//! text, images as their descriptions, and the output is sanitized once more.

mod address;
mod bounds;
mod definitions;

use std::sync::OnceLock;

use ammonia::Builder;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};

pub(crate) use pulldown_cmark::HeadingLevel;

use self::address::is_link;
use self::bounds::{Depth, bounded, split_long_text};
use self::definitions::{NO_DEFINITION, with_used_definitions};
use super::links::web;
use super::markup::{Markup, clipped, escape, width};

/// The allowed elements.
const TAGS: [&str; 24] = [
    "p",
    "br",
    "hr",
    "em",
    "strong",
    "del",
    "code",
    "pre",
    "blockquote",
    "ul",
    "ol",
    "li",
    "a",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
];

/// Maximum number of columns of a table, and of cells of all tables of a text: a line of a few letters
/// can be a row of many empty cells. Beyond either, all tables of the text are shown as typed.
const MAX_COLUMNS: usize = 20;
const MAX_CELLS: usize = 5_000;

/// A text may have this many elements, plus one for each [`BYTES_PER_ELEMENT`] of its length. A text
/// with more is shown as typed.
const BASE_ELEMENTS: usize = 200;
const BYTES_PER_ELEMENT: usize = 8;

/// How links are marked: members wrote them, not the operator.
const REL: &str = "nofollow noopener ugc";

/// What is formatted.
const FORM: Options = Options::ENABLE_STRIKETHROUGH.union(Options::ENABLE_TABLES);

/// Renders the text; its headings start one level below `top`. A text of which nothing would be read, such as `#`, is shown as typed.
pub(crate) fn markdown(text: &str, top: HeadingLevel) -> Markup {
    rendered(text, top, false)
}

/// As [`markdown`]; of a text that is cut, links may use definitions behind the cut.
fn rendered(text: &str, top: HeadingLevel, is_cut: bool) -> Markup {
    if text.trim().is_empty() {
        return Markup(String::new());
    }
    // A byte order mark is no part of the first line, and the sanitizer drops U+0000, which would join what it divides.
    let text = &*text.strip_prefix('\u{feff}').unwrap_or(text).replace('\0', "\u{fffd}");
    let source = with_used_definitions(&bounded(text), FORM, is_cut);
    let read = |options| safe_events(&source, options, top);
    let events = read(FORM).or_else(|| read(FORM.difference(Options::ENABLE_TABLES)));
    let events = events.filter(|events| has_words(events)).unwrap_or_else(|| as_typed(text));
    let mut out = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut out, split_long_text(events).into_iter());
    let clean = sanitizer().clean(&out).to_string();
    // All text is escaped by now, so only real tables match.
    let boxed = clean.replace("<table>", BEFORE_TABLE).replace("</table>", "</table></div>");
    Markup(boxed)
}

/// The text without formatting, as a code block.
fn as_typed(text: &str) -> Vec<Event<'_>> {
    let block = Tag::CodeBlock(CodeBlockKind::Indented);
    let end = Event::End(block.to_end());
    vec![Event::Start(block), Event::Text(text.into()), end]
}

/// Whether a reader finds anything in these events.
fn has_words(events: &[Event<'_>]) -> bool {
    events.iter().any(|event| match event {
        Event::Text(text) | Event::Code(text) => !text.trim().is_empty(),
        _ => false,
    })
}

/// The scrolling container of a table, focusable so that the keyboard can scroll it.
const BEFORE_TABLE: &str =
    "<div class=\"table\" dir=\"auto\" role=\"group\" aria-label=\"Table\" tabindex=\"0\"><table>";

/// Renders the beginning of a text, at most `limit` characters, cut at the end of a word; and whether
/// it was cut. A text that takes far more HTML than letters, such as a table of empty cells, has no formatting there.
pub(crate) fn excerpt(text: &str, limit: usize, top: HeadingLevel) -> (Markup, bool) {
    let (html, cut) = formatted_excerpt(text, limit, top);
    if html.0.len() <= 6 * limit + 500 {
        return (html, cut);
    }
    (Markup(format!("<p>{}</p>", escape(&first_words(text, limit)))), true)
}

fn formatted_excerpt(text: &str, limit: usize, top: HeadingLevel) -> (Markup, bool) {
    let Some((end, _)) = text.char_indices().nth(limit) else {
        return (markdown(text, top), false);
    };
    let head = text.get(..end).unwrap_or_default();
    let cut = head.rfind(char::is_whitespace).filter(|cut| *cut > end / 2).unwrap_or(end);
    let head = head.get(..cut).unwrap_or_default().trim_end();
    (rendered(&format!("{head}…"), top, true), true)
}

/// The beginning of a text as one line without formatting, about `room` letters, cut at the end of a
/// word.
pub(crate) fn first_words(text: &str, room: usize) -> String {
    // The parser reads the whole text before its first event, so cut it first.
    let text = &*text.strip_prefix('\u{feff}').unwrap_or(text).replace('\0', "\u{fffd}");
    let text = text.trim_start();
    let head = text.char_indices().nth(8 * room).and_then(|(end, _)| text.get(..end));
    let head = head.unwrap_or(text);
    let mut line = words(head, room, head.len() < text.len());
    if line.trim().is_empty() {
        // No words in this part: show it as typed.
        line = head.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let line = line.trim();
    let clipped = clipped(line, room);
    match clipped.strip_suffix('…').and_then(|head| head.rsplit_once(' ')) {
        Some((words, rest)) if clipped != line && rest.len() < room / 4 => format!("{words} …"),
        _ => clipped,
    }
}

/// The first words of a text, somewhat more than `room` letters. What a line break or a rule separates on the page is
/// separated here by a mark: items of a list, rows and cells of a table, lines of code, a heading and what follows.
fn words(text: &str, room: usize, is_cut: bool) -> String {
    let mut line = String::new();
    let mut is_code = false;
    let source = with_used_definitions(&bounded(text), FORM, is_cut);
    for event in Parser::new_ext(&source, FORM) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Text(text) if is_code => {
                for row in text.lines() {
                    line.push_str(&row.split_whitespace().collect::<Vec<_>>().join(" "));
                    separate(&mut line, " · ");
                }
            }
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                line.push_str(&text);
            }
            // Emphasis may end within a word, so it does not separate words.
            Event::End(
                TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link,
            ) => {}
            Event::End(TagEnd::TableCell) => separate(&mut line, ", "),
            Event::Start(Tag::Item) | Event::End(TagEnd::List(_)) => separate(&mut line, " · "),
            Event::End(TagEnd::TableHead | TagEnd::TableRow) => separate(&mut line, " · "),
            Event::End(TagEnd::Heading(_)) => separate(&mut line, ": "),
            Event::SoftBreak | Event::HardBreak | Event::End(_) if !line.ends_with(' ') => {
                line.push(' ');
            }
            _ => {}
        }
        if width(&line) > 2 * room {
            break;
        }
    }
    let end = line.trim_end_matches(is_separator).len();
    line.truncate(end);
    line.replace(NO_DEFINITION, "")
}

/// Ends the last part of a line with this mark, in place of a weaker one.
fn separate(line: &mut String, mark: &str) {
    let end = line.trim_end_matches(is_separator).len();
    line.truncate(end);
    // A sentence ends itself, and a colon begins a list.
    let ends = (mark == ": " && line.ends_with(['.', '!', '?', '…'])) || line.ends_with(':');
    match line.is_empty() {
        true => {}
        false if ends => line.push(' '),
        false => line.push_str(mark),
    }
}

fn is_separator(letter: char) -> bool {
    matches!(letter, ' ' | '·' | ',')
}

fn sanitizer() -> &'static Builder<'static> {
    static SANITIZER: OnceLock<Builder<'static>> = OnceLock::new();
    SANITIZER.get_or_init(|| {
        let mut builder = Builder::empty();
        builder
            .tags(TAGS.into())
            .add_tag_attributes("a", ["href"])
            .add_tag_attributes("ol", ["start"])
            .set_tag_attribute_value("th", "scope", "col")
            .url_schemes(["http", "https"].into())
            .url_relative(ammonia::UrlRelative::Deny)
            .link_rel(Some(REL));
        // A browser finds the direction of a list or a quote from its words, for its markers and its border. The style sheet does the same for
        // paragraphs.
        for tag in ["ul", "ol", "blockquote"] {
            builder.set_tag_attribute_value(tag, "dir", "auto");
        }
        builder
    })
}

/// The events of a text without anything that a page must not have: HTML becomes text, an image its
/// description, a link without a web address its text; headings skip no level. `None` if the tables
/// are too large or there are too many elements.
fn safe_events(text: &str, options: Options, top: HeadingLevel) -> Option<Vec<Event<'_>>> {
    let mut events = Vec::new();
    let mut links = Vec::new();
    let mut in_head = false;
    let mut level = top;
    let (mut depth, mut cells) = (Depth::default(), MAX_CELLS);
    let mut elements = BASE_ELEMENTS + text.len() / BYTES_PER_ELEMENT;
    for event in Parser::new_ext(text, options) {
        if matches!(&event, Event::Start(tag) if !matches!(tag, Tag::TableCell)) {
            elements = elements.checked_sub(1)?;
        }
        if depth.drops(&event) {
            // Keep the words of two items apart.
            if matches!(event, Event::Start(Tag::Item) | Event::End(TagEnd::Item)) {
                events.push(Event::SoftBreak);
            }
            continue;
        }
        match event {
            Event::Start(Tag::Table(columns)) if columns.len() > MAX_COLUMNS => return None,
            Event::Start(Tag::TableCell) => {
                cells = cells.checked_sub(1)?;
                events.push(event);
            }
            Event::Html(text) | Event::InlineHtml(text) => events.push(Event::Text(text)),
            Event::Start(Tag::HtmlBlock) => events.push(Event::Start(Tag::Paragraph)),
            Event::End(TagEnd::HtmlBlock) => events.push(Event::End(TagEnd::Paragraph)),
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => {}
            Event::Start(Tag::Heading { level: wanted, .. }) => {
                level = below(wanted, top, level);
                events.push(heading(level));
            }
            Event::End(TagEnd::Heading(_)) => events.push(Event::End(TagEnd::Heading(level))),
            Event::Start(Tag::Link { dest_url, link_type, .. }) => {
                links.push((events.len(), dest_url, link_type));
            }
            Event::End(TagEnd::Link) => end_link(&mut events, links.pop()),
            Event::Start(Tag::TableHead) | Event::End(TagEnd::TableHead) => {
                in_head = matches!(event, Event::Start(_));
                events.push(event);
            }
            // Screen readers skip an empty column heading.
            Event::End(TagEnd::TableCell) if in_head => {
                if matches!(events.last(), Some(Event::Start(Tag::TableCell))) {
                    events.push(Event::Text(CowStr::Borrowed("–")));
                }
                events.push(event);
            }
            event => events.push(event),
        }
    }
    Some(events)
}

fn heading(level: HeadingLevel) -> Event<'static> {
    Event::Start(Tag::Heading { level, id: None, classes: Vec::new(), attrs: Vec::new() })
}

/// The level for a heading written as `wanted`, below `top` and after one of level `before`, so that no
/// level is skipped on the way down.
fn below(wanted: HeadingLevel, top: HeadingLevel, before: HeadingLevel) -> HeadingLevel {
    let level = (wanted as usize + top as usize).min(before as usize + 1);
    HeadingLevel::try_from(level).unwrap_or(HeadingLevel::H6)
}

/// Wraps the events since the link's start in a link, if its target [is one](is_link).
/// A link without text shows its target.
fn end_link<'a>(events: &mut Vec<Event<'a>>, link: Option<(usize, CowStr<'a>, LinkType)>) {
    let Some((from, dest_url, link_type)) = link else { return };
    if web(&dest_url).is_none() {
        return;
    }
    if !has_words(events.get(from..).unwrap_or_default()) {
        events.truncate(from);
        events.push(Event::Text(dest_url.clone()));
    }
    if !is_link(&dest_url) {
        return;
    }
    let title = CowStr::Borrowed("");
    let id = title.clone();
    events.insert(from, Event::Start(Tag::Link { link_type, dest_url, title, id }));
    events.push(Event::End(TagEnd::Link));
}

#[cfg(test)]
mod tests {
    use super::bounds::{MAX_DEPTH, MAX_PIECE};
    use super::*;

    fn html(text: &str) -> String {
        markdown(text, HeadingLevel::H2).0.trim().to_owned()
    }

    #[test]
    fn unseen_characters_join_nothing() {
        assert_eq!(html("pay\0load `co\0de`"), "<p>pay\u{fffd}load <code>co\u{fffd}de</code></p>");
        assert_eq!(html("\u{feff}# H"), html("# H"));
    }

    #[test]
    fn first_words_are_plain_text() {
        let text = "# Why\n\nThe **base\ncase** needs `no` [new](http://a.example) users.";
        assert_eq!(first_words(text, 80), "Why: The base case needs no new users.");
        assert_eq!(first_words(text, 24), "Why: The base case …");
        assert_eq!(first_words("No ~~doubt~~s.", 80), "No doubts.");
        assert_eq!(first_words("<b>x</b>", 80), "<b>x</b>");
        assert_eq!(first_words("", 80), "");
        let late = format!("{}At last.", "\n".repeat(900));
        assert_eq!(first_words(&late, 80), "At last.");
        let nothing = format!("[name]:\n http://a/{}\n\nAt last.", "x".repeat(900));
        assert!(first_words(&nothing, 80).starts_with("[name]: http://a/xxx"));
    }

    #[test]
    fn first_words_keep_items_and_cells_apart() {
        assert_eq!(first_words("Two:\n\n- one\n- two\n\nThen.", 80), "Two: one · two · Then.");
        assert_eq!(first_words("|a|b|\n|-|-|\n|1|2|\n|3|4|", 80), "a, b · 1, 2 · 3, 4");
        assert_eq!(first_words("# Is it so?\nIt is.", 80), "Is it so? It is.");
        let code = "Used:\n\n```\nday   1  3\nused 52 55\n```\n\nThen.";
        assert_eq!(first_words(code, 80), "Used: day 1 3 · used 52 55 · Then.");
    }

    #[test]
    fn markdown_is_rendered() {
        assert_eq!(
            html("A *b* **c** `d`"),
            "<p>A <em>b</em> <strong>c</strong> <code>d</code></p>"
        );
        let link = "<p><a href=\"https://a.example/\" rel=\"nofollow noopener ugc\">b</a></p>";
        assert_eq!(html("[b](https://a.example/ \"title\")"), link);
        assert_eq!(html("~~a~~"), "<p><del>a</del></p>");
        assert_eq!(html("- a"), "<ul dir=\"auto\">\n<li>a</li>\n</ul>");
        assert!(html("|a|b|\n|-|:-:|\n|1|2|").contains("<th scope=\"col\">b</th>"));
        assert!(html("|a||\n|-|-|\n|1|2|").contains("<th scope=\"col\">–</th>"));
    }

    #[test]
    fn html_is_shown_as_text() {
        assert_eq!(html("<script>x</script>"), "<p>&lt;script&gt;x&lt;/script&gt;</p>");
        assert_eq!(html("a <b onclick=x>b</b>"), "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>");
    }

    #[test]
    fn images_are_not_loaded_and_only_web_links_are_kept() {
        assert_eq!(html("![sight](https://a.example/x.png)"), "<p>sight</p>");
        for link in
            ["javascript:alert(1)", "data:text/html,x", "/swarm", "//a.example", "vbscript:x"]
        {
            assert_eq!(html(&format!("[b]({link})")), "<p>b</p>", "{link}");
        }
        let shown = ">https://a.example/</a>";
        assert!(html("[](https://a.example/)").contains(shown));
        assert!(html("[![](x)](https://a.example/)").contains(shown));
    }

    #[test]
    fn link_without_a_valid_address_is_its_words() {
        for address in ["<https://a b/>", "https://a.example:99999/", "https://"] {
            let text = format!("[b]({address}) [c](https://c.example/)");
            let link = format!("<a href=\"https://c.example/\" rel=\"{REL}\">c</a>");
            assert_eq!(html(&text), format!("<p>b {link}</p>"), "{address}");
        }
    }

    #[test]
    fn definitions_that_no_link_uses_are_words() {
        let prices = "[BTC]: 45000\n[ETH]: 2500";
        assert_eq!(html(prices), format!("<p>{prices}</p>"));
        assert_eq!(first_words(prices, 80), "[BTC]: 45000 [ETH]: 2500");
        assert_eq!(html("[BTC] rises.\n\n[BTC]: 45000").matches("[BTC]").count(), 2);
        let note = "Summary:\n\n[note]: https://x.example\n\nend";
        assert_eq!(html(note), "<p>Summary:</p>\n<p>[note]: https://x.example</p>\n<p>end</p>");
        assert_eq!(first_words(note, 80), "Summary: [note]: https://x.example end");
        for address in ["https://a.example:99999/", "https://[::1]/", "/a"] {
            let text = html(&format!("See [a].\n\n[a]: {address}"));
            assert_eq!(text, format!("<p>See [a].</p>\n<p>[a]: {address}</p>"));
        }
        let quoted = html("> - [a]: b \"c\"\n> - d");
        assert!(quoted.contains("<li>[a]: b \"c\"</li>"), "{quoted}");
        // Code has nothing that is not typed.
        for code in ["```\n[a]: b\n```", "    [a]: b"] {
            assert_eq!(html(code).trim_end_matches("</code></pre>").trim(), "<pre><code>[a]: b");
        }
    }

    #[test]
    fn definitions_that_links_use_are_not_shown() {
        let link = |to: &str, words: &str| {
            format!("<a href=\"https://{to}.example/\" rel=\"{REL}\">{words}</a>")
        };
        let [source, other] = ["a", "b"].map(|name| format!("[{name}]: https://{name}.example/\n"));
        let shown = format!("<p>See {} and {}.</p>", link("a", "it"), link("b", "B"));
        let text = "See [it][a] and [B].";
        assert_eq!(html(&format!("{text}\n\n{source}{other}")), shown);
        // Those between them are words.
        let text = html(&format!("{text}\n\n{source}[c]: d\n{other}"));
        assert_eq!(text, format!("{shown}\n<p>[c]: d</p>"));
        // Wherever they stand.
        for before in ["2.\n    ", "[c]: d\n    ", "- [c]: d\n-\n     ", "> [c]: d\n> ", "2. "] {
            let text = html(&format!("[B]\n\n{before}{other}"));
            assert!(text.starts_with(&format!("<p>{}</p>", link("b", "B"))), "{text}");
            assert!(!text.contains("[b]"), "{text}");
        }
        let quoted = html("[it][a b]\n\n> [c]: d\n> [a\n> b]:\n> https://a.example/\n> - e");
        assert!(quoted.starts_with(&format!("<p>{}</p>", link("a", "it"))), "{quoted}");
        assert!(quoted.contains("<p>[c]: d</p>\n<ul dir=\"auto\">\n<li>e</li>"), "{quoted}");
        // Of two with one name the parser takes the first.
        let long = format!("{source}\nPrices rise. {}See [it][a].", "And more. ".repeat(100));
        assert!(first_words(&long, 12).starts_with("Prices rise"));
        assert!(excerpt(&long, 40, HeadingLevel::H2).0.0.starts_with("<p>Prices rise."));
        assert!(html("![c][a]\n\n[a]: https://a.example/c.png").contains("/c.png"));
        let text = html(&format!("[a]\n\n{source}[a]: 7"));
        assert_eq!(text, format!("<p>{0}</p>\n<p>{0}: 7</p>", link("a", "a")));
    }

    #[test]
    fn text_without_words_is_shown_as_typed() {
        assert_eq!(html(" \n"), "");
        for text in ["#", "---", "[]()", "![](x)", ">", "- ", &"`".repeat(1_000)] {
            let shown = html(text);
            let words = shown.strip_prefix("<pre><code>").unwrap();
            let words = words.strip_suffix("</code></pre>").unwrap();
            assert_eq!(words, text.replace('>', "&gt;"), "{shown}");
        }
    }

    #[test]
    fn headings_skip_no_level() {
        let text = html("#### a\n# b\n###### c\n###### d\n## e");
        assert_eq!(
            text.split_whitespace().collect::<String>(),
            "<h3>a</h3><h3>b</h3><h4>c</h4><h5>d</h5><h4>e</h4>"
        );
    }

    #[test]
    fn nesting_is_limited() {
        let marks = [
            ("- ", "<ul "),
            ("1. ", "<ol "),
            ("> ", "<blockquote "),
            ("*a **", "<em>"),
            ("~~a *b ", "<em>"),
        ];
        for (marks, tag) in marks {
            let nested = html(&(marks.repeat(100) + "deep" + &"** b* c~~".repeat(100)));
            assert!((1..=MAX_DEPTH).contains(&nested.matches(tag).count()), "{marks}: {nested}");
            assert!(nested.contains("deep"), "{marks}");
        }
        for mixed in ["> - 1. ", "- > ", "> > - "] {
            let nested = html(&(mixed.repeat(20) + "**deep**"));
            let count = |tag| nested.matches(tag).count();
            assert_eq!(count("<li>"), count("<ul ") + count("<ol "), "{nested}");
            assert_eq!(count("<li>") + count("<blockquote "), MAX_DEPTH, "{nested}");
            assert!(nested.contains("<strong>deep</strong>"), "{nested}");
        }
    }

    #[test]
    fn text_with_too_many_elements_is_shown_as_typed() {
        for text in [">>>>>>\n\n".repeat(400), "-\n+\n".repeat(400), "*a* ".repeat(600)] {
            let typed = html(&text);
            assert!(typed.starts_with("<pre><code>") && typed.len() < 6 * text.len(), "{typed}");
        }
        let list = "- a short line\n".repeat(3_000);
        assert_eq!(html(&list).matches("<li>").count(), 3_000);
    }

    #[test]
    fn words_of_too_deep_items_stay_apart() {
        let deep = "- ".repeat(MAX_DEPTH + 1);
        for text in
            [format!("{deep}a\n{deep}b"), format!("{}a\n{}- b", deep, " ".repeat(deep.len()))]
        {
            let flat = html(&text);
            assert!(flat.contains('a') && flat.contains('b') && !flat.contains("ab"), "{flat}");
        }
        let (last, below) = ("- ".repeat(MAX_DEPTH), " ".repeat(2 * MAX_DEPTH));
        let flat = html(&format!("{last}a\n{below}- b"));
        assert!(flat.contains("<li>a\nb\n</li>"), "{flat}");
    }

    #[test]
    fn long_texts_are_complete() {
        for letter in ["a", "&amp;", "\u{a7}"] {
            let text = letter.repeat(3 * MAX_PIECE + 1);
            assert_eq!(html(&text), format!("<p>{text}</p>"));
            let lines = format!("{letter}\n").repeat(3 * MAX_PIECE);
            assert_eq!(html(&lines), format!("<p>{}</p>", lines.trim()));
            let code = html(&format!("`{}`", "a".repeat(2 * MAX_PIECE)));
            assert_eq!(code, format!("<p>{}</p>", "a".repeat(2 * MAX_PIECE)));
        }
        let address = format!("https://a.example/{}", "&".repeat(MAX_PIECE));
        assert_eq!(html(&format!("[b]({address})")), "<p>b</p>");
        let shown = html(&format!("[]({address})"));
        assert!(shown.starts_with("<p>https://a.example/&amp;"), "{shown}");
    }

    #[test]
    fn too_large_tables_are_shown_as_typed() {
        let row = |columns: usize| format!("{}|\n", "|-".repeat(columns));
        let widest = row(MAX_COLUMNS).repeat(2);
        assert_eq!(html(&widest).matches("<th ").count(), MAX_COLUMNS);
        assert!(html(&widest).starts_with("<div class=\"table\" dir=\"auto\""));
        let wide = html(&row(MAX_COLUMNS + 1).repeat(2));
        assert!(!wide.contains("<t") && wide.contains("|-|-|"), "{wide}");
        let rows = MAX_CELLS / MAX_COLUMNS;
        assert!(html(&(widest.clone() + &"x\n".repeat(rows - 1))).contains("<td>x</td>"));
        assert!(!html(&(widest + &"x\n".repeat(rows))).contains("<t"));
    }

    #[test]
    fn excerpt_is_cut_at_a_word() {
        let (Markup(all), cut) = excerpt("five words of a text", 20, HeadingLevel::H3);
        assert_eq!((all.trim(), cut), ("<p>five words of a text</p>", false));
        let (Markup(head), cut) = excerpt("five words of a text", 13, HeadingLevel::H3);
        assert_eq!((head.trim(), cut), ("<p>five words…</p>", true));
        assert!(excerpt(&"\u{1f680}".repeat(100), 50, HeadingLevel::H3).0.0.contains('…'));
        let table =
            "|a|b|c|d|e|f|g|h|i|j|\n".to_owned() + &"|-".repeat(10) + "|\n" + &"x\n".repeat(200);
        let (Markup(head), cut) = excerpt(&table, 400, HeadingLevel::H3);
        assert!(cut && head.len() < 3_000 && !head.contains("<t"), "{head}");
    }
}
