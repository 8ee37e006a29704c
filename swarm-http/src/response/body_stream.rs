//! A body that is made while it is sent.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::{self, BoxStream, StreamExt as _};

/// The body of an answer that ends before all of it was sent. The connection, or the stream of HTTP/2, is cut, so that the
/// client notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the rest of the answer could not be made")
    }
}

impl std::error::Error for Interrupted {}

/// The parts of a body.
pub(super) type Parts = BoxStream<'static, Result<Bytes, Interrupted>>;

/// The parts of a body, the first time that it is taken.
#[derive(Clone)]
pub(crate) struct BodyStream(Arc<Mutex<Option<Parts>>>);

impl BodyStream {
    pub(crate) fn new(
        parts: impl Stream<Item = Result<Bytes, Interrupted>> + Send + 'static,
    ) -> Self {
        Self(Arc::new(Mutex::new(Some(parts.boxed()))))
    }

    pub(super) fn take(&self) -> Parts {
        let parts = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        parts.unwrap_or_else(|| stream::empty().boxed())
    }
}
