//! Requests as raw bytes, for requests that client libraries refuse to send.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use tokio::net::TcpSocket;
use tokio::runtime::Builder;
use ureq::http::{HeaderMap, HeaderName, HeaderValue};

use crate::harness::Answer;
use crate::openapi::is_described;

/// For requests that may be answered before their body is read: avoids keep-alive, which another test
/// covers.
pub const ONCE: (&str, &str) = ("connection", "close");

/// Read timeout. It only bounds a test that has failed: a server that waits for a body in vain answers with 408 before.
const READ_TIMEOUT: Duration = Duration::from_secs(120);

/// Sends these bytes on a new connection and reads one answer, without waiting for the connection to
/// close.
#[track_caller]
pub fn exchange(address: SocketAddr, request: &[u8]) -> Answer {
    let mut connection = Connection::open(address);
    // The server may answer and close before everything is sent.
    let _ = connection.send(request);
    let shown = String::from_utf8_lossy(&request[..request.len().min(300)]).into_owned();
    let answer = connection.receive(request.starts_with(b"HEAD "));
    let answer = answer.unwrap_or_else(|error| panic!("{error}: {shown}"));
    // Answers of the HTTP library to invalid requests are not in the document.
    let line: Vec<_> = shown.lines().next().unwrap_or_default().split(' ').collect();
    if let ([method, target, "HTTP/1.1"], true) = (&line[..], answer.is_of_a_path()) {
        is_described(method, target, b"", &answer);
    }
    answer
}

/// One connection.
pub struct Connection(BufReader<TcpStream>);

impl Connection {
    pub fn open(address: SocketAddr) -> Self {
        Self::of(TcpStream::connect(address).unwrap())
    }

    /// Connects from another loopback address than other clients.
    pub fn open_from_elsewhere(address: SocketAddr) -> Self {
        Self::of(elsewhere(address, None))
    }

    fn of(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
        Self(BufReader::new(stream))
    }

    pub fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.get_mut().write_all(bytes)
    }

    /// Returns whether the server has neither answered nor closed it.
    pub fn is_unanswered(&self) -> bool {
        let stream = self.0.get_ref();
        stream.set_nonblocking(true).unwrap();
        let peeked = stream.peek(&mut [0]);
        stream.set_nonblocking(false).unwrap();
        peeked.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    }

    /// The status of the next answer, which may have a body that is no text.
    pub fn receive_status(&mut self) -> u16 {
        let mut line = [0; 12];
        self.0.read_exact(&mut line).unwrap();
        std::str::from_utf8(&line[9..]).unwrap().parse().unwrap()
    }

    /// The next answer.
    pub fn receive(&mut self, is_head: bool) -> std::io::Result<Answer> {
        let broken = |line: &[u8]| std::io::Error::other(format!("no answer: {line:?}"));
        let mut line = Vec::new();
        self.0.read_until(b'\n', &mut line)?;
        let status = std::str::from_utf8(&line).ok().and_then(|line| line.get(9..12)?.parse().ok());
        let status = status.ok_or_else(|| broken(&line))?;
        let mut headers = HeaderMap::new();
        loop {
            line.clear();
            self.0.read_until(b'\n', &mut line)?;
            let text = line.trim_ascii_end();
            if text.is_empty() {
                break;
            }
            let colon = text.iter().position(|byte| *byte == b':').ok_or_else(|| broken(text))?;
            let name = HeaderName::from_bytes(&text[..colon]).map_err(std::io::Error::other)?;
            let value = HeaderValue::from_bytes(text[colon + 1..].trim_ascii_start());
            headers.append(name, value.map_err(std::io::Error::other)?);
        }
        let length = headers.get("content-length").filter(|_| !is_head && status != 304);
        let length = length.map_or(0, |length| length.to_str().unwrap().parse().unwrap());
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        let text = String::from_utf8(body).map_err(std::io::Error::other)?;
        Ok(Answer { status, headers, text })
    }
}

/// A socket from another loopback address, with a receive buffer of this size in bytes.
pub fn elsewhere(address: SocketAddr, buffer: Option<u32>) -> TcpStream {
    let runtime = Builder::new_current_thread().enable_io().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        if let Some(bytes) = buffer {
            socket.set_recv_buffer_size(bytes).unwrap();
        }
        socket.bind(([127, 0, 0, 2], 0).into()).unwrap();
        socket.connect(address).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream
}
