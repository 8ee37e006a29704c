//! The suite that any implementation of the storage port runs.
//!
//! Each case tests one promise of the port, the one in its name; [`conformance!`] turns the list of all cases into one
//! test each. A case opens a tenant that nobody has used, its name beginning with `conformance-`, so that nothing has to
//! be deleted, and all cases may run at once against one server. It requires nothing of the store's clock but that it
//! advances: where a deadline has to pass, the case waits for it. Where one of many must win, many compete concurrently.
//!
//! [`conformance!`]: crate::conformance!

#![expect(clippy::unwrap_used, clippy::panic, reason = "a case that fails panics")]
#![expect(missing_docs, reason = "a case says in its name what it holds the store to")]

pub mod committee;

mod clock;
mod continuity;
mod counts;
mod documents;
mod durability;
mod exact_deadline;
mod log;
mod members;
mod outbox;
mod sessions;
mod takes;
mod tenants;

/// Makes one test of each case of the [suite](mod@crate::conformance), for the store that
/// `harness` sets up.
///
/// `harness` names an `async fn()` that runs before each case and returns a pair: a guard, dropped after
/// it (a server to stop, or `()`), and the store as an `Arc<dyn Tenants>`. The tests need `tokio` with
/// the features `macros` and `rt-multi-thread`.
///
/// ```
/// # use std::sync::Arc;
/// # use swarm_core::Tenants;
/// # struct MyStore;
/// # impl MyStore { async fn connect() -> Arc<dyn Tenants> { unimplemented!() } }
/// async fn my_store() -> ((), Arc<dyn Tenants>) {
///     ((), MyStore::connect().await)
/// }
///
/// swarm_testing::conformance!(my_store);
/// ```
///
/// A store that outlives its process says so with a second function, `async fn(&Guard)`, which
/// closes the store behind the guard as hard as it likes and returns it opened again; then there
/// are cases of durability, too: `swarm_testing::conformance!(my_store, my_store_again)`. For a store
/// whose clock a test can set there is [`clock_conformance!`](crate::clock_conformance!).
#[macro_export]
macro_rules! conformance {
    ($harness:path) => {
        $crate::conformance_cases! { test $harness }
    };
    ($harness:path, $reopen:path) => {
        $crate::conformance_cases! { test $harness }
        $crate::durability_cases! { test $harness, $reopen }
    };
}

/// Makes one test of each case about a clock that runs back, for a store whose clock can be set:
/// `harness` as for [`conformance!`](crate::conformance!), and a second function,
/// `fn(&Guard, Timestamp)`, that sets the clock of the store behind the guard.
#[macro_export]
macro_rules! clock_conformance {
    ($harness:path, $set:path) => {
        $crate::clock_cases! { test $harness, $set }
    };
}

/// Makes one test of each case about a store that went back: `harness` as for
/// [`conformance!`](crate::conformance!), and three functions, each an `async fn(&Guard)`, of the
/// store behind the guard: `back_up` keeps a copy of all that it holds, `restore` puts that copy in
/// its place, while it stays open, and `again` opens it as another process would, which has seen
/// nothing of it.
#[macro_export]
macro_rules! continuity_conformance {
    ($harness:path, $back_up:path, $restore:path, $again:path) => {
        $crate::continuity_cases! { test $harness, $back_up, $restore, $again }
    };
}

/// The one list of cases of stores that can go back.
#[doc(hidden)]
#[macro_export]
macro_rules! continuity_cases {
    ($then:ident $($harness:path, $back_up:path, $restore:path, $again:path)?) => {
        $crate::continuity_cases! {
            @$then $($harness, $back_up, $restore, $again)?;
            a_store_that_lost_rows_takes_no_commits
            a_store_that_was_wiped_takes_no_commits
            a_store_with_other_rows_takes_no_commits
            a_store_that_is_accepted_takes_commits_again
        }
    };

    (@test $harness:path, $back_up:path, $restore:path, $again:path; $($case:ident)*) => {
        mod continuity {
            #[allow(unused_imports, reason = "the harness may be named by its full path")]
            use super::*;

            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $case() {
                    let (guard, tenants) = $harness().await;
                    let back_up = async || $back_up(&guard).await;
                    let restore = async || $restore(&guard).await;
                    let again = async || $again(&guard).await;
                    $crate::conformance::$case(tenants, back_up, restore, again).await;
                }
            )*
        }
    };

    (@publish; $($case:ident)*) => {
        pub use continuity::{$($case),*};
    };
}

/// The one list of cases of stores whose clock can be set.
#[doc(hidden)]
#[macro_export]
macro_rules! clock_cases {
    ($then:ident $($harness:path, $set:path)?) => {
        $crate::clock_cases! {
            @$then $($harness, $set)?;
            time_stands_still_while_the_clock_is_behind
            nothing_is_committed_while_the_clock_is_far_behind
            a_clock_that_is_accepted_counts_again
            no_deadline_moves_before_a_take_of_a_clock_that_was_wrong
            a_deadline_that_has_passed_stays_passed
        }
    };

    (@test $harness:path, $set:path; $($case:ident)*) => {
        mod clock {
            #[allow(unused_imports, reason = "the harness may be named by its full path")]
            use super::*;

            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $case() {
                    let (guard, tenants) = $harness().await;
                    $crate::conformance::$case(tenants, |now| $set(&guard, now)).await;
                }
            )*
        }
    };

    (@names; $($case:ident)*) => {
        [$(stringify!($case)),*]
    };

    (@publish; $($case:ident)*) => {
        pub use clock::{$($case),*};
    };
}

/// The one list of cases of stores that can be opened again.
#[doc(hidden)]
#[macro_export]
macro_rules! durability_cases {
    ($then:ident $($harness:path, $reopen:path)?) => {
        $crate::durability_cases! {
            @$then $($harness, $reopen)?;
            records_outlive_the_store
            guards_outlive_the_store
        }
    };

    (@test $harness:path, $reopen:path; $($case:ident)*) => {
        mod durability {
            #[allow(unused_imports, reason = "the harness may be named by its full path")]
            use super::*;

            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $case() {
                    let (guard, tenants) = $harness().await;
                    $crate::conformance::$case(tenants, async || $reopen(&guard).await).await;
                }
            )*
        }
    };

    (@names; $($case:ident)*) => {
        [$(stringify!($case)),*]
    };

    (@publish; $($case:ident)*) => {
        pub use durability::{$($case),*};
    };
}

/// The one list of cases. A case that is not in it is dead code, and the compiler says so: the
/// modules of this one are private, and only what is listed is made public.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_cases {
    ($then:ident $($harness:path)?) => {
        $crate::conformance_cases! {
            @$then $($harness)?;
            members {
                an_unknown_member_has_no_facts
                every_field_of_a_member_survives
                members_with_odd_ids_are_not_confused
                members_are_listed_by_their_state
                pages_cover_every_member_once
                a_member_is_listed_in_the_state_of_its_last_commit
                a_member_is_created_once
                a_change_holds_only_for_the_version_it_was_judged_by
                a_change_never_creates_a_member
                each_save_raises_the_version_of_its_member_by_one
                a_token_finds_its_member_whatever_its_state
                a_token_dies_with_the_commit_that_replaces_it
                of_racing_creations_of_one_member_one_wins
                a_held_key_keeps_other_members_out
                a_held_key_cannot_be_changed_to
                a_member_that_holds_no_key_meets_nobody
                the_holder_of_a_key_may_save_again
                a_key_is_free_once_its_holder_lets_go
                who_comes_back_for_a_key_meets_its_new_holder
                of_racing_applications_with_one_key_one_wins
                a_state_takes_in_no_more_than_its_quota
                of_racing_applications_no_more_than_the_quota_come_in
                a_reusable_challenge_is_given_again
                a_challenge_that_is_no_longer_reusable_is_replaced
                each_bucket_has_a_challenge_of_its_own
                a_challenge_is_live_where_it_was_given_last
                who_ask_at_once_are_given_the_same
                a_challenge_replaces_the_one_before
                a_decoy_is_nobodys_challenge
                a_challenge_and_its_member_leave_each_other_alone
                only_the_live_challenge_proves_a_change
                a_challenge_proves_up_to_its_expiry
                an_expired_challenge_proves_nothing
                of_racing_claims_one_wins
            }
            sessions {
                an_unknown_session_is_none
                sessions_count_from_one_as_they_convene
                racing_sessions_leave_no_gap
                a_session_is_convened_by_the_stores_clock
                every_field_of_a_draft_survives
                every_field_of_a_session_survives_a_save
                sessions_come_newest_first_up_to_the_limit
                pages_cover_every_session_once
                before_names_any_number
                sessions_are_found_by_day_and_subject
                odd_subjects_are_not_confused
                sessions_are_found_by_the_state_they_are_in
                sessions_are_found_by_when_they_were_published
                of_sessions_published_at_once_the_newest_come_first
                a_session_that_is_saved_again_is_published_once
                a_session_is_saved_only_at_the_version_it_was_judged_by
                a_save_never_convenes_a_session
                a_save_may_hold_to_the_number_of_takes
                a_save_leaves_alone_what_is_counted
                a_save_may_hold_to_when_the_last_take_was_filed
                of_racing_saves_of_one_version_one_wins
                an_aggregation_and_racing_takes_agree
                a_moving_deadline_and_racing_takes_agree
            }
            takes {
                the_facts_about_strangers_are_the_time_alone
                the_facts_show_a_member_whatever_its_state
                the_facts_are_read_in_one_snapshot
                the_facts_are_those_of_the_newest_session_of_the_day
                the_facts_are_those_of_the_day_asked_for
                odd_subjects_have_facts_of_their_own
                every_field_of_a_take_survives
                takes_count_from_one_and_revisions_follow_each_other
                an_unknown_take_is_none
                the_latest_takes_are_one_of_each_member
                pages_cover_every_latest_take_once
                a_take_changes_neither_its_member_nor_its_session
                an_attempt_sent_again_gets_its_first_answer
                an_attempt_sent_again_late_gets_its_first_answer
                a_filing_is_stale_when_its_member_has
                a_filing_is_stale_when_its_session_has
                a_filing_is_stale_when_there_is_a_newer_session
                a_newer_session_and_racing_takes_agree
                a_filing_lands_up_to_its_deadline
                a_filing_lands_at_its_very_deadline
                a_filing_is_late_after_its_deadline
                the_deadline_is_that_of_the_filing
                a_member_spends_a_nonce_once
                a_nonce_stays_spent_whatever_becomes_of_its_member
                nobody_spends_the_nonce_of_another_member
                odd_nonces_are_not_confused
                revisions_are_counted_for_each_member_in_each_session
                a_revision_is_taken_once
                a_revision_does_not_come_before_its_turn
                guards_are_checked_in_their_order
                an_attempt_sent_many_times_at_once_is_filed_once
                of_racing_filings_of_one_revision_one_wins
                of_racing_filings_with_one_nonce_one_wins
                racing_members_do_not_disturb_each_other
                a_take_is_stamped_at_its_commit
                a_write_that_is_refused_takes_no_other_with_it
                racing_submissions_leave_no_gap
                who_submits_again_is_told_of_the_take_on_file
            }
            documents {
                collections_are_empty_at_first
                documents_count_from_one_in_each_collection
                a_document_without_a_key_gets_its_id_for_one
                a_document_replaces_the_one_with_its_key
                a_document_that_may_not_replace_leaves_the_other
                a_document_holds_for_the_version_of_its_member
                a_document_holds_for_the_version_of_its_session
                documents_are_found_by_their_group
                the_text_of_a_document_survives_byte_for_byte
                documents_with_odd_keys_are_not_confused
                a_group_takes_in_no_more_than_its_quota
                a_replacement_needs_no_room
                of_racing_documents_no_more_than_the_quota_come_in
                of_racing_writes_of_one_key_one_creates
                racing_documents_leave_no_gap
            }
            outbox {
                mail_is_queued_in_the_order_of_commits
                mail_is_not_queued_without_its_commit
                every_field_of_a_message_survives_a_save
                a_message_is_saved_only_at_the_version_it_was_judged_by
                messages_are_found_by_the_state_they_are_in
                messages_are_found_from_any_of_them_on
                pages_cover_every_message_once
                of_racing_leases_of_one_message_one_wins
            }
            log {
                a_log_is_empty_at_first
                each_commit_that_carries_an_act_leaves_a_row
                a_row_has_the_time_of_its_commit
                the_log_is_read_by_pages
                what_is_refused_leaves_no_row
                an_attempt_sent_again_leaves_one_row
                racing_commits_leave_rows_without_a_gap
                acts_are_found_by_their_session
                logs_of_tenants_are_apart
            }
            counts {
                records_are_counted_in_the_state_of_their_last_commit
            }
            tenants {
                the_store_gives_a_sign_of_life
                worlds_share_nothing
                nothing_is_seen_from_another_world
                a_world_opened_twice_is_the_same
                a_world_opened_by_racers_is_one
                members_are_those_of_their_own_world
                a_member_is_saved_in_its_own_world
                a_key_is_held_in_its_own_world
                a_token_dies_in_its_own_world
                a_challenge_is_live_in_its_own_world
                a_reusable_challenge_is_that_of_its_own_world
                mail_is_that_of_its_own_world
                sessions_are_those_of_their_own_world
                publications_are_those_of_their_own_world
                a_session_is_saved_in_its_own_world
                takes_are_counted_in_their_own_world
                the_facts_are_those_of_their_own_world
                a_take_lands_in_its_own_world
                takes_are_those_of_their_own_world
                documents_are_those_of_their_own_world
                a_document_is_put_into_its_own_world
                the_log_is_that_of_its_own_world
            }
        }
    };

    (@test $harness:path; $($part:ident { $($case:ident)* })*) => {$(
        mod $part {
            #[allow(unused_imports, reason = "the harness may be named by its full path")]
            use super::*;

            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $case() {
                    let (_guard, tenants) = $harness().await;
                    $crate::conformance::$case(tenants).await;
                }
            )*
        }
    )*};

    (@names; $($part:ident { $($case:ident)* })*) => {
        [$($(stringify!($case)),*),*]
    };

    (@publish; $($part:ident { $($case:ident)* })*) => {
        $(pub use $part::{$($case),*};)*
    };
}

conformance_cases! { publish }
durability_cases! { publish }
clock_cases! { publish }
continuity_cases! { publish }
