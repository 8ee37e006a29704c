//! The composition of brief files (API.md, 8.2).

use std::sync::Arc;

use super::prompt;
use crate::domain::committee::{
    BriefMember, BriefPosition, BriefRecentSession, BriefRecentTake, BriefSnapshot, BriefSubject,
    CommitteeBriefContent, CommitteeMember, CommitteeRegime, CommitteeTake,
};
use crate::domain::{
    Day, Position, Regime, Subject, SubjectSnapshot, SubjectSnapshotDraft, Timestamp,
};
use crate::rules::brief::{regime_on, snapshot_on};

/// The maximum length of the preview of an earlier take, in characters (API.md, 8.2).
const MAX_PREVIEW_CHARACTERS: usize = 600;

/// The facts that all briefs of a day are composed from.
#[derive(Clone, Debug)]
pub struct BriefSource {
    /// The day.
    pub date: Day,
    /// The subject.
    pub subject: Subject,
    /// The last time at which a take is accepted.
    pub deadline: Timestamp,
    /// All stored regimes, including those of later days.
    pub regimes: Vec<Regime>,
    /// All snapshots of the subject, including those of later days.
    pub snapshots: Vec<SubjectSnapshot>,
    /// The latest earlier sessions of the subject: up to three, newest first.
    pub recent_sessions: Vec<BriefRecentSession>,
}

/// The facts that the brief of one member is composed from.
#[derive(Clone, Debug)]
pub struct MemberSource {
    /// The member.
    pub member: Arc<CommitteeMember>,
    /// Its latest takes of earlier days: up to five, newest first.
    pub recent_takes: Vec<Arc<CommitteeTake>>,
}

/// Composes a brief for each of the members.
pub fn compose(source: BriefSource, members: &[MemberSource]) -> Vec<CommitteeBriefContent> {
    let regime = regime_on(source.date, source.regimes).map(regime).unwrap_or_default();
    let snapshot = snapshot_on(source.date, source.snapshots);
    let snapshot = snapshot.map(|snapshot| shown(snapshot.draft));
    let subject = about(source.subject);
    let schema = Arc::new(prompt::response_schema());
    let brief = |source_of: &MemberSource| {
        let member = &source_of.member;
        let takes: Vec<_> = source_of.recent_takes.iter().map(|take| recent(take)).collect();
        let topic = prompt::Topic {
            date: source.date,
            deadline: source.deadline,
            subject: &subject,
            regime: &regime,
            snapshot: snapshot.as_ref(),
            sessions: &source.recent_sessions,
        };
        CommitteeBriefContent {
            schema_version: 1,
            date: source.date,
            subject_id: subject.id.clone(),
            subject: subject.clone(),
            regime: regime.clone(),
            subject_snapshot: snapshot.clone(),
            recent_sessions: source.recent_sessions.clone(),
            member: BriefMember {
                id: member.id.clone(),
                name: member.name.clone(),
                lens: member.lens.clone(),
            },
            prompt: Arc::new(prompt::assemble(member, &topic, &takes)),
            your_recent_takes: takes,
            response_schema: Arc::clone(&schema),
        }
    };
    members.iter().map(brief).collect()
}

fn about(subject: Subject) -> BriefSubject {
    let Subject { id, name, operator, thesis_blurb, structural_notes, .. } = subject;
    BriefSubject { id, name, operator, thesis_blurb, structural_notes }
}

fn regime(regime: Regime) -> CommitteeRegime {
    let Regime { date: _, composite, regime, macro_regime, onchain_regime, mut rest } = regime;
    let mut sent = |field| rest.take(field);
    CommitteeRegime {
        composite,
        composite_percentile: sent("composite_percentile"),
        regime,
        macro_regime,
        macro_percentile: sent("macro_percentile"),
        onchain_regime,
        onchain_percentile: sent("onchain_percentile"),
        factor_regime: sent("factor_regime"),
        factor_percentile: sent("factor_percentile"),
        thresholds: sent("thresholds"),
        rest,
    }
}

fn shown(draft: SubjectSnapshotDraft) -> BriefSnapshot {
    let SubjectSnapshotDraft { date, total_value_usd, positions, notable } = draft;
    let position = |position: Position| {
        let Position { token, chain, value_usd, pct } = position;
        BriefPosition { token, chain, value_usd, pct }
    };
    let positions = positions.into_iter().map(position).collect();
    BriefSnapshot { date, total_value_usd, positions, notable }
}

fn recent(take: &CommitteeTake) -> BriefRecentTake {
    BriefRecentTake {
        date: take.date,
        subject_id: take.subject_id.clone(),
        stance: take.stance,
        confidence: take.confidence,
        body_preview: take.body.as_str().chars().take(MAX_PREVIEW_CHARACTERS).collect(),
    }
}
