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
    let room = match declared.map(usize::try_from) {
        None => limit,
        Some(Ok(length)) if length <= limit => length,
        Some(_) => return Err(BodyError::TooLarge),
    };
    match timeout(deadline, collect(pin!(stream), room)).await {
        Ok(body) => body,
        Err(_elapsed) => Err(BodyError::TooSlow),
    }
}

/// At most `room` bytes: the first piece as it is, or all of them in one buffer of that size.
async fn collect<S, B, E>(mut stream: Pin<&mut S>, room: usize) -> Result<Bytes, BodyError>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    let first = next(&mut stream, room).await?;
    let second = next(&mut stream, room - first.len()).await?;
    if second.is_empty() {
        return Ok(first);
    }
    let mut whole = Vec::with_capacity(room);
    whole.extend_from_slice(&first);
    let mut piece = second;
    while !piece.is_empty() {
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
