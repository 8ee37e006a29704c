//! Reads request bodies with a size limit and a deadline, with or without a Content-Length.

use std::pin::{Pin, pin};
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_util::{Stream, StreamExt};
use tokio::time::timeout;

/// Maximum time for a whole body to arrive.
pub(super) const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// Why a request body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
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

    /// Called before more is read, with the length that has arrived, in bytes.
    fn arrived(&mut self, length: usize) -> impl Future<Output = Result<(), R>> + Send;
}

struct Open;

impl BodyGate<BodyError> for Open {
    async fn announced(&mut self, _: usize) -> Result<(), BodyError> {
        Ok(())
    }

    async fn arrived(&mut self, _: usize) -> Result<(), BodyError> {
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
    match timeout(deadline, collect(gate, pin!(stream), declared, limit)).await {
        Ok(body) => body,
        Err(_elapsed) => Err(BodyError::TooSlow.into()),
    }
}

/// Collects at most `limit` bytes: a single chunk as it is, several in one growing buffer.
async fn collect<S, B, E, R>(
    gate: &mut impl BodyGate<R>,
    mut stream: Pin<&mut S>,
    declared: Option<usize>,
    limit: usize,
) -> Result<Bytes, R>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
    R: From<BodyError>,
{
    gate.announced(declared.unwrap_or_default()).await?;
    let room = declared.unwrap_or(limit);
    let first = next(&mut stream, room).await?;
    gate.arrived(first.len()).await?;
    let mut piece = next(&mut stream, room - first.len()).await?;
    if piece.is_empty() {
        return Ok(first);
    }
    let mut whole = Vec::from(first);
    while !piece.is_empty() {
        gate.arrived(whole.len() + piece.len()).await?;
        whole.extend_from_slice(&piece);
        piece = next(&mut stream, room - whole.len()).await?;
    }
    Ok(whole.into())
}

/// The next non-empty chunk, of at most `room` bytes; empty at the end of the body.
async fn next<S, B, E>(stream: &mut Pin<&mut S>, room: usize) -> Result<Bytes, BodyError>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    while let Some(piece) = stream.next().await {
        let mut piece = piece.map_err(|_| BodyError::Broken)?;
        match piece.remaining() {
            0 => {}
            length if length > room => return Err(BodyError::TooLarge),
            length => return Ok(piece.copy_to_bytes(length)),
        }
    }
    Ok(Bytes::new())
}
