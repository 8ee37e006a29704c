//! The checks of one tenant: the order and the ids of its records, and that they fit together.

use std::collections::{HashMap, HashSet};

use super::document::digest;
use super::fault::{Checked, Fault, check};
use super::log::{Known, LogChecks};
use super::take_index::TakeIndex;
use crate::domain::committee::{CommitteeMember, CommitteeMemberId};
use crate::domain::{Day, LogLine, Member, PublicKey, Session, TenantId, TokenHash};
use crate::store::{Collection, Stored, StoredDocument, TenantHead};

/// What is known of a tenant so far.
#[derive(Debug)]
pub(super) struct TenantChecks {
    head: TenantHead,
    /// The position of the last record.
    last: Place,
    keys: HashMap<PublicKey, u64>,
    tokens: HashSet<TokenHash>,
    names: HashSet<(Collection, String)>,
    committee_members: HashSet<CommitteeMemberId>,
    committee_keys: HashSet<[u8; 32]>,
    days: HashSet<Day>,
    log: LogChecks,
}

/// The position of a record in the order of a dump: its kind, then a text or a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place(u8, String, u64);

impl TenantChecks {
    /// The checks of the tenant whose head is in this line.
    pub(super) fn new(id: &TenantId, head: TenantHead, line: u64) -> Self {
        let log = LogChecks::new(id, head.log, line);
        Self {
            head,
            last: Place(0, String::new(), 0),
            keys: HashMap::new(),
            tokens: HashSet::new(),
            names: HashSet::new(),
            committee_members: HashSet::new(),
            committee_keys: HashSet::new(),
            days: HashSet::new(),
            log,
        }
    }

    /// Checks a record, and keeps what later records are compared with.
    pub(super) fn record(
        &mut self,
        record: &Stored,
        log: Option<&LogLine>,
        line: u64,
        takes: &mut dyn TakeIndex,
    ) -> Checked<()> {
        let place = place(record);
        check(place > self.last, || {
            let again = if place == self.last { "stands twice" } else { "is not in its place" };
            format!("the record {again}: records are in the order of their ids")
        })?;
        self.last = place;
        match record {
            Stored::Head(_) => Ok(()),
            Stored::Member(member) => self.member(member, line),
            Stored::Message(message) => within("message", message.id.0, self.head.messages.0),
            Stored::Document(document) => self.document(document, line),
            Stored::Session(session) => self.session(session, line),
            Stored::CommitteeMember(member) => self.committee_member(member),
            Stored::CommitteeDay(day) => {
                self.days.insert(day.date);
                Ok(())
            }
            Stored::CommitteeBrief(day, brief) => {
                check(self.days.contains(day), || format!("the dump has no day {day}"))?;
                self.check_committee_member(&brief.member_id)
            }
            Stored::Log(row) => {
                let log = log.ok_or("a row of the log without its entry")?;
                let known = &mut Known {
                    committee_members: &self.committee_members,
                    days: &self.days,
                    takes,
                };
                self.log.row(row, log, line, known)
            }
        }
    }

    /// Checks that nothing is missing.
    pub(super) fn finish(self) -> Result<(), Fault> {
        self.log.finish()
    }

    fn member(&mut self, member: &Member, line: u64) -> Checked<()> {
        if let Some(token) = member.token {
            check(self.tokens.insert(token), || "another member has the same token".to_owned())?;
        }
        if let Some(key) = member.held_key() {
            let other = self.keys.insert(key.clone(), line);
            check(other.is_none(), || "another member holds the same key".to_owned())?;
        }
        self.log.member(member, line);
        Ok(())
    }

    fn document(&mut self, stored: &StoredDocument, line: u64) -> Checked<()> {
        let StoredDocument { collection, document, .. } = stored;
        let last = self.head.documents.get(collection).copied().unwrap_or(0);
        within("document", document.id, last)?;
        let is_new = self.names.insert((*collection, document.key.clone()));
        check(is_new, || {
            format!("another document of {collection} has the key {:?}", document.key)
        })?;
        self.log.document(stored, digest(stored), line);
        Ok(())
    }

    fn session(&mut self, session: &Session, line: u64) -> Checked<()> {
        within("session", session.id.0, self.head.sessions.0)?;
        self.log.session(session, line);
        Ok(())
    }

    fn committee_member(&mut self, member: &CommitteeMember) -> Checked<()> {
        let is_new = self.committee_keys.insert(*member.key.as_bytes());
        check(is_new, || "another member of the committee has the same key".to_owned())?;
        self.committee_members.insert(member.id.clone());
        Ok(())
    }

    fn check_committee_member(&self, id: &CommitteeMemberId) -> Checked<()> {
        check(self.committee_members.contains(id), || format!("the committee has no member {id}"))
    }
}

/// Checks an id against the last id in the head.
fn within(what: &str, id: u64, last: u64) -> Checked<()> {
    check((1..=last).contains(&id), || {
        format!("{what} {id} is not among the {last} that the line of the tenant says")
    })
}

fn place(record: &Stored) -> Place {
    let text = |kind, text: &str| Place(kind, text.to_owned(), 0);
    match record {
        Stored::Head(_) => Place(0, String::new(), 0),
        Stored::Member(member) => text(1, member.id.as_str()),
        Stored::Message(message) => Place(2, String::new(), message.id.0),
        Stored::Document(StoredDocument { collection, document, .. }) => {
            let order = Collection::ALL.iter().position(|it| it == collection).unwrap_or_default();
            Place(3, format!("{order:02}"), document.id)
        }
        Stored::Session(session) => Place(4, String::new(), session.id.0),
        Stored::CommitteeMember(member) => text(5, member.id.as_str()),
        Stored::CommitteeDay(day) => text(6, &day.date.to_string()),
        Stored::CommitteeBrief(date, brief) => text(7, &format!("{date} {}", brief.member_id)),
        Stored::Log(row) => Place(8, String::new(), row.seq.0),
    }
}
