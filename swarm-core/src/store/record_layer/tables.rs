//! The tables of a tenant: what a backend stores, declared once.

use crate::store::Collection;
use crate::store::backend::{Column, ColumnKind, Index, Table, Veil};

/// Declares a table in a module of its own, with the positions of its columns, parts and indexes as constants.
macro_rules! table {
    (
        $(#[$doc:meta])*
        $module:ident, key $key:literal $(, $transient:ident)?;
        columns { $($column:ident $column_name:literal $kind:ident,)* }
        parts { $($part:ident $part_name:literal,)* }
        $(veiled $veiled:ident having $having:ident until $other:ident[$reference:ident] has $until:ident;)?
        indexes { $($index:ident $index_name:literal [$($indexed:ident)*] $($unique:ident)?,)* }
    ) => {
        $(#[$doc])*
        #[allow(dead_code, reason = "no code names some columns, which have their places in a list of all")]
        pub(super) mod $module {
            use super::{Column, ColumnKind, Table};

            #[allow(clippy::upper_case_acronyms, non_camel_case_types, reason = "named as the constants below")]
            #[allow(dead_code, reason = "a table may have no parts or indexes")]
            mod positions {
                pub(super) enum Columns { $($column),* }
                pub(super) enum Parts { $($part),* }
                pub(super) enum Indexes { $($index),* }
            }

            $(pub(in crate::store::record_layer) const $column: usize = positions::Columns::$column as usize;)*
            $(pub(in crate::store::record_layer) const $part: usize = positions::Parts::$part as usize;)*
            $(pub(in crate::store::record_layer) const $index: usize = positions::Indexes::$index as usize;)*

            pub(in crate::store::record_layer) static TABLE: Table = Table {
                name: stringify!($module),
                columns: &[$(Column { name: $column_name, kind: ColumnKind::$kind }),*],
                key: $key,
                parts: &[$($part_name),*],
                veiled: table!(@veiled $($veiled $having $other $reference $until)?),
                indexes: &[$(super::Index {
                    name: $index_name,
                    columns: &[$($indexed),*],
                    is_unique: table!(@unique $($unique)?),
                }),*],
                is_transient: table!(@transient $($transient)?),
            };
        }
    };
    (@veiled $part:ident $having:ident $other:ident $reference:ident $until:ident) => {
        Some(super::Veil {
            part: $part,
            having: $having,
            key: $reference,
            table: &super::$other::TABLE,
            until: super::$other::$until,
        })
    };
    (@veiled) => { None };
    (@unique unique) => { true };
    (@unique) => { false };
    (@transient transient) => { true };
    (@transient) => { false };
}

/// All tables.
pub const TABLES: &[&Table] = &[
    &members::TABLE,
    &challenges::TABLE,
    &reusable_challenges::TABLE,
    &messages::TABLE,
    &sessions::TABLE,
    &takes::TABLE,
    &documents::TABLE,
    &committee_members::TABLE,
    &committee_days::TABLE,
    &committee_briefs::TABLE,
    &committee_takes::TABLE,
    &operator_acts::TABLE,
    &trees::TABLE,
    &tiles::TABLE,
    &webhooks::TABLE,
    &notices::TABLE,
    &deliveries::TABLE,
];

table! {
    /// Members, in any state.
    members, key 1;
    columns {
        ID "id" Text,
        STATE "state" Text,
        // The hash of its bearer token.
        TOKEN "token" Bytes,
        // The public key, while no other member may hold it.
        HELD_KEY "held_key" Bytes,
    }
    parts { RECORD "record", }
    indexes {
        BY_STATE "members_by_state" [STATE ID],
        BY_TOKEN "members_by_token" [TOKEN],
        BY_HELD_KEY "members_by_held_key" [HELD_KEY] unique,
    }
}

table! {
    /// The live challenge of each member; that of the empty id is the decoy.
    challenges, key 1, transient;
    columns {
        MEMBER "member" Text,
        SEED "seed" Bytes,
        REUSABLE_UNTIL "reusable_until" Time,
        EXPIRES_AT "expires_at" Time,
    }
    parts {}
    indexes {}
}

table! {
    /// The challenge that was given out last in each bucket: at most 65,536.
    reusable_challenges, key 1, transient;
    columns {
        BUCKET "bucket" Integer,
        SEED "seed" Bytes,
        REUSABLE_UNTIL "reusable_until" Time,
        EXPIRES_AT "expires_at" Time,
    }
    parts {}
    indexes {}
}

table! {
    /// The outbox.
    messages, key 1;
    columns {
        ID "id" Integer,
        STATE "state" Text,
        QUEUED_AT "queued_at" Time,
        SENT_AT "sent_at" Time,
        DUE_AT "due_at" Time,
        ATTEMPTS "attempts" Integer,
        // The member that it is for.
        MEMBER "member" Text,
        // Of a message that is queued once: what makes it unique.
        OCCASION "occasion" Text,
    }
    parts { RECIPIENT "recipient", SUBJECT "subject", TEXT "body", LAST_ERROR "last_error", }
    indexes {
        BY_STATE "messages_by_state" [STATE ID],
        BY_OCCASION "messages_by_occasion" [OCCASION] unique,
    }
}

table! {
    /// Sessions.
    sessions, key 1;
    columns {
        ID "id" Integer,
        DATE "date" Text,
        SUBJECT "subject" Text,
        STATE "state" Text,
        CONVENED_AT "convened_at" Time,
        WINDOW_CLOSES_AT "window_closes_at" Time,
        QUORUM "quorum" Integer,
        HAS_ROSTER "has_roster" Integer,
        BLIND "blind" Integer,
        PRACTICE "practice" Integer,
        // Whether it is aggregated and published by itself.
        FINISH "finish" Integer,
        OPENED_AT "opened_at" Time,
        PUBLISHED_AT "published_at" Time,
        // The time of publication, if its result counts.
        COUNTED_AT "counted_at" Time,
        // The number of acts on it.
        ACTS "acts" Integer,
    }
    parts {
        FIGURES "figures", BUCKETS "buckets", ROSTER "roster", QUESTION "question", OUTCOME "outcome",
        VOIDED "voided", SNAPSHOT "snapshot", DECLARATION "declaration",
    }
    indexes {
        BY_DAY "sessions_by_day" [DATE SUBJECT ID],
        BY_STATE "sessions_by_state" [STATE ID],
        BY_SUBJECT "sessions_by_subject" [SUBJECT ID],
        BY_PUBLICATION "sessions_by_publication" [COUNTED_AT ID],
    }
}

table! {
    /// Takes. Only `current` and the mark of an operator ever change, and texts are erased.
    takes, key 1;
    columns {
        ID "id" Integer,
        SESSION "session" Integer,
        MEMBER "member" Text,
        REVISION "revision" Integer,
        NONCE "nonce" Text,
        ATTEMPT "attempt" Bytes,
        FILED_AT "filed_at" Time,
        // 1, or null once a later revision supersedes it.
        CURRENT "current" Integer,
        // When and why an operator withheld its texts.
        WITHHELD_AT "withheld_at" Time,
        WITHHELD_NOTE "withheld_note" Text,
        // The seal, if it was filed while the session was sealed.
        SEAL "seal" Bytes,
    }
    // The signature is followed by the version of the session, and that of a sealed take also by the salt of its
    // seal, each after a dot. Of texts that were erased there are the digest and, after a space, the seal. Of a take with a
    // seal there are the day and the subject of the session. The payload is the signed text.
    parts {
        PUBLIC_KEY "public_key", SIGNATURE "signature", REMOVED "removed", ABOUT "about",
        PAYLOAD "payload",
    }
    veiled PAYLOAD having SEAL until sessions[SESSION] has OPENED_AT;
    indexes {
        BY_SESSION "takes_by_session" [SESSION ID],
        BY_NONCE "takes_by_nonce" [MEMBER NONCE] unique,
        BY_REVISION "takes_by_revision" [MEMBER SESSION REVISION] unique,
    }
}

table! {
    /// Documents of all collections.
    documents, key 2;
    columns {
        COLLECTION "collection" Text,
        NAME "name" Text,
        ID "id" Integer,
        FAMILY "family" Text,
        CREATED_AT "created_at" Time,
        // The length of the text in bytes.
        SIZE "size" Integer,
        // The session of an occasion, whose id is the text; or that until whose opening the text is held.
        SESSION "session" Integer,
    }
    parts { TEXT "record", }
    veiled TEXT having SESSION until sessions[SESSION] has OPENED_AT;
    indexes {
        BY_ID "documents_by_id" [COLLECTION ID] unique,
        BY_FAMILY "documents_by_family" [COLLECTION FAMILY CREATED_AT],
        BY_TIME "documents_by_time" [COLLECTION CREATED_AT],
    }
}

table! {
    /// The members of the committee.
    committee_members, key 1;
    columns {
        ID "id" Text,
        // The hash of its key.
        API_KEY "api_key" Bytes,
    }
    parts { RECORD "record", }
    indexes { BY_API_KEY "committee_members_by_api_key" [API_KEY], }
}

table! {
    /// The days of the committee.
    committee_days, key 1;
    columns {
        DATE "date" Text,
        // 1 once its briefs are generated.
        GENERATED "generated" Integer,
        // The subject of its briefs.
        ABOUT "about" Text,
    }
    parts { RECORD "record", }
    indexes {
        BY_GENERATION "committee_days_by_generation" [GENERATED DATE],
        BY_SUBJECT "committee_days_by_subject" [ABOUT DATE],
    }
}

table! {
    /// The briefs of the latest generation.
    committee_briefs, key 2;
    columns {
        DATE "date" Text,
        MEMBER "member" Text,
    }
    parts { RECORD "record", }
    indexes {}
}

table! {
    /// All submissions to the committee. Only `current` ever changes.
    committee_takes, key 1;
    columns {
        ID "id" Integer,
        DATE "date" Text,
        MEMBER "member" Text,
        SUBJECT "subject" Text,
        ATTEMPT "attempt" Bytes,
        RECEIVED_AT "received_at" Time,
        // 1, or null once a later one of the member about the subject supersedes it.
        CURRENT "current" Integer,
    }
    // Without the time at which it was received.
    parts { RECORD "record", }
    indexes {
        BY_DAY "committee_takes_by_day" [DATE ID],
        BY_MEMBER "committee_takes_by_member" [MEMBER DATE ID],
        BY_SUBJECT "committee_takes_by_subject" [MEMBER DATE SUBJECT ID],
        BY_ATTEMPT "committee_takes_by_attempt" [MEMBER DATE ATTEMPT] unique,
    }
}

table! {
    /// What operators did.
    operator_acts, key 1, transient;
    columns {
        // Acts of one time are in the order of their ids: those of a process are as it made them.
        ID "id" Bytes,
        AT "at" Time,
        BY "by" Text,
        ACT "act" Text,
        TARGET "target" Text,
        NOTE "note" Text,
        // The day, for acts that strangers cause: so many of them are kept of a day.
        STRANGER_DAY "stranger_day" Text,
    }
    parts {}
    indexes {
        BY_TIME "operator_acts_by_time" [AT ID],
        BY_ACTOR "operator_acts_by_actor" [BY AT ID],
        BY_STRANGER_DAY "operator_acts_by_stranger_day" [STRANGER_DAY ID],
    }
}

table! {
    /// The state of the tree over the log: at most one record, with the key 1.
    trees, key 1, transient;
    columns {
        ID "id" Integer,
        LOG "log" Integer,
        SIZE "size" Integer,
    }
    parts { CHECKPOINT "checkpoint", }
    indexes {}
}

table! {
    /// The tiles of the tree.
    tiles, key 3, transient;
    columns {
        LOG "log" Integer,
        LEVEL "level" Integer,
        NUMBER "number" Integer,
        HASHES "hashes" Bytes,
    }
    parts {}
    indexes {}
}

table! {
    /// How far each webhook has got.
    webhooks, key 1, transient;
    columns { URL "url" Text, }
    parts { RECORD "record", }
    indexes {}
}

table! {
    /// Events for webhooks that are no entries of the log.
    notices, key 1, transient;
    columns {
        ID "id" Integer,
        NOTED_AT "noted_at" Time,
        EVENT "event" Text,
        // What makes it unique among those of its event.
        NAME "name" Text,
    }
    parts { DATA "data", }
    indexes {
        BY_NAME "notices_by_name" [EVENT NAME] unique,
        BY_TIME "notices_by_time" [NOTED_AT ID],
    }
}

table! {
    /// Deliveries to webhooks.
    deliveries, key 1, transient;
    columns {
        ID "id" Integer,
        URL "url" Text,
        STATE "state" Text,
        QUEUED_AT "queued_at" Time,
        DELIVERED_AT "delivered_at" Time,
        DUE_AT "due_at" Time,
        ATTEMPTS "attempts" Integer,
        // The same as `due_at` while it is queued, else null.
        NEXT_AT "next_at" Time,
        // 1 if its last attempt failed, else null.
        FAILED "failed" Integer,
    }
    parts { EVENT_ID "event_id", EVENT "event", LAST_ERROR "last_error", BODY "body", }
    indexes {
        BY_STATE "deliveries_by_state" [STATE ID],
        BY_URL "deliveries_by_url" [URL STATE ID],
        BY_NEXT "deliveries_by_next" [URL NEXT_AT ID],
        BY_FAILURE "deliveries_by_failure" [URL FAILED ID],
        BY_TIME "deliveries_by_time" [QUEUED_AT ID],
    }
}

/// The sequence of the ids of takes.
pub(super) const TAKES: &str = "takes";
/// The sequence of the ids of sessions.
pub(super) const SESSIONS: &str = "sessions";
/// The sequence of the ids of messages.
pub(super) const MESSAGES: &str = "messages";
/// The sequence of the ids of notices.
pub(super) const NOTICES: &str = "notices";
/// The sequence of the ids of deliveries.
pub(super) const DELIVERIES: &str = "deliveries";
/// The sequence of the ids of submissions to the committee.
pub(super) const COMMITTEE_TAKES: &str = "committee_takes";
/// The sum of the sizes of all documents in collections that have a limited size.
pub(super) const DOCUMENT_BYTES: &str = "document_bytes";

/// The sequence of the ids of a collection's documents.
pub(super) fn documents_sequence(collection: Collection) -> &'static str {
    match collection {
        Collection::Subjects => "documents/subjects",
        Collection::SubjectSnapshots => "documents/subject-snapshots",
        Collection::Memos => "documents/memos",
        Collection::Regimes => "documents/regimes",
        Collection::Signals => "documents/signals",
        Collection::Briefs => "documents/briefs",
        Collection::Occasions => "documents/occasions",
        Collection::HeldMemos => "documents/held-memos",
        Collection::Timestamps => "documents/timestamps",
        Collection::EndedLogs => "documents/ended-logs",
    }
}

#[cfg(test)]
mod tests {
    use super::TABLES;
    use crate::store::backend::engine::MAX_PREFIX;

    /// The engine finds nothing for a longer prefix.
    #[test]
    fn keys_and_indexes_have_as_many_columns_as_the_engine_supports() {
        for table in TABLES {
            let longest = table.indexes.iter().map(|index| index.columns.len()).max();
            assert!(table.key.max(longest.unwrap_or(0)) <= MAX_PREFIX, "{}", table.name);
        }
    }
}
