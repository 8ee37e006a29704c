//! The conformance suite for stores: the records of the service in a backend.
//!
//! Each case tests one requirement, which its name states. [`conformance!`] generates a
//! test for each case. A case opens a new tenant with a name that begins with `conformance-`, so
//! all cases may run concurrently on one server, and nothing has to be deleted. The clock of the
//! store must advance: if a deadline has to pass, the case waits for it. Races are tested with many
//! concurrent tasks.
//!
//! [`conformance!`]: crate::conformance!

#![expect(clippy::unwrap_used, clippy::panic, reason = "a case that fails panics")]
#![expect(missing_docs, reason = "the name of a case states its requirement")]

pub mod committee;

#[macro_use]
mod optional_cases;

mod change_feed;
mod clock;
mod continuity;
mod counts;
mod documents;
mod durability;
mod exact_deadline;
mod held_commits;
mod log;
mod members;
mod operator_acts;
mod outbox;
mod sessions;
mod takes;
mod tenants;
mod transfer;
mod tree;
mod webhooks;

use std::pin::Pin;

/// Generates a test for each case of the [suite](mod@crate::conformance), for the store that
/// `harness` sets up.
///
/// `harness` names an `async fn()` that runs before each case and returns a pair: a guard that is
/// dropped after the case (a server to stop, or `()`), and the store as a [`Store`](swarm_core::Store). The
/// tests need `tokio` with the features `macros` and `rt-multi-thread`.
///
/// ```
/// use swarm_core::Store;
///
/// # async fn connect() -> Store { unimplemented!() }
/// async fn my_store() -> ((), Store) {
///     ((), connect().await)
/// }
///
/// swarm_testing::conformance!(my_store);
/// ```
///
/// For a durable store, a second function adds cases of durability:
/// `swarm_testing::conformance!(my_store, my_store_again)`. It is an `async fn(&Guard)` that closes
/// the store behind the guard (or kills it) and returns it opened again. The case has dropped the
/// store before. For a store whose clock a test can set, there is [`clock_conformance!`](crate::clock_conformance!).
#[macro_export]
macro_rules! conformance {
    ($harness:path) => {
        $crate::conformance_cases! { test $harness }
        $crate::committee_conformance_cases! { test $harness }
        $crate::transfer_cases! { test $harness }
    };
    ($harness:path, $reopen:path) => {
        $crate::conformance! { $harness }
        $crate::durability_cases! { test $harness, $reopen }
    };
}

/// The cases for all stores. Only listed cases are re-exported from the private modules, so the
/// compiler reports a case that is not listed as dead code.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_cases {
    ($then:ident $($harness:path)?) => {
        $crate::conformance_cases! {
            @$then $($harness)?;
            members {
                unknown_member_is_none
                member_round_trips
                odd_member_ids_are_distinct
                members_are_listed_by_state
                member_pages_are_complete
                members_are_found_by_id
                member_is_listed_in_its_latest_state
                member_that_changes_its_state_stays_listed
                member_is_created_once
                member_change_at_another_version_is_stale
                member_change_does_not_create_a_member
                each_save_increments_the_member_version
                bearer_finds_members_in_every_state
                replaced_token_stops_working_at_the_commit
                concurrent_creations_of_a_member_commit_once
                held_key_blocks_other_members
                change_to_a_held_key_is_refused
                members_without_key_do_not_conflict
                key_holder_may_save_again
                released_key_is_free
                reclaimed_key_conflicts_with_its_new_holder
                concurrent_applications_with_one_key_commit_once
                removed_member_is_unknown
                removal_at_another_version_is_stale
                quota_of_members_in_a_state_is_enforced
                concurrent_applications_do_not_exceed_the_quota
                reusable_challenge_is_given_again
                challenge_past_its_reuse_is_replaced
                challenge_buckets_are_independent
                reused_challenge_becomes_live_in_the_requested_slot
                concurrent_requests_get_the_same_challenge
                new_challenge_replaces_the_live_one
                decoy_challenge_is_never_live
                challenge_and_member_versions_are_independent
                only_the_live_challenge_proves_a_change
                forgotten_challenge_proves_nothing_and_is_not_given_again
                challenge_is_valid_up_to_its_expiry
                expired_challenge_is_stale
                concurrent_claims_commit_once
            }
            sessions {
                unknown_session_is_none
                session_ids_count_from_one
                concurrent_sessions_get_consecutive_ids
                convened_at_is_the_time_of_the_store
                session_draft_round_trips
                session_is_convened_once_for_an_occasion
                occasion_names_its_session
                concurrent_convocations_for_an_occasion_commit_once
                saved_session_round_trips
                sessions_are_newest_first_up_to_the_limit
                sessions_are_listed_without_snapshots
                session_list_is_read_in_one_snapshot
                summary_shows_its_session
                summaries_are_found_by_subject
                summaries_after_an_id_are_lowest_first
                summaries_are_read_in_one_snapshot
                session_pages_are_complete
                session_pages_start_before_any_number
                sessions_are_found_by_day_and_subject
                odd_subjects_are_distinct
                sessions_are_found_by_latest_state
                published_sessions_are_latest_first
                sessions_published_at_the_same_time_are_by_id
                session_saved_again_is_listed_as_published_once
                session_change_at_another_version_is_stale
                session_change_does_not_convene_a_session
                session_save_can_guard_the_number_of_takes
                session_save_keeps_counters
                session_save_can_guard_the_time_of_the_last_take
                concurrent_session_saves_commit_once
                aggregation_includes_exactly_the_takes_filed_before_it
                session_is_aggregated_once
                aggregation_ends_while_takes_arrive
                moving_deadline_leaves_no_late_takes
                sealed_take_round_trips
                opening_appends_an_entry_of_each_take_in_order
                stale_opening_appends_nothing
                aggregation_opens_a_blind_session
                racing_takes_are_opened_or_not_sealed
                withdrawn_session_is_found_by_no_read
                session_withdrawn_last_leaves_its_day_empty
                session_with_takes_is_not_withdrawn
                session_is_withdrawn_or_filed_in
            }
            takes {
                basis_of_unknown_token_and_session_has_only_the_time
                basis_has_members_in_every_state
                basis_is_read_in_one_snapshot
                session_and_takes_are_read_in_one_snapshot
                basis_has_the_newest_session_of_the_day
                basis_has_the_session_of_the_requested_day
                basis_distinguishes_odd_subjects
                take_round_trips
                take_ids_count_from_one_and_revisions_are_linked
                unknown_take_is_none
                latest_takes_are_one_per_member
                session_authors_are_listed_once
                latest_take_pages_are_complete
                take_context_has_revisions_and_neighbours
                member_takes_are_the_latest_of_each_session
                member_takes_say_whether_they_were_expected
                filing_does_not_change_member_or_session
                repeated_attempt_gets_the_original_result
                repeated_attempt_after_the_deadline_gets_the_original_result
                filing_is_stale_when_the_member_changed
                filing_is_stale_when_the_session_changed
                filing_is_stale_when_there_is_a_newer_session
                no_take_is_filed_after_a_newer_session
                filing_commits_before_its_deadline
                filing_commits_exactly_at_its_deadline
                filing_is_late_after_its_deadline
                deadline_guard_is_that_of_the_filing
                nonce_is_used_once_per_member
                nonce_stays_used_in_every_member_state
                nonces_of_members_are_independent
                odd_nonces_are_distinct
                revisions_count_per_member_and_session
                revision_is_taken_once
                revision_cannot_be_skipped
                filing_guards_are_checked_in_order
                concurrent_repeats_of_an_attempt_file_once
                concurrent_filings_of_one_revision_commit_once
                concurrent_filings_with_one_nonce_commit_once
                concurrent_members_all_file
                take_time_is_the_time_of_its_commit
                refused_write_does_not_affect_others
                concurrent_submissions_get_consecutive_revisions
                replay_returns_the_original_take
                take_marks_round_trip
                take_marks_count_for_aggregations
                take_marks_at_another_version_are_stale
                erased_texts_are_gone
                take_marks_are_isolated_by_tenant
            }
            documents {
                collections_are_initially_empty
                document_ids_count_from_one_per_collection
                document_without_key_gets_its_id_as_key
                document_replaces_the_one_with_its_key
                document_without_replace_keeps_the_existing_one
                held_document_is_read_without_its_text
                document_guards_the_version_of_its_member
                document_guards_the_version_of_its_session
                document_is_written_with_its_session
                document_guards_hold_until_the_commit
                documents_are_found_by_group
                document_text_round_trips
                odd_document_keys_are_distinct
                document_quota_is_enforced
                document_replacement_ignores_the_quota
                concurrent_documents_do_not_exceed_the_quota
                collection_quota_is_enforced
                document_bytes_are_limited
                concurrent_documents_do_not_exceed_the_bytes
                concurrent_replacements_keep_the_sum_of_bytes
                document_pages_are_complete
                document_pages_are_limited_in_size
                concurrent_writes_of_one_key_create_once
                concurrent_documents_get_consecutive_ids
            }
            outbox {
                mail_is_queued_in_commit_order
                refused_change_queues_no_mail
                saved_message_round_trips
                message_change_at_another_version_is_stale
                messages_are_found_by_latest_state
                messages_are_found_after_any_id
                message_pages_are_complete
                concurrent_leases_of_a_message_commit_once
                reminder_is_queued_once
                reminder_is_guarded_by_its_session_and_by_takes
            }
            webhooks {
                webhook_and_its_deliveries_are_saved_together
                webhook_change_at_another_version_is_stale
                concurrent_webhook_changes_commit_once
                deliveries_are_found_by_due_time_and_newest_first
                saved_delivery_round_trips
                webhook_is_failing_until_a_newer_delivery
                webhook_shows_its_oldest_delivery_that_waits
                notice_is_kept_once
                notice_is_kept_by_the_commit_that_has_it
                old_webhook_records_are_removed
                webhook_and_its_deliveries_are_read_in_one_snapshot
                webhooks_of_a_log_that_went_back_are_kept
                webhooks_are_isolated_by_tenant
            }
            log {
                log_is_initially_empty
                each_commit_with_an_act_appends_a_row
                log_row_has_the_time_of_its_commit
                accepted_key_appends_its_act
                log_is_read_by_pages
                refused_write_appends_no_row
                repeated_attempt_appends_one_row
                concurrent_commits_append_consecutive_rows
                acts_are_found_by_session
                tenants_have_separate_logs
            }
            tree {
                tree_is_initially_absent
                tree_and_its_tiles_round_trip
                grown_tile_replaces_the_stored_one
                tree_change_at_another_version_is_stale
                concurrent_tree_changes_commit_once
                tiles_of_logs_are_independent
                tree_is_isolated_by_tenant
                went_back_log_refuses_commits
                records_beside_a_log_that_went_back_are_kept
            }
            operator_acts {
                operator_acts_are_recorded_with_their_commits
                entries_of_operators_are_recorded_as_acts
                operator_acts_are_found_by_operator_and_time
                operator_acts_of_strangers_are_bounded
                operator_acts_on_webhooks_are_recorded
                operator_acts_are_isolated_by_tenant
            }
            counts {
                records_are_counted_by_latest_state
            }
            tenants {
                store_is_ready
                tenants_share_nothing
                records_are_invisible_to_other_tenants
                tenant_opened_twice_is_the_same
                dry_run_is_judged_and_writes_nothing
                tenant_opened_concurrently_is_the_same
                members_are_isolated_by_tenant
                member_saves_are_isolated_by_tenant
                member_removals_are_isolated_by_tenant
                held_keys_are_isolated_by_tenant
                tokens_are_isolated_by_tenant
                live_challenges_are_isolated_by_tenant
                reusable_challenges_are_isolated_by_tenant
                mail_is_isolated_by_tenant
                sessions_are_isolated_by_tenant
                published_sessions_are_isolated_by_tenant
                session_saves_are_isolated_by_tenant
                take_counts_are_isolated_by_tenant
                aggregations_are_isolated_by_tenant
                basis_is_isolated_by_tenant
                filings_are_isolated_by_tenant
                takes_are_isolated_by_tenant
                documents_are_isolated_by_tenant
                document_writes_are_isolated_by_tenant
                document_sizes_are_isolated_by_tenant
                log_is_isolated_by_tenant
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

    (@list $harness:path; $($part:ident { $($case:ident)* })*) => {
        [$($($crate::conformance::Case {
            name: concat!(stringify!($part), "::", stringify!($case)),
            run: || ::std::boxed::Box::pin(async {
                let (_guard, tenants) = $harness().await;
                $crate::conformance::$case(tenants).await;
            }),
        }),*),*]
    };

    (@publish; $($part:ident { $($case:ident)* })*) => {
        $(pub use $part::{$($case),*};)*
    };
}

/// A case with the store that it runs on, for tests of the suite.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "a future cannot be shown")]
pub struct Case {
    /// The name of its part and its own.
    pub name: &'static str,
    /// Sets up the store, and runs the case.
    pub run: fn() -> Pin<Box<dyn Future<Output = ()>>>,
}

conformance_cases! { publish }
durability_cases! { publish }
clock_cases! { publish }
continuity_cases! { publish }
transfer_cases! { publish }
change_feed_cases! { publish }

pub use held_commits::wait_of_a_commit_counts_towards_its_deadline;
