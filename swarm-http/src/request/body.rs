//! Reads request bodies with a size limit and a deadline, with or without a Content-Length.

use std::pin::{Pin, pin};
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_util::{Stream, StreamExt};
use tokio::time::{Instant, timeout_at};

/// Maximum time for a whole body to arrive.
pub(super) const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// The largest body that is parsed on the thread of the request, in bytes. The worker pool parses larger ones.
pub(crate) const MAX_PARSED_INLINE: usize = 8 << 10;

/// The most JSON values in a body, except of operators. A take with five times the weights that it may have has fewer, so that the
/// rule about weights refuses it, and names its fault.
pub(crate) const MAX_VALUES: usize = 16_384;

/// Why a request body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The body, or its declared length, is over the limit: 413.
    #[error("body too large")]
    TooLarge,
    /// The body was not complete at the deadline: 408.
    #[error("body too slow")]
    TooSlow,
    /// The client disconnected, or its framing is invalid: 400.
    #[error("body incomplete")]
    Broken,
}

/// Reads a request body to its end.
///
/// `declared` is the Content-Length in bytes, if there is one; over `limit` it is rejected before
/// anything is read. `limit` is in bytes. `deadline` applies to the whole body, not to each chunk.
/// A body that arrives in one chunk is not copied. Trailers are ignored.
///
/// # Errors
///
/// [`BodyError`]; the rest of the body is then left unread.
pub async fn read<S, B, E>(
    stream: S,
    declared: Option<u64>,
    limit: usize,
    deadline: Duration,
) -> Result<Bytes, BodyError>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    read_through(&mut Open, stream, declared, limit, deadline).await
}

/// Decides whether reading a body may continue.
pub(crate) trait BodyGate<R>: Send {
    /// Called before anything is read, with the declared length in bytes.
    fn announced(&mut self, length: usize) -> impl Future<Output = Result<(), R>> + Send;

    /// Called before more is read, with the length that has arrived and the largest that the whole body may
    /// have, in bytes.
    fn arrived(
        &mut self,
        length: usize,
        whole: usize,
    ) -> impl Future<Output = Result<(), R>> + Send;
}

struct Open;

impl BodyGate<BodyError> for Open {
    async fn announced(&mut self, _: usize) -> Result<(), BodyError> {
        Ok(())
    }

    async fn arrived(&mut self, _: usize, _: usize) -> Result<(), BodyError> {
        Ok(())
    }
}

/// Like [`read`], with a gate.
pub(crate) async fn read_through<S, B, E, R>(
    gate: &mut impl BodyGate<R>,
    stream: S,
    declared: Option<u64>,
    limit: usize,
    deadline: Duration,
) -> Result<Bytes, R>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
    R: From<BodyError>,
{
    let declared = declared.map(|length| usize::try_from(length).unwrap_or(usize::MAX));
    if declared.is_some_and(|length| length > limit) {
        return Err(BodyError::TooLarge.into());
    }
    let mut reading = Reading { gate, deadline: Instant::now() + deadline, stream: pin!(stream) };
    reading.collect(declared, limit).await
}

/// A body being read. The deadline is for the client: the time that the gate takes is not part of it.
struct Reading<'a, G, S> {
    gate: &'a mut G,
    deadline: Instant,
    stream: Pin<&'a mut S>,
}

impl<S, B, E, G> Reading<'_, G, S>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    /// Collects at most `limit` bytes: a single chunk as it is, several in one growing buffer.
    async fn collect<R>(&mut self, declared: Option<usize>, limit: usize) -> Result<Bytes, R>
    where
        G: BodyGate<R>,
        R: From<BodyError>,
    {
        let began = Instant::now();
        self.gate.announced(declared.unwrap_or_default()).await?;
        self.deadline += began.elapsed();
        let whole = declared.unwrap_or(limit);
        let first = self.next(whole).await?;
        self.pass(first.len(), whole).await?;
        let mut piece = self.next(whole - first.len()).await?;
        if piece.is_empty() {
            return Ok(first);
        }
        let mut all = Vec::from(first);
        while !piece.is_empty() {
            self.pass(all.len() + piece.len(), whole).await?;
            all.extend_from_slice(&piece);
            piece = self.next(whole - all.len()).await?;
        }
        Ok(all.into())
    }

    /// Waits for the gate.
    async fn pass<R>(&mut self, length: usize, whole: usize) -> Result<(), R>
    where
        G: BodyGate<R>,
    {
        let began = Instant::now();
        self.gate.arrived(length, whole).await?;
        self.deadline += began.elapsed();
        Ok(())
    }

    /// The next non-empty chunk, of at most `room` bytes; empty at the end of the body.
    async fn next(&mut self, room: usize) -> Result<Bytes, BodyError> {
        loop {
            let piece = timeout_at(self.deadline, self.stream.next()).await;
            let Some(piece) = piece.map_err(|_elapsed| BodyError::TooSlow)? else {
                return Ok(Bytes::new());
            };
            let mut piece = piece.map_err(|_| BodyError::Broken)?;
            match piece.remaining() {
                0 => {}
                length if length > room => return Err(BodyError::TooLarge),
                length => return Ok(piece.copy_to_bytes(length)),
            }
        }
    }
}
