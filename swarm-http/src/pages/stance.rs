//! A stance as it stands in text: its mark, its word, and how sure the member is.

use swarm_core::domain::{Confidence, Stance};

use super::charts::STANCES;
use super::markup::{Markup, escape};

/// Triangles down and up, filled for the stronger stance, hollow for the weaker; a bar between them;
/// a ring for what aggregation does not understand.
const MARKS: [(&str, &str); 5] = [
    ("bearish", "M1 2h8L5 9z"),
    ("cautious", "M1 2h8L5 9z"),
    ("neutral", "M1 5h8"),
    ("constructive", "M1 8h8L5 1z"),
    ("bullish", "M1 8h8L5 1z"),
];
const OTHER: &str = "M5 1a4 4 0 1 0 .01 0z";

/// `▲ bullish 0.62`
pub(crate) fn stance(stance: &Stance, confidence: Confidence) -> Markup {
    word(stance.as_str(), Some(confidence))
}

/// The stance of this name, with a confidence where one goes with it.
pub(crate) fn word(name: &str, confidence: Option<Confidence>) -> Markup {
    let known = MARKS.iter().find(|(stance, _)| *stance == name);
    let (class, shape) = known.copied().unwrap_or(("other", OTHER));
    let sure = confidence.map(|sure| format!(" <span>{:.2}</span>", sure.get()));
    Markup(format!(
        "<span class=\"stance\"><svg class=\"mark {class}\" viewBox=\"0 0 10 10\" aria-hidden=\"true\">\
         <path d=\"{shape}\"/></svg><bdi>{}</bdi>{}</span>",
        escape(name),
        sure.unwrap_or_default()
    ))
}

/// The rank of a stance by its name, −2 to 2.
pub(crate) fn rank(name: &str) -> Option<i8> {
    let place = STANCES.iter().position(|stance| *stance == name)?;
    i8::try_from(place).ok().map(|place| place - 2)
}

#[cfg(test)]
mod tests {
    use swarm_core::domain::STANCES as KNOWN;

    use super::*;

    #[test]
    fn each_known_stance_has_a_mark_and_its_rank() {
        for (name, known) in KNOWN {
            assert_eq!(rank(name), Some(known));
            assert!(word(name, None).0.contains(&format!("mark {name}")));
        }
        assert_eq!(rank("Bullish"), None);
    }

    #[test]
    fn an_unknown_stance_is_shown_as_text() {
        let Markup(html) = word("<b>\"moon\"", None);
        assert!(
            html.contains("mark other") && html.contains("&lt;b&gt;&quot;moon&quot;"),
            "{html}"
        );
    }
}
