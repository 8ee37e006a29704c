//! The body of a response.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use hyper::body::{Body, Frame, SizeHint};

use super::body_stream::{BodyStream, Interrupted, Parts};

/// The body of a response of a [`service`](crate::service): bytes in memory, or a stream.
pub struct ResponseBody(Kind);

enum Kind {
    Bytes(Option<Bytes>),
    /// A mutex that is never locked: it makes the body `Sync`, as warp requires.
    Stream(Mutex<Parts>),
}

impl ResponseBody {
    pub(crate) fn stream(stream: &BodyStream) -> Self {
        Self(Kind::Stream(Mutex::new(stream.take())))
    }

    /// The bytes, unless the body is a stream.
    #[cfg(feature = "warp")]
    pub(crate) fn into_bytes(self) -> Result<Bytes, Self> {
        match self.0 {
            Kind::Bytes(bytes) => Ok(bytes.unwrap_or_default()),
            stream @ Kind::Stream(_) => Err(Self(stream)),
        }
    }
}

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self(Kind::Bytes(Some(bytes).filter(|bytes| !bytes.is_empty())))
    }
}

impl std::fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseBody").finish_non_exhaustive()
    }
}

impl Stream for ResponseBody {
    type Item = Result<Bytes, Interrupted>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut self.0 {
            Kind::Bytes(bytes) => Poll::Ready(bytes.take().map(Ok)),
            Kind::Stream(parts) => {
                parts.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut().poll_next(cx)
            }
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Interrupted;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Interrupted>>> {
        self.poll_next(cx).map(|next| next.map(|bytes| bytes.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, Kind::Bytes(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Bytes(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Kind::Stream(_) => SizeHint::default(),
        }
    }
}
