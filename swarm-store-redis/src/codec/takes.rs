//! Takes: `id filed session revision key proof payload`, the payload as it was signed. The proof is the signature,
//! and the salt of a sealed take ([`proof_text`]).

use std::fmt;
use std::sync::Arc;

use swarm_core::domain::{Revision, Signed};
use swarm_core::proof::canonical;
use swarm_core::rules::Filing;
use swarm_core::store::MemberTake;
use swarm_core::store::records::{TakeProof, proof_text, public_key, read_proof};
use swarm_core::{SessionId, Take, TakeDraft, TakeId, Timestamp};

use super::{Corrupt, Decoded, Words, decode_summary, decode_timestamp, number};

/// The row of a take without the id and the time, which the commit assigns. A judged take was
/// verified, so its signature is base64: one word.
pub(crate) struct TakeRow<'a>(pub(crate) &'a Filing);

impl fmt::Display for TakeRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let take = self.0.take(TakeId(0), Timestamp::EPOCH);
        let Take { session_id, revision, public_key, .. } = &take;
        let (revision, proof) = (revision.get(), proof_text(&take));
        write!(f, "{session_id} {revision} {public_key} {proof} {}", self.0.canonical())
    }
}

/// The row of a take, without a commit that assigns its id and time.
pub(crate) fn encode_take(take: &Take) -> String {
    let Take { id, session_id, revision, filed_at, public_key, .. } = take;
    let (filed_at, revision, proof) = (filed_at.millis(), revision.get(), proof_text(take));
    let payload = canonical(take.draft());
    format!("{id} {filed_at} {session_id} {revision} {public_key} {proof} {payload}")
}

pub(crate) fn decode_take(row: &str) -> Decoded<Arc<Take>> {
    let mut words = Words(row);
    let (id, filed_at) = (TakeId(words.number()?), words.timestamp()?);
    let session_id = SessionId(words.number()?);
    let revision = decode_revision_number(words.next()?)?;
    let public_key = public_key(words.next()?)?;
    let TakeProof { signature, session_version, salt } = read_proof(words.next()?)?;
    let payload = TakeDraft::read(&mut words.object()?)?;
    let signed = Arc::new(Signed { payload, signature });
    Ok(Arc::new(Take {
        id,
        session_id,
        session_version,
        revision,
        filed_at,
        signed,
        public_key,
        salt,
    }))
}

/// A take of a member: its row, the row of what lists show of its session, and `expected` or nothing.
pub(crate) fn decode_member_take(texts: &[String]) -> Decoded<MemberTake> {
    let [take, session, expected] = texts else { return Err(Corrupt::new("odd answer")) };
    let expected = expected == "expected";
    Ok(MemberTake { take: decode_take(take)?, session: decode_summary(session)?, expected })
}

/// The take that a filing was committed as: `id time`.
pub(crate) fn decode_filed(outcome: &str, filing: &Filing) -> Decoded<Arc<Take>> {
    let (id, now) = outcome.split_once(' ').ok_or_else(|| Corrupt::new(outcome))?;
    Ok(Arc::new(filing.take(decode_take_id(id)?, decode_timestamp(now)?)))
}

/// The latest revision of a member in a session: `revision id`.
pub(crate) fn decode_revision(row: &str) -> Decoded<Revision> {
    decode_revision_number(Words(row).next()?)
}

pub(crate) fn decode_take_id(text: &str) -> Decoded<TakeId> {
    number(text).map(TakeId)
}

fn decode_revision_number(text: &str) -> Decoded<Revision> {
    Revision::new(number(text)?).ok_or_else(|| Corrupt::new("no revision"))
}
