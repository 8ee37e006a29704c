//! The scripts that depend on no shape.

use std::sync::LazyLock;

use crate::script_call::Script;

macro_rules! scripts {
    ($($name:ident: $file:literal;)*) => {
        $(pub(crate) static $name: LazyLock<Script> =
            LazyLock::new(|| Script::new(include_str!(concat!("lua/", $file)).to_owned()));)*
    };
}

scripts! {
    STAGE: "stage.lua";

    CHANGES: "changes.lua";

    COPY: "copy.lua";
    KEEP: "keep.lua";
    COMMIT_LOAD: "commit_load.lua";
}
