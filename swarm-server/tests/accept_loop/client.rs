//! A raw TCP client, and assertions on status and timing.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::LONG;

pub async fn send(client: &mut TcpStream, text: &str) {
    client.write_all(text.as_bytes()).await.unwrap();
}

/// Everything until the server closes the connection; a reset counts as closing.
pub async fn rest(client: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let read = client.read_to_end(&mut text);
    let _ = timeout(LONG, read).await.expect("not closed");
    String::from_utf8(text).unwrap()
}

/// The status and body of one response with a Content-Length.
pub async fn answer(client: &mut TcpStream) -> (u16, String) {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let byte = timeout(LONG, client.read_u8()).await.expect("no answer");
        head.push(char::from(byte.unwrap_or_else(|error| panic!("{error}: {head}"))));
    }
    let length = head.split_once("content-length: ").unwrap().1;
    let length = length.split_once("\r\n").unwrap().0.parse().unwrap();
    let mut body = vec![0; length];
    client.read_exact(&mut body).await.unwrap();
    (head[9..12].parse().unwrap(), String::from_utf8(body).unwrap())
}

pub fn pieces_of(
    pieces: &'static [&'static str],
) -> impl Stream<Item = Result<Bytes, warp::Error>> {
    stream::iter(pieces).map(|piece| Ok(Bytes::from_static(piece.as_bytes())))
}

#[track_caller]
pub fn assert_status(text: &str, status: u16) {
    let got = text.get(9..12).unwrap_or_default();
    assert_eq!(got, status.to_string(), "{text}");
}

/// Checks that `wait` has passed, and not more than three seconds beyond it (slow machines).
#[track_caller]
pub fn assert_about(start: Instant, wait: Duration) {
    let took = start.elapsed();
    assert!(took + Duration::from_millis(20) >= wait, "too early: {took:?}");
    assert!(took < wait + Duration::from_secs(3), "too late: {took:?}");
}

/// The peak resident memory of this process, in bytes.
pub fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let kib: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib << 10
}
