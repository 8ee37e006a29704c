//! What `Display` writes, `FromStr` reads.

use std::str::FromStr;

use super::committee::{CommitteeStance, CommitteeStatus};
use super::{Day, Invalid, MailState, MemberState, PublicKey, SessionState, Timestamp};

/// Lets what has a `parse` of its own be read by `str::parse` and `TryFrom` too.
macro_rules! parsed {
    ($name:ty) => {
        impl std::str::FromStr for $name {
            type Err = $crate::domain::Invalid;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::domain::Invalid;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::parse(text)
            }
        }
    };
}

pub(super) use parsed;

parsed!(super::TenantId);
parsed!(super::committee::CommitteeMemberId);

macro_rules! named {
    ($($type:ty, $field:literal, $rule:literal;)*) => {
        $(impl FromStr for $type {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                Self::parse(text).ok_or_else(|| Invalid::new($field, $rule))
            }
        })*
    };
}

named! {
    MemberState, "state", "must be the name of a member state";
    SessionState, "state", "must be the name of a session state";
    MailState, "state", "must be the name of a message state";
    CommitteeStatus, "status", "must be active or inactive";
    CommitteeStance, "stance", "must be one of the five";
}

impl FromStr for PublicKey {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::parse(text)
    }
}

impl FromStr for Day {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::parse(text)
    }
}

impl FromStr for Timestamp {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::parse("time", text)
    }
}
