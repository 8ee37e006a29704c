//! What a front end answers over HTTP, whatever server it is built on.

mod status;

pub use status::Status;
