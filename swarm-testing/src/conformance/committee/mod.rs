//! The cases of the committee.

mod clock;
mod days;
mod durability;
mod log;
mod members;
mod takes;
mod tenants;

/// The cases of the committee for stores whose clock can be set.
#[doc(hidden)]
#[macro_export]
macro_rules! committee_clock_cases {
    ($then:ident $($harness:path, $set:path)?) => {
        $crate::committee_clock_cases! {
            @$then $($harness, $set)?;
            committee_rows_never_decrease_in_time
            committee_refuses_commits_while_the_clock_is_far_behind
            committee_deadline_is_exact_to_the_millisecond
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

    (@list $harness:path, $set:path; $($case:ident)*) => {
        [$($crate::conformance::Case {
            name: concat!("committee::clock::", stringify!($case)),
            run: || ::std::boxed::Box::pin(async {
                let (guard, tenants) = $harness().await;
                $crate::conformance::committee::$case(tenants, |now| $set(&guard, now)).await;
            }),
        }),*]
    };

    (@publish; $($case:ident)*) => {
        pub use clock::{$($case),*};
    };
}

/// The cases of the committee for all stores.
#[doc(hidden)]
#[macro_export]
macro_rules! committee_conformance_cases {
    ($then:ident $($harness:path)?) => {
        $crate::committee_conformance_cases! {
            @$then $($harness)?;
            members {
                committee_is_initially_empty
                member_round_trips
                members_are_listed_by_id
                member_is_created_once
                member_change_at_another_version_is_stale
                replaced_key_stops_working
                key_finds_members_of_every_status
                concurrent_creations_of_a_member_commit_once
                concurrent_member_saves_commit_once
                concurrent_rotations_leave_one_key
            }
            days {
                unknown_day_is_none
                day_round_trips
                day_change_at_another_version_is_stale
                sessions_are_latest_first
                sessions_are_found_by_subject
                basis_has_the_latest_session
                withdrawn_day_is_not_a_session
                basis_is_read_in_one_snapshot
                saved_briefs_replace_all_briefs_of_the_day
                day_saved_without_briefs_keeps_them
                saved_briefs_keep_those_of_later_days
                brief_text_round_trips
                concurrent_day_saves_commit_once
                readers_see_briefs_of_one_generation
                concurrent_generations_are_serialized
            }
            takes {
                take_round_trips
                takes_are_in_commit_order
                filing_does_not_change_member_or_day
                latest_takes_are_one_per_day_and_subject
                repeated_attempt_gets_the_original_result
                same_attempt_id_of_another_member_is_filed
                filing_is_stale_when_the_member_changed
                filing_is_stale_when_the_day_changed
                filing_commits_exactly_at_its_deadline
                filing_is_late_after_its_deadline
                concurrent_repeats_of_an_attempt_file_once
                concurrent_submissions_are_all_filed
                submissions_around_the_deadline_are_not_late
                submissions_during_key_rotation_are_filed_or_refused
                submission_quota_is_enforced
                concurrent_submissions_do_not_exceed_the_quota
            }
            log {
                days_and_takes_append_a_row_each
                refused_committee_write_appends_no_row
                committee_refuses_commits_once_its_log_went_back
            }
            tenants {
                committees_of_tenants_share_nothing
                committee_opened_twice_is_the_same
                committee_members_are_isolated_by_tenant
                committee_member_saves_are_isolated_by_tenant
                days_are_isolated_by_tenant
                day_saves_are_isolated_by_tenant
                committee_takes_are_isolated_by_tenant
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

    (@list $harness:path; $($part:ident { $($case:ident)* })*) => {
        [$($($crate::conformance::Case {
            name: concat!("committee::", stringify!($part), "::", stringify!($case)),
            run: || ::std::boxed::Box::pin(async {
                let (_guard, tenants) = $harness().await;
                $crate::conformance::committee::$case(tenants).await;
            }),
        }),*),*]
    };

    (@publish; $($part:ident { $($case:ident)* })*) => {
        $(pub use $part::{$($case),*};)*
    };
}

committee_conformance_cases! { publish }
committee_clock_cases! { publish }
pub use durability::committee_survives_reopening;
