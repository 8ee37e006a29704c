//! An [`Interceptor`] that refuses every commit.

use super::{
    Act, Aggregated, Aggregation, ChallengeOffer, Collection, Committee, CommitteeDayChange,
    CommitteeFiled, CommitteeFiling, CommitteeMemberChange, Convocation, DeliveryChange,
    DocumentDraft, Documents, Filed, Filing, Interceptor, Log, MemberChange, MemberRemoval,
    MemberSaved, Members, MessageChange, Outbox, Put, Queued, QueuedMail, Result, Saved,
    SessionChange, Sessions, StoreError, StoreErrorKind, TakeMarks, Takes, TreeChange,
    WebhookChange, Webhooks, async_trait,
};
use crate::domain::{Challenge, Day, Delivery, NoticeDraft, OperatorAct, Session, Timestamp};
use std::sync::Arc;

/// Refuses every commit with [`StoreErrorKind::ReadOnly`] and passes reads on, for example to inspect a restored
/// copy. Put it in front of a store with [`Intercepted`](super::Intercepted).
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOnly;

/// Implements each method that commits, and lists their names.
macro_rules! refuse {
    ($($part:ident::$method:ident($($type:ty),*) -> $answer:ty;)*) => {
        #[async_trait]
        impl Interceptor for ReadOnly {$(
            async fn $method(&self, _: &dyn $part, $(_: $type),*) -> Result<$answer> {
                Err(StoreError::new(StoreErrorKind::ReadOnly, stringify!($method), "opened for reading alone"))
            }
        )*}

        #[cfg(test)]
        const REFUSED: &[&str] = &[$(stringify!($method)),*];
    };
}

refuse! {
    Members::save_member(&MemberChange) -> MemberSaved;
    Members::remove_member(&MemberRemoval) -> Saved;
    Members::give_challenge(&ChallengeOffer) -> Challenge;
    Sessions::convene(&Convocation) -> Arc<Session>;
    Sessions::convene_once(&str, &Convocation) -> Option<Arc<Session>>;
    Sessions::save_session(&SessionChange) -> Saved;
    Sessions::aggregate(&Aggregation) -> Aggregated;
    Takes::file(&Filing) -> Filed;
    Takes::mark_takes(&TakeMarks) -> Option<Timestamp>;
    Documents::put_document(Collection, &DocumentDraft) -> Put;
    Outbox::save_message(&MessageChange) -> Saved;
    Outbox::queue_message(&QueuedMail) -> Queued;
    Log::accept_clock(&Act) -> ();
    Log::accept_store(&Act) -> ();
    Log::accept_key(&Act) -> ();
    Log::record_act(&OperatorAct, Option<(Day, u32)>) -> Saved;
    Log::forget_acts(Timestamp) -> ();
    Log::save_tree(&TreeChange) -> Saved;
    Webhooks::save_webhook(&WebhookChange) -> Option<Vec<Delivery>>;
    Webhooks::save_notice(&NoticeDraft) -> Saved;
    Webhooks::save_delivery(&DeliveryChange) -> Saved;
    Webhooks::remove_webhook_records(Timestamp) -> ();
    Committee::save_committee_member(&CommitteeMemberChange) -> Saved;
    Committee::save_committee_day(&CommitteeDayChange) -> Saved;
    Committee::file_committee(&CommitteeFiling) -> CommitteeFiled;
}

#[cfg(test)]
mod tests {
    use super::REFUSED;

    macro_rules! names {
        ($($part:ident { $($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)* })*) => {
            [$($(stringify!($method)),*),*]
        };
    }

    /// A new method of the port must be listed as a read or as a commit.
    #[test]
    fn every_method_of_the_port_is_a_read_or_refused() {
        const READS: &[&str] = &[
            "now",
            "member",
            "members",
            "bearer",
            "session",
            "sessions",
            "session_summaries",
            "published",
            "basis",
            "take",
            "take_context",
            "session_takes",
            "session_authors",
            "member_takes",
            "document",
            "whole_document",
            "documents",
            "document_page",
            "messages",
            "webhook",
            "notices",
            "deliveries",
            "log",
            "log_position",
            "seen_log",
            "may_commit",
            "acts_on",
            "operator_acts",
            "mark_went_back",
            "tree",
            "tiles",
            "count",
            "committee_members",
            "committee_member",
            "committee_day",
            "committee_sessions",
            "committee_briefs",
            "committee_basis",
            "committee_takes",
        ];
        for method in crate::port_methods!(names: Clock Members Sessions Takes Documents Outbox Log Webhooks Counts Committee)
        {
            assert!(READS.contains(&method) != REFUSED.contains(&method), "{method}");
        }
    }
}
