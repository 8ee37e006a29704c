//! The result of a session in words: score, stance, agreement and quorum.

use swarm_core::domain::Figures;
use swarm_core::rules::{Agreement, agreement};

use super::charts::signed;
use super::markup::Markup;
use super::stance;

/// The result of an aggregated session that has a consensus.
pub(super) struct ResultView {
    /// `−0.44`
    pub(super) score: String,
    /// The stance of the consensus, with its mark.
    pub(super) stance: Markup,
    /// `9 of 11 agree`, `split 5 to 4, 2 neutral`
    pub(super) agreement: String,
    /// The agreement without the neutral members of a split, for narrow rows.
    pub(super) split: String,
    /// `quorum missed: 5 of 7`; the consensus is then no result.
    pub(super) quorum_missed: Option<String>,
}

impl ResultView {
    pub(super) fn of(figures: &Figures) -> Option<Self> {
        let consensus = figures.consensus.as_ref()?;
        Some(Self {
            score: signed(consensus.score),
            stance: stance::of_consensus(figures, consensus),
            split: agreement_text(figures)?.split(',').next().unwrap_or_default().to_owned(),
            agreement: agreement_text(figures)?,
            quorum_missed: quorum_missed(figures),
        })
    }

    /// `−0.44 cautious`, `quorum missed`, `no consensus`, `no takes`
    pub(super) fn headline(figures: &Figures) -> String {
        match &figures.consensus {
            None if figures.participation.members == 0 => "no takes".to_owned(),
            None => "no consensus".to_owned(),
            Some(_) if quorum_missed(figures).is_some() => "quorum missed".to_owned(),
            Some(consensus) => format!("{} {}", signed(consensus.score), consensus.stance),
        }
    }

    /// The [words](Self::words) of the result, or the [headline](Self::headline) where it has no consensus.
    pub(super) fn summary(figures: &Figures) -> String {
        Self::words(figures).unwrap_or_else(|| Self::headline(figures))
    }

    /// `−0.44, cautious, 9 of 11 agree`
    pub(super) fn words(figures: &Figures) -> Option<String> {
        let consensus = figures.consensus.as_ref()?;
        let (score, agreement) = (signed(consensus.score), agreement_text(figures)?);
        let words = format!("{score}, {}, {agreement}", consensus.stance);
        Some(match quorum_missed(figures) {
            Some(missed) => format!("{missed} ({words})"),
            None => words,
        })
    }
}

/// `quorum missed: 5 of 7`; `None` if it was met, or none was set.
fn quorum_missed(figures: &Figures) -> Option<String> {
    let quorum = figures.quorum.as_ref().filter(|quorum| !quorum.met)?;
    Some(format!("quorum missed: {} of {}", figures.participation.members, quorum.required))
}

/// `split 5 to 4`, `9 of 11 agree`; `None` without a consensus.
fn agreement_text(figures: &Figures) -> Option<String> {
    let consensus = figures.consensus.as_ref()?;
    Some(match agreement(&figures.stances, consensus.score)? {
        Agreement::Agree { of: 1, .. } => "1 member".to_owned(),
        Agreement::Agree { members, of } if members == of => format!("all {of} agree"),
        Agreement::Agree { members, of } => format!("{members} of {of} agree"),
        Agreement::Neutral { of: 1, .. } => "1 member, neutral".to_owned(),
        Agreement::Neutral { members, of } if members == of => format!("all {of} neutral"),
        Agreement::Neutral { members, of } => format!("{members} of {of} neutral"),
        Agreement::Split { with, against, neutral: 0 } => format!("split {with} to {against}"),
        Agreement::Split { with, against, neutral } => {
            format!("split {with} to {against}, {neutral} neutral")
        }
    })
}
