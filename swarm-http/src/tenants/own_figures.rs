//! Figures of the program around the service, beside the result of a session.

use async_trait::async_trait;
use swarm_core::Session;
use swarm_core::rules::PublicTake;

/// Computes figures such as an aggregation of the program's own. The page of a session shows them beside its result, marked as
/// not verified: no snapshot, log or bundle has them.
#[async_trait]
pub trait OwnFigures: Send + Sync + 'static {
    /// Returns the figures of this session, from its record and the latest take of each member. Of takes that are sealed, nothing
    /// is known but that they were filed. The first [`OwnFigure::MAX`] are shown.
    ///
    /// The page waits for the figures, and is cached until the log has another entry. So they must depend on nothing else.
    async fn of_session(&self, session: &Session, takes: &[PublicTake]) -> Vec<OwnFigure>;
}

/// A figure with its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnFigure {
    label: String,
    value: String,
}

impl OwnFigure {
    /// The most figures of a session.
    pub const MAX: usize = 12;

    /// A figure with this label. `None` unless both have 1 to 60 characters, and no control characters.
    pub fn new(label: &str, value: &str) -> Option<Self> {
        let is_line = |text: &str| {
            (1..=60).contains(&text.chars().count()) && !text.contains(char::is_control)
        };
        let are_lines = is_line(label) && is_line(value);
        are_lines.then(|| Self { label: label.to_owned(), value: value.to_owned() })
    }

    /// Returns the label.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the figure.
    pub fn value(&self) -> &str {
        &self.value
    }
}
