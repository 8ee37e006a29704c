//! What a reader has to know of earlier lines.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Checked, check};
use crate::domain::Digest;

/// Where a [`DumpReader`](super::DumpReader) keeps what it has to know of the earlier lines of a tenant: ids, keys and
/// nonces that were used, and what the log says of each record. It is all of a reader that grows with the dump. In a
/// `BTreeMap` it needs some hundred bytes for each record; a program whose memory must not grow keeps it on disk.
///
/// Each method fails with a text where the index cannot be read or written. Nothing can be said of the dump then.
pub trait DumpIndex: std::fmt::Debug + Send {
    /// The value of a key.
    fn get(&mut self, key: &IndexKey) -> Result<Option<String>, String>;

    /// Sets the value of a key.
    fn set(&mut self, key: IndexKey, value: String) -> Result<(), String>;

    /// Passes on the value of each key that begins with this byte.
    fn each(&mut self, first: u8, then: &mut dyn FnMut(String)) -> Result<(), String>;

    /// Removes everything.
    fn clear(&mut self) -> Result<(), String>;
}

/// A key of a [`DumpIndex`]: a byte for the kind of the fact, then 16 bytes of a SHA-256, by which no two facts are
/// mistaken for each other.
pub type IndexKey = [u8; 17];

impl DumpIndex for BTreeMap<IndexKey, String> {
    fn get(&mut self, key: &IndexKey) -> Result<Option<String>, String> {
        Ok(BTreeMap::get(self, key).cloned())
    }

    fn set(&mut self, key: IndexKey, value: String) -> Result<(), String> {
        self.insert(key, value);
        Ok(())
    }

    fn each(&mut self, first: u8, then: &mut dyn FnMut(String)) -> Result<(), String> {
        let begins = |key: &IndexKey| key.first() == Some(&first);
        self.iter().filter(|(key, _)| begins(key)).for_each(|(_, value)| then(value.clone()));
        Ok(())
    }

    fn clear(&mut self) -> Result<(), String> {
        BTreeMap::clear(self);
        Ok(())
    }
}

/// The kinds of facts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Token,
    PublicKey,
    CommitteeKey,
    CommitteeMember,
    Day,
    Nonce,
    /// The last revision of a member in a session.
    Revision,
    /// A record, and what the log says of it.
    Member,
    Session,
    Document,
    /// A session that is in the log alone.
    MissingSession,
    /// A sealed take of a session, by its place among them.
    Sealed,
    /// The session of a take.
    TakeSession,
    /// The mark of a take, and what the log says of it.
    Mark,
}

/// The facts of the current tenant, in an index.
#[derive(Debug)]
pub(super) struct Facts(Box<dyn DumpIndex>);

impl Facts {
    pub(super) fn new(index: impl DumpIndex + 'static) -> Self {
        Self(Box::new(index))
    }

    pub(super) fn get<T: DeserializeOwned>(
        &mut self,
        kind: Kind,
        name: &[&str],
    ) -> Checked<Option<T>> {
        self.0.get(&key(kind, name))?.map(|text| read(&text)).transpose()
    }

    pub(super) fn set<T: Serialize>(&mut self, kind: Kind, name: &[&str], fact: &T) -> Checked<()> {
        let text = serde_json::to_string(fact).map_err(|error| error.to_string())?;
        self.0.set(key(kind, name), text)
    }

    /// Adds a fact without a value. Returns whether it is new.
    pub(super) fn add(&mut self, kind: Kind, name: &[&str]) -> Checked<bool> {
        let is_new = !self.has(kind, name)?;
        self.0.set(key(kind, name), String::new())?;
        Ok(is_new)
    }

    pub(super) fn has(&mut self, kind: Kind, name: &[&str]) -> Checked<bool> {
        Ok(self.0.get(&key(kind, name))?.is_some())
    }

    pub(super) fn each<T: DeserializeOwned>(
        &mut self,
        kind: Kind,
        mut then: impl FnMut(T),
    ) -> Checked<()> {
        let mut outcome = Ok(());
        self.0.each(kind as u8, &mut |text| match read(&text) {
            Ok(fact) => then(fact),
            Err(error) => outcome = Err(error),
        })?;
        outcome
    }

    pub(super) fn check_committee_member(&mut self, id: &str) -> Checked<()> {
        let is_known = self.has(Kind::CommitteeMember, &[id])?;
        check(is_known, || format!("the committee has no member {id}"))
    }

    pub(super) fn check_day(&mut self, day: &str) -> Checked<()> {
        let is_known = self.has(Kind::Day, &[day])?;
        check(is_known, || format!("the dump has no day {day}"))
    }

    pub(super) fn clear(&mut self) -> Checked<()> {
        self.0.clear()
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Checked<T> {
    serde_json::from_str(text).map_err(|error| format!("the index cannot be read: {error}"))
}

fn key(kind: Kind, name: &[&str]) -> IndexKey {
    // Each part is preceded by its length, so that no two names have the same text.
    let text: String = name.iter().map(|part| format!("{} {part}", part.len())).collect();
    let digest = Digest::of(text.as_bytes());
    let mut key = [kind as u8; 17];
    key.iter_mut().skip(1).zip(digest.as_bytes()).for_each(|(to, from)| *to = *from);
    key
}
