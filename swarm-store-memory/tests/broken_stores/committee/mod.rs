//! Faults of the committee, one for each promise, and the case that catches it.

mod broken;
mod races;
mod reading;
mod saving;
mod takes;
mod tenants;

use std::sync::Arc;

use swarm_core::CommitteeTenants;

use crate::broken::{Broken, Intact};
pub(crate) use broken::Fault;

mod caught {
    use std::sync::Arc;

    use swarm_core::CommitteeTenants;
    use swarm_testing::conformance::committee as suite;

    use super::Fault;
    use crate::broken::Broken;
    use crate::committee as planted;

    fn broken(fault: impl Fault) -> Arc<dyn CommitteeTenants> {
        Broken::committee(fault)
    }

    crate::plant! {
        saving {
            MemberAtAnyVersion        => a_member_is_saved_only_at_the_version_it_was_judged_by
                a_member_is_created_once;
            MembersInAnyOrder         => members_are_listed_by_id;
            OldKeysLive               => a_replaced_key_is_nobodys
                of_racing_rotations_one_key_lives
                submissions_that_race_a_rotation_are_kept_or_refused;
            StatusForgotten           => a_key_finds_its_member_whatever_its_status;
            DayAtAnyVersion           => a_day_is_saved_only_at_the_version_it_was_judged_by
                of_racing_saves_of_one_day_one_wins;
            SessionsInAnyOrder        => sessions_come_latest_first;
            SubjectUnasked            => sessions_are_found_by_subject;
            FirstSessionShown         => the_facts_show_the_latest_session;
            FactsReadOneByOne         => the_facts_are_read_in_one_snapshot;
            BriefsAdded               => briefs_take_the_place_of_all_briefs_of_their_day;
            BriefsLost                => briefs_stay_when_their_day_is_saved_without;
            OneDaysBriefsKept         => briefs_of_later_days_stay;
            BriefsReadOneByOne        => readers_see_the_briefs_of_one_generation;
            RowForEachAttempt         => what_the_committee_refuses_leaves_no_row;
            TakesUnlogged             => days_and_takes_leave_a_row_each;
        }
        takes {
            TakesInAnyOrder           => takes_stand_in_the_order_of_their_commits;
            LimitForgotten            => the_latest_take_of_each_day_and_subject_counts;
            AttemptForgotten          => an_attempt_sent_again_gets_its_first_answer
                an_attempt_sent_many_times_at_once_is_filed_once;
            AttemptOfAnybody          => an_attempt_of_another_member_is_another;
            StaleMemberAcknowledged   => a_filing_is_stale_when_its_member_has;
            StaleDayAcknowledged      => a_filing_is_stale_when_its_day_has;
            LateAtTheDeadline         => a_filing_lands_at_its_very_deadline;
            DeadlineUnchecked         => a_filing_is_late_after_its_deadline;
            QuotaUnchecked            => a_member_submits_no_oftener_than_its_quota
                of_racing_submissions_no_more_than_the_quota_are_kept;
        }
        reading {
            MemberInvented            => a_committee_has_no_members_at_first;
            VoiceForgotten            => every_field_of_a_member_survives;
            DayInvented               => an_unknown_day_has_nothing;
            SynthesisForgotten        => every_field_of_a_day_survives;
            BriefTidied               => the_text_of_a_brief_survives_byte_for_byte;
            ModelForgotten            => every_field_of_a_take_survives;
            LostSessionShown          => a_day_that_loses_its_generation_is_no_session;
        }
        races {
            LastMemberWins            => of_racing_creations_of_one_member_one_wins
                of_racing_saves_of_one_member_one_wins;
            LostDaySaidToBeSaved      => racing_generations_come_one_after_the_other;
            SubmissionsLost           => racing_submissions_are_all_kept;
            LateAcknowledged          => submissions_that_race_the_deadline_land_before_it;
            FilingSavesItsMember      => a_take_changes_neither_its_member_nor_its_day;
        }
        tenants {
            MembersOfAllTenants       => members_are_those_of_their_own_committee
                committees_share_nothing;
            KeyOfAnyTenant            => members_are_those_of_their_own_committee;
            MemberSavedInAllTenants   => a_member_is_saved_in_its_own_committee;
            DayOfAnyTenant            => days_are_those_of_their_own_committee;
            SessionsOfAllTenants      => days_are_those_of_their_own_committee;
            LatestSessionOfAnyTenant  => days_are_those_of_their_own_committee;
            BriefsOfAnyTenant         => days_are_those_of_their_own_committee;
            DaySavedInAllTenants      => a_day_is_saved_in_its_own_committee;
            TakesOfAllTenants         => takes_are_those_of_their_own_committee;
        }
    }
}

/// Without a fault every case passes.
mod intact {
    use super::*;

    async fn intact() -> ((), Arc<dyn CommitteeTenants>) {
        ((), Broken::committee(Intact))
    }

    swarm_testing::committee_conformance!(intact);
}

#[tokio::test]
async fn a_store_that_forgets_a_committee_is_caught() {
    let (first, empty) = (Broken::committee(Intact), Broken::committee(Intact));
    let outlives = swarm_testing::conformance::committee::a_committee_outlives_the_store;
    crate::expect_broken(outlives(first, async || empty)).await;
}

/// A case without a fault may be one that cannot fail.
#[test]
fn every_case_catches_a_fault() {
    let caught = [caught::CASES, crate::openings::OF_COMMITTEE].concat();
    let cases = swarm_testing::committee_conformance_cases!(names);
    let idle: Vec<_> = cases.iter().filter(|case| !caught.contains(case)).collect();
    assert!(idle.is_empty(), "these catch nothing: {idle:#?}");
}
