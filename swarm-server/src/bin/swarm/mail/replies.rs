//! The replies of a mail server, as lettre can read them.

use std::fmt::Debug;
use std::io;
use std::mem;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, BufReader, ReadBuf};

/// Maximum number of bytes of a reply of the mail server, several times what SMTP allows.
const MAX_REPLY: usize = 64 << 10;

/// Maximum number of bytes of a line that lettre gets: it takes none of 1,000, and reads nothing in a reply that stands so late.
const MAX_LINE: usize = 900;

/// lettre begins a session with a greeting, and TLS after STARTTLS begins without one.
const GREETING: &[u8] = b"220 \r\n";

/// What a connection goes through.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin + Debug {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + Debug> Stream for S {}

/// A connection that is read by lines: lettre gets no byte beyond the reply that it waits for. It ends when the mail server
/// sends more than [`MAX_REPLY`] at a time: a line is read to its end, however long that is. lettre has one handle, and gives no
/// stream back; the other one is ours.
#[derive(Clone, Debug)]
pub(super) struct Replies(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    stream: BufReader<Box<dyn Stream>>,
    address: SocketAddr,
    /// The number of bytes that were read since the last write.
    read: usize,
    /// What has come of a line.
    line: Vec<u8>,
    /// What lettre has not read of the line before.
    text: Bytes,
    subject: Subject,
    has_quit: bool,
}

/// What a refusal is about, by the last of the commands of a delivery that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject {
    /// Us: the connection, the password, the sender.
    Sender,
    Recipient,
    Letter,
}

impl Replies {
    pub(super) fn new(stream: impl Stream + 'static, address: SocketAddr) -> Self {
        Self::after(stream, address, b"")
    }

    /// After STARTTLS.
    pub(super) fn upgraded(stream: impl Stream + 'static, address: SocketAddr) -> Self {
        Self::after(stream, address, GREETING)
    }

    fn after(stream: impl Stream + 'static, address: SocketAddr, text: &'static [u8]) -> Self {
        Self(Arc::new(Mutex::new(State {
            stream: BufReader::new(Box::new(stream)),
            address,
            read: 0,
            line: Vec::new(),
            text: Bytes::from_static(text),
            subject: Subject::Sender,
            has_quit: false,
        })))
    }

    /// What a refusal would be about now.
    pub(super) fn subject(&self) -> Subject {
        self.state().subject
    }

    /// The stream after the reply to STARTTLS, once lettre has dropped its handle. More than this reply, which anybody on the way
    /// can add, would count as if it came through TLS.
    pub(super) fn into_clear(self) -> io::Result<Box<dyn Stream>> {
        let state = Arc::into_inner(self.0).ok_or_else(|| io::Error::other("still in use"))?;
        let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !state.stream.buffer().is_empty() {
            return Err(io::Error::other(
                "the mail server sent more than its reply to STARTTLS before TLS",
            ));
        }
        Ok(state.stream.into_inner())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncRead for Replies {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.state();
        let State { stream, read, line, text, has_quit, .. } = &mut *state;
        // lettre waits for the answer to QUIT also after a refusal, which would be lost in the time that this takes.
        if *has_quit {
            return Poll::Ready(Ok(()));
        }
        while text.is_empty() {
            if *read > MAX_REPLY {
                return Poll::Ready(Err(io::Error::other("the reply is too long")));
            }
            let came = ready!(Pin::new(&mut *stream).poll_fill_buf(cx))?;
            let Some(piece) = came.split_inclusive(|byte| *byte == b'\n').next() else {
                // The end. A line that it cuts is none.
                return Poll::Ready(Ok(()));
            };
            line.extend_from_slice(piece);
            let length = piece.len();
            Pin::new(&mut *stream).consume(length);
            *read += length;
            if line.ends_with(b"\n") {
                *text = normalised(&mem::take(line)).into();
            }
        }
        buf.put_slice(&text.split_to(text.len().min(buf.remaining())));
        Poll::Ready(Ok(()))
    }
}

/// A line of a reply in the form that lettre reads: in UTF-8, no longer than it takes, with a text where that is empty (RFC 5321,
/// section 4.2), and with the keywords of EHLO, whose case means nothing, in capitals.
fn normalised(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_end();
    let line = line.get(..line.floor_char_boundary(MAX_LINE)).unwrap_or(line);
    // Of the text of a 250, only these keywords are read.
    let text = if line.starts_with("250") { line.to_ascii_uppercase() } else { line.to_owned() };
    let rest = match text.len() {
        3 => " OK",
        4 => "OK",
        _ => "",
    };
    text + rest + "\r\n"
}

impl AsyncWrite for Replies {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.state();
        state.read = 0;
        if buf.starts_with(b"RCPT ") {
            state.subject = Subject::Recipient;
        } else if buf == b"DATA\r\n" {
            state.subject = Subject::Letter;
        }
        state.has_quit |= buf == b"QUIT\r\n";
        Pin::new(&mut state.stream).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.state().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.state().stream).poll_shutdown(cx)
    }
}

impl AsyncTokioStream for Replies {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.state().address)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const ADDRESS: ([u8; 4], u16) = ([127, 0, 0, 1], 25);

    #[test]
    fn lines_of_replies_are_normalised() {
        let lines: [(&[u8], &str); 8] = [
            (b"250\r\n", "250 OK\r\n"),
            (b"250 \r\n", "250 OK\r\n"),
            (b"354\n", "354 OK\r\n"),
            // lettre panics at a keyword of spaces.
            (b"250- \t\r\n", "250-OK\r\n"),
            (b"250-auth plain Login\r\n", "250-AUTH PLAIN LOGIN\r\n"),
            (b"334 dXNlcjo=\r\n", "334 dXNlcjo=\r\n"),
            (b"220 h\xe9llo\r\n", "220 h\u{fffd}llo\r\n"),
            ("550 keine Mailbox für Zoë\r\n".as_bytes(), "550 keine Mailbox für Zoë\r\n"),
        ];
        for (line, read) in lines {
            assert_eq!(normalised(line), read);
        }
        for letter in [b'a', b'\xe9'] {
            let long = [b"250 ", &*[letter].repeat(1_100)].concat();
            assert!(normalised(&long).len() <= MAX_LINE + 2);
        }
    }

    #[tokio::test]
    async fn answer_to_quit_is_not_awaited() {
        let (mut server, client) = duplex(64);
        let mut replies = Replies::new(client, ADDRESS.into());
        replies.write_all(b"QUIT\r\n").await.unwrap();
        assert_eq!(replies.read(&mut [0; 64]).await.unwrap(), 0);
        let mut sent = [0; 6];
        server.read_exact(&mut sent).await.unwrap();
        assert_eq!(&sent, b"QUIT\r\n");
    }

    #[tokio::test]
    async fn lines_are_read_wherever_they_are_cut() {
        let (mut server, client) = duplex(64);
        let mut replies = Replies::new(client, ADDRESS.into());
        let writing = tokio::spawn(async move {
            for byte in b"250-x\r\n250\r\n250 cut" {
                server.write_all(&[*byte]).await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        let mut text = String::new();
        replies.read_to_string(&mut text).await.unwrap();
        writing.await.unwrap();
        // A line without its end is not part of a reply.
        assert_eq!(text, "250-X\r\n250 OK\r\n");
    }

    #[tokio::test]
    async fn one_line_is_read_at_a_time_and_the_rest_keeps_the_stream() {
        let (mut server, client) = duplex(64);
        let mut replies = Replies::new(client, ADDRESS.into());
        server.write_all(b"220 go\r\n").await.unwrap();
        let mut buffer = [0; 64];
        assert_eq!(replies.read(&mut buffer).await.unwrap(), 8);
        let clear = replies.into_clear().unwrap();

        let mut replies = Replies::upgraded(clear, ADDRESS.into());
        assert_eq!(replies.read(&mut buffer).await.unwrap(), GREETING.len());
        server.write_all(b"220 go\r\n250 evil\r\n").await.unwrap();
        assert_eq!(replies.read(&mut buffer).await.unwrap(), 8);
        let fault = replies.into_clear().unwrap_err().to_string();
        assert!(fault.contains("more than its reply to STARTTLS"), "{fault}");
    }
}
