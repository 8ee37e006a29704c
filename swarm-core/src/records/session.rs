//! Reading sessions and snapshots. The stances of a snapshot are those that its session declares, so neither is read alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::domain::{
    Bucket, BucketWeight, Consensus, Day, Declaration, Digest, Figures, Invalid, Method, Outcome,
    Participation, Question, QuestionText, Quorum, Quote, Resolution, Revision, Roster, Session,
    SessionId, SessionState, Snapshot, StanceScale, Stances, SubjectId, Timestamp, Voided, json,
};

/// Reads the public record, which has no version: reading it leaves that 0.
impl<'de> Deserialize<'de> for Session {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let it = SessionText::deserialize(deserializer)?;
        let (stances, max_revisions, method) = (it.stances, it.max_revisions, it.method);
        let declaration = Declaration { stances, max_revisions, method };
        let snapshot = it.snapshot.map(|snapshot| snapshot.of(&declaration)).transpose();
        Ok(Self {
            id: it.id,
            version: 0,
            date: it.date,
            subject_id: it.subject_id,
            state: it.state,
            window_closes_at: it.window_closes_at,
            convened_at: it.convened_at,
            quorum: it.quorum,
            buckets: it.buckets,
            roster: it.roster,
            blind: it.blind,
            practice: it.practice,
            finish: it.finish,
            question: Question {
                text: it.question,
                resolution: it.resolution,
                resolves_at: it.resolves_at,
            },
            declaration,
            opened_at: it.opened_at,
            published_at: it.published_at,
            outcome: it.outcome,
            voided: it.voided,
            snapshot: snapshot.map_err(D::Error::custom)?.map(Arc::new),
        })
    }
}

/// The fields of a session. None of them is flattened, so that errors name each.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionText {
    id: SessionId,
    date: Day,
    subject_id: SubjectId,
    state: SessionState,
    window_closes_at: Option<Timestamp>,
    convened_at: Timestamp,
    quorum: Option<u32>,
    buckets: Option<Vec<Bucket>>,
    roster: Option<Roster>,
    #[serde(default)]
    blind: bool,
    #[serde(default)]
    practice: bool,
    #[serde(default)]
    finish: bool,
    question: Option<QuestionText>,
    resolution: Option<Resolution>,
    resolves_at: Option<Timestamp>,
    stances: Option<StanceScale>,
    max_revisions: Option<Revision>,
    method: Option<Method>,
    opened_at: Option<Timestamp>,
    published_at: Option<Timestamp>,
    outcome: Option<Outcome>,
    voided: Option<Voided>,
    snapshot: Option<SnapshotText>,
}

/// The fields of a snapshot, of which the figures may be kept alone.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SnapshotText {
    aggregated_at: Timestamp,
    participation: Participation,
    quorum: Option<Quorum>,
    stances: BTreeMap<String, usize>,
    consensus: Option<Consensus>,
    weights: Option<Vec<BucketWeight>>,
    quotes: Option<Vec<Quote>>,
    digest: Option<Digest>,
}

impl SnapshotText {
    /// The snapshot of a session with this declaration.
    pub(crate) fn of(mut self, declaration: &Declaration) -> Result<Snapshot, Invalid> {
        let weights = self.weights.take();
        let quotes = self.quotes.take().ok_or_else(|| Invalid::missing("quotes"))?;
        let original = self.digest;
        Ok(Snapshot { figures: self.figures(declaration)?, weights, quotes, original })
    }

    /// The figures of the snapshot of a session with this declaration.
    pub(crate) fn figures(self, declaration: &Declaration) -> Result<Figures, Invalid> {
        let is_ranked = |it: &Consensus| declaration.scale().rank(&it.stance).is_some();
        if !self.consensus.as_ref().is_none_or(is_ranked) {
            return Err(Invalid::new("stance", "must be a known one"));
        }
        Ok(Figures {
            aggregated_at: self.aggregated_at,
            participation: self.participation,
            quorum: self.quorum,
            stances: counted(self.stances, declaration)?,
            consensus: self.consensus,
        })
    }
}

fn counted(
    mut counts: BTreeMap<String, usize>,
    declaration: &Declaration,
) -> Result<Stances, Invalid> {
    let mut count = |name: &str| {
        let missing = || Invalid::new("stances", format!("must count {name:?}"));
        counts.remove(name).ok_or_else(missing)
    };
    let mut stances = Stances::none(declaration.stances.as_ref());
    for ranked in declaration.scale().stances() {
        stances.add_all(&ranked.name, count(ranked.name.as_str())?);
    }
    if declaration.stances.is_none() {
        stances.add_others(count("other")?);
    }
    Ok(stances)
}

/// Returns the text of a snapshot, with the digest that it had when it was written, if write-ups were withheld since.
pub fn snapshot_text(snapshot: &Snapshot) -> String {
    #[derive(Serialize)]
    struct Kept<'a> {
        #[serde(flatten)]
        snapshot: &'a Snapshot,
        #[serde(skip_serializing_if = "Option::is_none")]
        digest: Option<Digest>,
    }
    json::write(&Kept { snapshot, digest: snapshot.original })
}
