//! What operators accept: the key that signs the log, and a store that went back (API.md, 7.6).

use super::key_in_force::KeyInForce;
use super::reading::checkpoint_of;
use super::signing::{BATCH, unsignable};
use super::{LastSigned, SignedCheckpoint, SignedLog};
use crate::domain::{Actor, LogBefore, Seq};
use crate::rules;
use crate::service::{Error, log_rows};

impl SignedLog {
    /// Accepts this server's key: the next checkpoint is signed with it, and no other key signs from
    /// then on. This is logged.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn accept_key(&self, by: &Actor) -> Result<(), Error> {
        let log = self.store.log_position().await?.log;
        let key = self.key(log).map_err(unsignable)?;
        Ok(self.store.accept_key(&rules::key_accepted(key.verifier(), by)).await?)
    }

    /// Accepts the store as [`Tenant::accept_store`](crate::service::Tenant::accept_store) does; the entry
    /// names the last checkpoint.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn accept_store(&self, by: &Actor) -> Result<(), Error> {
        let stored = self.store.tree().await?;
        let signed = checkpoint_of(stored.as_ref())?;
        let in_store = signed.as_ref().map(|signed| self.last_of(signed, stored.as_ref()));
        let last = [in_store, self.remembered()?].into_iter().flatten();
        let before = match last.max_by_key(LastSigned::progress) {
            Some(last) => LogBefore {
                origin: Some(self.origin(last.log)),
                size: last.size,
                root: Some(last.root.to_string()),
            },
            None => LogBefore::seen(self.store.seen_log().await?.size),
        };
        // The number of the log that begins is higher than any that is known here.
        if let Some(last) = self.remembered()? {
            let seen = self.store.seen_log().await?;
            if last.log > seen.log {
                self.store.mark_went_back(last.log, last.size).await?;
            }
        }
        Ok(self.store.accept_store(&rules::store_accepted(before, by)).await?)
    }

    /// Which key may sign the log with this number: that of the last checkpoint, or the one accepted
    /// since.
    pub(super) async fn key_in_force(
        &self,
        signed: Option<&SignedCheckpoint>,
        last: Option<&LastSigned>,
        log: u64,
    ) -> Result<KeyInForce, Error> {
        let mut own = vec![self.key(log).map_err(unsignable)?.verifier().to_string()];
        let after = last.filter(|last| last.log == log).map_or(Seq(0), |last| last.size);
        let Some(signed) = signed else { return Ok(KeyInForce { own, after, is_foreign: false }) };
        let signer = self.signer.secret.log_key(&signed.checkpoint.origin).map_err(unsignable)?;
        own.push(signer.verifier().to_string());
        if signed.note.is_signed_by(signer.verifier()) {
            return Ok(KeyInForce { own, after, is_foreign: false });
        }
        let known = self.lock().searched.filter(|(of, to, _)| *of == log && *to >= after.0);
        let (mut to, is_accepted) = known.map_or((after.0, false), |(_, to, found)| (to, found));
        let mut key = KeyInForce { own, after, is_foreign: !is_accepted };
        loop {
            let rows = log_rows::rows(&*self.store, Seq(to), BATCH).await?;
            let Some(end) = rows.last() else { break };
            to = log_rows::seq(end).0;
            rows.iter().flatten().for_each(|row| key.pass(row));
        }
        self.lock().searched = Some((log, to, !key.is_foreign));
        Ok(key)
    }
}
