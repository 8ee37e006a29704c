//! Witnesses: they cosign a checkpoint if it continues the last one that they cosigned, so that nobody can be
//! shown another log (API.md, 11.6).

use async_trait::async_trait;

use super::reading::checkpoint_of;
use super::{SignedCheckpoint, SignedLog};
use crate::domain::{LogEntry, LogRow, Logged, Seq, SessionAct, SessionState};
use crate::proof::note::{NoteSignature, VerifierKey};
use crate::proof::witness::{add_checkpoint, read_cosignatures, read_size};
use crate::service::Error;
use crate::store::{Saved, TreeChange, TreeState};

/// Maximum number of offers of one checkpoint to a witness that has cosigned another size than assumed.
const MAX_OFFERS: usize = 3;

/// A witness, which speaks C2SP `tlog-witness`.
#[async_trait]
pub trait Witness: Send + Sync + 'static {
    /// The key that it cosigns with.
    fn key(&self) -> &VerifierKey;

    /// Sends the body of an `add-checkpoint`.
    ///
    /// # Errors
    /// The reason why there was no answer, as a text for the log.
    async fn add_checkpoint(&self, body: String) -> Result<WitnessAnswer, String>;
}

/// What a witness answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// The outcome of an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OfferOutcome {
    /// The witness cosigned the checkpoint, and the cosignature was stored with it.
    Cosigned,
    /// The witness cosigned the checkpoint, but another one was signed meanwhile.
    Superseded,
    /// The witness has cosigned this many entries of the log, which are more than the checkpoint has.
    Ahead(u64),
    /// The witness did not cosign the checkpoint, for this reason.
    Refused(String),
}

impl SignedLog {
    /// Offers a checkpoint to a witness, and stores its cosignature with the checkpoint until the next one is
    /// signed. `known` is the size up to which the witness is known to have cosigned the log, 0 at first. This
    /// function updates it.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn offer(
        &self,
        signed: &SignedCheckpoint,
        witness: &dyn Witness,
        known: &mut u64,
    ) -> Result<OfferOutcome, Error> {
        let (key, size) = (witness.key(), signed.checkpoint.size);
        for _ in 0..MAX_OFFERS {
            if *known > size {
                return Ok(OfferOutcome::Ahead(*known));
            }
            let proof = self.consistency(Seq(*known), &signed.checkpoint).await?;
            let body = add_checkpoint(*known, &proof, &signed.note);
            let answer = match witness.add_checkpoint(body).await {
                Ok(answer) => answer,
                Err(error) => return Ok(OfferOutcome::Refused(error)),
            };
            match (answer.status, read_size(&answer.body)) {
                (200, _) => {
                    let Some(cosignature) = cosignature(&answer.body, signed, key) else {
                        let why = "its answer has no cosignature that its key made";
                        return Ok(OfferOutcome::Refused(why.to_owned()));
                    };
                    *known = size;
                    return self.keep(signed, key, cosignature).await;
                }
                (409, Some(other)) if other != *known => *known = other,
                (status, _) => return Ok(OfferOutcome::Refused(format!("it answered {status}"))),
            }
        }
        Ok(OfferOutcome::Refused("it named another size each time".to_owned()))
    }

    /// Stores a cosignature with the checkpoint, if that is still the last one.
    async fn keep(
        &self,
        signed: &SignedCheckpoint,
        key: &VerifierKey,
        cosignature: NoteSignature,
    ) -> Result<OfferOutcome, Error> {
        loop {
            let stored = self.store.tree().await?;
            let last = checkpoint_of(stored.as_ref())?;
            let (Some(stored), Some(mut last)) = (stored, last) else {
                return Ok(OfferOutcome::Superseded);
            };
            if last.note.text() != signed.note.text() || last.key != signed.key {
                return Ok(OfferOutcome::Superseded);
            }
            if last.note.cosigned_at(key).is_some() {
                return Ok(OfferOutcome::Cosigned);
            }
            last.note.push(cosignature.clone());
            let state = TreeState {
                checkpoint: Some(last.text().into()),
                ..TreeState::clone(&stored.record)
            };
            if self.store.save_tree(&TreeChange::to(state, Some(&stored))).await? == Saved::Saved {
                return Ok(OfferOutcome::Cosigned);
            }
        }
    }

    /// Returns the last entry that closed a session, among those that this server signed.
    pub fn last_closing(&self) -> Option<Seq> {
        self.lock().closing
    }

    /// Records the entry if it closes a session.
    pub(super) fn note_closing(&self, row: &LogRow) {
        let Logged::Entry(entry) = &row.logged else { return };
        let LogEntry::Session(entry) = &**entry else { return };
        let is_open =
            matches!(entry.session.state, SessionState::Scheduled | SessionState::Collecting);
        if entry.act == SessionAct::State && !is_open {
            self.lock().closing = Some(row.seq);
        }
    }
}

/// The cosignature of a checkpoint by this key, from the response of a witness.
fn cosignature(body: &str, signed: &SignedCheckpoint, key: &VerifierKey) -> Option<NoteSignature> {
    let lines = read_cosignatures(body).ok()?;
    lines.into_iter().find(|line| {
        let mut note = signed.note.clone();
        note.push(line.clone());
        line.is_of(key) && note.cosigned_at(key).is_some()
    })
}
