//! Documents.

use std::borrow::Cow;

use super::members::{at_most, key as member_key};
use super::rows::{Outcome, number, text, time};
use super::tables::{DOCUMENT_BYTES, documents, documents_sequence, members, sessions, takes};
use super::{Answers, Change, Made, Records, acts, unexpected};
use crate::domain::{Session, SessionId, Timestamp, Version};
use crate::store::backend::{
    Body, Check, PartSet, Parts, Query, Range, Row, Table, Term, Value, Write,
};
use crate::store::{
    Act, Collection, CountedDocuments, Document, DocumentCount, DocumentDraft, DocumentGuard,
    DocumentPage, DocumentQuery, Held, Put, Result, StoreError,
};

/// How often a document is written again because its key was written meanwhile.
const MAX_ATTEMPTS: usize = 64;

/// Documents. Their content is opaque to a store.
impl Records {
    /// The document with this key. While the text of a document is held ([`DocumentDraft::held_until`]), no read but
    /// [`whole_document`](Self::whole_document) may take longer if it is long: the text is then empty, and
    /// [`Document::held`] says why.
    pub async fn document(&self, collection: Collection, key: &str) -> Result<Option<Document>> {
        Ok(self.documents_named("document", collection, [key]).await?.pop())
    }

    /// The documents with these keys, in their order, without those that do not exist. They are read in one round trip.
    pub async fn documents_by_key<K: AsRef<str>>(
        &self,
        collection: Collection,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<Document>> {
        self.documents_named("documents by key", collection, keys).await
    }

    async fn documents_named<K: AsRef<str>>(
        &self,
        op: &'static str,
        collection: Collection,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<Document>> {
        let shown = |key: K| Range { parts: PartSet::SHOWN, ..named(collection, key.as_ref()) };
        let queries = keys.into_iter().map(|key| Query::Rows(shown(key))).collect();
        let mut found = self.read(op, queries).await?;
        found.first_rows().iter().map(read).collect::<Outcome<_>>().map_err(found.corrupt())
    }

    /// The id of the last document of a collection; 0 if there is none. The ids are those from 1 to it.
    pub async fn last_document(&self, collection: Collection) -> Result<u64> {
        let last = vec![Query::Sequence(documents_sequence(collection))];
        Ok(self.read("last document", last).await?.number())
    }

    /// The same document with its text, also while that is held.
    pub async fn whole_document(
        &self,
        collection: Collection,
        key: &str,
    ) -> Result<Option<Document>> {
        let whole = vec![Query::Rows(named(collection, key))];
        let mut found = self.read("whole document", whole).await?;
        found.row().as_ref().map(read).transpose().map_err(found.corrupt())
    }

    /// The documents of a collection, or of a group in it, by id.
    pub async fn documents(
        &self,
        collection: Collection,
        group: Option<&str>,
    ) -> Result<Vec<Document>> {
        let mut prefix = vec![collection.as_str().into()];
        let index = match group {
            Some(group) => {
                prefix.push(group.into());
                documents::BY_FAMILY
            }
            None => documents::BY_ID,
        };
        let range = Range::index(&documents::TABLE, index, prefix);
        let range = Range { parts: PartSet::SHOWN, ..range };
        let mut found = self.read("documents", vec![Query::Rows(range)]).await?;
        let listed = found.rows().iter().map(read).collect::<Outcome<Vec<_>>>();
        let mut listed = listed.map_err(found.corrupt())?;
        // Those of a group are in the order of their times, which differs if a clock that was behind was accepted.
        listed.sort_by_key(|document| document.id);
        Ok(listed)
    }

    /// The documents of a collection with keys after `query.after`, in the order of the UTF-8 bytes of
    /// their keys, all at one position of the log. The page ends after `query.limit` documents, or before
    /// the document whose text would make it larger than `query.bytes` in total; it has at least one
    /// document if there is any.
    pub async fn document_page(
        &self,
        collection: Collection,
        query: &DocumentQuery,
    ) -> Result<DocumentPage> {
        let DocumentQuery { after, limit, bytes, without_texts } = query;
        let range = Range {
            prefix: vec![collection.as_str().into()],
            after: after.as_deref().map(Term::from),
            limit: limit.saturating_add(1),
            bytes: *bytes,
            parts: if *without_texts { PartSet::NONE } else { PartSet::SHOWN },
            ..Range::all(&documents::TABLE)
        };
        let mut found = self.read("document page", vec![Query::Rows(range)]).await?;
        let (rows, is_cut) = found.page();
        let shown = rows.iter().take(*limit).map(read).collect::<Outcome<Vec<_>>>();
        let mut documents = shown.map_err(found.corrupt())?;
        if *without_texts {
            documents.iter_mut().for_each(|document| document.json.clear());
        }
        Ok(DocumentPage { documents, more: is_cut || rows.len() > *limit })
    }

    /// Writes a document, durably. A new one gets the next id of the collection, from 1, and the
    /// store's time. A replacement keeps the id and the time of the old one; the entry of its act is made
    /// with that id and the time of the commit. Returns the stored
    /// document; or, with nothing written:
    /// - [`Put::Stale`] when the record that `draft.guard` names has another version;
    /// - [`Put::Exists`] when there is a document with this key and `draft.replace` is not set;
    /// - [`Put::Full`] when a new one would exceed the count of `draft.quota`;
    /// - [`Put::NoRoom`] when the texts of all documents in collections that
    ///   [have a limited size](Collection::has_limited_size) would exceed its bytes, and the text is
    ///   longer than the one that it replaces. Keep a counter of these bytes, which every write to such
    ///   a collection changes in its commit.
    ///
    /// Times increase with ids, unless an operator accepted a clock that is behind the log. So a
    /// count of n is reached if the n-th newest document of the group or collection
    /// [counts](crate::rules::DocumentCount::counts). After an operator accepted such a clock, this may
    /// refuse too much for a day.
    pub async fn put_document(&self, collection: Collection, draft: &DocumentDraft) -> Result<Put> {
        const OP: &str = "put document";
        for _ in 0..MAX_ATTEMPTS {
            let stored = draft
                .key
                .iter()
                .map(|key| Range { parts: PartSet::NONE, ..named(collection, key) });
            let guard = draft.guard.iter().map(guarding);
            let guard = guard
                .map(|(table, key, _)| Range { parts: PartSet::NONE, ..Range::key(table, key) });
            let queries = guard.chain(stored).map(Query::Rows).collect();
            let mut found = Answers::new(OP, self.facts(OP, queries).await?.answers, &self.damage);
            if let Some(guard) = &draft.guard {
                let (_, _, version) = guarding(guard);
                if found.row().map(|row| row.version) != Some(version) {
                    return Ok(Put::Stale);
                }
            }
            let stored = found.row();
            if stored.is_some() && !draft.replace {
                return Ok(Put::Exists);
            }
            if let Some(put) = self.try_put(OP, collection, draft, stored).await? {
                return Ok(put);
            }
        }
        Err(StoreError::contended(OP, "the document kept changing"))
    }
}

impl Records {
    /// Writes a document in place of the stored one. `None` if that has changed.
    async fn try_put(
        &self,
        op: &'static str,
        collection: Collection,
        draft: &DocumentDraft,
        stored: Option<Row>,
    ) -> Result<Option<Put>> {
        let replaced = stored
            .as_ref()
            .map(|row| read_columns(row).map_err(self.damage.corrupt(op)))
            .transpose()?;
        let (size, mut guards) = (length(draft.json.len()), Vec::new());
        if let Some(guard) = &draft.guard {
            let (table, key, version) = guarding(guard);
            guards.push((Check::Version { table, key, expected: Some(version) }, Some(Put::Stale)));
        }
        if let Some(key) = &draft.key {
            let expected = stored.as_ref().map(|row| row.version);
            let key = vec![collection.as_str().into(), key.as_str().into()];
            guards.push((Check::Version { table: &documents::TABLE, key, expected }, None));
        }
        let quota = draft.quota.unwrap_or_default();
        if let Some(count) = quota.count.filter(|_| stored.is_none()) {
            guards.push((is_below(collection, &draft.group, count), Some(Put::Full)));
        }
        let (mut change, mut is_restamped) = (Change::default(), false);
        if let Some(DocumentGuard::ReplacedSession(session, _)) = &draft.guard {
            if stored.is_some() {
                guards.push((has_no_take(session), Some(Put::Stale)));
                is_restamped = true;
            }
            change.writes.push(super::session_row::replacement(Session::clone(session)));
        }
        if collection.has_limited_size() {
            let before = replaced.as_ref().map_or(0, |(_, size)| *size);
            let room = quota.bytes.filter(|_| size > before);
            guards.extend(room.map(|most| {
                let others = most.saturating_add(before).checked_sub(size);
                let check = others.map_or_else(never, |others| Check::Sum(DOCUMENT_BYTES, others));
                (check, Some(Put::NoRoom))
            }));
            change
                .writes
                .push(Write::Add(DOCUMENT_BYTES, size.cast_signed() - before.cast_signed()));
        }
        match &replaced {
            Some((document, _)) => {
                let created_at = match is_restamped {
                    true => Term::Now,
                    false => document.created_at.into(),
                };
                let columns = Columns { id: document.id.into(), created_at };
                change.writes.push(columns.write(collection, draft));
                let known = |act: &Act| act.entry(document.id, Timestamp::EPOCH);
                let act = draft.act.as_ref().map(|act| Act::from((*known(act)).clone()));
                change.entries.extend(act.as_ref().map(|act| acts::entry(act, None)));
            }
            None => {
                change.sequences.push(documents_sequence(collection));
                let columns = Columns { id: Term::Assigned(0), created_at: Term::Now };
                change.writes.push(columns.write(collection, draft));
                let number = |act: &Act| act.known().is_none().then_some(0);
                change.entries.extend(draft.act.as_ref().map(|act| acts::entry(act, number(act))));
            }
        }
        let (checks, outcomes): (Vec<_>, Vec<_>) = guards.into_iter().unzip();
        match self.commit(op, Change { checks, ..change }).await? {
            Made::Now(assigned, _) => Ok(Some(match replaced {
                Some((document, _)) => {
                    let created_at = if is_restamped { assigned.at } else { document.created_at };
                    Put::Replaced(Document { json: draft.json.clone(), created_at, ..document })
                }
                None => {
                    let id = assigned.numbers.first().copied().unwrap_or(0);
                    let key = draft.key.clone().unwrap_or_else(|| id.to_string());
                    let (json, created_at) = (draft.json.clone(), assigned.at);
                    Put::Created(Document { id, key, json, created_at, held: None })
                }
            })),
            Made::Unmet(check, _) => {
                outcomes.into_iter().nth(check).ok_or_else(|| unexpected(op, check))
            }
            Made::Before(_) => Err(unexpected(op, 0)),
        }
    }
}

/// The record that must not have changed: its table, its key and its version.
fn guarding(guard: &DocumentGuard) -> (&'static Table, Vec<Term>, Version) {
    match guard {
        DocumentGuard::Member(id, version) => (&members::TABLE, member_key(id), *version),
        DocumentGuard::Session(id, version) => (&sessions::TABLE, vec![id.0.into()], *version),
        DocumentGuard::ReplacedSession(session, version) => {
            (&sessions::TABLE, vec![session.id.0.into()], *version)
        }
    }
}

/// A check that a new document does not exceed this count.
fn is_below(collection: Collection, group: &str, count: DocumentCount) -> Check {
    let mut prefix = vec![collection.as_str().into()];
    let index = match count.of {
        CountedDocuments::Group => {
            prefix.push(group.into());
            documents::BY_FAMILY
        }
        CountedDocuments::Collection => documents::BY_TIME,
    };
    let range = Range {
        after: Some(Value::Integer(count.since.millis().saturating_sub(1)).into()),
        before: Some(count.until.into()),
        ..Range::index(&documents::TABLE, index, prefix)
    };
    at_most(range, Vec::new(), count.most)
}

/// A check that no take is on file in a session.
fn has_no_take(session: &Session) -> Check {
    let range = Range::index(&takes::TABLE, takes::BY_SESSION, vec![session.id.0.into()]);
    Check::Count { range, except: Vec::new(), least: 0, most: 0 }
}

/// A check that is never met.
fn never() -> Check {
    Check::Count { range: Range::all(&documents::TABLE), except: Vec::new(), least: 1, most: 0 }
}

/// A check that there is no such document.
pub(super) fn is_absent(collection: Collection, key: &str) -> Check {
    let key = vec![collection.as_str().into(), key.into()];
    Check::Version { table: &documents::TABLE, key, expected: None }
}

/// The document that claims an occasion for a session.
pub(super) fn claim(occasion: &str, id: Term, session: Term) -> Write {
    let columns = vec![
        Collection::Occasions.as_str().into(),
        occasion.into(),
        id,
        "".into(),
        Term::Now,
        Term::from(0_u64),
        session,
    ];
    Write::Insert { table: &documents::TABLE, columns, body: Body::empty() }
}

/// The columns that a commit may assign.
pub(super) struct Columns {
    pub(super) id: Term,
    pub(super) created_at: Term,
}

impl Columns {
    fn write(self, collection: Collection, draft: &DocumentDraft) -> Write {
        let DocumentDraft { key, group, json, held_until, .. } = draft;
        let name = key.as_deref().map_or(Term::AssignedText(0), Term::from);
        let columns = self.with(collection, name, group, json, *held_until);
        Write::Put { table: &documents::TABLE, columns, body: body(json.clone()) }
    }

    pub(super) fn with(
        self,
        collection: Collection,
        name: Term,
        group: &str,
        json: &str,
        held_until: Option<SessionId>,
    ) -> Vec<Term> {
        let Self { id, created_at } = self;
        let size = length(json.len()).into();
        vec![
            collection.as_str().into(),
            name,
            id,
            group.into(),
            created_at,
            size,
            held_until.map(|session| session.0).into(),
        ]
    }
}

struct Json(String);

impl Parts for Json {
    fn part(&self, position: usize) -> Option<Cow<'_, str>> {
        (position == documents::TEXT).then(|| Cow::Borrowed(&*self.0))
    }
}

pub(super) fn body(json: String) -> Body {
    Body::of(Json(json))
}

pub(super) fn named(collection: Collection, key: &str) -> Range {
    Range::key(&documents::TABLE, vec![collection.as_str().into(), key.into()])
}

/// Reads a document. One that claims an occasion has the id of its session as its text.
pub(super) fn read(row: &Row) -> Outcome<Document> {
    let (document, _) = read_columns(row)?;
    let json = match session(row) {
        Some(session) if is_claim(row)? => session.to_string(),
        Some(until) if row.body.is_veiled() => {
            let held = Held { until, group: text(row, documents::FAMILY)?.to_owned() };
            return Ok(Document { held: Some(held), ..document });
        }
        _ => row.body.part(documents::TEXT).map(Cow::into_owned).unwrap_or_default(),
    };
    Ok(Document { json, ..document })
}

/// Reads until when the text of a document is held.
pub(super) fn held_until(row: &Row) -> Outcome<Option<SessionId>> {
    Ok(if is_claim(row)? { None } else { session(row) })
}

fn session(row: &Row) -> Option<SessionId> {
    let session = row.columns.get(documents::SESSION).and_then(Value::integer);
    session.map(|session| SessionId(session.unsigned_abs()))
}

/// Whether the document claims an occasion for its session.
fn is_claim(row: &Row) -> Outcome<bool> {
    Ok(text(row, documents::COLLECTION)? == Collection::Occasions.as_str())
}

/// Reads a document without its text, and the size of that in bytes.
fn read_columns(row: &Row) -> Outcome<(Document, u64)> {
    let document = Document {
        id: number(row, documents::ID)?,
        key: text(row, documents::NAME)?.to_owned(),
        json: String::new(),
        created_at: time(row, documents::CREATED_AT)?,
        held: None,
    };
    Ok((document, number(row, documents::SIZE)?))
}

pub(super) fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
