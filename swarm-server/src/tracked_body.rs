//! A request body that records whether it was read to its end.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::activity::Activity;

/// The request body that [`serve`](crate::serve) passes to a service.
#[derive(Debug)]
pub struct TrackedBody {
    body: Incoming,
    ended: Ended,
    activity: Activity,
}

/// Whether a body was read to its end.
#[derive(Clone, Debug)]
pub(crate) struct Ended(Arc<AtomicBool>);

impl TrackedBody {
    pub(crate) fn new(body: Incoming, activity: Activity) -> Self {
        let ended = Ended(Arc::new(AtomicBool::new(body.is_end_stream())));
        Self { body, ended, activity }
    }

    pub(crate) fn ended(&self) -> Ended {
        self.ended.clone()
    }
}

impl Ended {
    pub(crate) fn is_reached(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Body for TrackedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        match frame {
            Poll::Pending => self.activity.wait_for_body(),
            Poll::Ready(_) => self.activity.resume(),
        }
        let frame = ready!(frame);
        if frame.is_none() || self.body.is_end_stream() {
            self.ended.0.store(true, Ordering::Relaxed);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
