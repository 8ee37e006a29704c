//! The same for the committee: a fault for each of its promises, and the case that catches it.

mod broken;
mod saving;
mod takes;
mod tenants;

use std::sync::Arc;

use swarm_core::CommitteeTenants;

use broken::{Broken, Fault, Intact};

/// Makes a test of each row: `fault => the case that catches it`.
macro_rules! caught {
    ($($file:ident { $($fault:ident => $case:ident)* })*) => {$(
        mod $file {
            $(
                #[allow(non_snake_case, reason = "named after the fault")]
                #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $fault() {
                    let fault = crate::committee::$file::$fault::default();
                    let case = swarm_core::conformance::committee::$case;
                    crate::committee::catch(case, fault).await;
                }
            )*
        }
    )*};
}

mod caught {
    caught! {
        saving {
            MemberAtAnyVersion        => a_member_is_saved_only_at_the_version_it_was_judged_by
            MembersInAnyOrder         => members_are_listed_by_id
            OldKeysLive               => a_replaced_key_is_nobodys
            StatusForgotten           => a_key_finds_its_member_whatever_its_status
            DayAtAnyVersion           => a_day_is_saved_only_at_the_version_it_was_judged_by
            SessionsInAnyOrder        => sessions_come_latest_first
            SubjectUnasked            => sessions_are_found_by_subject
            FirstSessionShown         => the_facts_show_the_latest_session
            FactsReadOneByOne         => the_facts_are_read_in_one_snapshot
            BriefsAdded               => briefs_take_the_place_of_all_briefs_of_their_day
            BriefsLost                => briefs_stay_when_their_day_is_saved_without
            OneDaysBriefsKept         => briefs_of_later_days_stay
            BriefsReadOneByOne        => readers_see_the_briefs_of_one_generation
            RowForEachAttempt         => what_the_committee_refuses_leaves_no_row
            TakesUnlogged             => days_and_takes_leave_a_row_each
        }
        takes {
            TakesInAnyOrder           => takes_stand_in_the_order_of_their_commits
            LimitForgotten            => the_latest_take_of_each_day_and_subject_counts
            AttemptForgotten          => an_attempt_sent_again_gets_its_first_answer
            AttemptOfAnybody          => an_attempt_of_another_member_is_another
            StaleMemberAcknowledged   => a_filing_is_stale_when_its_member_has
            StaleDayAcknowledged      => a_filing_is_stale_when_its_day_has
            LateAtTheDeadline         => a_filing_lands_at_its_very_deadline
            DeadlineUnchecked         => a_filing_is_late_after_its_deadline
            QuotaUnchecked            => a_member_submits_no_oftener_than_its_quota
        }
        tenants {
            MembersOfAllTenants       => members_are_those_of_their_own_committee
            KeyOfAnyTenant            => members_are_those_of_their_own_committee
            MemberSavedInAllTenants   => a_member_is_saved_in_its_own_committee
            DayOfAnyTenant            => days_are_those_of_their_own_committee
            SessionsOfAllTenants      => days_are_those_of_their_own_committee
            LatestSessionOfAnyTenant  => days_are_those_of_their_own_committee
            BriefsOfAnyTenant         => days_are_those_of_their_own_committee
            DaySavedInAllTenants      => a_day_is_saved_in_its_own_committee
            TakesOfAllTenants         => takes_are_those_of_their_own_committee
        }
    }
}

/// Sees that the case fails for the fault, with words about a promise.
async fn catch<C>(case: impl FnOnce(Arc<dyn CommitteeTenants>) -> C, fault: impl Fault)
where
    C: Future<Output = ()>,
{
    crate::expect_broken(case(Broken::store(fault))).await;
}

/// Without a fault it keeps every promise.
mod intact {
    use super::*;

    async fn intact() -> ((), Arc<dyn CommitteeTenants>) {
        ((), Broken::store(Intact))
    }

    swarm_core::committee_conformance!(intact);
}
