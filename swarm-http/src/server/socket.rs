//! The socket below a connection: timed writes and a lingering close.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

use super::Limits;
use super::activity::Activity;

/// A socket. A write that makes no progress fails at its deadline, and one with too little progress
/// somewhat later. Closing lingers: closing a socket with unread input would reset the connection,
/// and the client might lose the answer.
pub(crate) struct Socket {
    tcp: TcpStream,
    write_deadline: Duration,
    write_rate: usize,
    /// How much longer writes may wait, in total; what is written adds to it, at the least rate.
    credit: Duration,
    /// Runs from when a write has to wait until all is written.
    stalled: Option<Pin<Box<Sleep>>>,
    activity: Activity,
    linger: Duration,
    /// What may still be thrown away, in bytes.
    linger_bytes: usize,
    /// Runs since our half was shut down.
    closing: Option<Pin<Box<Sleep>>>,
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
            stalled: None,
            activity,
            linger: limits.linger,
            linger_bytes: limits.linger_bytes,
            closing: None,
        }
    }

    /// Passes the outcome of a write on; one that waits too long is an error.
    fn timed(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(length)) = written {
            self.earn(length);
        }
        if written.is_ready() {
            return written;
        }
        let credit = self.credit;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(credit)));
        ready!(stalled.as_mut().poll(cx));
        // Discard the unsent bytes too: otherwise the system would retry them for minutes.
        let _ = self.tcp.set_zero_linger();
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
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
        let mut scrap = [0; 8 << 10];
        while self.linger_bytes > 0 {
            let mut scrap = ReadBuf::new(&mut scrap);
            let read = Pin::new(&mut self.tcp).poll_read(cx, &mut scrap);
            match (read, scrap.filled().len(), &mut self.closing) {
                (Poll::Pending, _, Some(closing)) => return closing.as_mut().poll(cx),
                (Poll::Ready(Ok(())), length @ 1.., _) => {
                    self.linger_bytes = self.linger_bytes.saturating_sub(length);
                }
                _ => break,
            }
        }
        Poll::Ready(())
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
        let written = Pin::new(&mut self.tcp).poll_write(cx, buf);
        self.timed(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
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
