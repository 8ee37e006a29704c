//! The conformance suite for implementations of the [port of storage backends](swarm_core::store::backend).
//!
//! Each case tests one requirement, which its name states, on tables of its own: a backend under test is opened with [`TABLES`].
//! [`backend_conformance!`] generates a test for each case. A case uses new tenants with names that begin with `backend-`, so all
//! cases may run concurrently on one server, and nothing has to be deleted.
//!
//! [`backend_conformance!`]: crate::backend_conformance!

#![expect(clippy::unwrap_used, reason = "a case that fails panics")]
#![expect(missing_docs, reason = "the name of a case states its requirement")]

mod checks;
mod clock;
mod consistency;
mod durability;
mod feed;
mod log;
mod queries;
mod tables;
mod tenant;
mod tenants;
mod transfer;
mod values;
mod writes;

/// Generates a test for each case of the [suite](mod@crate::backend), for the backend that `harness` sets up.
///
/// `harness` names an `async fn()` that runs before each case and returns a pair: a guard that is dropped after the case (a server
/// to stop, or `()`), and the backend as an `Arc<dyn Backend>`. The tests need `tokio` with the features `macros` and
/// `rt-multi-thread`.
///
/// ```
/// # use std::sync::Arc;
/// # use swarm_core::store::backend::{Backend, Table};
/// # struct MyBackend;
/// # impl MyBackend { async fn connect(_: &[&Table]) -> Arc<dyn Backend> { unimplemented!() } }
/// async fn my_backend() -> ((), Arc<dyn Backend>) {
///     ((), MyBackend::connect(swarm_testing::backend::TABLES).await)
/// }
///
/// swarm_testing::backend_conformance!(my_backend);
/// ```
///
/// Further arguments add further cases:
///
/// - `durability my_backend, my_backend_again`: an `async fn(&Guard)` that closes the backend behind the guard (or kills it) and returns
///   it opened again. The case has dropped the backend before.
/// - `clock my_backend, set`: a `fn(&Guard, Timestamp)` that sets the clock of the backend behind the guard.
/// - `feed my_processes`: in place of a backend, the harness returns a `Vec` of them, as several processes have it open. They may share
///   what the database allows once in a process, but nothing that the backend keeps in memory.
#[macro_export]
macro_rules! backend_conformance {
    ($harness:path) => {
        $crate::backend_conformance! { every $harness }
    };
    ($group:ident $harness:path $(, $act:path)?) => {
        $crate::backend_cases! { $group test ($harness $(, $act)?) }
    };
}

/// The cases. Only listed cases are re-exported from the private modules, so the compiler reports a case that is not listed as
/// dead code.
#[doc(hidden)]
#[macro_export]
macro_rules! backend_cases {
    (every $then:ident $how:tt) => {
        $crate::backend_cases! {
            @$then $how
            queries {
                record_is_found_by_its_key
                records_are_in_the_order_of_their_key
                records_are_in_the_order_of_an_index
                prefix_selects_records_with_its_values
                bounds_of_a_range_are_exclusive
                range_may_leave_out_records_without_a_value
                range_has_at_most_its_limit
                range_is_limited_in_bytes
                parts_are_read_as_named
                part_is_veiled_until_another_record_says_otherwise
                records_are_joined_with_those_they_name
                records_are_counted_up_to_a_limit
                query_uses_values_found_before
                answers_have_the_order_of_their_queries
            }
            values {
                record_round_trips
                texts_have_any_character
                texts_are_ordered_by_their_bytes
                bytes_are_ordered_as_such
                integers_have_64_bits
                times_may_be_before_1970
                record_with_a_null_is_not_in_the_index
                long_texts_round_trip
                long_keys_are_distinct
            }
            checks {
                version_is_checked
                commit_is_made_up_to_its_deadline
                first_record_of_a_range_is_checked
                highest_value_of_a_range_is_checked
                absence_of_records_is_checked
                number_of_records_is_checked
                sum_is_checked_before_the_changes
                first_unmet_check_is_reported
                nothing_is_written_unless_all_checks_are_met
            }
            writes {
                each_put_replaces_the_record_and_counts_its_version
                set_column_keeps_version_and_parts
                changed_record_moves_in_its_indexes
                index_shows_the_current_record
                removed_record_is_found_by_no_query
                sum_is_never_below_zero
                sequences_count_from_one
                placeholders_get_what_the_commit_assigns
                writes_are_made_in_their_order
            }
            log {
                log_is_initially_empty
                entries_have_consecutive_numbers_from_one
                entry_has_the_identity_and_the_time_of_its_commit
                entries_are_read_by_pages
                entry_shows_the_record_it_refers_to
                each_record_of_a_range_gets_an_entry
                repetition_is_recognized_by_its_identity
                commit_goes_on_from_an_earlier_position
                commit_from_an_unknown_position_is_refused
                accepted_log_has_a_higher_number
                position_of_an_earlier_log_is_contended
            }
            consistency {
                read_shows_whole_commits
                dropped_commit_is_whole_or_not_made
                one_of_concurrent_commits_at_a_version_is_made
                one_of_concurrent_records_with_a_unique_value_is_inserted
                concurrent_commits_take_consecutive_numbers
                concurrent_commits_append_consecutive_entries
            }
            tenants {
                backend_is_ready
                records_are_isolated_by_tenant
                checks_are_isolated_by_tenant
                sequences_are_isolated_by_tenant
                logs_are_isolated_by_tenant
                used_tenants_are_listed_by_id
            }
            transfer {
                snapshot_shows_no_later_commit
                loaded_records_are_readable_after_the_commit
                loaded_log_and_sequences_are_continued
                discarded_load_leaves_nothing
                used_tenant_is_not_loaded
                transient_records_are_kept_by_a_load
                removed_tenant_has_nothing_left
            }
        }
    };

    (durability $then:ident $how:tt) => {
        $crate::backend_cases! {
            @$then $how
            durability {
                records_survive_reopening
                log_and_sequences_survive_reopening
                repetition_is_recognized_after_reopening
                loaded_records_survive_reopening
            }
        }
    };

    (clock $then:ident $how:tt) => {
        $crate::backend_cases! {
            @$then $how
            clock {
                time_is_that_of_the_log_while_the_clock_is_behind
                commit_is_refused_while_the_clock_is_far_behind
                repetition_is_recognized_while_the_clock_is_far_behind
                accepted_clock_may_be_far_behind
                log_is_accepted_while_the_clock_is_far_behind
            }
        }
    };

    (feed $then:ident $how:tt) => {
        $crate::backend_cases! {
            @$then $how
            feed {
                each_commit_is_announced_to_other_processes
                own_commit_hides_none_of_another_process
                commit_aside_is_not_announced
                feed_has_the_time_of_the_clock
            }
        }
    };

    (@test $how:tt $($part:ident { $($case:ident)* })*) => {$(
        mod $part {
            #[allow(unused_imports, reason = "the harness may be named by its full path")]
            use super::*;

            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $case() {
                    $crate::backend_cases! { @call $case $how }
                }
            )*
        }
    )*};

    (@call $case:ident ($harness:path)) => {
        let (_guard, backend) = $harness().await;
        $crate::backend::$case(backend).await;
    };

    (@call $case:ident ($harness:path, $act:path)) => {
        let (guard, backend) = $harness().await;
        $crate::backend::$case(backend, &guard, $act).await;
    };

    (@names $how:tt $($part:ident { $($case:ident)* })*) => {
        [$($(stringify!($case)),*),*]
    };

    (@publish $how:tt $($part:ident { $($case:ident)* })*) => {
        $(pub use $part::{$($case),*};)*
    };
}

backend_cases! { every publish () }
backend_cases! { durability publish () }
backend_cases! { clock publish () }
backend_cases! { feed publish () }

pub use consistency::wait_of_a_commit_counts_towards_its_deadline;
pub use tables::TABLES;
