//! `FromStr` for types with names on the wire. It reads what `Display` writes.

use std::str::FromStr;

use super::committee::{CommitteeMemberId, CommitteeStance, CommitteeStatus};
use super::parsed::{deserialized, parsed};
use super::{
    Day, Invalid, MailState, MemberState, PublicKey, SessionState, Signature, TenantId, Timestamp,
};

parsed!(TenantId);
parsed!(CommitteeMemberId);
parsed!(Signature);

deserialized!(CommitteeMemberId);
deserialized!(CommitteeStance);
deserialized!(CommitteeStatus);
deserialized!(Day);
deserialized!(MailState);
deserialized!(MemberState);
deserialized!(SessionState);
deserialized!(Signature);
deserialized!(Timestamp);

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
    MemberState, "state", "must be applied, approved, claimed, rejected or inactive";
    SessionState, "state", "must be scheduled, collecting, window_closed, aggregated or published";
    MailState, "state", "must be queued, sent, failed, undeliverable or cancelled";
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
