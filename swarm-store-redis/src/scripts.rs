//! The scripts. They are called by their SHA-1: all are loaded into a server at the start, and
//! again when it answers that it does not know one.

use std::sync::LazyLock;

use redis::Script;
use swarm_core::store::CLOCK_TOLERANCE_MILLIS;
use swarm_core::store::records::BEFORE_SNAPSHOT;

macro_rules! scripts {
    ($($(#[$doc:meta])* $name:ident: $($part:literal)*;)*) => {
        $(
            $(#[$doc])*
            pub(crate) static $name: LazyLock<Script> =
                LazyLock::new(|| Script::new(&text(scripts!(@parts $($part)*))));
        )*

        /// The texts of all.
        pub(crate) fn texts() -> Vec<String> {
            vec![$(text(scripts!(@parts $($part)*))),*]
        }
    };
    (@parts $($part:literal)*) => {
        concat!(include_str!("lua/prelude.lua"), $(include_str!(concat!("lua/", $part))),*)
    };
}

/// The source of a script, preceded by the constants that come from the core.
fn text(parts: &str) -> String {
    format!(
        "local CLOCK_TOLERANCE = {CLOCK_TOLERANCE_MILLIS}\n\
         local BEFORE_SNAPSHOT = '{BEFORE_SNAPSHOT}'\n\
         {parts}"
    )
}

scripts! {
    /// Migrates a tenant without a mark, layout 0, to layout 1.
    LAYOUT_1: "layout_1.lua";
    /// Migrates from layout 1 to 2.
    LAYOUT_2: "layout_2.lua";

    NOW: "now.lua";
    TIME_OF_COMMIT: "time_of_commit.lua";
    THROUGH: "through.lua";
    ROWS: "rows.lua";
    LISTINGS: "listings.lua";

    MEMBER: "member.lua";
    MEMBERS: "members.lua";
    GIVE_CHALLENGE: "give_challenge.lua";
    SAVE_MEMBER: "attempt.lua" "save_member.lua";
    SAVE_MESSAGE: "attempt.lua" "save_message.lua";

    CONVENE: "attempt.lua" "convene.lua";
    SAVE_SESSION: "attempt.lua" "save_session.lua";

    BASIS: "basis.lua";
    FILE: "file.lua";
    TAKE: "take.lua";
    TAKES: "takes.lua";
    LATEST_TAKES: "latest_takes.lua";

    LOG: "log.lua";
    ACCEPT_CLOCK: "attempt.lua" "accept_clock.lua";

    PUT_DOCUMENT: "attempt.lua" "put_document.lua";

    SAVE_COMMITTEE_MEMBER: "attempt.lua" "save_committee_member.lua";
    SAVE_COMMITTEE_DAY: "attempt.lua" "save_committee_day.lua";
    COMMITTEE_BRIEFS: "committee_briefs.lua";
    COMMITTEE_BASIS: "committee_basis.lua";
    FILE_COMMITTEE: "file_committee.lua";
}
