//! Submissions, preflights and reads of takes.

use std::sync::Arc;

use super::basis_cache::UnderWay;
use super::retries::until_committed;
use super::{Commit, Error, SubmitError, Tenant};
use crate::domain::{
    AttemptId, Logged, Seq, Session, Take, TakeDraft, TakeId, TakeOnFile, TokenHash,
};
use crate::rules::{self, Draft, Preflight, Refusal, Rejection, Resource, Submission, Warning};
use crate::store::{Basis, BasisQuery, Filed, StoreError};

/// How many sessions are named in place of one that was not found.
const SESSIONS_NAMED: usize = 5;

/// How many rows of the log are read at a time to find the newest takes, and how often at most.
const LOG_ROWS_AT_ONCE: u64 = 64;
const MAX_LOG_READS: usize = 16;

/// A take that is committed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FiledTake {
    /// The take.
    pub take: Arc<Take>,
    /// What makes it count for less than it seems to say.
    pub warnings: Vec<Warning>,
}

/// Takes that a scan of the log found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TakeScan {
    /// The takes, newest first.
    pub takes: Vec<Arc<Take>>,
    /// Where the scan goes on; `None` at the beginning of the log.
    pub next_before: Option<Seq>,
}

impl FiledTake {
    fn of(take: Arc<Take>, basis: &Basis, submission: &Submission) -> Self {
        Self { take, warnings: rules::warnings(basis, submission) }
    }
}

impl Tenant {
    /// Files a take that the member whose bearer token hashes to `token` has signed (API.md, 5). The
    /// take is committed when this returns it.
    ///
    /// # Errors
    /// [`SubmitError::Refused`] with the first check that fails, in the order of API.md, 5.2; the
    /// other variants when the outcome is unknown.
    pub async fn submit(
        &self,
        token: &TokenHash,
        submission: &Submission,
    ) -> Result<Arc<Take>, SubmitError> {
        Ok(self.submit_warned(token, submission).await?.take)
    }

    /// Files a take as [`submit`](Self::submit) does, and says what makes it count for less than it seems
    /// to say.
    ///
    /// # Errors
    /// As of [`submit`](Self::submit).
    pub async fn submit_warned(
        &self,
        token: &TokenHash,
        submission: &Submission,
    ) -> Result<FiledTake, SubmitError> {
        let (attempt, query) = (AttemptId(self.entropy.bytes()?), query(token, submission));
        let under_way = self.cache.begin(&query);
        if let Some(under_way) = &under_way
            && let Some(filed) =
                self.submit_by_cache(under_way, &query, submission, attempt).await?
        {
            return Ok(filed);
        }
        until_committed("file", || async {
            let basis = self.basis(&query).await?;
            let filing = match rules::judge(&basis, submission, attempt) {
                Ok(filing) => filing,
                Err(rejection) => return Err(self.with_open_sessions(rejection).await.into()),
            };
            let refusal = match self.store.file(&filing).await? {
                Filed::Filed(take) => {
                    let take = self.filed(&query, under_way.as_ref(), take);
                    return Ok(Some(FiledTake::of(take, &basis, submission)));
                }
                Filed::Stale => return Ok(None),
                Filed::Late => Refusal::WindowClosed,
                Filed::NonceUsed => Refusal::NonceUsed,
                Filed::RevisionTaken => Refusal::LostRace,
            };
            Err(self.rejection(refusal, &query, submission).await)
        })
        .await
    }

    /// Files a take if the cached facts accept it and still hold. Otherwise returns `None`, because
    /// the cached facts may be out of date. Only the loser of a race for a revision is refused
    /// here.
    async fn submit_by_cache(
        &self,
        under_way: &UnderWay,
        query: &BasisQuery<'_>,
        submission: &Submission,
        attempt: AttemptId,
    ) -> Result<Option<FiledTake>, SubmitError> {
        let Some(log) = self.log_of_cache().await? else { return Ok(None) };
        let Some(basis) = self.cache.recall(query, log) else { return Ok(None) };
        let Ok(filing) = rules::judge(&basis, submission, attempt) else { return Ok(None) };
        match self.store.file(&filing).await {
            Ok(Filed::Filed(take)) => {
                let take = self.filed(query, Some(under_way), take);
                Ok(Some(FiledTake::of(take, &basis, submission)))
            }
            Ok(Filed::RevisionTaken) => {
                // While the store answers, the rival that won notes that it was filed, unless its task
                // has not run yet.
                self.basis(query).await?;
                if !under_way.another_was_filed() {
                    return Ok(None);
                }
                // Read after it is known that another won: it may have been this very take.
                Err(self.rejection(Refusal::LostRace, query, submission).await)
            }
            Ok(Filed::Stale | Filed::Late | Filed::NonceUsed) => Ok(None),
            // Nothing was committed, perhaps because another log has begun.
            Err(error) if error.is_contended() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The rejection for a refusal of the store. It reads the facts again, to find out whether this
    /// take is already stored.
    async fn rejection(
        &self,
        refusal: Refusal,
        query: &BasisQuery<'_>,
        submission: &Submission,
    ) -> SubmitError {
        match self.basis(query).await {
            Ok(basis) => rules::rejection(refusal, &basis, submission).into(),
            Err(error) => error,
        }
    }

    fn filed(
        &self,
        query: &BasisQuery<'_>,
        under_way: Option<&UnderWay>,
        take: Arc<Take>,
    ) -> Arc<Take> {
        if let Some(under_way) = under_way {
            under_way.note_filed();
        }
        self.cache.filed(query, &take);
        self.observer.tell(Commit::Take(&take));
        take
    }

    /// Lists all reasons for which a take would be refused now, without filing it (API.md, 9.3).
    ///
    /// # Errors
    /// [`Refusal::UnknownToken`] when the token does not belong to an active member.
    pub async fn preflight(&self, token: &TokenHash, draft: &Draft) -> Result<Preflight, Error> {
        let basis = self.basis(&query(token, &draft.submission)).await?;
        let mut preflight = rules::preflight(&basis, draft)?;
        for refusal in &mut preflight.findings {
            self.fill_open_sessions(refusal).await;
        }
        Ok(preflight)
    }

    async fn with_open_sessions(&self, mut rejection: Rejection) -> Rejection {
        self.fill_open_sessions(&mut rejection.reason).await;
        rejection
    }

    /// Where there is no session: which there are. Without an answer of the store the refusal stands as it
    /// is.
    async fn fill_open_sessions(&self, refusal: &mut Refusal) {
        if let Refusal::NoSession { open } = refusal
            && let Ok(sessions) = self.accepting_sessions(SESSIONS_NAMED).await
        {
            let name = |session: &Arc<Session>| (session.date, session.subject_id.clone());
            *open = sessions.iter().map(name).collect();
        }
    }

    async fn basis<R>(&self, query: &BasisQuery<'_>) -> Result<Basis, Error<R>> {
        let log = self.log_of_cache().await?;
        let basis = self.store.basis(query).await?;
        if let Some(log) = log {
            self.cache.loaded(query, log, &basis);
        }
        Ok(basis)
    }

    /// The number of the log that cached facts must belong to; `None` when caching is off.
    async fn log_of_cache(&self) -> Result<Option<u64>, StoreError> {
        match self.cache.is_enabled() {
            true => Ok(Some(self.store.seen_log().await?.log)),
            false => Ok(None),
        }
    }

    /// A take.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn take(&self, id: TakeId) -> Result<TakeOnFile, Error> {
        Ok(self.store.take(id).await?.ok_or(Refusal::NotFound(Resource::Take))?)
    }

    /// Up to `limit` of the takes that `keep` keeps, newest first, whatever the state of their sessions:
    /// those among the 1,024 entries of the log before the one numbered `before`, or the last ones.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn newest_takes(
        &self,
        limit: usize,
        before: Option<Seq>,
        keep: impl Fn(&Take) -> bool + Send,
    ) -> Result<TakeScan, Error> {
        let size = self.store.log_position().await?.size;
        let mut end = before.map_or(size, |before| size.min(Seq(before.0.saturating_sub(1))));
        let mut takes = Vec::new();
        for _ in 0..MAX_LOG_READS {
            let start = Seq(end.0.saturating_sub(LOG_ROWS_AT_ONCE));
            let rows = usize::try_from(end.0 - start.0).unwrap_or_default();
            if rows == 0 {
                break;
            }
            for row in self.store.log(start, rows).await?.into_iter().rev() {
                match row.logged {
                    Logged::Take(take) if keep(&take) => takes.push(take),
                    _ => {}
                }
                if takes.len() == limit {
                    let next = Some(row.seq).filter(|seq| seq.0 > 1);
                    return Ok(TakeScan { takes, next_before: next });
                }
            }
            end = start;
        }
        let next_before = (end.0 > 0).then_some(Seq(end.0 + 1));
        Ok(TakeScan { takes, next_before })
    }
}

/// The keys of the facts that a take is judged on.
fn query<'a>(token: &'a TokenHash, submission: &'a Submission) -> BasisQuery<'a> {
    let TakeDraft { date, subject_id, nonce, .. } = submission.draft();
    BasisQuery { token, date: *date, subject_id, nonce }
}
