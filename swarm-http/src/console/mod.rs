//! The state of the operators' console: sessions, and waits after wrong tokens (API.md, 14.1). Its pages are
//! in `pages/console`, which may use the site that holds this state.

mod attempts;
mod sign_ins;

pub(crate) use attempts::{Attempts, client};
pub(crate) use sign_ins::{Secret, SecretState, SignIn, SignIns, Submission};

/// The state of the console.
#[derive(Default)]
pub(crate) struct Console {
    pub(crate) sign_ins: SignIns,
    pub(crate) attempts: Attempts,
}
