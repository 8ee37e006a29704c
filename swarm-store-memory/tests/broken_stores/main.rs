//! The suite itself under test: stores with one fault each, and the case that says so.
//!
//! `cargo test -p swarm-store-memory --test broken_stores` plants each fault of the table below in
//! a store that is otherwise right ([`broken`]) and sees that the case beside it fails, with words
//! about a promise. A promise without a row here may be one that nobody checks.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that fails panics"
)]

mod broken;
mod clock;
mod committee;
mod durability;
mod filing;
mod saving;
mod simulation;
mod tenants;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use swarm_core::Tenants;

use broken::{Broken, Fault, Intact};

/// Makes a test of each row: `fault => the case that catches it`.
macro_rules! caught {
    ($($file:ident { $($fault:ident => $case:ident)* })*) => {$(
        mod $file {
            $(
                #[allow(non_snake_case, reason = "named after the fault")]
                #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $fault() {
                    let fault = crate::$file::$fault::default();
                    crate::catch(swarm_core::conformance::$case, fault).await;
                }
            )*
        }
    )*};
}

mod caught {
    caught! {
        tenants {
            MemberOfAnyTenant          => members_are_those_of_their_own_world
            MembersOfAllTenants        => members_are_those_of_their_own_world
            BearerOfAnyTenant          => members_are_those_of_their_own_world
            MemberSavedInAllTenants    => a_member_is_saved_in_its_own_world
            KeyHeldInAnyTenant         => a_key_is_held_in_its_own_world
            TokenDeadInAllTenants      => a_token_dies_in_its_own_world
            ChallengeOfAnyTenant       => a_challenge_is_live_in_its_own_world
            ChallengeReusedInAnyTenant => a_reusable_challenge_is_that_of_its_own_world
            MessagesOfAllTenants       => mail_is_that_of_its_own_world
            MessageSavedInAllTenants   => mail_is_that_of_its_own_world
            SessionOfAnyTenant         => sessions_are_those_of_their_own_world
            SessionsOfAllTenants       => sessions_are_those_of_their_own_world
            PublishedOfAllTenants      => publications_are_those_of_their_own_world
            SessionSavedInAllTenants   => a_session_is_saved_in_its_own_world
            TakesCountedInAllTenants   => takes_are_counted_in_their_own_world
            BearerFactOfAnyTenant      => the_facts_are_those_of_their_own_world
            SessionFactOfAnyTenant     => the_facts_are_those_of_their_own_world
            RevisionFactOfAnyTenant    => the_facts_are_those_of_their_own_world
            NonceFactOfAnyTenant       => the_facts_are_those_of_their_own_world
            NonceSpentInAnyTenant      => a_take_lands_in_its_own_world
            RevisionTakenInAnyTenant   => a_take_lands_in_its_own_world
            NewestSessionOfAnyTenant   => a_take_lands_in_its_own_world
            TakeOfAnyTenant            => takes_are_those_of_their_own_world
            SupersededInAnyTenant      => takes_are_those_of_their_own_world
            LatestTakesOfAllTenants    => takes_are_those_of_their_own_world
            TakesOfAllTenants          => takes_are_those_of_their_own_world
            DocumentOfAnyTenant        => documents_are_those_of_their_own_world
            DocumentsOfAllTenants      => documents_are_those_of_their_own_world
            DocumentPutIntoAllTenants  => documents_are_those_of_their_own_world
            DocumentExistsInAnyTenant  => a_document_is_put_into_its_own_world
            LogOfAllTenants            => the_log_is_that_of_its_own_world
            LogSizeOfAnyTenant         => the_log_is_that_of_its_own_world
            CountOfAllTenants          => records_are_counted_in_the_state_of_their_last_commit
            ActsOfAllTenants           => the_log_is_that_of_its_own_world
        }
        saving {
            MemberAtAnyVersion         => a_change_holds_only_for_the_version_it_was_judged_by
            SessionAtAnyVersion        => a_session_is_saved_only_at_the_version_it_was_judged_by
            MessageAtAnyVersion        => a_message_is_saved_only_at_the_version_it_was_judged_by
            MembersBeforeThePage       => pages_cover_every_member_once
            KeyIndexNotKept            => a_held_key_keeps_other_members_out
            OldTokensLive              => a_token_dies_with_the_commit_that_replaces_it
            QuotaOfMembersUnchecked    => a_state_takes_in_no_more_than_its_quota
            QuotaOfDocumentsUnchecked  => a_group_takes_in_no_more_than_its_quota
            NothingIsProven            => only_the_live_challenge_proves_a_change
            ChallengeNeverReused       => a_reusable_challenge_is_given_again
            ChallengeReusableForEver     => a_challenge_that_is_no_longer_reusable_is_replaced
            OneBucketForAll             => each_bucket_has_a_challenge_of_its_own
            ReusedIsNotLive          => a_challenge_is_live_where_it_was_given_last
            GivenToEachOfARace         => who_ask_at_once_are_given_the_same
            ChallengeOverAtItsExpiry   => a_challenge_proves_up_to_its_expiry
            ExpiryUnchecked            => an_expired_challenge_proves_nothing
            MailLost                   => mail_is_queued_in_the_order_of_commits
            DocumentOfAnySession       => a_document_holds_for_the_version_of_its_session
            LaterTakeUnchecked         => a_save_may_hold_to_when_the_last_take_was_filed
            TakesUncounted             => a_save_may_hold_to_the_number_of_takes
            CounterReset               => a_save_leaves_alone_what_is_counted
        }
        filing {
            SupersededTakesCount       => the_latest_takes_are_one_of_each_member
            TakesBeforeThePage         => pages_cover_every_latest_take_once
            AttemptForgotten           => an_attempt_sent_again_gets_its_first_answer
            StaleAcknowledged          => a_filing_is_stale_when_its_member_has
            NewerSessionUnchecked      => a_filing_is_stale_when_there_is_a_newer_session
            DeadlineUnchecked          => a_filing_is_late_after_its_deadline
            LateAtTheDeadline          => a_filing_lands_at_its_very_deadline
            ClockReadWhenQueued        => a_take_is_stamped_at_its_commit
            NonceNotSpent              => a_member_spends_a_nonce_once
            RevisionTwice              => a_revision_is_taken_once
            FactsReadOneByOne          => the_facts_are_read_in_one_snapshot
            TimeReadBeforeTheFacts     => the_facts_are_read_in_one_snapshot
            RollsBackItsNeighbours     => a_write_that_is_refused_takes_no_other_with_it
        }
    }
}

/// Sees that the case fails for the fault, with words about a promise.
async fn catch<C>(case: impl FnOnce(Arc<dyn Tenants>) -> C, fault: impl Fault)
where
    C: Future<Output = ()>,
{
    expect_broken(case(Broken::store(fault))).await;
}

async fn expect_broken(case: impl Future<Output = ()>) {
    let failed = AssertUnwindSafe(case).catch_unwind().await.expect_err("nobody noticed");
    let said = failed.downcast::<String>().map_or_else(|_| String::new(), |said| *said);
    assert!(said.contains("promised:") && said.contains("came:"), "not about a promise: {said}");
}

/// Without a fault it keeps every promise.
mod intact {
    use super::*;

    async fn intact() -> ((), Arc<dyn Tenants>) {
        ((), Broken::store(Intact))
    }

    swarm_core::conformance!(intact);
}
