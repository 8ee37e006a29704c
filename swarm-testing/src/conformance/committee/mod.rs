//! The suite that any implementation of the committee's port runs, beside the one of interface A
//! and by the same rules.

mod clock;
mod days;
mod durability;
mod isolation;
mod log;
mod members;
mod quota;
mod takes;
mod tenants;

/// Makes one test of each case of the [suite](mod@crate::conformance::committee) of the
/// committee, for the store that `harness` sets up.
///
/// As [`conformance!`](crate::conformance!), with the store as an `Arc<dyn CommitteeTenants>`.
///
/// ```
/// # use std::sync::Arc;
/// # use swarm_core::CommitteeTenants;
/// # struct MyStore;
/// # impl MyStore { async fn connect() -> Arc<dyn CommitteeTenants> { unimplemented!() } }
/// async fn my_store() -> ((), Arc<dyn CommitteeTenants>) {
///     ((), MyStore::connect().await)
/// }
///
/// swarm_testing::committee_conformance!(my_store);
/// ```
#[macro_export]
macro_rules! committee_conformance {
    ($harness:path) => {
        $crate::committee_conformance_cases! { test $harness }
    };
    ($harness:path, $reopen:path) => {
        $crate::committee_conformance_cases! { test $harness }

        #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
        async fn a_committee_outlives_the_store() {
            let (guard, tenants) = $harness().await;
            let reopen = async || $reopen(&guard).await;
            $crate::conformance::committee::a_committee_outlives_the_store(tenants, reopen).await;
        }
    };
}

/// Makes one test of each case about a clock that runs back, as
/// [`clock_conformance!`](crate::clock_conformance!) does for interface A.
#[macro_export]
macro_rules! committee_clock_conformance {
    ($harness:path, $set:path) => {
        $crate::committee_clock_cases! { test $harness, $set }
    };
}

/// The one list of cases of the committee of stores whose clock can be set.
#[doc(hidden)]
#[macro_export]
macro_rules! committee_clock_cases {
    ($then:ident $($harness:path, $set:path)?) => {
        $crate::committee_clock_cases! {
            @$then $($harness, $set)?;
            rows_of_the_committee_never_go_back_in_time
            the_committee_commits_nothing_while_the_clock_is_far_behind
        }
    };

    (@test $harness:path, $set:path; $($case:ident)*) => {
        mod committee_clock {
            #[allow(unused_imports, reason = "the harness may be named by its full path")]
            use super::*;

            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $case() {
                    let (guard, tenants) = $harness().await;
                    let set = |now| $set(&guard, now);
                    $crate::conformance::committee::$case(tenants, set).await;
                }
            )*
        }
    };

    (@publish; $($case:ident)*) => {
        pub use clock::{$($case),*};
    };
}

/// The one list of cases of the committee.
#[doc(hidden)]
#[macro_export]
macro_rules! committee_conformance_cases {
    ($then:ident $($harness:path)?) => {
        $crate::committee_conformance_cases! {
            @$then $($harness)?;
            members {
                a_committee_has_no_members_at_first
                every_field_of_a_member_survives
                members_are_listed_by_id
                a_member_is_created_once
                a_member_is_saved_only_at_the_version_it_was_judged_by
                a_replaced_key_is_nobodys
                a_key_finds_its_member_whatever_its_status
                of_racing_creations_of_one_member_one_wins
                of_racing_saves_of_one_member_one_wins
                of_racing_rotations_one_key_lives
            }
            days {
                an_unknown_day_has_nothing
                every_field_of_a_day_survives
                a_day_is_saved_only_at_the_version_it_was_judged_by
                sessions_come_latest_first
                sessions_are_found_by_subject
                the_facts_show_the_latest_session
                a_day_that_loses_its_generation_is_no_session
                the_facts_are_read_in_one_snapshot
                briefs_take_the_place_of_all_briefs_of_their_day
                briefs_stay_when_their_day_is_saved_without
                briefs_of_later_days_stay
                the_text_of_a_brief_survives_byte_for_byte
                of_racing_saves_of_one_day_one_wins
                readers_see_the_briefs_of_one_generation
                racing_generations_come_one_after_the_other
            }
            takes {
                every_field_of_a_take_survives
                takes_stand_in_the_order_of_their_commits
                a_take_changes_neither_its_member_nor_its_day
                the_latest_take_of_each_day_and_subject_counts
                an_attempt_sent_again_gets_its_first_answer
                an_attempt_of_another_member_is_another
                a_filing_is_stale_when_its_member_has
                a_filing_is_stale_when_its_day_has
                a_filing_lands_at_its_very_deadline
                a_filing_is_late_after_its_deadline
                an_attempt_sent_many_times_at_once_is_filed_once
                racing_submissions_are_all_kept
                submissions_that_race_the_deadline_land_before_it
                submissions_that_race_a_rotation_are_kept_or_refused
            }
            quota {
                a_member_submits_no_oftener_than_its_quota
                of_racing_submissions_no_more_than_the_quota_are_kept
            }
            log {
                days_and_takes_leave_a_row_each
                what_the_committee_refuses_leaves_no_row
            }
            tenants {
                committees_share_nothing
                a_committee_opened_twice_is_the_same
            }
            isolation {
                members_are_those_of_their_own_committee
                a_member_is_saved_in_its_own_committee
                days_are_those_of_their_own_committee
                a_day_is_saved_in_its_own_committee
                takes_are_those_of_their_own_committee
            }
        }
    };

    (@test $harness:path; $($part:ident { $($case:ident)* })*) => {
        mod committee {
            #[allow(unused_imports, reason = "the harness may be named by its full path")]
            use super::*;

            $(mod $part {
                #[allow(unused_imports, reason = "the harness may be named by its full path")]
                use super::*;

                $(
                    #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                    async fn $case() {
                        let (_guard, tenants) = $harness().await;
                        $crate::conformance::committee::$case(tenants).await;
                    }
                )*
            })*
        }
    };

    (@names; $($part:ident { $($case:ident)* })*) => {
        [$($(stringify!($case)),*),*]
    };

    (@publish; $($part:ident { $($case:ident)* })*) => {
        $(pub use $part::{$($case),*};)*
    };
}

committee_conformance_cases! { publish }
committee_clock_cases! { publish }
pub use durability::a_committee_outlives_the_store;
