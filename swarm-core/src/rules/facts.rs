//! The facts that the rules judge on, as a store loads them.

use std::sync::Arc;

use crate::domain::{Challenge, Member, Revision, SessionTerms, StoredTake, Timestamp, Version};

/// A record and its version.
#[derive(Clone, Debug, PartialEq)]
pub struct Versioned<T> {
    /// The version, which guards a write that relies on this record.
    pub version: Version,
    /// The record.
    pub record: Arc<T>,
}

impl<T> Versioned<T> {
    /// Applies `part` to the record and keeps the version.
    pub fn map<U>(&self, part: impl FnOnce(&T) -> U) -> Versioned<U> {
        Versioned { version: self.version, record: Arc::new(part(&self.record)) }
    }
}

/// The facts that a submission is judged on.
#[derive(Clone, Debug)]
pub struct Basis {
    /// The time by the store's clock.
    pub now: Timestamp,
    /// The member that submits, whatever its state: the one whose record carries the token, or the one that was
    /// authenticated.
    pub member: Option<Versioned<Member>>,
    /// The terms of the newest session (highest id) of the day and subject. A store need not decode
    /// its snapshot for them.
    pub session: Option<Versioned<SessionTerms>>,
    /// The latest revision of that member in that session.
    pub latest: Option<Revision>,
    /// The take in which that member used the nonce, in any session.
    pub spent: Option<StoredTake>,
}

impl Basis {
    /// Returns the last revision that the member may file in the session.
    pub fn cap(&self) -> Revision {
        self.session.as_ref().map_or(Revision::CAP, |session| session.record.declaration.cap())
    }

    /// Returns the revision that the next take of the member in the session would be; `None` if it has filed all.
    pub fn next_revision(&self) -> Option<Revision> {
        Revision::after(self.latest).filter(|next| *next <= self.cap())
    }

    /// Returns how many takes the member may still file in the session.
    pub fn takes_left(&self) -> u8 {
        self.cap().get().saturating_sub(self.latest.map_or(0, Revision::get))
    }
}

/// The facts that a change of a member is judged on.
#[derive(Clone, Debug)]
pub struct MemberBasis {
    /// The member, if it exists.
    pub member: Option<Versioned<Member>>,
    /// Its live challenge, if any. It may have expired.
    pub challenge: Option<Challenge>,
}
