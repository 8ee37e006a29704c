//! The facts that the rules judge by, as a store loads them.

use std::sync::Arc;

use crate::domain::{Challenge, Member, Revision, SessionTerms, Take, Timestamp, Version};

/// A record, and how often it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Versioned<T> {
    /// The version to name in the guard of a write that relies on this record.
    pub version: Version,
    /// The record.
    pub record: Arc<T>,
}

impl<T> Versioned<T> {
    /// What `part` makes of the record, at the same version.
    pub fn map<U>(&self, part: impl FnOnce(&T) -> U) -> Versioned<U> {
        Versioned { version: self.version, record: Arc::new(part(&self.record)) }
    }
}

/// The facts that a submission is judged by.
#[derive(Clone, Debug)]
pub struct Basis {
    /// The time by the store's clock.
    pub now: Timestamp,
    /// The member whose record carries the token, whatever its state.
    pub member: Option<Versioned<Member>>,
    /// The terms of the newest session (highest id) of the day and subject. A store does not decode
    /// its snapshot for them.
    pub session: Option<Versioned<SessionTerms>>,
    /// The latest revision of that member in that session.
    pub latest: Option<Revision>,
    /// The take with which that member spent the nonce, in whatever session.
    pub spent: Option<Arc<Take>>,
}

/// What the rules need to know of a member to judge what becomes of it.
#[derive(Clone, Debug)]
pub struct MemberBasis {
    /// The member, where there is one.
    pub member: Option<Versioned<Member>>,
    /// Its live challenge, where it has one. An expired one may still be shown.
    pub challenge: Option<Challenge>,
}
