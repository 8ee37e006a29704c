//! Identifiers and numbers that the service assigns.

use std::sync::Arc;

use super::Invalid;
use super::form::{number_schema, value};
use super::json::Json;

/// The name of a tenant (API.md, 2): `[a-z0-9][a-z0-9-]{0,62}`. Tenants share no data. Clones share
/// one allocation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct TenantId(Arc<str>);

impl TenantId {
    /// Parses the name of a tenant.
    ///
    /// # Errors
    /// [`Invalid`] when it does not match the pattern.
    pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        let letters = text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        if (1..=63).contains(&text.len()) && letters && !text.starts_with('-') {
            return Ok(Self(text.into()));
        }
        Err(Invalid::new("tenant id", "must match [a-z0-9][a-z0-9-]{0,62}"))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for TenantId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! counted {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize,
            serde::Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

counted!(
    /// The id of a session, assigned by the store when the session is convened; counts from 1 in
    /// each tenant.
    SessionId
);
counted!(
    /// The id of a take, `recommendationId` on the wire, assigned by the store at the commit;
    /// counts from 1 in each tenant.
    TakeId
);
counted!(
    /// The id of a message in the outbox: counts from 1 in each tenant.
    MessageId
);
counted!(
    /// The number of a delivery to a webhook: counts from 1 in each tenant.
    DeliveryId
);
counted!(
    /// The number of an event that is no entry of the log: counts from 1 in each tenant.
    NoticeId
);
counted!(
    /// The id of a brief: counts from 1 in each tenant.
    BriefId
);
counted!(
    /// The id of a memo: counts from 1 in each tenant.
    MemoId
);
counted!(
    /// The id of a subject snapshot: counts from 1 in each tenant.
    SubjectSnapshotId
);
counted!(
    /// How often a record was written. A store sets it to 1 when the record is created and
    /// increments it with each write. Guards compare it (optimistic concurrency control).
    Version
);

impl Version {
    /// The version after one more write.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// The number of a take among its member's takes in one session: 1 is the original, 2 to 5 are
/// amendments (API.md, 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct Revision(u8);

impl Revision {
    /// The original take.
    pub const FIRST: Self = Self(1);

    /// The last revision: a member may file five takes in one session (API.md, 5.4).
    pub const CAP: Self = Self(5);

    /// The revision with this number; `None` unless it is 1 to 5.
    pub fn new(number: u8) -> Option<Self> {
        (Self::FIRST.0..=Self::CAP.0).contains(&number).then_some(Self(number))
    }

    /// Returns the number, 1 to 5.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Returns the revision that follows `latest` (`None`: nothing filed yet), or `None` at the
    /// cap.
    pub fn after(latest: Option<Self>) -> Option<Self> {
        match latest {
            None => Some(Self::FIRST),
            Some(Self(number)) => Self::new(number.saturating_add(1)),
        }
    }
}

value!(
    Revision,
    |fields, name| {
        let revision = |number| u8::try_from(number).ok().and_then(Self::new);
        let invalid = || Invalid::new(name, "must be from 1 to 5");
        let number = fields.whole_if_any(name)?;
        number.map(|number| revision(number).ok_or_else(invalid)).transpose()
    },
    number_schema("integer", 1, 5)
);

value!(
    SessionId,
    |fields, name| Ok(fields.id_if_any(name)?.map(Self)),
    [("type", ["integer", "string"].into_iter().map(Json::from).collect())].into()
);

impl<'de> serde::Deserialize<'de> for Revision {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u8::deserialize(deserializer)?;
        Self::new(number).ok_or_else(|| serde::de::Error::custom("a revision is 1 to 5"))
    }
}

/// The id of one attempt to commit. It stays the same when a client library resends the command,
/// so that a store can recognise the repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttemptId(pub [u8; 16]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenant_ids_match_their_pattern() {
        for good in ["a", "0", "acme", "a-b-", &"x".repeat(63)] {
            assert!(TenantId::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "Acme", "a_b", "a.b", "ä", &"x".repeat(64)] {
            assert!(TenantId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn revisions_end_at_the_cap() {
        let mut latest = None;
        let mut numbers = Vec::new();
        while let Some(next) = Revision::after(latest) {
            numbers.push(next.get());
            latest = Some(next);
        }
        assert_eq!(numbers, [1, 2, 3, 4, 5]);
    }
}
