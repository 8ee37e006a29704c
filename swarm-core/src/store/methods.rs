//! The methods of the port as a list, for code that treats all of them alike.

/// Passes the methods of the named traits to a macro, as `Trait { method(argument: Type) -> Answer;
/// … }` for each trait. So code that treats all methods alike, such as forwarding, recording or
/// fault injection, is written once:
///
/// ```
/// macro_rules! names {
///     ($($part:ident { $($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)* })*) => {
///         [$($(concat!(stringify!($part), "::", stringify!($method))),*),*]
///     };
/// }
/// assert_eq!(swarm_core::port_methods!(names: Clock Counts), ["Clock::now", "Counts::count"]);
/// ```
///
/// The parts of a [`Store`](crate::store::Store) are `Clock Members Sessions Takes Documents Outbox
/// Log Webhooks Counts`; those of a [`CommitteeStore`](crate::store::CommitteeStore) `Clock Documents
/// Committee Log`. Every method is `async`, takes `&self`, and answers in a
/// [`Result`](crate::store::Result).
#[macro_export]
macro_rules! port_methods {
    ($callback:ident: $($part:ident)*) => {
        $crate::port_methods! { @ $callback [] $($part)* }
    };
    (@ $callback:ident [$($listed:tt)*]) => {
        $callback! { $($listed)* }
    };
    (@ $callback:ident [$($listed:tt)*] Clock $($rest:ident)*) => {
        $crate::port_methods! { @ $callback [$($listed)* Clock {
            now() -> $crate::domain::Timestamp;
        }] $($rest)* }
    };
    (@ $callback:ident [$($listed:tt)*] Members $($rest:ident)*) => {
        $crate::port_methods! { @ $callback [$($listed)* Members {
            member(id: &$crate::domain::MemberId) -> $crate::store::MemberBasis;
            members(query: &$crate::store::MemberQuery) -> Vec<::std::sync::Arc<$crate::domain::Member>>;
            bearer(token: &$crate::domain::TokenHash) -> Option<::std::sync::Arc<$crate::domain::Member>>;
            save_member(change: &$crate::store::MemberChange) -> $crate::store::MemberSaved;
            remove_member(removal: &$crate::store::MemberRemoval) -> $crate::store::Saved;
            give_challenge(offer: &$crate::store::ChallengeOffer) -> $crate::domain::Challenge;
        }] $($rest)* }
    };
    (@ $callback:ident [$($listed:tt)*] Sessions $($rest:ident)*) => {
        $crate::port_methods! { @ $callback [$($listed)* Sessions {
            session(id: $crate::domain::SessionId)
                -> Option<$crate::store::Versioned<$crate::domain::Session>>;
            sessions(query: &$crate::store::SessionQuery) -> Vec<::std::sync::Arc<$crate::domain::Session>>;
            session_summaries(query: &$crate::store::SummaryQuery)
                -> Vec<::std::sync::Arc<$crate::domain::SessionSummary>>;
            published(limit: usize) -> Vec<::std::sync::Arc<$crate::domain::SessionSummary>>;
            convene(convocation: &$crate::store::Convocation) -> ::std::sync::Arc<$crate::domain::Session>;
            convene_once(occasion: &str, convocation: &$crate::store::Convocation)
                -> Option<::std::sync::Arc<$crate::domain::Session>>;
            save_session(change: &$crate::store::SessionChange) -> $crate::store::Saved;
            aggregate(aggregation: &$crate::store::Aggregation) -> $crate::store::Aggregated;
        }] $($rest)* }
    };
    (@ $callback:ident [$($listed:tt)*] Takes $($rest:ident)*) => {
        $crate::port_methods! { @ $callback [$($listed)* Takes {
            basis(query: &$crate::store::BasisQuery<'_>) -> $crate::store::Basis;
            file(filing: &$crate::store::Filing) -> $crate::store::Filed;
            take(id: $crate::domain::TakeId)
                -> Option<$crate::domain::TakeOnFile<$crate::domain::StoredTake>>;
            take_context(id: $crate::domain::TakeId) -> Option<$crate::store::TakeContext>;
            session_takes(query: &$crate::store::TakeQuery) -> Option<$crate::store::SessionTakes>;
            session_authors(session: $crate::domain::SessionId) -> Option<$crate::store::SessionAuthors>;
            member_takes(query: &$crate::store::MemberTakeQuery) -> Vec<$crate::store::MemberTake>;
            mark_takes(marks: &$crate::store::TakeMarks) -> Option<$crate::domain::Timestamp>;
        }] $($rest)* }
    };
    (@ $callback:ident [$($listed:tt)*] Documents $($rest:ident)*) => {
        $crate::port_methods! { @ $callback [$($listed)* Documents {
            document(collection: $crate::store::Collection, key: &str)
                -> Option<$crate::store::Document>;
            whole_document(collection: $crate::store::Collection, key: &str)
                -> Option<$crate::store::Document>;
            documents(collection: $crate::store::Collection, group: Option<&str>)
                -> Vec<$crate::store::Document>;
            document_page(
                collection: $crate::store::Collection,
                query: &$crate::store::DocumentQuery
            ) -> $crate::store::DocumentPage;
            put_document(
                collection: $crate::store::Collection,
                draft: &$crate::store::DocumentDraft
            ) -> $crate::store::Put;
        }] $($rest)* }
    };
    (@ $callback:ident [$($listed:tt)*] Outbox $($rest:ident)*) => {
        $crate::port_methods! { @ $callback [$($listed)* Outbox {
            messages(query: &$crate::store::MessageQuery)
                -> Vec<$crate::store::Versioned<$crate::domain::Message>>;
            save_message(change: &$crate::store::MessageChange) -> $crate::store::Saved;
            queue_message(mail: &$crate::store::QueuedMail) -> $crate::store::Queued;
        }] $($rest)* }
    };
    (@ $callback:ident [$($listed:tt)*] Log $($rest:ident)*) => {
        $crate::port_methods! { @ $callback [$($listed)* Log {
            accept_clock(act: &$crate::store::Act) -> ();
            accept_store(act: &$crate::store::Act) -> ();
            accept_key(act: &$crate::store::Act) -> ();
            log(after: $crate::domain::Seq, limit: usize) -> Vec<$crate::domain::LogRow>;
            log_position() -> $crate::store::LogPosition;
            seen_log() -> $crate::store::LogPosition;
            may_commit() -> ();
            acts_on(session: $crate::domain::SessionId) -> Vec<$crate::domain::LogRow>;
            operator_acts(query: &$crate::store::ActQuery) -> Vec<$crate::domain::RecordedAct>;
            record_act(
                act: &$crate::domain::OperatorAct,
                of_strangers: Option<($crate::domain::Day, u32)>
            ) -> $crate::store::Saved;
            forget_acts(before: $crate::domain::Timestamp) -> ();
            mark_went_back(log: u64, size: $crate::domain::Seq) -> ();
            tree() -> Option<$crate::store::Versioned<$crate::store::TreeState>>;
            save_tree(change: &$crate::store::TreeChange) -> $crate::store::Saved;
            tiles(log: u64, tiles: &[$crate::proof::tile::TileId]) -> Vec<Option<Vec<u8>>>;
        }] $($rest)* }
    };
    (@ $callback:ident [$($listed:tt)*] Webhooks $($rest:ident)*) => {
        $crate::port_methods! { @ $callback [$($listed)* Webhooks {
            webhook(url: &str) -> $crate::store::WebhookBasis;
            save_webhook(change: &$crate::store::WebhookChange)
                -> Option<Vec<$crate::domain::Delivery>>;
            notices(after: $crate::domain::NoticeId, limit: usize) -> Vec<$crate::domain::Notice>;
            save_notice(notice: &$crate::domain::NoticeDraft) -> $crate::store::Saved;
            deliveries(query: &$crate::store::DeliveryQuery<'_>)
                -> Vec<$crate::store::Versioned<$crate::domain::Delivery>>;
            save_delivery(change: &$crate::store::DeliveryChange) -> $crate::store::Saved;
            remove_webhook_records(before: $crate::domain::Timestamp) -> ();
        }] $($rest)* }
    };
    (@ $callback:ident [$($listed:tt)*] Counts $($rest:ident)*) => {
        $crate::port_methods! { @ $callback [$($listed)* Counts {
            count(what: $crate::store::Countable) -> u64;
        }] $($rest)* }
    };
    (@ $callback:ident [$($listed:tt)*] Committee $($rest:ident)*) => {
        $crate::port_methods! { @ $callback [$($listed)* Committee {
            committee_members()
                -> Vec<$crate::store::Versioned<$crate::domain::committee::CommitteeMember>>;
            committee_member(id: &$crate::domain::committee::CommitteeMemberId)
                -> Option<$crate::store::Versioned<$crate::domain::committee::CommitteeMember>>;
            save_committee_member(change: &$crate::store::CommitteeMemberChange)
                -> $crate::store::Saved;
            committee_day(date: $crate::domain::Day)
                -> Option<$crate::store::Versioned<$crate::domain::committee::CommitteeDay>>;
            committee_sessions(query: &$crate::store::CommitteeSessionQuery)
                -> Vec<$crate::store::Versioned<$crate::domain::committee::CommitteeDay>>;
            save_committee_day(change: &$crate::store::CommitteeDayChange) -> $crate::store::Saved;
            committee_briefs(
                date: $crate::domain::Day,
                member: Option<&$crate::domain::committee::CommitteeMemberId>
            ) -> Vec<::std::sync::Arc<$crate::domain::committee::CommitteeBrief>>;
            committee_basis(key: &$crate::domain::ApiKeyHash) -> $crate::store::CommitteeBasis;
            file_committee(filing: &$crate::store::CommitteeFiling)
                -> $crate::store::CommitteeFiled;
            committee_takes(query: &$crate::store::CommitteeTakesQuery<'_>)
                -> Vec<::std::sync::Arc<$crate::domain::committee::CommitteeTake>>;
        }] $($rest)* }
    };
}

pub(super) use port_methods;
