//! Warnings: reasons for which a take is accepted, but some of it does not count in the aggregation
//! (API.md, 9.3).

use super::{Basis, Submission};
use crate::domain::{Bucket, MemoId, MemoUrl, SessionState, SessionTerms, TakeDraft};

/// A part of an accepted take that does not count, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Its stance is not a known one, so aggregation does not count it.
    UnknownStance,
    /// The session lists buckets, and these buckets of its weights are not listed.
    UnlistedBuckets(Vec<Bucket>),
    /// The session lists buckets, and the take has no weights.
    MissingWeights,
    /// The take was sent with a field that takes do not have.
    UnknownField {
        /// The name of the field.
        name: String,
        /// The known field with a similar name, if any.
        nearest: Option<&'static str>,
    },
    /// The session is aggregated: the take is on record, and not in the snapshot.
    AlreadyAggregated,
    /// Its `memoUrl` leads to this service, and there is no such memo.
    UnknownMemo,
}

/// The path of a memo before its id (API.md, 5.6), below the path that the service is mounted at.
const MEMO_PATH: &str = "/swarm/memos/";

/// What `memoUrl` names, if it leads to this service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedMemo {
    /// The memo with this id, which may not exist.
    Id(MemoId),
    /// No memo.
    Nothing,
}

impl NamedMemo {
    /// Returns what a `memoUrl` names; `None` if it is no path of this service, nor the address of a memo below `public_url`, that of
    /// the service if it is known.
    pub fn of(url: &MemoUrl, public_url: Option<&str>) -> Option<Self> {
        let text = url.as_str();
        let path = match public_url.and_then(|public_url| text.strip_prefix(public_url)) {
            // The host may have other pages, which are no concern of this service.
            Some(path) => Some(path).filter(|path| path.starts_with(MEMO_PATH))?,
            None => text,
        };
        if !path.starts_with('/') || path.starts_with("//") {
            return None;
        }
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let id = path.split_once(MEMO_PATH).map(|(_, id)| id);
        let id = id.filter(|id| !id.starts_with(['0', '+']));
        let id = id.and_then(|id| id.parse().ok()).map(MemoId);
        Some(id.map_or(Self::Nothing, Self::Id))
    }
}

/// Returns the warnings for a take that is filed on these facts.
pub(crate) fn warnings(basis: &Basis, submission: &Submission) -> Vec<Warning> {
    let (draft, terms) = (submission.draft(), basis.session.as_ref().map(|it| &*it.record));
    let unlisted = terms.and_then(|terms| unlisted_buckets(draft, terms));
    let has_buckets = terms.is_some_and(|terms| terms.buckets.is_some());
    let missing = (has_buckets && draft.weights.is_none()).then_some(Warning::MissingWeights);
    let is_aggregated = terms.is_some_and(|terms| terms.state >= SessionState::Aggregated);
    // A stance that is not among those declared is refused.
    let is_free = terms.is_none_or(|terms| terms.declaration.stances.is_none());
    let is_unknown = is_free && draft.stance.known().is_none();
    let stance = is_unknown.then_some(Warning::UnknownStance);
    let fields = submission
        .unknown_fields()
        .iter()
        .map(|name| Warning::UnknownField { name: name.clone(), nearest: nearest(name) });
    let aggregated = is_aggregated.then_some(Warning::AlreadyAggregated);
    stance.into_iter().chain(unlisted).chain(missing).chain(fields).chain(aggregated).collect()
}

fn unlisted_buckets(draft: &TakeDraft, terms: &SessionTerms) -> Option<Warning> {
    let (weights, listed) = (draft.weights.as_ref()?, terms.buckets.as_ref()?);
    let named = weights.entries().iter().map(|entry| &entry.bucket);
    let unlisted: Vec<_> = named.filter(|bucket| !listed.contains(bucket)).cloned().collect();
    (!unlisted.is_empty()).then_some(Warning::UnlistedBuckets(unlisted))
}

/// The field with the most similar name, where at least half of it is the same.
fn nearest(name: &str) -> Option<&'static str> {
    // A longer name is not a misspelling, and the comparison takes the product of both lengths.
    const LONGEST: usize = 24;
    let name = name.to_lowercase();
    let distance = |field: &str| strsim::damerau_levenshtein(&field.to_lowercase(), &name);
    let fields = Submission::FIELDS.iter().filter(|_| name.len() <= LONGEST);
    let (distance, field) = fields.map(|field| (distance(field), *field)).min()?;
    (2 * distance <= field.len().max(name.len())).then_some(field)
}
