//! Names, read back: what `Display` writes, `FromStr` reads.

use std::str::FromStr;

use super::committee::{CommitteeStance, CommitteeStatus};
use super::{Invalid, MailState, MemberState, SessionState};

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
