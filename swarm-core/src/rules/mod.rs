//! The rules: pure functions from facts to decisions, without I/O, clocks or `async`.

pub mod committee;

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

pub use aggregate::{Position, aggregate, score};
pub use analysis::{
    Agreement, Counting, Crossing, MemberFigures, Movement, Stage, agreement, counting,
    counting_by_time, dissent, distance_from_others, is_against, member_figures, movement, stage,
    stance_changes,
};
pub use body_shape::shape_fault;
pub use brief::{BriefFacts, compose};
pub use cautions::{
    Caution, ChangedSession, MAX_NAMED, acceptance, erasure, missing, replaced_credential,
    withdrawn_day,
};
pub use challenge::{
    CHALLENGE_MILLIS, CHALLENGE_REUSABLE_MILLIS, ChallengeBucket, ChallengeOffer, ChallengeSlot,
    ProvenChallenge, offer_challenge,
};
pub use erasure::{ERASED, erase, erase_message, is_addressed_to, is_past_retention, memo_erased};
pub use facts::{Basis, MemberBasis, Versioned};
#[cfg(feature = "service")]
pub(crate) use judge::rejection;
pub use judge::{Filing, judge, takes_may_come};
pub use log::{
    Act, brief_published, clock_accepted, key_accepted, logged, memo_published, memo_retracted,
    memo_shown, regime_put, signal_put, snapshot_added, store_accepted, subject_put,
};
pub use mail::{
    Attempt, LEASE_MILLIS, MAX_MAIL_ATTEMPTS, MailText, MessageChange, QueuedMail, Reminder,
    StandardMailText, cancel, is_address, lease, reminder_due, retry, settle,
};
pub use membership::*;
pub use next_step::{NextStep, StepAct, StepBy, next_step, result_by};
pub use own_key::replace_own_key;
pub use policy::{PolicyKind, PolicyRefusal};
pub use preflight::{Preflight, RosterNotice, preflight};
pub use public_take::{PublicTake, is_shown_sealed};
pub use quota::{CountedDocuments, DocumentCount, DocumentQuota, Quota, QuotaReached};
pub use refusal::{ClaimFault, MAX_SESSIONS_NAMED, Refusal, Rejection, Resource};
pub use resolve::{Revised, resolve};
pub use schedule::{
    ScheduledWindow, Steps, next_opening, next_state, next_windows, open_windows, steps, windows_of,
};
pub use scoring::{
    CalibrationBin, Forecast, MIN_SCORED, MemberRecord, RankedMember, Ranking, Right, Score,
    ScoreBook, ScoreFigures, ScoreFilter, SessionScores, counted_outcome, scores,
};
pub use search::{MemoFilter, Needle, TakeFilter};
pub use sessions::{
    Aggregation, Convocation, SessionChange, advance, after_act, amend, check_roster, close_if_due,
    convene, end_window, excuse, freeze_roster, is_due, is_sealed_and_closed, may_move,
    may_move_deadline, record_outcome, void, withdraw, without_early_look,
};
pub use standing::{Standing, standing};
pub use submission::{Draft, Submission};
pub use warnings::{NamedMemo, Warning, warnings};
pub use webhooks::{
    CLOSING_EVENT, DeliveryChange, DeliveryFault, MAX_QUEUED_DELIVERIES, STORE_READY,
    STORE_REFUSED, TEST_EVENT, WEBHOOK_RETENTION_MILLIS, WebhookChange, application_received,
    closing_delivery, entry_delivery, erase_from_delivery, is_past_delivery, lease_delivery,
    mail_undelivered, notice_delivery, outage_delivery, retry_delivery, schedule_skipped,
    settle_delivery, store_answers, store_condition, test_delivery,
};
pub use withholding::{TakeMark, TakeMarks, erase_texts, restore, withhold};
