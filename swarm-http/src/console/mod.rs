//! The state of the operators' console: its sign-ins (MANUAL.md, 14.1). Its pages are
//! in `pages/console`, which may use the site that holds this state.

mod sign_ins;

pub(crate) use sign_ins::{Authentication, Secret, SecretState, SignIn, SignIns, Submission};

/// The state of the console.
#[derive(Default)]
pub(crate) struct Console {
    pub(crate) sign_ins: SignIns,
}
