//! Faults of the committee, one for each promise, and the case that catches it.

mod broken;
mod races;
mod reading;
mod saving;
mod takes;
mod tenants;

use std::sync::Arc;

use swarm_core::CommitteeTenants;

use crate::broken_stores::broken::{Broken, Intact};
pub(crate) use broken::Fault;

mod caught {
    use std::sync::Arc;

    use swarm_core::CommitteeTenants;
    use swarm_testing::conformance::committee as suite;

    use super::Fault;
    use crate::broken_stores::broken::Broken;
    use crate::broken_stores::committee as planted;

    fn broken(fault: impl Fault) -> Arc<dyn CommitteeTenants> {
        Broken::committee(fault)
    }

    crate::broken_stores::plant! {
        saving {
            MemberAtAnyVersion        => member_change_at_another_version_is_stale
                member_is_created_once;
            MembersInAnyOrder         => members_are_listed_by_id;
            OldKeysLive               => replaced_key_stops_working
                concurrent_rotations_leave_one_key
                submissions_during_key_rotation_are_filed_or_refused;
            StatusForgotten           => key_finds_members_of_every_status;
            DayAtAnyVersion           => day_change_at_another_version_is_stale
                concurrent_day_saves_commit_once;
            SessionsInAnyOrder        => sessions_are_latest_first;
            SubjectUnasked            => sessions_are_found_by_subject;
            FirstSessionShown         => basis_has_the_latest_session;
            FactsReadOneByOne         => basis_is_read_in_one_snapshot;
            BriefsAdded               => saved_briefs_replace_all_briefs_of_the_day;
            BriefsLost                => day_saved_without_briefs_keeps_them;
            OneDaysBriefsKept         => saved_briefs_keep_those_of_later_days;
            BriefsReadOneByOne        => readers_see_briefs_of_one_generation;
            RowForEachAttempt         => refused_committee_write_appends_no_row;
            TakesUnlogged             => days_and_takes_append_a_row_each;
        }
        takes {
            TakesInAnyOrder           => takes_are_in_commit_order;
            LimitForgotten            => latest_takes_are_one_per_day_and_subject;
            AttemptForgotten          => repeated_attempt_gets_the_original_result
                concurrent_repeats_of_an_attempt_file_once;
            AttemptOfAnybody          => same_attempt_id_of_another_member_is_filed;
            StaleMemberAcknowledged   => filing_is_stale_when_the_member_changed;
            StaleDayAcknowledged      => filing_is_stale_when_the_day_changed;
            LateAtTheDeadline         => filing_commits_exactly_at_its_deadline;
            DeadlineUnchecked         => filing_is_late_after_its_deadline;
            QuotaUnchecked            => submission_quota_is_enforced
                concurrent_submissions_do_not_exceed_the_quota;
        }
        reading {
            MemberInvented            => committee_is_initially_empty;
            VoiceForgotten            => member_round_trips;
            DayInvented               => unknown_day_is_none;
            SynthesisForgotten        => day_round_trips;
            BriefTidied               => brief_text_round_trips;
            ModelForgotten            => take_round_trips;
            LostSessionShown          => withdrawn_day_is_not_a_session;
        }
        races {
            LastMemberWins            => concurrent_creations_of_a_member_commit_once
                concurrent_member_saves_commit_once;
            LostDaySaidToBeSaved      => concurrent_generations_are_serialized;
            SubmissionsLost           => concurrent_submissions_are_all_filed;
            LateAcknowledged          => submissions_around_the_deadline_are_not_late;
            FilingSavesItsMember      => filing_does_not_change_member_or_day;
        }
        tenants {
            MembersOfAllTenants       => committee_members_are_isolated_by_tenant
                committees_of_tenants_share_nothing;
            KeyOfAnyTenant            => committee_members_are_isolated_by_tenant;
            MemberSavedInAllTenants   => committee_member_saves_are_isolated_by_tenant;
            DayOfAnyTenant            => days_are_isolated_by_tenant;
            SessionsOfAllTenants      => days_are_isolated_by_tenant;
            LatestSessionOfAnyTenant  => days_are_isolated_by_tenant;
            BriefsOfAnyTenant         => days_are_isolated_by_tenant;
            DaySavedInAllTenants      => day_saves_are_isolated_by_tenant;
            TakesOfAllTenants         => committee_takes_are_isolated_by_tenant;
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
    let outlives = swarm_testing::conformance::committee::committee_survives_reopening;
    crate::broken_stores::expect_broken(outlives(first, async || empty)).await;
}

/// A case without a fault may be one that cannot fail.
#[test]
fn every_case_catches_a_fault() {
    let caught = [caught::CASES, crate::broken_stores::openings::OF_COMMITTEE].concat();
    let cases = swarm_testing::committee_conformance_cases!(names);
    let idle: Vec<_> = cases.iter().filter(|case| !caught.contains(case)).collect();
    assert!(idle.is_empty(), "these catch nothing: {idle:#?}");
}
