//! A stance within text: its mark, its name and the confidence.

use swarm_core::domain::{Confidence, Consensus, Figures, Stance, StanceScale};
use swarm_core::rules::PublicTake;

use super::charts::tone;
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

/// The stance and confidence of a take in a session with this scale, or that it is sealed: `▲ bullish 0.62`.
pub(crate) fn of_take(scale: &StanceScale, take: &PublicTake) -> Markup {
    match take.open() {
        Some(take) => on_scale(scale, &take.draft().stance, Some(take.draft().confidence)),
        None => Markup("<span class=\"stance\">sealed</span>".to_owned()),
    }
}

/// A stance of a session with this scale: the mark is that of the nearest stance of the service.
pub(crate) fn on_scale(
    scale: &StanceScale,
    stance: &Stance,
    confidence: Option<Confidence>,
) -> Markup {
    marked(stance.as_str(), scale.place(stance).map(|place| tone(scale, place)), confidence)
}

/// The stance of a consensus.
pub(crate) fn of_consensus(figures: &Figures, consensus: &Consensus) -> Markup {
    on_scale(figures.stances.scale(), &consensus.stance, None)
}

/// The stance of this name in a session without stances of its own, or one that is not known; with the confidence, if any.
pub(crate) fn word(name: &str, confidence: Option<Confidence>) -> Markup {
    marked(name, Some(name), confidence)
}

fn marked(name: &str, tone: Option<&str>, confidence: Option<Confidence>) -> Markup {
    let known = MARKS.iter().find(|(stance, _)| Some(*stance) == tone);
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

#[cfg(test)]
mod tests {
    use swarm_core::domain::{RankedStance, STANCES as KNOWN};

    use super::*;

    #[test]
    fn known_stances_have_their_mark() {
        for (name, _) in KNOWN {
            assert!(word(name, None).0.contains(&format!("mark {name}")));
        }
        assert!(word("Bullish", None).0.contains("mark other"));
    }

    #[test]
    fn declared_stances_have_the_mark_of_their_place() {
        let ranked =
            |(name, rank): (&str, f64)| RankedStance { name: Stance::parse(name).unwrap(), rank };
        let stances = [("bullish", 0.0), ("<maybe>", 50.0), ("yes", 100.0)].map(ranked);
        let scale = StanceScale::parse(stances.into()).unwrap();
        let mark = |name: &str| on_scale(&scale, &Stance::parse(name).unwrap(), None).0;
        assert!(mark("bullish").contains("mark bearish") && mark("yes").contains("mark bullish"));
        assert!(mark("<maybe>").contains("mark neutral") && mark("<maybe>").contains("&lt;maybe"));
        assert!(mark("cautious").contains("mark other"));
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
