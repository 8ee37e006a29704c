//! What a session declares about its takes, in words.

use swarm_core::domain::{Declaration, Method};

use super::charts::tick;

/// The labels and values of what a session declares; none if it declares nothing.
pub(in crate::pages) fn facts(declaration: &Declaration) -> Vec<(&'static str, String)> {
    let scale = declaration.stances.as_ref();
    let stances = scale.map(|scale| {
        let stance = |(at, it): (usize, &swarm_core::domain::RankedStance)| {
            format!("{} ({})", it.name, tick(scale, at))
        };
        let stances: Vec<_> = scale.stances().iter().enumerate().map(stance).collect();
        stances.join(", ")
    });
    let takes = declaration.max_revisions.map(|most| match most.get() {
        1 => "one, which cannot be amended".to_owned(),
        most => format!("at most {most}, the first one included"),
    });
    let score = declaration.method.map(|method| match method {
        Method::Mean => "the mean, weighted by confidence".to_owned(),
        Method::WeightedMedian => "the lower median, weighted by confidence".to_owned(),
        method => method.as_str().to_owned(),
    });
    let facts = [("Stances", stances), ("Takes of a member", takes), ("Score", score)];
    facts.into_iter().filter_map(|(label, value)| Some((label, value?))).collect()
}

/// How the score of a session comes about.
pub(super) fn score(declaration: &Declaration) -> String {
    let scale = declaration.scale();
    let end = |at: usize| {
        let name = scale.stances().get(at).map_or("", |stance| stance.name.as_str());
        format!("{} ({name})", tick(scale, at))
    };
    let (from, to) = (end(0), end(scale.stances().len().saturating_sub(1)));
    let method = match declaration.method() {
        Method::Mean => "mean",
        Method::WeightedMedian => "lower median",
        method => method.as_str(),
    };
    let middle = if declaration.stances.is_some() { "the middle" } else { "neutral" };
    format!(
        "The score is the {method} of the stances, from {from} to {to}, weighted by confidence. Members agree where at \
         least two thirds are on its side of {middle}."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_of_a_session_that_declares_nothing() {
        assert_eq!(facts(&Declaration::default()), []);
        assert_eq!(
            score(&Declaration::default()),
            "The score is the mean of the stances, from −2 (bearish) to +2 (bullish), weighted by confidence. \
             Members agree where at least two thirds are on its side of neutral."
        );
    }
}
