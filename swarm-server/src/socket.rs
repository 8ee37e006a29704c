//! A TCP socket with write deadlines, cooperative yielding and a lingering close.

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

/// Maximum number of bytes that a connection writes before it yields. Without it, a client that reads a
/// large answer quickly would occupy a thread for milliseconds.
const MAX_WRITE: usize = 256 << 10;

/// Maximum number of bytes that one read discards while lingering.
const MAX_DISCARD: usize = 64 << 10;

/// A write that makes no progress fails at its deadline, one with too little progress somewhat later.
/// Closing lingers, because closing a socket with unread input would reset the connection, and the
/// client might lose the answer.
pub(crate) struct Socket {
    tcp: TcpStream,
    write_deadline: Duration,
    write_rate: usize,
    /// Remaining time that writes may wait; written bytes add to it, at the minimum rate.
    credit: Duration,
    /// Bytes written since the last yield.
    written: usize,
    /// Runs from the first pending write until everything is written.
    stalled: Option<Pin<Box<Sleep>>>,
    activity: Activity,
    linger: Duration,
    /// Bytes that may still be discarded.
    linger_bytes: usize,
    /// Pause between two discarding reads. Spreads the allowed bytes over the lingering time, so that a
    /// client that keeps sending does not keep a processor busy.
    discard_pause: Duration,
    /// Runs from the shutdown of our half.
    closing: Option<Pin<Box<Sleep>>>,
    /// Runs until the next discarding read.
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
                .mul_f64(MAX_DISCARD as f64 / limits.linger_bytes.max(MAX_DISCARD) as f64),
            closing: None,
            pause: None,
        }
    }

    /// Passes on the result of a write; a write that waits too long becomes an error.
    fn timed(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(length)) = written {
            self.written += length;
            self.add_credit(length);
        }
        if written.is_ready() {
            return written;
        }
        self.written = 0;
        let credit = self.credit;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(credit)));
        ready!(stalled.as_mut().poll(cx));
        // Discard the unsent bytes, which the system would otherwise retransmit for minutes.
        let _ = self.tcp.set_zero_linger();
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Yields once after [`MAX_WRITE`] bytes, and wakes itself.
    fn poll_yield(&mut self, cx: &Context<'_>) -> Poll<()> {
        if self.written < MAX_WRITE {
            return Poll::Ready(());
        }
        self.written = 0;
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Adds the time that this many bytes take at the minimum rate, up to the initial credit.
    fn add_credit(&mut self, length: usize) {
        let worth = Duration::from_secs_f64(length as f64 / self.write_rate as f64);
        self.credit = self.left().saturating_add(worth).min(self.write_deadline);
        if let Some(stalled) = &mut self.stalled {
            stalled.as_mut().reset(Instant::now() + self.credit);
            self.activity.wait_for_client();
        }
    }

    /// The remaining credit.
    fn left(&self) -> Duration {
        let until = self.stalled.as_ref().map(|stalled| stalled.deadline());
        until.map_or(self.credit, |until| until.saturating_duration_since(Instant::now()))
    }

    /// Discards input until its end, an error, or a limit of time or bytes.
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

    /// Discards available input with one read. Returns its length, or `None` at the end.
    fn poll_discard_some(&mut self, cx: &mut Context<'_>) -> Poll<Option<usize>> {
        let mut scrap = [MaybeUninit::uninit(); MAX_DISCARD];
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
        ready!(self.poll_yield(cx));
        let buf = buf.get(..MAX_WRITE).unwrap_or(buf);
        let written = Pin::new(&mut self.tcp).poll_write(cx, buf);
        self.timed(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // More than one turn allows is written buffer by buffer.
        if bufs.iter().map(|buf| buf.len()).sum::<usize>() > MAX_WRITE {
            let first = bufs.iter().find(|buf| !buf.is_empty());
            return self.poll_write(cx, first.map_or(&[], |buf| &**buf));
        }
        ready!(self.poll_yield(cx));
        let written = Pin::new(&mut self.tcp).poll_write_vectored(cx, bufs);
        self.timed(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    /// Nothing is buffered here. A flush means that everything is written, so the write timer ends.
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
    async fn large_writes_yield() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap());
        let (_client, accepted) = (client.await.unwrap(), listener.accept().await.unwrap());
        let mut socket = Socket::new(accepted.0, &Limits::default(), Activity::new());
        let large = vec![b'x'; 2 * MAX_WRITE];
        let large = [IoSlice::new(b"head"), IoSlice::new(&large)];
        assert_eq!(socket.write_vectored(&large).await.unwrap(), 4);
        assert!(socket.write(&large[1]).await.unwrap() <= MAX_WRITE);
        socket.written = MAX_WRITE;
        assert!(socket.write_vectored(&large).now_or_never().is_none());
        assert_eq!(socket.write_vectored(&large).await.unwrap(), 4, "after the yield");
    }
}
