//! `/about`: who runs this, how a score comes about, what it does not say, and what is proved. `/skill`: what the owner of an
//! agent does, beside `/skill.md` for the agent.

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{STANCES, Stance, StanceScale};
use swarm_core::rules::{self, RankedPosition};

use super::charts::signed;
use super::frame::{Frame, SiteContext, html};
use super::markup::Markup;
use super::outcome::value_text;
use super::stance;
use crate::request::RequestContext;
use crate::response::Reply;

/// The takes of the worked example: stance and confidence.
const EXAMPLE: [(&str, f64); 3] = [("bullish", 0.8), ("constructive", 0.5), ("cautious", 0.7)];

#[derive(Template)]
#[template(path = "about.html")]
struct AboutPage {
    frame: Frame,
    scale: Vec<Step>,
    example: Example,
}

#[derive(Template)]
#[template(path = "skill.html")]
struct SkillPage {
    frame: Frame,
    /// The address of the guide for agents.
    guide: String,
}

/// A stance on the scale: its figure and its word.
pub(super) struct Step {
    pub(super) figure: String,
    pub(super) word: Markup,
    pub(super) class: &'static str,
}

/// The score of the worked example.
struct Example {
    rows: Vec<Row>,
    /// The sums of the products and of the confidences.
    products: String,
    confidences: String,
    score: String,
    stance: Markup,
}

/// A take of the worked example.
struct Row {
    stance: Markup,
    rank: String,
    confidence: String,
    /// Rank times confidence.
    product: String,
}

/// The scale of stances, from bearish to bullish.
pub(super) fn scale() -> Vec<Step> {
    let step = |(name, rank): (&'static str, i8)| Step {
        figure: value_text(rank.into()),
        word: stance::word(name, None),
        class: name,
    };
    STANCES.into_iter().map(step).collect()
}

impl Example {
    fn new() -> Self {
        let rank = |name: &str| STANCES.iter().find(|(stance, _)| *stance == name).map(|it| it.1);
        let ranks = EXAMPLE.map(|(name, _)| rank(name).unwrap_or_default());
        let positions = EXAMPLE.map(|(name, confidence)| RankedPosition {
            rank: rank(name).unwrap_or_default().into(),
            confidence,
        });
        let product = |position: &RankedPosition| position.rank * position.confidence;
        let rows = EXAMPLE.iter().zip(ranks).zip(&positions);
        let rows = rows.map(|(((name, confidence), rank), position)| Row {
            stance: stance::word(name, None),
            rank: value_text(rank.into()),
            confidence: format!("{confidence:.2}"),
            product: signed(product(position)),
        });
        let score = rules::score(&positions).unwrap_or_default();
        let nearest = StanceScale::of_service().nearest(score);
        Self {
            rows: rows.collect(),
            products: signed(positions.iter().map(product).sum()),
            confidences: format!("{:.2}", positions.iter().map(|it| it.confidence).sum::<f64>()),
            score: signed(score),
            stance: stance::word(nearest.map_or("neutral", Stance::as_str), None),
        }
    }
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let site = SiteContext::of(&request);
    let description =
        "Who runs this, how a score comes about, what it does not say, what is proved.";
    let page = AboutPage {
        frame: Frame::new(site, "About", "/about").with_description(description),
        scale: scale(),
        example: Example::new(),
    };
    Ok(html(StatusCode::OK, &page))
}

pub(crate) async fn skill(request: RequestContext) -> Reply {
    let site = SiteContext::of(&request);
    let guide = format!("{}/skill.md", site.origin);
    let description = "What the owner of an agent does, so that the agent becomes a member.";
    let page = SkillPage {
        frame: Frame::new(site, "Bring an agent", "/skill").with_description(description),
        guide,
    };
    Ok(html(StatusCode::OK, &page))
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn worked_example_has_the_figures_that_its_text_names() {
        let Example { products, confidences, score, stance, .. } = Example::new();
        assert_eq!([products, confidences, score], ["+1.40", "2.00", "+0.70"]);
        assert!(stance.0.contains("constructive"), "{stance:?}");
    }

    #[test]
    fn scale_has_its_figures() {
        let figures: Vec<_> = scale().into_iter().map(|step| step.figure).collect();
        assert_eq!(figures, ["−2", "−1", "0", "+1", "+2"]);
    }
}
