//! Receipts, a layer around the answers of all routes: the digest of the request's body, and the key (API.md, 11.7).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use futures_util::{Stream, StreamExt as _};
use sha2::{Digest, Sha256};
use swarm_core::Error;
use swarm_core::audit::digest_text;
use tokio::time::{Instant, timeout_at};

use crate::response::Answer;
use crate::response::receipt::{Exchange, RequestBody, RequestedSignatures, signed};
use crate::tenants::ServedTenant;

use super::arrival::Arrival;
use super::body::BODY_DEADLINE;

/// The largest body that is read only for its digest, in bytes: the largest that any route takes.
const MAX_DIGESTED: usize = 2 << 20;

/// A receipt that a request asks for.
pub(super) struct ReceiptRequest {
    requested: RequestedSignatures,
    served: Arc<ServedTenant>,
    exchange: Exchange,
}

impl ReceiptRequest {
    /// The receipt that this request asks for, if the tenant's log is signed. If none is asked for, this costs the
    /// lookup of one header.
    pub(super) fn of(arrival: &Arrival) -> Option<Box<Self>> {
        let head = &arrival.head;
        let requested = RequestedSignatures::of(&head.headers)?;
        let served = arrival.served.clone()?;
        served.signed_log()?;
        let (method, path, query) = (head.method.clone(), head.path.clone(), head.query.clone());
        let exchange = Exchange { method, path, query, body: RequestBody::Absent };
        Some(Box::new(Self { requested, served, exchange }))
    }

    /// Signs the answer, after the rest of the body was read. Without a key, the answer stays as it is.
    async fn sign<S, B, E>(mut self: Box<Self>, answer: Answer, body: DigestedBody<'_, S>) -> Answer
    where
        S: Stream<Item = Result<B, E>>,
        B: Buf,
    {
        self.exchange.body = body.digested().await;
        let key = async {
            let Some(log) = self.served.signed_log() else { return Ok(None) };
            let Some(key) = log.answer_key().await? else { return Ok(None) };
            Ok::<_, Error>(Some((key, self.served.tenant().now().await?)))
        };
        match key.await {
            Ok(Some((key, now))) => signed(answer, &self.requested, &self.exchange, &key, now),
            Ok(None) => answer,
            Err(error) => {
                tracing::warn!(%error, "an answer could not be signed");
                answer
            }
        }
    }
}

/// Answers a request, and signs the answer if a receipt is asked for. A stream has no digest before its end: it is not signed.
pub(super) async fn with_receipt<S, B, E>(
    receipt: Option<Box<ReceiptRequest>>,
    body: Pin<&mut S>,
    answer: impl AsyncFnOnce(Pin<&mut DigestedBody<'_, S>>) -> Answer,
) -> Answer
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    let mut body = DigestedBody::new(body, receipt.is_some());
    let answer = answer(Pin::new(&mut body)).await;
    match receipt.filter(|_| answer.stream.is_none()) {
        // Boxed, because few requests ask for one.
        Some(receipt) => Box::pin(receipt.sign(answer, body)).await,
        None => answer,
    }
}

/// A request's body whose digest is computed as it is read, if a receipt is wanted.
pub(super) struct DigestedBody<'a, S> {
    stream: Pin<&'a mut S>,
    progress: Option<Progress>,
}

struct Progress {
    hash: Sha256,
    length: usize,
    is_whole: bool,
    deadline: Instant,
}

impl<'a, S, B, E> DigestedBody<'a, S>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    fn new(stream: Pin<&'a mut S>, is_wanted: bool) -> Self {
        let progress = is_wanted.then(|| Progress {
            hash: Sha256::new(),
            length: 0,
            is_whole: false,
            deadline: Instant::now() + BODY_DEADLINE,
        });
        Self { stream, progress }
    }

    /// Reads the rest without keeping it, and returns its digest.
    async fn digested(mut self) -> RequestBody {
        let Some(deadline) = self.progress.as_ref().map(|progress| progress.deadline) else {
            return RequestBody::Unread;
        };
        let rest = async {
            while self.progress.as_ref().is_some_and(Progress::may_go_on) {
                let _ = self.next().await;
            }
        };
        let is_read = timeout_at(deadline, rest).await.is_ok();
        match self.progress.filter(|it| is_read && it.is_whole) {
            None => RequestBody::Unread,
            Some(progress) if progress.length == 0 => RequestBody::Absent,
            Some(progress) => RequestBody::Whole(digest_text(&progress.hash.finalize().into())),
        }
    }
}

impl Progress {
    fn may_go_on(&self) -> bool {
        !self.is_whole && self.length <= MAX_DIGESTED
    }
}

impl<S, B, E> Stream for DigestedBody<'_, S>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    type Item = Result<Bytes, E>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let piece = ready!(self.stream.as_mut().poll_next(context));
        let piece = piece.map(|piece| piece.map(|mut it| it.copy_to_bytes(it.remaining())));
        match (&piece, &mut self.progress) {
            (Some(Ok(bytes)), Some(progress)) => {
                progress.hash.update(bytes);
                progress.length = progress.length.saturating_add(bytes.len());
            }
            (Some(Err(_)), progress) => *progress = None,
            (None, Some(progress)) => progress.is_whole = true,
            (_, None) => {}
        }
        Poll::Ready(piece)
    }
}
