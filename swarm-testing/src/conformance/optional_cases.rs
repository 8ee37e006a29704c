//! The cases for stores that can be reopened, that can lose data, whose clock can be set, or that have a change feed.

/// Generates a test for each case with a clock that runs back, for a store whose clock can be set.
/// `harness` is as in [`conformance!`](crate::conformance!). The second function, a
/// `fn(&Guard, Timestamp)`, sets the clock of the store behind the guard.
#[macro_export]
macro_rules! clock_conformance {
    ($harness:path, $set:path) => {
        $crate::clock_cases! { test $harness, $set }
        $crate::committee_clock_cases! { test $harness, $set }
    };
}

/// Generates a test for each case with a store that lost data. `harness` is as in
/// [`conformance!`](crate::conformance!). Three functions, each an `async fn(&Guard)`, act on the
/// store behind the guard: `back_up` copies all its data, `restore` replaces the data by that copy
/// while the store stays open, and `again` opens the store like another process, which has seen
/// none of its log.
#[macro_export]
macro_rules! continuity_conformance {
    ($harness:path, $back_up:path, $restore:path, $again:path) => {
        $crate::continuity_cases! { test $harness, $back_up, $restore, $again }
    };
}

/// Generates a test for each case of change feeds. `harness` is as in [`conformance!`](crate::conformance!), but returns
/// a `Vec` of the store as several processes have it open. They may share what the database allows once in a process, but nothing
/// that the backend keeps in memory.
#[macro_export]
macro_rules! change_feed_conformance {
    ($harness:path) => {
        $crate::change_feed_cases! { test $harness }
    };
}

/// The cases of change feeds.
#[doc(hidden)]
#[macro_export]
macro_rules! change_feed_cases {
    ($then:ident $($harness:path)?) => {
        $crate::conformance_cases! {
            @$then $($harness)?;
            change_feed {
                each_commit_is_announced_to_every_process
                concurrent_commits_of_tenants_are_all_announced
                feed_has_the_time_of_the_store
            }
        }
    };
}

/// The cases of dump and restore.
#[doc(hidden)]
#[macro_export]
macro_rules! transfer_cases {
    ($then:ident $($harness:path)?) => {
        $crate::transfer_cases! {
            @$then $($harness)?;
            unused_tenant_has_only_a_head
            used_tenants_are_listed_by_id
            restored_tenant_dumps_the_same
            restored_tenant_reads_the_same
            restored_tenant_keeps_its_guards
            restored_tenant_continues_its_ids
            restored_committee_keeps_its_quotas
            dump_shows_one_moment
            tenant_with_records_is_not_restored_into
            tenant_used_meanwhile_is_not_restored_into
            restore_without_commit_leaves_nothing
            tenants_restored_together_are_separate
        }
    };

    (@test $harness:path; $($case:ident)*) => {
        mod transfer {
            #[allow(unused_imports, reason = "the harness may be named by its full path")]
            use super::*;

            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $case() {
                    let (_guard, store) = $harness().await;
                    $crate::conformance::$case(store).await;
                }
            )*
        }
    };

    (@list $harness:path; $($case:ident)*) => {
        [$($crate::conformance::Case {
            name: concat!("transfer::", stringify!($case)),
            run: || ::std::boxed::Box::pin(async {
                let (_guard, store) = $harness().await;
                $crate::conformance::$case(store).await;
            }),
        }),*]
    };

    (@publish; $($case:ident)*) => {
        pub use transfer::{$($case),*};
    };
}

/// The cases for stores that can lose data.
#[doc(hidden)]
#[macro_export]
macro_rules! continuity_cases {
    ($then:ident $($harness:path, $back_up:path, $restore:path, $again:path)?) => {
        $crate::continuity_cases! {
            @$then $($harness, $back_up, $restore, $again)?;
            store_with_lost_rows_refuses_commits
            wiped_store_refuses_commits
            store_with_other_rows_refuses_commits
            accepted_store_commits_again
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

    (@list $harness:path, $back_up:path, $restore:path, $again:path; $($case:ident)*) => {
        [$($crate::conformance::Case {
            name: concat!("continuity::", stringify!($case)),
            run: || ::std::boxed::Box::pin(async {
                let (guard, tenants) = $harness().await;
                let back_up = async || $back_up(&guard).await;
                let restore = async || $restore(&guard).await;
                let again = async || $again(&guard).await;
                $crate::conformance::$case(tenants, back_up, restore, again).await;
            }),
        }),*]
    };

    (@publish; $($case:ident)*) => {
        pub use continuity::{$($case),*};
    };
}

/// The cases for stores whose clock can be set.
#[doc(hidden)]
#[macro_export]
macro_rules! clock_cases {
    ($then:ident $($harness:path, $set:path)?) => {
        $crate::clock_cases! {
            @$then $($harness, $set)?;
            commit_time_is_constant_while_the_clock_is_behind
            commits_are_refused_while_the_clock_is_far_behind
            resent_attempt_is_answered_while_the_clock_is_far_behind
            accepted_clock_is_used_again
            deadline_cannot_move_before_a_take_filed_with_a_wrong_clock
            passed_deadline_stays_passed_when_the_clock_runs_back
            deadlines_are_exact_to_the_millisecond
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

    (@list $harness:path, $set:path; $($case:ident)*) => {
        [$($crate::conformance::Case {
            name: concat!("clock::", stringify!($case)),
            run: || ::std::boxed::Box::pin(async {
                let (guard, tenants) = $harness().await;
                $crate::conformance::$case(tenants, |now| $set(&guard, now)).await;
            }),
        }),*]
    };

    (@publish; $($case:ident)*) => {
        pub use clock::{$($case),*};
    };
}

/// The cases for stores that can be reopened.
#[doc(hidden)]
#[macro_export]
macro_rules! durability_cases {
    ($then:ident $($harness:path, $reopen:path)?) => {
        $crate::durability_cases! {
            @$then $($harness, $reopen)?;
            records_survive_reopening
            guards_survive_reopening
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

            #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn committee_survives_reopening() {
                let (guard, tenants) = $harness().await;
                let reopen = async || $reopen(&guard).await;
                $crate::conformance::committee::committee_survives_reopening(tenants, reopen).await;
            }
        }
    };

    (@list $harness:path, $reopen:path; $($case:ident)*) => {
        [$($crate::conformance::Case {
            name: concat!("durability::", stringify!($case)),
            run: || ::std::boxed::Box::pin(async {
                let (guard, tenants) = $harness().await;
                $crate::conformance::$case(tenants, async || $reopen(&guard).await).await;
            }),
        }),*]
    };

    (@publish; $($case:ident)*) => {
        pub use durability::{$($case),*};
    };
}
