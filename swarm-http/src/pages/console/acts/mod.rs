//! All acts. Each is a row: the form's path, the route of the API, and the body made of what was typed.

mod committee;
mod members;
mod records;
mod sessions;

use super::act::Act;

pub(super) use committee::*;
pub(super) use members::*;
pub(super) use records::*;
pub(super) use sessions::*;

/// All of them.
pub(crate) static ALL: [&Act; 40] = [
    &ACTIVATE_ALL,
    &REJECT_ALL,
    &ACTIVATE,
    &REJECT,
    &DEACTIVATE,
    &RESET_CLAIM,
    &ROTATE_KEY,
    &ERASE,
    &CREATE_SUBJECT,
    &REPLACE_SUBJECT,
    &ADD_SNAPSHOT,
    &PUT_REGIME,
    &PUT_SIGNAL,
    &RETRACT_MEMO,
    &CONVENE,
    &OPEN,
    &CLOSE,
    &AGGREGATE,
    &PUBLISH,
    &MOVE_DEADLINE,
    &CLEAR_DEADLINE,
    &SET_QUORUM,
    &FREEZE_ROSTER,
    &EXCUSE,
    &UNEXCUSE,
    &PUBLISH_BRIEF,
    &WITHDRAW,
    &RETRY_MESSAGE,
    &CANCEL_MESSAGE,
    &ACCEPT_CLOCK,
    &ACCEPT_STORE,
    &ACCEPT_KEY,
    &ADD_COMMITTEE_MEMBER,
    &ROTATE_COMMITTEE_KEY,
    &SET_MEMBER_ACTIVE,
    &SET_MEMBER_INACTIVE,
    &SET_DAY,
    &GENERATE_BRIEFS,
    &SET_SYNTHESIS,
    &WITHDRAW_DAY,
];
