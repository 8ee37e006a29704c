//! A stance within text: its mark, its name and the confidence.

use swarm_core::domain::{Confidence, Stance};
use swarm_core::rules::PublicTake;

use super::charts::STANCES;
use super::markup::{Markup, escape};

/// The mark of each stance: triangles down and up, filled for the stronger stance and hollow for the
/// weaker, and a bar for neutral. A stance that aggregation does not know gets a ring.
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

/// The stance and confidence of a take, or that it is sealed.
pub(crate) fn of_take(take: &PublicTake) -> Markup {
    match take.open() {
        Some(take) => stance(&take.draft().stance, take.draft().confidence),
        None => Markup("<span class=\"stance\">sealed</span>".to_owned()),
    }
}

/// The stance of this name, with the confidence, if any.
pub(crate) fn word(name: &str, confidence: Option<Confidence>) -> Markup {
    let known = MARKS.iter().find(|(stance, _)| *stance == name);
    let (class, shape) = known.copied().unwrap_or(("other", OTHER));
    let short = if known.is_some() { " known" } else { "" };
    let sure = confidence.map(|sure| format!(" <span>{:.2}</span>", sure.get()));
    Markup(format!(
        "<span class=\"stance{short}\"><svg class=\"mark {class}\" viewBox=\"0 0 10 10\" aria-hidden=\"true\">\
         <path d=\"{shape}\"/></svg><bdi>{}</bdi>{}</span>",
        escape(name),
        sure.unwrap_or_default()
    ))
}

/// The rank of a stance, −2 to 2; `None` for an unknown one.
pub(crate) fn rank(name: &str) -> Option<i8> {
    let place = STANCES.iter().position(|stance| *stance == name)?;
    i8::try_from(place).ok().map(|place| place - 2)
}

#[cfg(test)]
mod tests {
    use swarm_core::domain::STANCES as KNOWN;

    use super::*;

    #[test]
    fn known_stances_have_mark_and_rank() {
        for (name, known) in KNOWN {
            assert_eq!(rank(name), Some(known));
            assert!(word(name, None).0.contains(&format!("mark {name}")));
        }
        assert_eq!(rank("Bullish"), None);
    }

    #[test]
    fn unknown_stance_is_escaped_text() {
        let Markup(html) = word("<b>\"moon\"", None);
        assert!(
            html.contains("mark other") && html.contains("&lt;b&gt;&quot;moon&quot;"),
            "{html}"
        );
    }
}
