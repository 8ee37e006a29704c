//! The rules: pure functions from facts to decisions, without I/O, clocks or `async`.
//!
//! The service applies them. The documented items are those that front ends use too.
#![cfg_attr(
    not(feature = "service"),
    allow(dead_code, unused_imports, reason = "the service uses what a verifier does not")
)]

#[cfg(feature = "committee")]
pub mod committee;

mod admitted;
mod aggregate;
mod analysis;
mod body_shape;
mod brief;
mod cautions;
mod challenge;
mod erasure;
mod facts;
mod judge;
mod log;
mod mail;
mod membership;
mod next_step;
mod own_key;
mod policy;
mod preflight;
mod public_take;
mod quota;
mod refusal;
mod resolve;
mod schedule;
mod scoring;
mod search;
mod sessions;
mod standing;
mod submission;
mod take_schema;
mod warnings;
mod webhooks;
mod withholding;

pub use admitted::{SessionStep, SteppedSession};
pub use aggregate::{RankedPosition, aggregate, score};
pub use analysis::{
    Agreement, Counting, Crossing, MemberFigures, Movement, Stage, agreement, counting, dissent,
    member_figures, movement, own_distance_from_others, stage, stance_changes,
};
pub use body_shape::shape_fault;
pub use brief::BriefFacts;
pub use cautions::{
    Caution, CautionCode, ChangedSession, acceptance, erasure, filed, missing, replaced_credential,
};
pub use challenge::{
    CHALLENGE_MILLIS, ChallengeBucket, ChallengeOffer, ChallengeSlot, ProvenChallenge,
};
pub use facts::{Basis, MemberBasis, Versioned};
pub use judge::{Filing, judge};
pub use log::Act;
pub use mail::{Attempt, MailText, MessageChange, QueuedMail, Reminder, StandardMailText, address};
pub use membership::{MemberChange, MemberRemoval};
pub use next_step::{NextStep, StepAct, StepBy};
pub use policy::{PolicyKind, PolicyRefusal};
pub use preflight::{Preflight, RosterNotice};
pub use public_take::PublicTake;
pub use quota::{CountedDocuments, DocumentCount, DocumentQuota, Quota, QuotaReached};
pub use refusal::{ClaimFault, Refusal, Rejection, Resource};
pub use resolve::{Revised, resolve};
pub use schedule::{ScheduledWindow, Steps, next_windows};
pub use scoring::{
    CalibrationBin, Forecast, MIN_SCORED, MemberRecord, RankedMember, Ranking, Right, Score,
    ScoreBook, ScoreFigures, ScoreFilter, SessionScores, counted_outcome, scores,
};
pub use search::{MemoFilter, Needle, TakeFilter, read_the_same};
pub use sessions::{Aggregation, Convocation, SessionChange};
pub use standing::Standing;
pub use submission::{Draft, Submission};
pub use warnings::{NamedMemo, Warning};
pub use webhooks::{
    CLOSING_EVENT, DeliveryChange, DeliveryFault, STORE_READY, STORE_REFUSED,
    WEBHOOK_RETENTION_MILLIS, WebhookChange,
};
pub use withholding::{TakeMark, TakeMarks};

// Public only for the tests of this crate and of stores; no part of the API.
#[doc(hidden)]
pub use self::{
    brief::compose,
    challenge::offer_challenge,
    erasure::{erase, erase_message, is_message_to, is_past_retention},
    log::{
        brief_published, clock_accepted, logged, memo_published, memo_retracted, snapshot_added,
        store_accepted, subject_put,
    },
    mail::{LEASE_MILLIS, MAX_MAIL_ATTEMPTS, cancel, lease, retry, settle},
    membership::{
        activate, admit, claim, deactivate, may_be_read, reject, reject_competing_application,
        reset_claim, rotate,
    },
    preflight::preflight,
    sessions::{
        advance, after_act, amend, check_roster, close_if_due, convene, end_window, excuse,
        freeze_roster, is_due, may_practise, may_reopen, record_outcome, reopens, void, withdraw,
    },
    standing::standing,
    withholding::{erase_texts, restore, withhold},
};

pub(crate) use self::{
    analysis::{counting_by_time, distance_from_others, is_against},
    cautions::MAX_NAMED,
    erasure::{ERASED, memo_erased},
    judge::takes_may_come,
    log::{key_accepted, memo_shown, regime_put, signal_put},
    mail::reminder_due,
    membership::{enrol, expire, has_expired, update},
    next_step::{next_step, result_by},
    own_key::replace_own_key,
    public_take::is_shown_sealed,
    refusal::MAX_SESSIONS_NAMED,
    schedule::{next_opening, next_state, open_windows, steps, windows_of},
    sessions::{is_sealed_and_closed, may_move, may_move_deadline, without_early_look},
    warnings::warnings,
    webhooks::{
        MAX_QUEUED_DELIVERIES, application_received, closing_delivery, entry_delivery,
        erase_from_delivery, is_past_delivery, lease_delivery, mail_undelivered, notice_delivery,
        outage_delivery, retry_delivery, schedule_skipped, settle_delivery, store_answers,
        store_condition, test_delivery,
    },
};
#[cfg(feature = "service")]
pub(crate) use judge::rejection;
