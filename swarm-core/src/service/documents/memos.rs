//! Publishing, reading and retracting memos.

use crate::domain::json;
use crate::domain::{Actor, MemberId, Memo, MemoDraft, MemoId, SessionId};
use crate::rules::{
    self, CountedDocuments, DocumentQuota, MemoFilter, Quota, QuotaReached, Refusal, Resource,
};
use crate::service::retries::until_committed;
use crate::service::stored_document::{read, unreadable};
use crate::service::{Error, Tenant, numbered};
use crate::store::{
    Act, Caller, Collection, Document, DocumentDraft, DocumentGuard, Put, StoreError,
    StoreErrorKind, TakeQuery,
};

/// The number of memos that are read in one round trip.
const AT_ONCE: usize = 16;

/// Size in bytes of the memos that are read for one page.
const MAX_READ_BYTES: usize = 16 << 20;

/// The size that a memo which is not shown counts as, in bytes: where a page ends must not tell how long it is.
const HIDDEN_BYTES: usize = 256 << 10;

/// A page of the list of memos.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MemoPage {
    /// Published memos by id in descending order.
    pub memos: Vec<Memo>,
    /// The cursor of the next page; `None` on the last page.
    pub next_before: Option<MemoId>,
}

impl Tenant {
    /// Publishes a memo of the member that calls. A memo that names a sealed session is
    /// held: others see it once that session is opened (API.md, 5.8).
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::UnknownToken`], which is checked first, so that strangers learn nothing;
    /// [`Refusal::NotFound`] for a subject or session that the memo names;
    /// [`Refusal::QuotaReached`].
    pub async fn publish_memo(
        &self,
        caller: impl Into<Caller<'_>> + Send,
        draft: MemoDraft,
    ) -> Result<Memo, Error> {
        let caller = caller.into();
        let author = self.calling(caller).await?;
        if let Some(subject) = &draft.subject_id {
            self.subject(subject).await?;
        }
        let held_until = match draft.session_id {
            Some(session) => self.load(session).await?.record.is_sealed().then_some(session),
            None => None,
        };
        if let Some(session) = held_until {
            self.note_held_memo(session, &author.id).await?;
        }
        let memo = self.put_memo(caller, draft, held_until).await?;
        if let Some(session) = held_until
            && !self.is_sealed(session).await?
        {
            // The session was opened meanwhile, and the opening may have missed the memo.
            self.is_shown_once_decided(&memo).await?;
        }
        Ok(memo)
    }

    async fn put_memo(
        &self,
        caller: Caller<'_>,
        draft: MemoDraft,
        held_until: Option<SessionId>,
    ) -> Result<Memo, Error> {
        until_committed("publish memo", || async {
            let author = self.calling_at(caller).await?;
            let now = self.store.now().await?;
            let member_id = author.record.id.clone();
            let is_held = held_until.is_some();
            let kept = KeptMemo { held: is_held, ..KeptMemo::of(&member_id, &draft) };
            let json = json::write(&kept);
            // Guard the member's version: a token that was replaced meanwhile must not publish.
            let guard = Some(DocumentGuard::Member(member_id.clone(), author.version));
            let (key, group) = (None, member_id.as_str().to_owned());
            let quota =
                Some(DocumentQuota::today(CountedDocuments::Group, self.quotas.memos_per_day, now));
            let act = (!is_held).then(|| rules::memo_published(&member_id, &draft));
            let added =
                DocumentDraft { held_until, key, group, json, replace: false, guard, quota, act };
            match self.put(Collection::Memos, added).await? {
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

    /// Returns a published memo.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id, or it was retracted.
    pub async fn memo(&self, id: MemoId) -> Result<Memo, Error> {
        self.find_memo(id).await?.ok_or(Refusal::NotFound(Resource::Memo).into())
    }

    /// Returns a memo, or `None` if it was retracted.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there has never been one with this id.
    pub async fn find_memo(&self, id: MemoId) -> Result<Option<Memo>, Error> {
        let document = self.memo_document(id).await?;
        let stored = self.unless_held(&document).await?;
        let stored = stored.ok_or(Refusal::NotFound(Resource::Memo))?;
        Ok((!stored.retracted).then_some(stored.memo))
    }

    /// Returns a memo as an active member sees it: its own memos also while the session that they name is sealed, other memos as
    /// the public does. A bearer token opens only memos that were published after it was claimed.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id, it was retracted, or is not shown yet.
    pub async fn memo_for(&self, caller: impl Into<Caller<'_>>, id: MemoId) -> Result<Memo, Error> {
        let (caller, document) = (caller.into(), self.memo_document(id).await?);
        let author = document.held.as_ref().and_then(|held| MemberId::parse(&*held.group).ok());
        if let Some(author) = author
            && self.is_shown_sealed(caller, &author, document.created_at).await?
        {
            let stored = self.whole_memo(&document).await?;
            if !stored.retracted {
                return Ok(stored.memo);
            }
        }
        self.memo(id).await
    }

    /// Returns all published memos, newest first.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn memos(&self) -> Result<Vec<Memo>, Error> {
        let mut documents = self.store.documents(Collection::Memos, None).await?;
        documents.reverse();
        self.shown_memos(&documents).await
    }

    /// Returns up to `limit` of the published memos with ids below `before` that the filter keeps, by id in descending
    /// order. A page has fewer if they exceed about 4 MiB, or are not among the next 1,000 memos;
    /// [`MemoPage::next_before`] goes on from there.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn memo_page(
        &self,
        filter: &MemoFilter,
        before: Option<MemoId>,
        limit: usize,
    ) -> Result<MemoPage, Error> {
        let newest = self.store.last_document(Collection::Memos).await?;
        let searched = numbered::searched(before.map(|before| before.0), newest);
        let (mut page, mut read_bytes) = (numbered::Page::of(limit), 0);
        for ids in numbered::batches(searched.clone(), limit.clamp(1, AT_ONCE)) {
            let keys = ids.iter().map(u64::to_string);
            for document in self.store.documents_by_key(Collection::Memos, keys).await? {
                let shown = self.shown_memos(std::slice::from_ref(&document)).await?;
                let bytes = if shown.is_empty() { HIDDEN_BYTES } else { document.json.len() };
                read_bytes += bytes;
                if read_bytes > MAX_READ_BYTES && bytes < read_bytes {
                    let next_before = Some(MemoId(document.id + 1));
                    return Ok(MemoPage { memos: page.items, next_before });
                }
                for memo in shown {
                    if filter.keeps(&memo) && !page.push(memo, bytes) {
                        let next_before = page.items.last().map(|last| last.id);
                        return Ok(MemoPage { memos: page.items, next_before });
                    }
                }
            }
        }
        let next_before = (searched.start > 1).then_some(MemoId(searched.start));
        Ok(MemoPage { memos: page.items, next_before })
    }

    /// Returns the published memos of a member, oldest first.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn memos_of(&self, member: &MemberId) -> Result<Vec<Memo>, Error> {
        let documents = self.store.documents(Collection::Memos, Some(member.as_str())).await?;
        self.shown_memos(&documents).await
    }

    /// The memos among these that the public sees.
    async fn shown_memos(&self, documents: &[Document]) -> Result<Vec<Memo>, Error> {
        let mut shown = Vec::new();
        for document in documents {
            let stored = self.unless_held(document).await?;
            shown.extend(stored.filter(|stored| !stored.retracted).map(|stored| stored.memo));
        }
        Ok(shown)
    }

    /// Returns a memo that was read; `None` if it is held until a session is opened. Only then is its text not read, so
    /// nothing that others than its author do takes longer if it is long.
    async fn unless_held(&self, document: &Document) -> Result<Option<StoredMemo>, Error> {
        if let Some(held) = &document.held
            && self.is_sealed(held.until).await?
        {
            return Ok(None);
        }
        let mut stored = self.whole_memo(document).await?;
        if !stored.held {
            return Ok(Some(stored));
        }
        // Memos that were restored from older dumps are read whole while they are held.
        if self.is_withheld(&stored.memo).await? {
            return Ok(None);
        }
        // It was published when its entry was appended.
        let key = stored.memo.id.to_string();
        if let Some(shown) = self.store.document(Collection::HeldMemos, &key).await? {
            stored.memo.published_at = shown.created_at;
        }
        Ok(Some(stored))
    }

    /// Returns a memo that was read, with its text, also while that is held.
    async fn whole_memo(&self, document: &Document) -> Result<StoredMemo, Error> {
        if document.held.is_none() {
            return Ok(StoredMemo::read(document)?);
        }
        let whole = self.store.whole_document(Collection::Memos, &document.key).await?;
        Ok(StoredMemo::read(&whole.ok_or(Refusal::NotFound(Resource::Memo))?)?)
    }

    /// Whether the session that a held memo names is still sealed.
    async fn is_withheld(&self, memo: &Memo) -> Result<bool, Error> {
        match memo.draft.session_id {
            Some(session) => self.is_sealed(session).await,
            None => Ok(false),
        }
    }

    /// Whether there is a session with this id that is still sealed.
    async fn is_sealed(&self, session: SessionId) -> Result<bool, Error> {
        let session = self.store.session(session).await?;
        Ok(session.is_some_and(|session| session.record.is_sealed()))
    }

    /// Notes that this member has memos that are held until this session is opened, before the first of them is
    /// written. So an opening reads the memos of these members alone.
    async fn note_held_memo(&self, session: SessionId, author: &MemberId) -> Result<(), Error> {
        let group = group_of_held(session);
        let (key, json) = (Some(format!("{group} {author}")), author.as_str().to_owned());
        let (guard, quota, act) = (None, None, None);
        let note =
            DocumentDraft { key, group, json, guard, quota, act, ..DocumentDraft::default() };
        match self.put(Collection::HeldMemos, note).await? {
            Put::Created(_) | Put::Exists => Ok(()),
            other => Err(StoreError::corrupt("note held memo", format!("{other:?}")).into()),
        }
    }

    /// Appends the entries of memos that were held until this session was opened, each once. Several servers may do
    /// this concurrently, and again after a failure.
    pub(in crate::service) async fn show_held_memos(
        &self,
        session: SessionId,
    ) -> Result<(), Error> {
        let group = group_of_held(session);
        for note in self.store.documents(Collection::HeldMemos, Some(&group)).await? {
            for document in self.store.documents(Collection::Memos, Some(&note.json)).await? {
                let is_of_another =
                    document.held.as_ref().is_some_and(|held| held.until != session);
                if is_of_another {
                    continue;
                }
                // One that nobody can read must not stop the openings of other sessions.
                let stored = match self.whole_memo(&document).await {
                    Ok(stored) => stored,
                    Err(Error::Store(error)) if error.kind() == StoreErrorKind::Corrupt => continue,
                    Err(error) => return Err(error),
                };
                let StoredMemo { memo, retracted, held } = stored;
                let is_waiting = held && !retracted && memo.draft.session_id == Some(session);
                if is_waiting && !self.is_withheld(&memo).await? {
                    self.is_shown_once_decided(&memo).await?;
                }
            }
        }
        Ok(())
    }

    /// Whether a held memo was shown. If that is undecided, decides it by whether the session is sealed now. The
    /// commit that decides that the memo is shown appends its entry.
    async fn is_shown_once_decided(&self, memo: &Memo) -> Result<bool, Error> {
        let key = memo.id.to_string();
        let is_shown = !self.is_withheld(memo).await?;
        let (json, act) = (is_shown.to_string(), is_shown.then(|| rules::memo_shown(memo)));
        let (group, guard, quota) = (memo.member_id.as_str().to_owned(), None, None);
        let key_of_draft = Some(key.clone());
        let draft = DocumentDraft {
            key: key_of_draft,
            group,
            json,
            guard,
            quota,
            act,
            ..DocumentDraft::default()
        };
        match self.put(Collection::HeldMemos, draft).await? {
            Put::Created(_) => Ok(is_shown),
            _ => {
                let decided = self.store.document(Collection::HeldMemos, &key).await?;
                Ok(decided.is_some_and(|decided| decided.json == true.to_string()))
            }
        }
    }

    async fn replace_memo(
        &self,
        memo: &Memo,
        json: String,
        held_until: Option<SessionId>,
        act: Option<Act>,
    ) -> Result<(), Error> {
        let (key, group) = (Some(memo.id.to_string()), memo.member_id.as_str().to_owned());
        let (guard, quota) = (None, None);
        let draft =
            DocumentDraft { held_until, key, group, json, replace: true, guard, quota, act };
        match self.put(Collection::Memos, draft).await? {
            Put::Replaced(_) => Ok(()),
            other => Err(StoreError::corrupt("replace memo", format!("{other:?}")).into()),
        }
    }

    /// Retracts a memo: from now on it is not found. Retracting it again has no effect.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id; [`Refusal::TakesSealed`] when it is held until a session with
    /// sealed takes is opened.
    pub async fn retract_memo(&self, id: MemoId, by: &Actor) -> Result<(), Error> {
        let document = self.memo_document(id).await?;
        let sealed = self.held_without_takes(&document).await?;
        let StoredMemo { memo, retracted, held } = self.whole_memo(&document).await?;
        if retracted {
            return Ok(());
        }
        let kept = KeptMemo { retracted: true, ..KeptMemo::of(&memo.member_id, &memo.draft) };
        // A memo that was never shown has no entry.
        let was_shown = !held || self.is_shown_once_decided(&memo).await?;
        let act = was_shown.then(|| rules::memo_retracted(&memo, by));
        self.replace_memo(&memo, json::write(&kept), sealed, act).await
    }

    /// The sealed session until whose opening a memo is held.
    ///
    /// # Errors
    /// [`Refusal::TakesSealed`] when it has takes: a memo that is held says what one of them may say.
    async fn held_without_takes(&self, document: &Document) -> Result<Option<SessionId>, Error> {
        let Some(held) = &document.held else { return Ok(None) };
        if !self.is_sealed(held.until).await? {
            return Ok(None);
        }
        match self.has_takes(held.until).await? {
            true => Err(Refusal::TakesSealed.into()),
            false => Ok(Some(held.until)),
        }
    }

    /// Checks that no memo of a member is held until a session with sealed takes is opened.
    ///
    /// # Errors
    /// [`Refusal::TakesSealed`].
    pub(in crate::service) async fn check_held_memos(
        &self,
        member: &MemberId,
    ) -> Result<(), Error> {
        for document in self.store.documents(Collection::Memos, Some(member.as_str())).await? {
            self.held_without_takes(&document).await?;
        }
        Ok(())
    }

    /// Erases the texts of all memos of a member, including retracted ones. None is found from then on.
    pub(in crate::service) async fn erase_memos(
        &self,
        member: &MemberId,
        by: &Actor,
    ) -> Result<(), Error> {
        let erased = || rules::ERASED.to_owned();
        let draft =
            MemoDraft { title: erased(), body: erased(), subject_id: None, session_id: None };
        let json = json::write(&KeptMemo { retracted: true, ..KeptMemo::of(member, &draft) });
        for document in self.store.documents(Collection::Memos, Some(member.as_str())).await? {
            if document.json == json {
                continue;
            }
            let StoredMemo { memo, retracted, held } = self.whole_memo(&document).await?;
            let was_shown = !retracted && (!held || self.is_shown_once_decided(&memo).await?);
            let act = rules::memo_erased(&memo, !was_shown, by);
            self.replace_memo(&memo, json.clone(), None, act).await?;
        }
        Ok(())
    }

    async fn has_takes(&self, session: SessionId) -> Result<bool, Error> {
        let query = TakeQuery { limit: 1, ..TakeQuery::all(session) };
        let found = self.store.session_takes(&query).await?;
        Ok(found.is_some_and(|found| !found.takes.is_empty()))
    }

    /// Returns whether there is a memo with this id which this member can read.
    pub(in crate::service) async fn is_memo_for(
        &self,
        id: MemoId,
        reader: &MemberId,
    ) -> Result<bool, Error> {
        let document = match self.memo_document(id).await {
            Ok(document) => document,
            Err(Error::Refused(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        if document.held.as_ref().is_some_and(|held| held.group == reader.as_str()) {
            // One that was retracted meanwhile is decided never to be shown.
            let decided = self.store.document(Collection::HeldMemos, &document.key).await?;
            return Ok(decided.is_none_or(|decided| decided.json == true.to_string()));
        }
        let stored = self.unless_held(&document).await?;
        Ok(stored.is_some_and(|stored| !stored.retracted))
    }

    async fn memo_document(&self, id: MemoId) -> Result<Document, Error> {
        let document = self.store.document(Collection::Memos, &id.to_string()).await?;
        Ok(document.ok_or(Refusal::NotFound(Resource::Memo))?)
    }
}

/// How the groups of such notes begin. The key of a decision is the id of its memo.
const SESSION_GROUP: &str = "session ";

/// The group of the notes of members whose memos are held until this session is opened.
fn group_of_held(session: SessionId) -> String {
    format!("{SESSION_GROUP}{session}")
}

/// Checks a document of [`Collection::HeldMemos`]: the note of an author, or the decision whether a memo is shown.
pub(super) fn check_held_memo(document: &Document) -> Result<(), StoreError> {
    if document.key.starts_with(SESSION_GROUP) {
        let author = MemberId::parse(document.json.clone());
        return author.map(drop).map_err(|error| unreadable(document, error));
    }
    document.json.parse::<bool>().map(drop).map_err(|error| unreadable(document, error))
}

/// A memo, with the field that only stores keep.
pub(in crate::service) struct StoredMemo {
    pub(in crate::service) memo: Memo,
    pub(in crate::service) retracted: bool,
    /// Whether the memo was sent while the session that it names was sealed: see [`Collection::HeldMemos`].
    held: bool,
}

impl StoredMemo {
    pub(in crate::service) fn read(document: &Document) -> Result<Self, StoreError> {
        let (author, draft, retracted, held) = read(document, |fields| {
            let author = MemberId::parse(fields.text("memberId")?)?;
            let retracted = fields.bool_if_any("retracted")?.unwrap_or(false);
            let held = fields.bool_if_any("held")?.unwrap_or(false);
            Ok((author, MemoDraft::read(fields)?, retracted, held))
        })?;
        Ok(Self { memo: memo(author, draft, document), retracted, held })
    }
}

/// The stored form of a memo.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct KeptMemo<'a> {
    member_id: &'a MemberId,
    #[serde(flatten)]
    draft: &'a MemoDraft,
    retracted: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    held: bool,
}

impl<'a> KeptMemo<'a> {
    /// The stored form of a memo that is shown at once.
    fn of(member_id: &'a MemberId, draft: &'a MemoDraft) -> Self {
        Self { member_id, draft, retracted: false, held: false }
    }
}

fn memo(member_id: MemberId, draft: MemoDraft, document: &Document) -> Memo {
    Memo { id: MemoId(document.id), member_id, draft, published_at: document.created_at }
}
