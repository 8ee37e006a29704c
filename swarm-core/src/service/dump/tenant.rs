//! The checks of one tenant: the order and the ids of its records, and that they fit together.

use std::error::Error as _;

use super::index::{Facts, Kind};
use super::log::LogChecks;
use super::{Checked, Fault, check};
use crate::domain::committee::CommitteeMember;
use crate::domain::{Digest, LogLine, Member, Session, SubjectId, SubjectSnapshotDraft};
use crate::proof::hex;
use crate::rules::ERASED;
use crate::service::documents::{StoredMemo, check_readable};
use crate::service::stored_document::read;
use crate::store::{Collection, Stored, StoredDocument, TenantHead};

/// What is known of a tenant so far, but for what is in the index.
#[derive(Debug)]
pub(super) struct TenantChecks {
    head: TenantHead,
    /// The position of the last record.
    last: SortKey,
    log: LogChecks,
}

/// The position of a record in the order of a dump: its kind, then a text or a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SortKey(u8, String, u64);

impl TenantChecks {
    /// The checks of the tenant whose head is in this line.
    pub(super) fn new(head: TenantHead, line: u64) -> Self {
        let log = LogChecks::new(head.log, line);
        Self { head, last: SortKey(0, String::new(), 0), log }
    }

    /// Checks a record, and keeps what later records are compared with.
    pub(super) fn record(
        &mut self,
        record: &Stored,
        log: Option<&LogLine>,
        line: u64,
        facts: &mut Facts,
    ) -> Checked<()> {
        let key = sort_key(record);
        check(key > self.last, || {
            let again = if key == self.last { "stands twice" } else { "is not in its place" };
            format!("the record {again}: records are in the order of their ids")
        })?;
        self.last = key;
        match record {
            Stored::Head(_) => Ok(()),
            Stored::Member(member) => self.member(member, line, facts),
            Stored::Message(message) => within("message", message.id.0, self.head.messages.0),
            Stored::Document(document) => self.document(document, line, facts),
            Stored::Session(session) => self.session(session, line, facts),
            Stored::CommitteeMember(member) => committee_member(member, facts),
            Stored::CommitteeDay(day) => facts.add(Kind::Day, &[&day.date.to_string()]).map(drop),
            Stored::CommitteeBrief(day, brief) => {
                facts.check_day(&day.to_string())?;
                facts.check_committee_member(brief.member_id.as_str())
            }
            Stored::Log(row) => {
                let log = log.ok_or("a row of the log without its entry")?;
                self.log.row(row, log, line, facts)
            }
        }
    }

    /// The first fault that shows at the end, if there is one.
    pub(super) fn finish(self, facts: &mut Facts) -> Checked<Option<Fault>> {
        self.log.finish(facts)
    }

    fn member(&mut self, member: &Member, line: u64, facts: &mut Facts) -> Checked<()> {
        if let Some(token) = member.token {
            let is_new = facts.add(Kind::Token, &[&hex(token.as_bytes())])?;
            check(is_new, || "another member has the same token".to_owned())?;
        }
        if let Some(key) = member.held_key() {
            let is_new = facts.add(Kind::PublicKey, &[&key.to_string()])?;
            check(is_new, || "another member holds the same key".to_owned())?;
        }
        self.log.member(member, line, facts)
    }

    fn document(&mut self, stored: &StoredDocument, line: u64, facts: &mut Facts) -> Checked<()> {
        let StoredDocument { collection, document, held_until, .. } = stored;
        let last = self.head.documents.get(collection).copied().unwrap_or(0);
        within("document", document.id, last)?;
        check_readable(*collection, document).map_err(|error| {
            let (key, why) = (&document.key, error.source().map(ToString::to_string));
            format!("document {key:?} of {collection} cannot be read: {}", why.unwrap_or_default())
        })?;
        let names = |session| {
            let memo = (*collection == Collection::Memos).then(|| StoredMemo::read(document).ok());
            memo.flatten().is_some_and(|stored| stored.memo.draft.session_id == Some(session))
        };
        check(held_until.is_none_or(names), || {
            format!("document {:?} of {collection} does not name its heldUntil", document.key)
        })?;
        let is_known = facts.has(Kind::Document, &[collection.as_str(), &document.key])?;
        check(!is_known, || {
            format!("another document of {collection} has the key {:?}", document.key)
        })?;
        self.log.document(stored, digest(stored), line, facts)
    }

    fn session(&mut self, session: &Session, line: u64, facts: &mut Facts) -> Checked<()> {
        within("session", session.id.0, self.head.sessions.0)?;
        self.log.session(session, line, facts)
    }
}

fn committee_member(member: &CommitteeMember, facts: &mut Facts) -> Checked<()> {
    let is_new = facts.add(Kind::CommitteeKey, &[&hex(member.key.as_bytes())])?;
    check(is_new, || "another member of the committee has the same key".to_owned())?;
    facts.add(Kind::CommitteeMember, &[member.id.as_str()]).map(drop)
}

/// Checks an id against the last id in the head.
fn within(what: &str, id: u64, last: u64) -> Checked<()> {
    check((1..=last).contains(&id), || {
        format!("{what} {id} is not among the {last} that the line of the tenant says")
    })
}

fn sort_key(record: &Stored) -> SortKey {
    let text = |kind, text: &str| SortKey(kind, text.to_owned(), 0);
    match record {
        Stored::Head(_) => SortKey(0, String::new(), 0),
        Stored::Member(member) => text(1, member.id.as_str()),
        Stored::Message(message) => SortKey(2, String::new(), message.id.0),
        Stored::Document(StoredDocument { collection, document, .. }) => {
            let order = Collection::ALL.iter().position(|it| it == collection).unwrap_or_default();
            SortKey(3, format!("{order:02}"), document.id)
        }
        Stored::Session(session) => SortKey(4, String::new(), session.id.0),
        Stored::CommitteeMember(member) => text(5, member.id.as_str()),
        Stored::CommitteeDay(day) => text(6, &day.date.to_string()),
        Stored::CommitteeBrief(date, brief) => text(7, &format!("{date} {}", brief.member_id)),
        Stored::Log(row) => SortKey(8, String::new(), row.seq.0),
    }
}

/// The digest of the record in the document; `None` if log entries of its collection have no digest, or if the
/// document is erased.
fn digest(stored: &StoredDocument) -> Option<Digest> {
    let StoredDocument { collection, group, document, .. } = stored;
    match collection {
        // The text of these documents is the text of the record.
        Collection::Subjects | Collection::Regimes | Collection::Signals => {
            Some(Digest::of(document.json.as_bytes()))
        }
        Collection::SubjectSnapshots => {
            let subject = SubjectId::parse(group.clone()).ok()?;
            let draft = read(document, SubjectSnapshotDraft::read).ok()?;
            Some(draft.digest(&subject))
        }
        Collection::Memos => {
            let StoredMemo { memo, retracted: is_retracted, .. } =
                StoredMemo::read(document).ok()?;
            let is_erased = is_retracted && memo.draft.body == ERASED;
            (!is_erased).then(|| memo.draft.digest(&memo.member_id))
        }
        _ => None,
    }
}
