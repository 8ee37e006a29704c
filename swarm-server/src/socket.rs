//! The socket below a connection: timed writes and a lingering close.

use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

use crate::Limits;
use crate::activity::Activity;

/// How much a connection writes before others have their turn, in bytes: whoever reads a large answer as
/// fast as it comes would otherwise have a thread for milliseconds.
const PIECE: usize = 256 << 10;

/// How much of what nobody reads is discarded in one go, in bytes.
const DISCARD: usize = 64 << 10;

/// A socket. A write that makes no progress fails at its deadline, and one with too little progress
/// somewhat later. Closing lingers: closing a socket with unread input would reset the connection,
/// and the client might lose the answer.
pub(crate) struct Socket {
    tcp: TcpStream,
    write_deadline: Duration,
    write_rate: usize,
    /// How much longer writes may wait, in total; what is written adds to it, at the least rate.
    credit: Duration,
    /// What was written since others last went first, in bytes.
    written: usize,
    /// Runs from when a write has to wait until all is written.
    stalled: Option<Pin<Box<Sleep>>>,
    activity: Activity,
    linger: Duration,
    /// What may still be discarded, in bytes.
    linger_bytes: usize,
    /// How long it is from one piece that is discarded to the next: all that may be is spread over the
    /// time that it may take, so that whoever sends what is refused keeps no processor busy.
    discard_pause: Duration,
    /// Runs since our half was shut down.
    closing: Option<Pin<Box<Sleep>>>,
    /// Runs until the next piece may be discarded.
    pause: Option<Pin<Box<Sleep>>>,
}

impl Socket {
    pub(crate) fn new(tcp: TcpStream, limits: &Limits, activity: Activity) -> Self {
        if let Err(error) = tcp.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
        Self {
            tcp,
            write_deadline: limits.write_deadline,
            write_rate: limits.write_rate,
            credit: limits.write_deadline,
            written: 0,
            stalled: None,
            activity,
            linger: limits.linger,
            linger_bytes: limits.linger_bytes,
            discard_pause: limits
                .linger
                .mul_f64(DISCARD as f64 / limits.linger_bytes.max(DISCARD) as f64),
            closing: None,
            pause: None,
        }
    }

    /// Passes the outcome of a write on; one that waits too long is an error.
    fn timed(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(length)) = written {
            self.written += length;
            self.earn(length);
        }
        if written.is_ready() {
            return written;
        }
        self.written = 0;
        let credit = self.credit;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(credit)));
        ready!(stalled.as_mut().poll(cx));
        // Discard the unsent bytes too: otherwise the system would retry them for minutes.
        let _ = self.tcp.set_zero_linger();
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Waits for the next turn, if it has written enough in this one. It comes by itself.
    fn poll_turn(&mut self, cx: &Context<'_>) -> Poll<()> {
        if self.written < PIECE {
            return Poll::Ready(());
        }
        self.written = 0;
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Adds the time that this many bytes take at the least rate, never above the initial credit.
    fn earn(&mut self, length: usize) {
        let worth = Duration::from_secs_f64(length as f64 / self.write_rate as f64);
        self.credit = self.left().saturating_add(worth).min(self.write_deadline);
        if let Some(stalled) = &mut self.stalled {
            stalled.as_mut().reset(Instant::now() + self.credit);
            self.activity.wait_for_client();
        }
    }

    /// What is left of the credit.
    fn left(&self) -> Duration {
        let until = self.stalled.as_ref().map(|stalled| stalled.deadline());
        until.map_or(self.credit, |until| until.saturating_duration_since(Instant::now()))
    }

    /// Discards input until its end, an error, or the limit of time or bytes.
    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.linger_bytes > 0 && !self.has_lingered(cx) {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
            }
            let Some(length) = ready!(self.poll_discard_some(cx)) else { break };
            self.linger_bytes = self.linger_bytes.saturating_sub(length);
            self.pause = Some(Box::pin(sleep(self.discard_pause)));
        }
        Poll::Ready(())
    }

    fn has_lingered(&mut self, cx: &mut Context<'_>) -> bool {
        self.closing.as_mut().is_some_and(|closing| closing.as_mut().poll(cx).is_ready())
    }

    /// Discards what there is, a piece at most; answers how much it was, or nothing at the end.
    fn poll_discard_some(&mut self, cx: &mut Context<'_>) -> Poll<Option<usize>> {
        let mut scrap = [MaybeUninit::uninit(); DISCARD];
        let mut scrap = ReadBuf::uninit(&mut scrap);
        let read = ready!(Pin::new(&mut self.tcp).poll_read(cx, &mut scrap));
        let length = scrap.filled().len();
        Poll::Ready(read.ok().filter(|()| length > 0).map(|()| length))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_turn(cx));
        let buf = buf.get(..PIECE).unwrap_or(buf);
        let written = Pin::new(&mut self.tcp).poll_write(cx, buf);
        self.timed(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // What is too much for a turn is written piece by piece.
        if bufs.iter().map(|buf| buf.len()).sum::<usize>() > PIECE {
            let first = bufs.iter().find(|buf| !buf.is_empty());
            return self.poll_write(cx, first.map_or(&[], |buf| &**buf));
        }
        ready!(self.poll_turn(cx));
        let written = Pin::new(&mut self.tcp).poll_write_vectored(cx, bufs);
        self.timed(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    /// A socket has no buffer of ours; but all that there was to write is written.
    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.credit = self.left();
        self.stalled = None;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.closing.is_none() {
            ready!(Pin::new(&mut self.tcp).poll_shutdown(cx))?;
            self.closing = Some(Box::pin(sleep(self.linger)));
        }
        self.poll_discard(cx).map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use std::io::IoSlice;

    use futures_util::FutureExt;
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn what_is_large_is_written_in_turns() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap());
        let (_client, accepted) = (client.await.unwrap(), listener.accept().await.unwrap());
        let mut socket = Socket::new(accepted.0, &Limits::default(), Activity::new());
        let large = vec![b'x'; 2 * PIECE];
        let large = [IoSlice::new(b"head"), IoSlice::new(&large)];
        assert_eq!(socket.write_vectored(&large).await.unwrap(), 4);
        assert!(socket.write(&large[1]).await.unwrap() <= PIECE);
        socket.written = PIECE;
        assert!(socket.write_vectored(&large).now_or_never().is_none());
        assert_eq!(socket.write_vectored(&large).await.unwrap(), 4, "in the next turn");
    }
}
