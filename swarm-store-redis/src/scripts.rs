//! The scripts. They are called by their SHA-1: all are loaded into a server at the start, and
//! again when it answers that it does not know one.

use std::sync::LazyLock;

use redis::Script;
use swarm_core::store::CLOCK_TOLERANCE_MILLIS;
use swarm_core::store::records::{
    BEFORE_BUCKETS, BEFORE_PUBLICATION, BEFORE_ROSTER, BEFORE_SNAPSHOT, BEFORE_WEIGHTS,
};

use crate::keys::BY_KEY;

/// [`FILE`], for each session: how many fields it compares, and how many other arguments it takes. The last of these is
/// the number of takes for the session.
pub(crate) const SESSION_FIELDS: usize = 3;
pub(crate) const SESSION_REST: usize = 4;

/// [`FILE`], for each take: how many fields it compares, and how many other arguments it takes.
pub(crate) const FIELDS: usize = 3;
pub(crate) const REST: usize = 5;

macro_rules! scripts {
    ($($(#[$doc:meta])* $name:ident: $kind:ident $($part:literal)*;)*) => {
        $(
            $(#[$doc])*
            pub(crate) static $name: LazyLock<Script> =
                LazyLock::new(|| Script::new(&text(scripts!(@$kind $($part)*))));
        )*

        /// The texts of all.
        pub(crate) fn texts() -> Vec<String> {
            vec![$(text(scripts!(@$kind $($part)*))),*]
        }
    };
    // A script that only reads, or that writes regardless of the log.
    (@plain $($part:literal)*) => {
        concat!(include_str!("lua/prelude.lua"), $(include_str!(concat!("lua/", $part))),*)
    };
    // A script that reads the facts of a judgement.
    (@facts $($part:literal)*) => {
        scripts!(@plain "guard_facts.lua" $($part)*)
    };
    // A commit. Returns two lines of text: the log position after it (number, size, mark of the last row;
    // size 0 and no mark when it appended nothing), and the outcome. Text, because returning a table costs
    // Redis more than the values in it.
    (@commit $($part:literal)*) => {
        scripts!(@filing "guarded.lua" $($part)*)
    };
    // A commit that reads the log position together with its own facts.
    (@filing $($part:literal)*) => {
        concat!(
            scripts!(@plain "guard.lua"),
            "local function commit()\n", $(include_str!(concat!("lua/", $part))),*, "end\n",
            "local outcome = commit()\n",
            "return log_number .. ' ' .. size_after .. ' ' .. last_mark .. '\\n' .. outcome\n",
        )
    };
}

/// The source of a script, preceded by the constants that come from the core.
fn text(parts: &str) -> String {
    format!(
        "local CLOCK_TOLERANCE = {CLOCK_TOLERANCE_MILLIS}\n\
         local BEFORE_BUCKETS, BEFORE_ROSTER = '{BEFORE_BUCKETS}', '{BEFORE_ROSTER}'\n\
         local BEFORE_PUBLICATION = '{BEFORE_PUBLICATION}'\n\
         local BEFORE_SNAPSHOT, BEFORE_WEIGHTS = '{BEFORE_SNAPSHOT}', '{BEFORE_WEIGHTS}'\n\
         local BY_KEY = '{BY_KEY}'\n\
         local SESSION_FIELDS, SESSION_REST = {SESSION_FIELDS}, {SESSION_REST}\n\
         local FIELDS, REST = {FIELDS}, {REST}\n\
         {parts}"
    )
}

scripts! {
    NOW: plain "now.lua";
    TIME_OF_COMMIT: facts "time_of_commit.lua";
    THROUGH: plain "through.lua";
    ROWS: plain "records.lua" "without_snapshot.lua" "summary.lua" "rows.lua";
    LISTINGS: plain "records.lua" "listings.lua";

    CHANGES: plain "changes.lua";
    ANNOUNCE: plain "announce.lua";

    MEMBER: plain "member.lua";
    MEMBERS: plain "records.lua" "members.lua";
    GIVE_CHALLENGE: commit "records.lua" "give_challenge.lua";
    SAVE_MEMBER: commit "records.lua" "attempt.lua" "save_member.lua";
    REMOVE_MEMBER: commit "records.lua" "attempt.lua" "remove_member.lua";
    SAVE_MESSAGE: commit "records.lua" "attempt.lua" "save_message.lua";

    CONVENE: commit "records.lua" "attempt.lua" "convene.lua";
    HOLD: commit "hold.lua";
    STAGE: plain "stage.lua";
    SAVE_SESSION: commit "records.lua" "attempt.lua" "save_session.lua";

    BASIS: facts "without_snapshot.lua" "basis.lua";
    FILE: filing "file.lua";
    TAKE: plain "take.lua";
    TAKE_CONTEXT: plain "records.lua" "take_context.lua";
    SESSION_TAKES: plain "records.lua" "session_takes.lua";
    MEMBER_TAKES: plain "records.lua" "summary.lua" "member_takes.lua";

    LOG: plain "log.lua";
    LOG_POSITION: plain "log_position.lua";
    SAVE_TREE: plain "save_tree.lua";
    ACCEPT_CLOCK: commit "records.lua" "attempt.lua" "accept_clock.lua";
    ACCEPT_KEY: commit "records.lua" "attempt.lua" "accept_key.lua";
    ACCEPT_STORE: plain "records.lua" "attempt.lua" "accept_store.lua";

    PUT_DOCUMENT: commit "records.lua" "attempt.lua" "document_text.lua" "put_document.lua";
    DOCUMENT_PAGE: plain "document_text.lua" "document_page.lua";

    DUMP: plain "dump.lua";
    KEEP_DUMP: plain "keep_dump.lua";
    DUMP_GROUPS: plain "records.lua" "dump_groups.lua";
    RESTORE: plain "records.lua" "restore.lua";
    COMMIT_RESTORE: plain "attempt.lua" "commit_restore.lua";

    SAVE_COMMITTEE_MEMBER: commit "records.lua" "attempt.lua" "save_committee_member.lua";
    SAVE_COMMITTEE_DAY: commit "records.lua" "attempt.lua" "save_committee_day.lua";
    COMMITTEE_BRIEFS: plain "records.lua" "committee_briefs.lua";
    COMMITTEE_BASIS: facts "records.lua" "committee_basis.lua";
    FILE_COMMITTEE: commit "records.lua" "file_committee.lua";
}
