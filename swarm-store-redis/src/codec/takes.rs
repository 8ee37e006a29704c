//! Takes: `id filed session revision key signature payload`, the payload as it was signed.

use std::sync::Arc;

use swarm_core::domain::{Revision, Signature, Signed};
use swarm_core::proof::canonical;
use swarm_core::rules::Filing;
use swarm_core::{SessionId, Take, TakeDraft, TakeId, Timestamp};

use super::{Garbled, Read, Words, number, public_key, timestamp};

/// The row of a take, but for the id and the time that the commit gives it. What was judged was
/// verified, so that the signature is base64, one word.
pub(crate) fn take_text(filing: &Filing) -> String {
    let take = filing.take(TakeId(0), Timestamp::EPOCH);
    let Take { session_id, revision, public_key, signed, .. } = &take;
    let (revision, signature) = (revision.get(), signed.signature.as_str());
    format!("{session_id} {revision} {public_key} {signature} {}", canonical(&signed.payload))
}

pub(crate) fn take(row: &str) -> Read<Arc<Take>> {
    let mut words = Words(row);
    let (id, filed_at) = (TakeId(words.number()?), words.timestamp()?);
    let session_id = SessionId(words.number()?);
    let revision = revision_number(words.next()?)?;
    let public_key = public_key(words.next()?)?;
    let signature = Signature::parse(words.next()?)?;
    let payload = TakeDraft::read(&mut words.object()?)?;
    let signed = Arc::new(Signed { payload, signature });
    Ok(Arc::new(Take { id, session_id, revision, filed_at, signed, public_key }))
}

/// The take that a filing became: `id time`.
pub(crate) fn filed(told: &str, filing: &Filing) -> Read<Arc<Take>> {
    let (id, now) = told.split_once(' ').ok_or_else(|| Garbled::new(told))?;
    Ok(Arc::new(filing.take(take_id(id)?, timestamp(now)?)))
}

/// The latest revision of a member in a session: `revision id`.
pub(crate) fn revision(row: &str) -> Read<Revision> {
    revision_number(Words(row).next()?)
}

pub(crate) fn take_id(text: &str) -> Read<TakeId> {
    number(text).map(TakeId)
}

fn revision_number(text: &str) -> Read<Revision> {
    Revision::new(number(text)?).ok_or_else(|| Garbled::new("no revision"))
}
