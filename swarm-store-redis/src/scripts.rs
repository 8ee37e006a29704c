//! The scripts that depend on no shape. They are called by their SHA-1: all are loaded into a server at the start, and
//! again when it answers that it does not know one.

use std::sync::LazyLock;

use redis::Script;

macro_rules! scripts {
    ($($name:ident: $file:literal;)*) => {
        $(pub(crate) static $name: LazyLock<Script> =
            LazyLock::new(|| Script::new(include_str!(concat!("lua/", $file))));)*

        /// The texts of all.
        pub(crate) const TEXTS: &[&str] = &[$(include_str!(concat!("lua/", $file))),*];
    };
}

scripts! {
    STAGE: "stage.lua";

    CHANGES: "changes.lua";

    COPY: "copy.lua";
    KEEP: "keep.lua";
    COMMIT_LOAD: "commit_load.lua";
}
