//! The axis of stances of a chart over several sessions.

use swarm_core::domain::StanceScale;

use super::field::tick;
use crate::pages::markup::clipped;

/// The stances that the sessions of a chart share, or the ends and the middle of their scales if these differ.
pub(crate) struct StanceAxis {
    /// In ascending order.
    steps: Vec<Step>,
}

/// A stance at an axis.
struct Step {
    /// The position, −2 to 2.
    at: f64,
    /// The rank in words, if all sessions share it.
    tick: Option<String>,
    name: String,
}

impl StanceAxis {
    /// The axis of a chart over sessions with these scales.
    pub(crate) fn of<'a>(mut scales: impl Iterator<Item = &'a StanceScale>) -> Self {
        let first = scales.next().unwrap_or_else(|| StanceScale::of_service());
        let steps = match scales.all(|scale| scale == first) {
            true => {
                let step = |(place, stance): (usize, &swarm_core::domain::RankedStance)| Step {
                    at: first.normalized(stance.rank),
                    tick: Some(tick(first, place)),
                    name: stance.name.as_str().to_owned(),
                };
                first.stances().iter().enumerate().map(step).collect()
            }
            false => {
                let ends = [(-2.0, "lowest"), (0.0, "middle"), (2.0, "highest")];
                let step = |(at, name): (f64, &str)| Step { at, tick: None, name: name.to_owned() };
                ends.into_iter().map(step).collect()
            }
        };
        Self { steps }
    }

    /// The positions of the lines, in ascending order: one in the middle, too.
    pub(super) fn lines(&self) -> Vec<f64> {
        let mut lines: Vec<_> = self.steps.iter().map(|step| step.at).collect();
        if !lines.contains(&0.0) {
            lines.push(0.0);
            lines.sort_by(f64::total_cmp);
        }
        lines
    }

    /// The positions and the names of the stances that are at least `apart` from one another, the ends first. A name has at most
    /// `room` characters.
    pub(super) fn names(&self, apart: f64, room: usize) -> Vec<(f64, String)> {
        let mut named: Vec<&Step> = Vec::new();
        let ends = self.steps.first().into_iter().chain(self.steps.last());
        for step in ends.chain(&self.steps) {
            if named.iter().all(|other| (other.at - step.at).abs() >= apart) {
                named.push(step);
            }
        }
        named.into_iter().map(|step| (step.at, clipped(&step.name, room))).collect()
    }

    /// The same, each after the rank.
    pub(super) fn ranks_and_names(&self, apart: f64, room: usize) -> Vec<(f64, String)> {
        let tick = |at: f64| {
            let step = self.steps.iter().find(|step| step.at == at);
            step.and_then(|step| step.tick.as_deref()).map(|tick| format!("{tick} "))
        };
        let named = self.names(apart, room).into_iter();
        named.map(|(at, name)| (at, tick(at).unwrap_or_default() + &name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use swarm_core::domain::{RankedStance, Stance};

    use super::*;

    fn scale(stances: &[(&str, f64)]) -> StanceScale {
        let ranked = |(name, rank): &(&str, f64)| RankedStance {
            name: Stance::parse(*name).unwrap(),
            rank: *rank,
        };
        StanceScale::parse(stances.iter().map(ranked).collect()).unwrap()
    }

    fn words(names: Vec<(f64, String)>) -> Vec<String> {
        names.into_iter().map(|(at, name)| format!("{at}: {name}")).collect()
    }

    #[test]
    fn stances_of_the_service_are_all_lines() {
        let axis = StanceAxis::of(std::iter::empty());
        assert_eq!(axis.lines(), [-2.0, -1.0, 0.0, 1.0, 2.0]);
        assert_eq!(words(axis.names(1.5, 20)), ["-2: bearish", "2: bullish", "0: neutral"]);
        let all = ["-2: −2 bearish", "2: +2 bullish", "-1: −1 cautious", "0: 0 neutral"];
        assert_eq!(words(axis.ranks_and_names(0.2, 20))[..4], all);
    }

    #[test]
    fn shared_scale_has_its_own_words_where_they_are() {
        let own =
            scale(&[("no", 0.0), ("maybe, but hardly", 5.0), ("perhaps", 75.0), ("yes", 100.0)]);
        let axis = StanceAxis::of([&own, &own].into_iter());
        assert_eq!(axis.lines(), [-2.0, -1.8, 0.0, 1.0, 2.0]);
        let names = ["-2: 0 no", "2: 100 yes", "1: 75 per…"];
        assert_eq!(words(axis.ranks_and_names(0.25, 4)), names);
    }

    #[test]
    fn different_scales_have_ends_alone() {
        let own = scale(&[("no", 0.0), ("yes", 1.0)]);
        let axis = StanceAxis::of([&own, StanceScale::of_service()].into_iter());
        let ends = ["-2: lowest", "2: highest", "0: middle"];
        assert_eq!(words(axis.ranks_and_names(0.2, 20)), ends);
        assert_eq!(axis.lines(), [-2.0, 0.0, 2.0]);
    }
}
