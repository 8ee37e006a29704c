//! The entry points for a client that knows only the address (API.md, 9.1).

pub(crate) mod diagnosis;
pub(crate) mod guide;
pub(crate) mod home;
pub(crate) mod manifest;
pub(crate) mod reference;
