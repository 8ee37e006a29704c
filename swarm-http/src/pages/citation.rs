//! How to cite, embed and share what a page shows.

use swarm_core::domain::{Day, Digest, LogLine};
use swarm_core::proof::canonical;
use swarm_core::{Session, Take};

use super::frame::SiteContext;
use super::links;
use super::markup::Markup;
use super::time_text::TimeFormatter;

/// Width and height of the card of a session on other pages, in pixels.
pub(super) const CARD: (u32, u32) = (520, 260);

/// A page as others name it.
pub(super) struct Citation {
    pub(super) permalink: String,
    /// A link in Markdown.
    pub(super) markdown: String,
    pub(super) bibtex: String,
    /// What is hashed, and the hash.
    pub(super) hash: (&'static str, String),
    /// The entry of the log: its path and its number.
    pub(super) entry: Option<(String, String)>,
    /// The HTML that shows it on other pages, and the path of what it shows.
    pub(super) embed: Option<(String, String)>,
    pub(super) picture: Option<String>,
    /// When what it shows was put on record.
    pub(super) at: Markup,
}

impl Citation {
    /// The citation of a session with these acts, of which the last one is its entry of the log.
    pub(super) fn of_session(
        site: &SiteContext,
        session: &Session,
        title: &str,
        acts: &[LogLine],
        times: TimeFormatter,
    ) -> Option<Self> {
        let (last, path) = (acts.last()?, links::session(session.id));
        let card = format!("{path}/card");
        Some(Self {
            embed: Some((frame(site, &card, title, CARD), card)),
            picture: cfg!(feature = "pictures").then(|| format!("{path}/picture.png")),
            entry: Some(entry(last)),
            ..Self::new(site, &path, (title, &site.name), session.date, times.time(last.at))
                .with_hash("SHA-256 of the log entry", Digest::of(last.text().as_bytes()))
        })
    }

    /// The citation of a take.
    pub(super) fn of_take(
        site: &SiteContext,
        path: &str,
        title: &str,
        (author, take): (&str, &Take),
        times: TimeFormatter,
    ) -> Self {
        let (date, canonical) = (take.draft().date, canonical(take.draft()));
        Self::new(site, path, (title, author), date, times.time(take.filed_at))
            .with_hash("SHA-256 of the canonical text", Digest::of(canonical.as_bytes()))
    }

    fn new(
        site: &SiteContext,
        path: &str,
        (title, author): (&str, &str),
        date: Day,
        at: Markup,
    ) -> Self {
        let permalink = format!("{}{path}", site.origin);
        let key = path.trim_start_matches('/').replace('/', "-");
        let [of_title, of_author, of_name] = [title, author, site.name.as_str()].map(latex);
        let date = date.to_string();
        let year = date.get(..4).unwrap_or_default();
        Self {
            markdown: format!("[{}]({permalink})", plain(title).replace(['[', ']'], "")),
            bibtex: format!(
                "@misc{{{key},\n  title = {{{of_title}}},\n  author = {{{{{of_author}}}}},\n  \
                 publisher = {{{{{of_name}}}}},\n  year = {{{year}}},\n  url = {{{permalink}}}\n}}"
            ),
            permalink,
            hash: ("", String::new()),
            entry: None,
            embed: None,
            picture: None,
            at,
        }
    }

    fn with_hash(self, of: &'static str, hash: Digest) -> Self {
        Self { hash: (of, hash.to_string()), ..self }
    }
}

/// The path of the log that begins with this entry, and its number.
fn entry(line: &LogLine) -> (String, String) {
    (format!("/swarm/log?before={}", line.seq.0.saturating_add(1)), line.seq.to_string())
}

/// The HTML of a frame with this card.
pub(super) fn frame(
    site: &SiteContext,
    card: &str,
    title: &str,
    (width, height): (u32, u32),
) -> String {
    let origin = &site.origin;
    let title = super::markup::escape(&plain(title));
    format!(
        "<iframe src=\"{origin}{card}\" width=\"{width}\" height=\"{height}\" title=\"{title}\" loading=\"lazy\"></iframe>"
    )
}

/// A text in one line.
fn one_line(text: &str) -> String {
    let text: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text in one line without what Markdown reads as marks.
fn plain(text: &str) -> String {
    one_line(&text.replace(['{', '}', '\\'], ""))
}

/// A text in one line as a value of BibTeX, in which LaTeX reads no marks. Braces are counted even where they are escaped, so
/// they have names.
fn latex(text: &str) -> String {
    let mut escaped = String::new();
    for letter in one_line(text).chars() {
        match letter {
            '&' | '%' | '$' | '#' | '_' => escaped.extend(['\\', letter]),
            '{' => escaped.push_str("\\textbraceleft{}"),
            '}' => escaped.push_str("\\textbraceright{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '\\' => escaped.push_str("\\textbackslash{}"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_hold_no_marks() {
        assert_eq!(plain("a\n{\\input{x}}  b\u{1b}"), "a inputx b");
        assert_eq!(latex("R&D\n50 %  of $_#"), r"R\&D 50 \% of \$\_\#");
        let escaped = r"\textbackslash{}x\textbraceleft{}\textasciitilde{}\textasciicircum{}\textbraceright{}";
        assert_eq!(latex(r"\x{~^}"), escaped);
    }
}
