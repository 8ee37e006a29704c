//! The parts of a record, made when they are first asked for.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The [parts](super::Table::parts) of a record: texts that a backend keeps and does not look into.
///
/// A body is made of a value whose texts are written when they are asked for, or of texts. The value that is read from it is kept beside
/// it. So a backend that keeps bodies in memory neither writes nor parses texts. Clones share both.
#[derive(Clone)]
pub struct Body {
    inner: Arc<Inner>,
    is_veiled: bool,
}

struct Inner {
    source: Source,
    value: OnceLock<Arc<dyn Any + Send + Sync>>,
}

enum Source {
    Texts(Box<[Option<Box<str>>]>),
    Value(Box<dyn Parts>),
}

/// A value that writes the parts of a record.
pub trait Parts: Any + Send + Sync {
    /// Returns the text of the part with this position; `None` if the record has none.
    fn part(&self, position: usize) -> Option<Cow<'_, str>>;
}

impl Body {
    /// Returns the body of a record whose table has no parts.
    pub fn empty() -> Self {
        static EMPTY: OnceLock<Body> = OnceLock::new();
        EMPTY.get_or_init(|| Self::of_texts(Vec::new())).clone()
    }

    /// Returns a body of texts, in the order of [`Table::parts`](super::Table::parts). Parts that were not read are `None`.
    pub fn of_texts(texts: Vec<Option<Box<str>>>) -> Self {
        Self::from(Source::Texts(texts.into()))
    }

    /// Returns a body that this value writes.
    pub fn of(value: impl Parts) -> Self {
        Self::from(Source::Value(Box::new(value)))
    }

    /// Returns the same body as a query reads it that leaves out a part, which is [veiled](super::Veil).
    #[must_use]
    pub fn veiled(self) -> Self {
        Self { is_veiled: true, ..self }
    }

    /// Returns whether a part was left out, which is [veiled](super::Veil).
    pub fn is_veiled(&self) -> bool {
        self.is_veiled
    }

    /// Returns the text of the part with this position, for a backend that stores it.
    pub fn part(&self, position: usize) -> Option<Cow<'_, str>> {
        match &self.inner.source {
            Source::Texts(texts) => texts.get(position)?.as_deref().map(Cow::Borrowed),
            Source::Value(value) => value.part(position),
        }
    }

    /// Returns a body of the texts of this one, which has at most this number of parts. For a backend that does not write
    /// the texts where it stores them.
    #[must_use]
    pub fn written(&self, parts: usize) -> Self {
        match &self.inner.source {
            Source::Texts(_) => self.clone(),
            Source::Value(value) => {
                let part = |part| value.part(part).map(|text| text.into_owned().into_boxed_str());
                Self::of_texts((0..parts).map(part).collect())
            }
        }
    }

    /// Returns the value that the body was made of, if it was, and has this type.
    pub(crate) fn source<T: Parts>(&self) -> Option<&T> {
        match &self.inner.source {
            Source::Texts(_) => None,
            Source::Value(value) => (&**value as &dyn Any).downcast_ref(),
        }
    }

    /// Returns the value that `read` has made of the record, which is called the first time. All parts must have been read,
    /// and no column that changes without its body may be part of the value.
    ///
    /// # Errors
    /// The error of `read`.
    pub(crate) fn value<T: Any + Send + Sync, E>(
        &self,
        read: impl FnOnce() -> Result<Arc<T>, E>,
    ) -> Result<Arc<T>, E> {
        let kept = self.inner.value.get().map(|value| Arc::clone(value).downcast());
        if let Some(Ok(value)) = kept {
            return Ok(value);
        }
        let value = read()?;
        // Another reader may have been faster, with an equal value.
        let _ = self.inner.value.set(Arc::clone(&value) as Arc<dyn Any + Send + Sync>);
        Ok(value)
    }
}

impl From<Source> for Body {
    fn from(source: Source) -> Self {
        Self { inner: Arc::new(Inner { source, value: OnceLock::new() }), is_veiled: false }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}
