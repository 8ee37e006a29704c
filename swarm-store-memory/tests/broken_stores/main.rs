//! Tests of the conformance suite: stores with one fault each, and the case that catches it.
//!
//! `cargo test -p swarm-store-memory --test broken_stores` plants each fault of the table below in
//! an otherwise correct store ([`broken`]) and checks that the named case fails with a message about a promise.
//! A promise without a row here may be unchecked.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that fails panics"
)]

mod broken;
mod clock;
mod committee;
mod continuity;
mod documents;
mod durability;
mod filing;
mod log;
mod members;
mod openings;
mod saving;
mod sessions;
mod simulation;
mod takes;
mod tenants;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use swarm_core::Tenants;

use broken::{Broken, Intact};

/// Makes a test of each row, `fault => the cases that catch it;`, and a list of the cases.
macro_rules! plant {
    ($($file:ident { $($fault:ident => $($case:ident)+;)* })*) => {
        pub(super) const CASES: &[&str] = &[$($($(stringify!($case)),+),*),*];

        $(mod $file {$(
            #[allow(non_snake_case, reason = "named after the fault")]
            mod $fault {$(
                #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $case() {
                    use super::super::{broken, planted, suite};
                    let store = broken(planted::$file::$fault::default());
                    crate::expect_broken(suite::$case(store)).await;
                }
            )+}
        )*})*
    };
}
pub(crate) use plant;

mod caught {
    use std::sync::Arc;

    use swarm_core::Tenants;
    use swarm_testing::conformance as suite;

    use crate as planted;
    use crate::broken::{Broken, Fault};

    fn broken(fault: impl Fault) -> Arc<dyn Tenants> {
        Broken::store(fault)
    }

    crate::plant! {
        tenants {
            MemberOfAnyTenant          => members_are_those_of_their_own_world;
            MembersOfAllTenants        => members_are_those_of_their_own_world
                nothing_is_seen_from_another_world;
            BearerOfAnyTenant          => members_are_those_of_their_own_world;
            MemberSavedInAllTenants    => a_member_is_saved_in_its_own_world;
            KeyHeldInAnyTenant         => a_key_is_held_in_its_own_world;
            TokenDeadInAllTenants      => a_token_dies_in_its_own_world;
            ChallengeOfAnyTenant       => a_challenge_is_live_in_its_own_world;
            ChallengeReusedInAnyTenant => a_reusable_challenge_is_that_of_its_own_world;
            MessagesOfAllTenants       => mail_is_that_of_its_own_world;
            MessageSavedInAllTenants   => mail_is_that_of_its_own_world;
            SessionOfAnyTenant         => sessions_are_those_of_their_own_world;
            SessionsOfAllTenants       => sessions_are_those_of_their_own_world;
            PublishedOfAllTenants      => publications_are_those_of_their_own_world;
            SessionSavedInAllTenants   => a_session_is_saved_in_its_own_world;
            TakesCountedInAllTenants   => takes_are_counted_in_their_own_world;
            BearerFactOfAnyTenant      => the_facts_are_those_of_their_own_world;
            SessionFactOfAnyTenant     => the_facts_are_those_of_their_own_world;
            RevisionFactOfAnyTenant    => the_facts_are_those_of_their_own_world;
            NonceFactOfAnyTenant       => the_facts_are_those_of_their_own_world;
            NonceSpentInAnyTenant      => a_take_lands_in_its_own_world
                worlds_share_nothing;
            RevisionTakenInAnyTenant   => a_take_lands_in_its_own_world;
            NewestSessionOfAnyTenant   => a_take_lands_in_its_own_world;
            TakeOfAnyTenant            => takes_are_those_of_their_own_world;
            SupersededInAnyTenant      => takes_are_those_of_their_own_world;
            LatestTakesOfAllTenants    => takes_are_those_of_their_own_world;
            TakesOfAllTenants          => takes_are_those_of_their_own_world;
            DocumentOfAnyTenant        => documents_are_those_of_their_own_world;
            DocumentsOfAllTenants      => documents_are_those_of_their_own_world;
            DocumentPutIntoAllTenants  => documents_are_those_of_their_own_world;
            DocumentExistsInAnyTenant  => a_document_is_put_into_its_own_world;
            LogOfAllTenants            => the_log_is_that_of_its_own_world
                logs_of_tenants_are_apart;
            LogPositionOfAnyTenant     => the_log_is_that_of_its_own_world;
            CountOfAllTenants          => records_are_counted_in_the_state_of_their_last_commit;
            ActsOfAllTenants           => the_log_is_that_of_its_own_world;
        }
        saving {
            MemberAtAnyVersion         => a_change_holds_only_for_the_version_it_was_judged_by
                a_member_is_created_once
                a_change_never_creates_a_member
                of_racing_creations_of_one_member_one_wins
                of_racing_claims_one_wins;
            SessionAtAnyVersion        => a_session_is_saved_only_at_the_version_it_was_judged_by
                of_racing_saves_of_one_version_one_wins;
            MessageAtAnyVersion        => a_message_is_saved_only_at_the_version_it_was_judged_by
                of_racing_leases_of_one_message_one_wins;
            MessagesBeyondThePage      => pages_cover_every_message_once;
            MembersBeforeThePage       => pages_cover_every_member_once;
            KeyIndexNotKept            => a_held_key_keeps_other_members_out
                a_held_key_cannot_be_changed_to
                who_comes_back_for_a_key_meets_its_new_holder
                of_racing_applications_with_one_key_one_wins;
            OldTokensLive              => a_token_dies_with_the_commit_that_replaces_it;
            QuotaOfMembersUnchecked    => a_state_takes_in_no_more_than_its_quota
                of_racing_applications_no_more_than_the_quota_come_in;
            QuotaOfDocumentsUnchecked  => a_group_takes_in_no_more_than_its_quota
                of_racing_documents_no_more_than_the_quota_come_in;
            NothingIsProven            => only_the_live_challenge_proves_a_change;
            ChallengeNeverReused       => a_reusable_challenge_is_given_again;
            ChallengeReusableForEver     => a_challenge_that_is_no_longer_reusable_is_replaced;
            OneBucketForAll             => each_bucket_has_a_challenge_of_its_own;
            ReusedIsNotLive          => a_challenge_is_live_where_it_was_given_last;
            GivenToEachOfARace         => who_ask_at_once_are_given_the_same;
            ChallengeOverAtItsExpiry   => a_challenge_proves_up_to_its_expiry;
            ExpiryUnchecked            => an_expired_challenge_proves_nothing;
            MailLost                   => mail_is_queued_in_the_order_of_commits;
            DocumentOfAnySession       => a_document_holds_for_the_version_of_its_session;
            LaterTakeUnchecked         => a_save_may_hold_to_when_the_last_take_was_filed;
            TakesUncounted             => a_save_may_hold_to_the_number_of_takes;
            CounterReset               => a_save_leaves_alone_what_is_counted;
        }
        filing {
            SupersededTakesCount       => the_latest_takes_are_one_of_each_member;
            TakesBeforeThePage         => pages_cover_every_latest_take_once;
            AttemptForgotten           => an_attempt_sent_again_gets_its_first_answer
                an_attempt_sent_again_late_gets_its_first_answer
                an_attempt_sent_many_times_at_once_is_filed_once;
            StaleAcknowledged          => a_filing_is_stale_when_its_member_has
                a_filing_is_stale_when_its_session_has;
            NewerSessionUnchecked      => a_filing_is_stale_when_there_is_a_newer_session;
            DeadlineUnchecked          => a_filing_is_late_after_its_deadline;
            LateAtTheDeadline          => a_filing_lands_at_its_very_deadline;
            ClockReadWhenQueued        => a_take_is_stamped_at_its_commit;
            NonceNotSpent              => a_member_spends_a_nonce_once
                a_nonce_stays_spent_whatever_becomes_of_its_member
                of_racing_filings_with_one_nonce_one_wins;
            RevisionTwice              => a_revision_is_taken_once
                a_revision_does_not_come_before_its_turn
                of_racing_filings_of_one_revision_one_wins;
            FactsReadOneByOne          => the_facts_are_read_in_one_snapshot;
            TimeReadBeforeTheFacts     => the_facts_are_read_in_one_snapshot;
            RollsBackItsNeighbours     => a_write_that_is_refused_takes_no_other_with_it;
        }
        members {
            MemberInvented             => an_unknown_member_has_no_facts;
            LensForgotten              => every_field_of_a_member_survives;
            VersionsByTwo              => each_save_raises_the_version_of_its_member_by_one;
            IdsInAnyCase               => members_with_odd_ids_are_not_confused;
            StatesUnasked              => members_are_listed_by_their_state
                a_member_is_listed_in_the_state_of_its_last_commit;
            TokensOfTheActiveAlone     => a_token_finds_its_member_whatever_its_state;
            KeyHeldInAnyState          => a_member_that_holds_no_key_meets_nobody
                a_key_is_free_once_its_holder_lets_go;
            HolderKeptOut              => the_holder_of_a_key_may_save_again;
            FirstChallengeStays        => a_challenge_replaces_the_one_before;
            DecoyIsLive                => a_decoy_is_nobodys_challenge;
            ChallengeGoesWithASave     => a_challenge_and_its_member_leave_each_other_alone;
        }
        sessions {
            SessionInvented            => an_unknown_session_is_none;
            NumbersByTwo               => sessions_count_from_one_as_they_convene
                racing_sessions_leave_no_gap;
            ConvenedIn1970             => a_session_is_convened_by_the_stores_clock;
            QuorumForgotten            => every_field_of_a_draft_survives
                every_field_of_a_session_survives_a_save;
            OldestFirst                => sessions_come_newest_first_up_to_the_limit;
            BeforeUnasked              => pages_cover_every_session_once before_names_any_number;
            DayAndSubjectUnasked       => sessions_are_found_by_day_and_subject
                odd_subjects_are_not_confused;
            StateUnasked               => sessions_are_found_by_the_state_they_are_in;
            PublishedByNumber          => sessions_are_found_by_when_they_were_published
                a_session_that_is_saved_again_is_published_once;
            OldestOfAMomentFirst       => of_sessions_published_at_once_the_newest_come_first;
            SavedThoughUnknown         => a_save_never_convenes_a_session;
            TakesComeMeanwhile         => an_aggregation_and_racing_takes_agree
                a_moving_deadline_and_racing_takes_agree;
        }
        takes {
            SomeMemberShownToStrangers => the_facts_about_strangers_are_the_time_alone;
            FactsOfTheActiveAlone      => the_facts_show_a_member_whatever_its_state;
            FactsOfTheFirstSession     => the_facts_are_those_of_the_newest_session_of_the_day;
            FactsOfAnyDay              => the_facts_are_those_of_the_day_asked_for;
            FactsOfAnySubject          => odd_subjects_have_facts_of_their_own;
            RevisionsOfAllSessions     => revisions_are_counted_for_each_member_in_each_session;
            AnotherTakeSpentIt         => who_submits_again_is_told_of_the_take_on_file;
            TimeOfFilingForgotten      => every_field_of_a_take_survives;
            NothingIsSuperseded        => takes_count_from_one_and_revisions_follow_each_other;
            TakeInvented               => an_unknown_take_is_none;
            FilingSavesItsSession      => a_take_changes_neither_its_member_nor_its_session
                racing_members_do_not_disturb_each_other;
            LateBeforeStale            => guards_are_checked_in_their_order;
            LateWithADeadline          => a_filing_lands_up_to_its_deadline;
            DeadlineOfTheRecord        => the_deadline_is_that_of_the_filing;
            NonceSpentForAll           => nobody_spends_the_nonce_of_another_member;
            NoncesInAnyCase            => odd_nonces_are_not_confused;
            NewerSessionUncheckedForLong => a_newer_session_and_racing_takes_agree;
            RevisionTwiceInARace       => racing_submissions_leave_no_gap;
        }
        documents {
            DocumentInvented           => collections_are_empty_at_first;
            OneCollectionForAll        => documents_count_from_one_in_each_collection;
            OneKeyForTheUnnamed        => a_document_without_a_key_gets_its_id_for_one;
            NothingIsReplaced          => a_document_replaces_the_one_with_its_key;
            AllIsReplaced              => a_document_that_may_not_replace_leaves_the_other
                of_racing_writes_of_one_key_one_creates;
            DocumentOfAnyMember        => a_document_holds_for_the_version_of_its_member;
            GroupUnasked               => documents_are_found_by_their_group;
            TextTidied                 => the_text_of_a_document_survives_byte_for_byte;
            KeysInAnyCase              => documents_with_odd_keys_are_not_confused;
            ReplacementNeedsRoom       => a_replacement_needs_no_room;
            WrittenTwice               => racing_documents_leave_no_gap;
            MailOfTheRefused           => mail_is_not_queued_without_its_commit;
            MailErrorForgotten         => every_field_of_a_message_survives_a_save;
            MailStateUnasked           => messages_are_found_by_the_state_they_are_in;
            MailFromTheFirst           => messages_are_found_from_any_of_them_on;
        }
        log {
            SizeOneTooMuch             => a_log_is_empty_at_first;
            TakesUnlogged              => each_commit_that_carries_an_act_leaves_a_row
                racing_commits_leave_rows_without_a_gap;
            RowsOf1970                 => a_row_has_the_time_of_its_commit;
            LimitUnasked               => the_log_is_read_by_pages;
            ActsOnTheFirstSession      => acts_are_found_by_their_session;
            RowForEachAttempt          => what_is_refused_leaves_no_row
                an_attempt_sent_again_leaves_one_row;
        }
    }
}

/// Checks that a case fails with a message about a promise.
async fn expect_broken(case: impl Future<Output = ()>) {
    let failed = AssertUnwindSafe(case).catch_unwind().await.expect_err("nobody noticed");
    let said = failed.downcast::<String>().map_or_else(|_| String::new(), |said| *said);
    assert!(said.contains("promised:") && said.contains("came:"), "not about a promise: {said}");
}

/// Without a fault every case passes.
mod intact {
    use super::*;

    async fn intact() -> ((), Arc<dyn Tenants>) {
        ((), Broken::store(Intact))
    }

    swarm_testing::conformance!(intact);
}

/// A case without a fault may be one that cannot fail.
#[test]
fn every_case_catches_a_fault() {
    let caught = [caught::CASES, openings::CASES, clock::CASES, durability::CASES].concat();
    let cases = swarm_testing::conformance_cases!(names);
    let of_durability = swarm_testing::durability_cases!(names);
    let cases = cases.iter().chain(&of_durability).chain(&swarm_testing::clock_cases!(names));
    let idle: Vec<_> = cases.filter(|case| !caught.contains(case)).collect();
    assert!(idle.is_empty(), "these catch nothing: {idle:#?}");
}
