//! Tests of the conformance suite: stores with one fault each, and the case that catches it.
//!
//! `cargo test -p swarm-store-memory --test memory broken_stores` plants each fault of the table below in
//! an otherwise correct store ([`broken`]) and checks that the named case fails with a message about a promise.
//! A promise without a row here may be unchecked.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that fails panics"
)]

mod broken;
mod changes;
mod clock;
mod committee;
mod continuity;
mod documents;
mod durability;
mod filing;
mod log;
mod members;
mod openings;
mod operator_acts;
mod saving;
mod sessions;
mod simulation;
mod takes;
mod tenants;
mod transfer;
mod tree;
mod webhooks;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use swarm_core::Tenants;

pub(crate) use broken::time;
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
                    crate::broken_stores::expect_broken(suite::$case(store)).await;
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

    use crate::broken_stores as planted;
    use crate::broken_stores::broken::{Broken, Fault};

    fn broken(fault: impl Fault) -> Arc<dyn Tenants> {
        Broken::store(fault)
    }

    crate::broken_stores::plant! {
        tenants {
            MemberOfAnyTenant          => members_are_isolated_by_tenant;
            MembersOfAllTenants        => members_are_isolated_by_tenant
                records_are_invisible_to_other_tenants;
            BearerOfAnyTenant          => members_are_isolated_by_tenant;
            MemberSavedInAllTenants    => member_saves_are_isolated_by_tenant;
            MemberRemovedInAllTenants  => member_removals_are_isolated_by_tenant;
            KeyHeldInAnyTenant         => held_keys_are_isolated_by_tenant;
            TokenReplacedInAllTenants      => tokens_are_isolated_by_tenant;
            ChallengeOfAnyTenant       => live_challenges_are_isolated_by_tenant;
            ChallengeReusedInAnyTenant => reusable_challenges_are_isolated_by_tenant;
            MessagesOfAllTenants       => mail_is_isolated_by_tenant;
            MessageSavedInAllTenants   => mail_is_isolated_by_tenant;
            SessionOfAnyTenant         => sessions_are_isolated_by_tenant;
            SessionsOfAllTenants       => sessions_are_isolated_by_tenant;
            SummariesOfAllTenants      => sessions_are_isolated_by_tenant;
            PublishedOfAllTenants      => published_sessions_are_isolated_by_tenant;
            SessionSavedInAllTenants   => session_saves_are_isolated_by_tenant;
            TakesCountedInAllTenants   => take_counts_are_isolated_by_tenant;
            BasisMemberOfAnyTenant      => basis_is_isolated_by_tenant;
            BasisSessionOfAnyTenant     => basis_is_isolated_by_tenant;
            BasisRevisionOfAnyTenant    => basis_is_isolated_by_tenant;
            BasisNonceOfAnyTenant       => basis_is_isolated_by_tenant;
            NonceSpentInAnyTenant      => filings_are_isolated_by_tenant
                tenants_share_nothing;
            RevisionTakenInAnyTenant   => filings_are_isolated_by_tenant;
            NewestSessionOfAnyTenant   => filings_are_isolated_by_tenant;
            TakeOfAnyTenant            => takes_are_isolated_by_tenant;
            SupersededInAnyTenant      => takes_are_isolated_by_tenant;
            TakesOfAllTenants          => takes_are_isolated_by_tenant;
            ContextOfAnyTenant         => takes_are_isolated_by_tenant;
            MemberTakesOfAllTenants    => takes_are_isolated_by_tenant;
            AuthorsOfAllTenants        => takes_are_isolated_by_tenant;
            SessionOfTakesOfAnyTenant  => takes_are_isolated_by_tenant;
            AggregatedInAllTenants     => aggregations_are_isolated_by_tenant;
            DocumentOfAnyTenant        => documents_are_isolated_by_tenant;
            DocumentsOfAllTenants      => documents_are_isolated_by_tenant;
            DocumentPutIntoAllTenants  => documents_are_isolated_by_tenant;
            DocumentExistsInAnyTenant  => document_writes_are_isolated_by_tenant;
            DocumentSizesOfAllTenants  => document_sizes_are_isolated_by_tenant;
            LogOfAllTenants            => log_is_isolated_by_tenant
                tenants_have_separate_logs;
            LogPositionOfAnyTenant     => log_is_isolated_by_tenant;
            CountOfAllTenants          => records_are_counted_by_latest_state;
            ActsOfAllTenants           => log_is_isolated_by_tenant;
            MarkedInAllTenants         => take_marks_are_isolated_by_tenant;
        }
        saving {
            MemberAtAnyVersion         => member_change_at_another_version_is_stale
                member_is_created_once
                member_change_does_not_create_a_member
                concurrent_creations_of_a_member_commit_once
                concurrent_claims_commit_once;
            SessionAtAnyVersion        => session_change_at_another_version_is_stale
                concurrent_session_saves_commit_once;
            MessageAtAnyVersion        => message_change_at_another_version_is_stale
                concurrent_leases_of_a_message_commit_once;
            MessagesBeyondThePage      => message_pages_are_complete;
            MembersBeforeThePage       => member_pages_are_complete;
            KeyIndexNotKept            => held_key_blocks_other_members
                change_to_a_held_key_is_refused
                reclaimed_key_conflicts_with_its_new_holder
                concurrent_applications_with_one_key_commit_once;
            OldTokensLive              => replaced_token_stops_working_at_the_commit;
            QuotaOfMembersUnchecked    => quota_of_members_in_a_state_is_enforced
                concurrent_applications_do_not_exceed_the_quota;
            QuotaOfDocumentsUnchecked  => document_quota_is_enforced
                concurrent_documents_do_not_exceed_the_quota;
            NothingIsProven            => only_the_live_challenge_proves_a_change;
            ChallengeNeverReused       => reusable_challenge_is_given_again;
            ChallengeReusableForEver     => challenge_past_its_reuse_is_replaced;
            OneBucketForAll             => challenge_buckets_are_independent;
            ReusedIsNotLive          => reused_challenge_becomes_live_in_the_requested_slot;
            GivenToEachOfARace         => concurrent_requests_get_the_same_challenge;
            ChallengeOverAtItsExpiry   => challenge_is_valid_up_to_its_expiry;
            ExpiryUnchecked            => expired_challenge_is_stale;
            MailLost                   => mail_is_queued_in_commit_order;
            DocumentOfAnySession       => document_guards_the_version_of_its_session;
            LaterTakeUnchecked         => session_save_can_guard_the_time_of_the_last_take;
            TakesUncounted             => session_save_can_guard_the_number_of_takes;
            CounterReset               => session_save_keeps_counters;
        }
        filing {
            SupersededTakesCount       => latest_takes_are_one_per_member;
            SupersededAuthors          => session_authors_are_listed_once;
            TakesBeforeThePage         => latest_take_pages_are_complete;
            AttemptForgotten           => repeated_attempt_gets_the_original_result
                repeated_attempt_after_the_deadline_gets_the_original_result
                concurrent_repeats_of_an_attempt_file_once;
            StaleAcknowledged          => filing_is_stale_when_the_member_changed
                filing_is_stale_when_the_session_changed;
            NewerSessionUnchecked      => filing_is_stale_when_there_is_a_newer_session;
            DeadlineUnchecked          => filing_is_late_after_its_deadline;
            LateAtTheDeadline          => filing_commits_exactly_at_its_deadline;
            ClockReadWhenQueued        => take_time_is_the_time_of_its_commit;
            NonceNotSpent              => nonce_is_used_once_per_member
                nonce_stays_used_in_every_member_state
                concurrent_filings_with_one_nonce_commit_once;
            RevisionTwice              => revision_is_taken_once
                revision_cannot_be_skipped
                concurrent_filings_of_one_revision_commit_once;
            FactsReadOneByOne          => basis_is_read_in_one_snapshot;
            TimeReadBeforeTheFacts     => basis_is_read_in_one_snapshot;
            SessionReadBeforeItsTakes  => session_and_takes_are_read_in_one_snapshot;
            RollsBackItsNeighbours     => refused_write_does_not_affect_others;
        }
        members {
            MemberInvented             => unknown_member_is_none;
            LensForgotten              => member_round_trips;
            VersionsByTwo              => each_save_increments_the_member_version;
            IdsInAnyCase               => odd_member_ids_are_distinct;
            IdsUnasked                 => members_are_found_by_id;
            StatesUnasked              => members_are_listed_by_state
                member_is_listed_in_its_latest_state;
            TokensOfTheActiveAlone     => bearer_finds_members_in_every_state;
            KeyHeldInAnyState          => members_without_key_do_not_conflict
                released_key_is_free;
            RemovalsForgotten          => removed_member_is_unknown;
            RemovedAtAnyVersion        => removal_at_another_version_is_stale;
            HolderKeptOut              => key_holder_may_save_again;
            FirstChallengeStays        => new_challenge_replaces_the_live_one;
            DecoyIsLive                => decoy_challenge_is_never_live;
            ChallengeGoesWithASave     => challenge_and_member_versions_are_independent;
        }
        sessions {
            SessionInvented            => unknown_session_is_none;
            NumbersByTwo               => session_ids_count_from_one
                concurrent_sessions_get_consecutive_ids;
            ConvenedIn1970             => convened_at_is_the_time_of_the_store;
            OccasionUnclaimed          => session_is_convened_once_for_an_occasion
                occasion_names_its_session;
            OccasionClaimedTwice       => concurrent_convocations_for_an_occasion_commit_once;
            OccasionOfTheSessionBefore => occasion_names_its_session;
            QuorumForgotten            => session_draft_round_trips
                saved_session_round_trips;
            OldestFirst                => sessions_are_newest_first_up_to_the_limit;
            BeforeUnasked              => session_pages_are_complete session_pages_start_before_any_number;
            DayAndSubjectUnasked       => sessions_are_found_by_day_and_subject
                odd_subjects_are_distinct;
            SnapshotsUnasked           => sessions_are_listed_without_snapshots;
            FiguresForgotten           => summary_shows_its_session;
            SummariesInAnyState        => summary_shows_its_session;
            SummariesAboutAnySubject   => summaries_are_found_by_subject;
            LaterSummariesHighestFirst => summaries_after_an_id_are_lowest_first;
            SummariesReadOneByOne      => summaries_are_read_in_one_snapshot;
            SessionsReadOneByOne       => session_list_is_read_in_one_snapshot;
            StateUnasked               => sessions_are_found_by_latest_state;
            PublishedByNumber          => published_sessions_are_latest_first
                session_saved_again_is_listed_as_published_once;
            OldestOfAMomentFirst       => sessions_published_at_the_same_time_are_by_id;
            SavedThoughUnknown         => session_change_does_not_convene_a_session;
            AggregatedAgain            => session_is_aggregated_once;
            LastTakeNotAggregated      => session_is_aggregated_once;
            AggregatedAsOfARead        => aggregation_ends_while_takes_arrive;
            AggregationStarved         => aggregation_ends_while_takes_arrive;
            SealForgotten              => sealed_take_round_trips;
            ReadPastTheSeal            => sealed_take_round_trips;
            OpenedTakeStaysSealed      => sealed_take_round_trips;
            NothingOpened              => opening_appends_an_entry_of_each_take_in_order
                aggregation_opens_a_blind_session racing_takes_are_opened_or_not_sealed;
            OpenedThoughStale          => stale_opening_appends_nothing;
            WithdrawnIsKept            => withdrawn_session_is_found_by_no_read
                session_withdrawn_last_leaves_its_day_empty;
            WithdrawnInAnyCase         => session_with_takes_is_not_withdrawn
                session_is_withdrawn_or_filed_in;
            TakesComeMeanwhile         => aggregation_includes_exactly_the_takes_filed_before_it
                moving_deadline_leaves_no_late_takes;
        }
        takes {
            SomeMemberShownToStrangers => basis_of_unknown_token_and_session_has_only_the_time;
            FactsOfTheActiveAlone      => basis_has_members_in_every_state;
            FactsOfTheFirstSession     => basis_has_the_newest_session_of_the_day;
            FactsOfAnyDay              => basis_has_the_session_of_the_requested_day;
            FactsOfAnySubject          => basis_distinguishes_odd_subjects;
            RevisionsOfAllSessions     => revisions_count_per_member_and_session;
            AnotherTakeSpentIt         => replay_returns_the_original_take;
            TimeOfFilingForgotten      => take_round_trips;
            NothingIsSuperseded        => take_ids_count_from_one_and_revisions_are_linked;
            TakeInvented               => unknown_take_is_none;
            EarlierRevisionsForgotten  => take_context_has_revisions_and_neighbours;
            SupersededNeighbour        => take_context_has_revisions_and_neighbours;
            SupersededTakesOfAMember   => member_takes_are_the_latest_of_each_session;
            ExcusedExpected            => member_takes_say_whether_they_were_expected;
            FilingSavesItsSession      => filing_does_not_change_member_or_session
                concurrent_members_all_file;
            LateBeforeStale            => filing_guards_are_checked_in_order;
            LateWithADeadline          => filing_commits_before_its_deadline;
            DeadlineOfTheRecord        => deadline_guard_is_that_of_the_filing;
            NonceSpentForAll           => nonces_of_members_are_independent;
            NoncesInAnyCase            => odd_nonces_are_distinct;
            NewerSessionUncheckedForLong => no_take_is_filed_after_a_newer_session;
            RevisionTwiceInARace       => concurrent_submissions_get_consecutive_revisions;
            MarkForgotten              => take_marks_round_trip;
            MarkOfTheSessionForgotten  => take_marks_count_for_aggregations;
            MarkedAtAnyVersion         => take_marks_at_another_version_are_stale;
            TextsKept                  => erased_texts_are_gone;
        }
        documents {
            DocumentInvented           => collections_are_initially_empty;
            OneCollectionForAll        => document_ids_count_from_one_per_collection;
            OneKeyForTheUnnamed        => document_without_key_gets_its_id_as_key;
            NothingIsReplaced          => document_replaces_the_one_with_its_key;
            AllIsReplaced              => document_without_replace_keeps_the_existing_one
                concurrent_writes_of_one_key_create_once;
            HeldTextShown              => held_document_is_read_without_its_text;
            HeldTextForgotten          => held_document_is_read_without_its_text;
            HoldForgotten              => held_document_is_read_without_its_text;
            DocumentOfAnyMember        => document_guards_the_version_of_its_member;
            GroupUnasked               => documents_are_found_by_group;
            TextTidied                 => document_text_round_trips;
            KeysInAnyCase              => odd_document_keys_are_distinct;
            ReplacementNeedsRoom       => document_replacement_ignores_the_quota;
            GroupsCountedApart         => collection_quota_is_enforced;
            BytesUnchecked             => document_bytes_are_limited
                concurrent_documents_do_not_exceed_the_bytes;
            PagesFromTheFirst          => document_pages_are_complete;
            PagesOfAnySize             => document_pages_are_limited_in_size;
            WrittenTwice               => concurrent_documents_get_consecutive_ids;
            MailOfTheRefused           => refused_change_queues_no_mail;
            MailErrorForgotten         => saved_message_round_trips;
            MailStateUnasked           => messages_are_found_by_latest_state;
            MailFromTheFirst           => messages_are_found_after_any_id;
        }
        log {
            SizeOneTooMuch             => log_is_initially_empty;
            TakesUnlogged              => each_commit_with_an_act_appends_a_row
                concurrent_commits_append_consecutive_rows;
            RowsOf1970                 => log_row_has_the_time_of_its_commit;
            KeyTakenForTheStore        => accepted_key_appends_its_act;
            LimitUnasked               => log_is_read_by_pages;
            ActsOnTheFirstSession      => acts_are_found_by_session;
            RowForEachAttempt          => refused_write_appends_no_row
                repeated_attempt_appends_one_row;
        }
        operator_acts {
            ActsOfChangesForgotten     => operator_acts_are_recorded_with_their_commits;
            ActsOfTheRefused           => operator_acts_are_recorded_with_their_commits;
            WebhookActsForgotten       => operator_acts_on_webhooks_are_recorded;
            ActsOfAnybody              => operator_acts_are_found_by_operator_and_time;
            ActsOfAnyTime              => operator_acts_are_found_by_operator_and_time;
            ActsNeverForgotten         => operator_acts_are_found_by_operator_and_time;
            OperatorActsOfTheMachine   => operator_acts_are_found_by_operator_and_time;
            StrangersUnbounded         => operator_acts_of_strangers_are_bounded;
            ActsForgottenInAllTenants  => operator_acts_are_isolated_by_tenant;
        }
        tree {
            TreeInvented               => tree_is_initially_absent;
            TilesForgotten             => tree_and_its_tiles_round_trip;
            TilesNeverReplaced         => grown_tile_replaces_the_stored_one;
            TreeAtAnyVersion           => tree_change_at_another_version_is_stale;
            TreeSavedTwiceInARace      => concurrent_tree_changes_commit_once;
            TilesOfAnyLog              => tiles_of_logs_are_independent;
            TreeOfAnyTenant            => tree_is_isolated_by_tenant;
            TrustedAnyway              => went_back_log_refuses_commits;
        }
        webhooks {
            DeliveriesLost             => webhook_and_its_deliveries_are_saved_together;
            WebhookAtAnyVersion        => webhook_change_at_another_version_is_stale
                concurrent_webhook_changes_commit_once;
            DeliveriesInAnyState       => deliveries_are_found_by_due_time_and_newest_first;
            DeliveryErrorForgotten     => saved_delivery_round_trips;
            FailuresForgotten          => webhook_is_failing_until_a_newer_delivery;
            NoticeOfEachCall           => notice_is_kept_once;
            NoticeLost                 => notice_is_kept_by_the_commit_that_has_it;
            OldDeliveriesKept          => old_webhook_records_are_removed;
            DeliveriesOfAllTenants     => webhooks_are_isolated_by_tenant;
            RemindedTwice              => reminder_is_queued_once
                reminder_is_guarded_by_its_session_and_by_takes;
        }
    }
}

/// Checks that a case fails with a message about a promise.
pub(crate) async fn expect_broken(case: impl Future<Output = ()>) {
    let failed = AssertUnwindSafe(case).catch_unwind().await.expect_err("nobody noticed");
    let said = failed.downcast::<String>().map_or_else(|_| String::new(), |said| *said);
    assert!(said.contains("expected:") && said.contains("actual:"), "not about a promise: {said}");
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
    let caught = [caught::CASES, openings::CASES, clock::CASES, durability::CASES];
    let caught = [&caught.concat()[..], transfer::CASES, changes::CASES].concat();
    let cases = swarm_testing::conformance_cases!(names);
    let of_durability = swarm_testing::durability_cases!(names);
    let cases = cases.iter().chain(&of_durability).chain(&swarm_testing::clock_cases!(names));
    let of_transfer = swarm_testing::transfer_cases!(names);
    let of_feeds = swarm_testing::change_feed_cases!(names);
    let cases = cases.chain(&of_transfer).chain(&of_feeds);
    let idle: Vec<_> = cases.filter(|case| !caught.contains(case)).collect();
    assert!(idle.is_empty(), "these catch nothing: {idle:#?}");
}
