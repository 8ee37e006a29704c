//! Publishing, reading and retracting memos.

use super::read;
use crate::domain::json;
use crate::domain::{Actor, MemberId, Memo, MemoDraft, MemoId, TokenHash};
use crate::rules::{self, CountedDocuments, DocumentQuota, Quota, QuotaReached, Refusal, Resource};
use crate::service::retries::until_committed;
use crate::service::{Error, Tenant};
use crate::store::{Collection, Document, DocumentDraft, DocumentGuard, Put, StoreError};

impl Tenant {
    /// Publishes a memo of the member whose bearer token hashes to `token`.
    ///
    /// # Errors
    /// [`Refusal::UnknownToken`], which is checked first, so that strangers learn nothing;
    /// [`Refusal::NotFound`] for a subject or session that the memo names;
    /// [`Refusal::QuotaReached`].
    pub async fn publish_memo(&self, token: &TokenHash, draft: MemoDraft) -> Result<Memo, Error> {
        self.bearer(token).await?;
        if let Some(subject) = &draft.subject_id {
            self.subject(subject).await?;
        }
        if let Some(session) = draft.session_id {
            self.load(session).await?;
        }
        until_committed("publish memo", || async {
            let author = self.bearer_at(token).await?;
            let now = self.store.now().await?;
            let member_id = author.record.id.clone();
            let kept = KeptMemo { member_id: &member_id, draft: &draft, retracted: false };
            let json = json::write(&kept);
            // Guard the member's version: a token that was replaced meanwhile must not publish.
            let guard = Some(DocumentGuard::Member(member_id.clone(), author.version));
            let (key, group) = (None, member_id.as_str().to_owned());
            let quota =
                Some(DocumentQuota::today(CountedDocuments::Group, self.quotas.memos_per_day, now));
            let act = Some(rules::memo_published(&member_id, &draft));
            let added = DocumentDraft { key, group, json, replace: false, guard, quota, act };
            match self.put(Collection::Memos, &added).await? {
                Put::Created(document) => Ok(Some(memo(member_id, draft.clone(), &document))),
                // If another day has begun meanwhile, try again.
                Put::Full if self.store.now().await?.day() == now.day() => {
                    let reached = QuotaReached::today(Quota::MemosPerDay, now);
                    Err(Refusal::QuotaReached(reached).into())
                }
                Put::Full | Put::Stale => Ok(None),
                other => Err(StoreError::corrupt("publish memo", format!("{other:?}")).into()),
            }
        })
        .await
    }

    /// A published memo.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id, or it was retracted.
    pub async fn memo(&self, id: MemoId) -> Result<Memo, Error> {
        self.find_memo(id).await?.ok_or(Refusal::NotFound(Resource::Memo).into())
    }

    /// A memo, or `None` if it was retracted.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there has never been one with this id.
    pub async fn find_memo(&self, id: MemoId) -> Result<Option<Memo>, Error> {
        let (memo, retracted) = self.kept_memo(id).await?;
        Ok((!retracted).then_some(memo))
    }

    /// All published memos, newest first.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn memos(&self) -> Result<Vec<Memo>, Error> {
        let documents = self.store.documents(Collection::Memos, None).await?;
        let memos = documents.iter().rev().map(kept).collect::<Result<Vec<_>, _>>()?;
        Ok(memos.into_iter().filter(|(_, retracted)| !retracted).map(|(memo, _)| memo).collect())
    }

    /// The published memos of a member, oldest first.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn memos_of(&self, member: &MemberId) -> Result<Vec<Memo>, Error> {
        let documents = self.store.documents(Collection::Memos, Some(member.as_str())).await?;
        let memos = documents.iter().map(kept).collect::<Result<Vec<_>, _>>()?;
        Ok(memos.into_iter().filter(|(_, retracted)| !retracted).map(|(memo, _)| memo).collect())
    }

    /// Retracts a memo: from now on it is not found. Retracting it again has no effect.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn retract_memo(&self, id: MemoId, by: &Actor) -> Result<(), Error> {
        let (memo, retracted) = self.kept_memo(id).await?;
        if retracted {
            return Ok(());
        }
        let kept = KeptMemo { member_id: &memo.member_id, draft: &memo.draft, retracted: true };
        let text = json::write(&kept);
        let group = memo.member_id.as_str().to_owned();
        let act = rules::memo_retracted(&memo, by);
        self.replace(Collection::Memos, id.to_string(), group, text, act).await?;
        Ok(())
    }

    /// Erases the texts of all memos of a member, retracted ones too: from now on none is found.
    pub(in crate::service) async fn erase_memos(
        &self,
        member: &MemberId,
        by: &Actor,
    ) -> Result<(), Error> {
        let erased = || rules::ERASED.to_owned();
        let draft =
            MemoDraft { title: erased(), body: erased(), subject_id: None, session_id: None };
        let json = json::write(&KeptMemo { member_id: member, draft: &draft, retracted: true });
        for document in self.store.documents(Collection::Memos, Some(member.as_str())).await? {
            if document.json == json {
                continue;
            }
            let (memo, was_retracted) = kept(&document)?;
            let act = rules::memo_erased(&memo, was_retracted, by);
            let (key, group) = (Some(document.key), member.as_str().to_owned());
            let (json, guard, quota) = (json.clone(), None, None);
            let erasing = DocumentDraft { key, group, json, replace: true, guard, quota, act };
            match self.put(Collection::Memos, &erasing).await? {
                Put::Replaced(_) => {}
                other => return Err(StoreError::corrupt("erase memo", format!("{other:?}")).into()),
            }
        }
        Ok(())
    }

    /// A memo, and whether it was retracted.
    async fn kept_memo(&self, id: MemoId) -> Result<(Memo, bool), Error> {
        let document = self.store.document(Collection::Memos, &id.to_string()).await?;
        let document = document.ok_or(Refusal::NotFound(Resource::Memo))?;
        Ok(kept(&document)?)
    }
}

/// Parses a stored memo, and whether it was retracted.
pub(in crate::service) fn kept(document: &Document) -> Result<(Memo, bool), StoreError> {
    let (author, draft, retracted) = read(document, |fields| {
        let author = MemberId::parse(fields.text("memberId")?)?;
        let retracted = fields.bool_if_any("retracted")?.unwrap_or(false);
        Ok((author, MemoDraft::read(fields)?, retracted))
    })?;
    Ok((memo(author, draft, document), retracted))
}

/// The stored form of a memo.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct KeptMemo<'a> {
    member_id: &'a MemberId,
    #[serde(flatten)]
    draft: &'a MemoDraft,
    retracted: bool,
}

fn memo(member_id: MemberId, draft: MemoDraft, document: &Document) -> Memo {
    Memo { id: MemoId(document.id), member_id, draft, published_at: document.created_at }
}
