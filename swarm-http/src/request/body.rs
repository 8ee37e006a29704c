//! One capped and timed reader for request bodies, sized and chunked alike.

use std::pin::{Pin, pin};
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_util::{Stream, StreamExt};
use tokio::time::timeout;

/// Why a request body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The body is, or says it is, longer than the limit: 413.
    #[error("body too large")]
    TooLarge,
    /// The body was not complete at the deadline: 408.
    #[error("body too slow")]
    TooSlow,
    /// The client went away, or its framing is wrong: 400.
    #[error("body incomplete")]
    Broken,
}

/// Reads a request body to its end.
///
/// `declared` is the Content-Length in bytes, where there is one; over `limit` it is refused
/// before anything is read. `limit` is in bytes; a chunked body in several pieces reserves it in
/// one allocation, so keep it to a few MiB. `deadline` bounds the whole body, not each piece.
/// A body that arrives in one piece is not copied. Trailers are ignored.
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
    let check = LargeBodyCheck { small: usize::MAX, large: Some(std::future::ready(Ok(()))) };
    read_through(check, stream, declared, limit, deadline).await
}

/// A check for bodies that are, or turn out to be, larger than `small` bytes: `large` decides
/// whether the rest is read.
pub(crate) struct LargeBodyCheck<F> {
    pub(crate) small: usize,
    pub(crate) large: Option<F>,
}

impl<R, F: Future<Output = Result<(), R>>> LargeBodyCheck<F> {
    async fn pass(&mut self, length: usize) -> Result<(), R> {
        match self.large.take_if(|_| length > self.small) {
            Some(large) => large.await,
            None => Ok(()),
        }
    }
}

/// The same as [`read`], with that check.
pub(crate) async fn read_through<S, B, E, R, F>(
    check: LargeBodyCheck<F>,
    stream: S,
    declared: Option<u64>,
    limit: usize,
    deadline: Duration,
) -> Result<Bytes, R>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
    F: Future<Output = Result<(), R>>,
    R: From<BodyError>,
{
    let declared = declared.map(|length| usize::try_from(length).unwrap_or(usize::MAX));
    if declared.is_some_and(|length| length > limit) {
        return Err(BodyError::TooLarge.into());
    }
    match timeout(deadline, collect(check, pin!(stream), declared, limit)).await {
        Ok(body) => body,
        Err(_elapsed) => Err(BodyError::TooSlow.into()),
    }
}

/// At most so many bytes: the first piece as it is, or all of them in one buffer.
async fn collect<S, B, E, R, F>(
    mut check: LargeBodyCheck<F>,
    mut stream: Pin<&mut S>,
    declared: Option<usize>,
    limit: usize,
) -> Result<Bytes, R>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
    F: Future<Output = Result<(), R>>,
    R: From<BodyError>,
{
    check.pass(declared.unwrap_or_default()).await?;
    let room = declared.unwrap_or(limit);
    let first = next(&mut stream, room).await?;
    let mut piece = next(&mut stream, room - first.len()).await?;
    if piece.is_empty() {
        check.pass(first.len()).await?;
        return Ok(first);
    }
    let mut whole = Vec::with_capacity(room);
    whole.extend_from_slice(&first);
    while !piece.is_empty() {
        check.pass(whole.len() + piece.len()).await?;
        whole.extend_from_slice(&piece);
        piece = next(&mut stream, room - whole.len()).await?;
    }
    Ok(whole.into())
}

/// The next piece that is not empty, of at most `room` bytes; empty at the end of the body.
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
