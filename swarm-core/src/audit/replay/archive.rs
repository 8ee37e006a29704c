//! Sessions that are over are put aside, so that what a watcher reads and writes at each look does not grow with the log.

/// Reads the sessions that were put aside. Given the id and the size that the log then had, it returns the text.
pub(in crate::audit) struct Archive(Option<Reading>);

type Reading = Box<dyn FnMut(u64, u64) -> Option<String>>;

/// A session that is over, to be kept apart from the state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionAside {
    /// The session.
    pub id: u64,
    /// The size of the log at which it was put aside.
    pub size: u64,
    /// The size at which it was put aside before, if it was.
    pub before: Option<u64>,
    /// What is to be kept.
    pub text: String,
}

impl Archive {
    /// Nothing is put aside.
    pub(in crate::audit) fn none() -> Self {
        Self(None)
    }

    pub(in crate::audit) fn of(read: impl FnMut(u64, u64) -> Option<String> + 'static) -> Self {
        Self(Some(Box::new(read)))
    }

    pub(in crate::audit) fn is_used(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn read(&mut self, id: u64, size: u64) -> Option<String> {
        self.0.as_mut().and_then(|read| read(id, size))
    }
}

impl std::fmt::Debug for Archive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Archive").field(&self.is_used()).finish()
    }
}
