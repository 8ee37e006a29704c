//! Filing and reading takes.

use std::sync::Arc;

use super::retries::until_committed;
use super::{Commit, Error, SubmitError, Tenant};
use crate::domain::{AttemptId, Take, TakeId, TakeOnFile, TokenHash};
use crate::rules::{self, Draft, Preflight, Refusal, Resource, Submission};
use crate::store::{Basis, BasisQuery, Filed};

impl Tenant {
    /// Files a take: signed by the member whose bearer token hashes to `token` (specification,
    /// section 4A, submit). When this returns the take, it is committed.
    ///
    /// # Errors
    /// [`SubmitError::Refused`] with the first rule that is broken, in the order of the contract,
    /// section 3; the other variants when the outcome is not known.
    pub async fn submit(
        &self,
        token: &TokenHash,
        submission: &Submission,
    ) -> Result<Arc<Take>, SubmitError> {
        let attempt = AttemptId(self.entropy.bytes()?);
        until_committed("file", || async {
            let basis = self.basis(token, submission).await?;
            let filing = rules::judge(&basis, submission, attempt)?;
            let refusal = match self.store.file(&filing).await? {
                Filed::Filed(take) => {
                    self.observer.tell(Commit::Take(&take));
                    return Ok(Some(take));
                }
                Filed::Stale => return Ok(None),
                Filed::Late => Refusal::WindowClosed,
                Filed::NonceUsed => Refusal::NonceUsed,
                Filed::RevisionTaken => Refusal::LostRace,
            };
            // The facts are read again: they now tell whether this very take is on file.
            let basis = self.basis(token, submission).await?;
            Err(rules::rejection(refusal, &basis, submission).into())
        })
        .await
    }

    /// Lists everything that would refuse a take now, and files nothing (contract, section 8).
    ///
    /// # Errors
    /// [`Refusal::UnknownToken`] when the token is no active member's.
    pub async fn preflight(&self, token: &TokenHash, draft: &Draft) -> Result<Preflight, Error> {
        let basis = self.basis(token, &draft.submission).await?;
        Ok(rules::preflight(&basis, draft)?)
    }

    async fn basis<R>(
        &self,
        token: &TokenHash,
        submission: &Submission,
    ) -> Result<Basis, Error<R>> {
        let draft = submission.draft();
        let query = BasisQuery {
            token,
            date: draft.date,
            subject_id: &draft.subject_id,
            nonce: &draft.nonce,
        };
        Ok(self.store.basis(&query).await?)
    }

    /// One take.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn take(&self, id: TakeId) -> Result<TakeOnFile, Error> {
        Ok(self.store.take(id).await?.ok_or(Refusal::NotFound(Resource::Take))?)
    }
}
