//! The scripts. They are called by their SHA-1: all are loaded into a server at the start, and
//! again when it answers that it does not know one.

use std::sync::LazyLock;

use redis::Script;
use swarm_core::store::CLOCK_TOLERANCE_MILLIS;

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
        concat!($(include_str!(concat!("lua/", $part))),*)
    };
}

fn text(source: &str) -> String {
    source.replace("CLOCK_TOLERANCE", &CLOCK_TOLERANCE_MILLIS.to_string())
}

scripts! {
    READ: "tables.lua" "read.lua";
    COMMIT: "tables.lua" "commit.lua";
    STAGE: "stage.lua";

    CHANGES: "changes.lua";
    ANNOUNCE: "announce.lua";

    COPY: "copy.lua";
    KEEP: "keep.lua";
    COMMIT_LOAD: "commit_load.lua";
}
