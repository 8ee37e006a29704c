//! Errors that stop the program, and how they are reported.

/// What can stop the program.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What failed, with all that lies behind it. The address of a store, which may hold a password, is
/// repeated nowhere.
pub(crate) fn with_causes(what: &str, error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |cause| cause.source());
    causes.map(ToString::to_string).fold(what.to_owned(), |text, cause| {
        // Some say what their own cause says.
        if text.ends_with(&cause) { text } else { format!("{text}: {cause}") }
    })
}
