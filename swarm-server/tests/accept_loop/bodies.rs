//! Request bodies: framing, limits, deadlines, refusals while a client is sending.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use swarm_http::body;
use swarm_http::body::BodyError;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};

use crate::client::{answer, assert_about, assert_status, peak_memory, pieces_of, rest, send};
use crate::server::{Server, limits};
use crate::{LONG, MIB, SHORT};

#[tokio::test]
async fn bodies_are_read_sized_and_chunked() {
    let server = Server::start(limits()).await;
    for request in [
        "POST /body HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
        "POST /body HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n1;a=b\r\nl\r\n2\r\nlo\r\n0\r\nX-Trailer: y\r\n\r\n",
    ] {
        let text = server.talk(request).await;
        assert_status(&text, 200);
        assert!(text.ends_with("read 5"), "{text}");
    }
}

#[tokio::test]
async fn trailers_leave_the_connection_usable() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    for _ in 0..3 {
        send(&mut client, "POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n0\r\nHost: b\r\nContent-Length: 9\r\n\r\n").await;
        assert_eq!(answer(&mut client).await, (200, "read 2".into()));
    }
}

#[tokio::test]
async fn half_body_is_408_and_closed() {
    let server = Server::start(limits()).await;
    for head in ["Content-Length: 100\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n5\r\nha"] {
        let start = Instant::now();
        let text = server.talk(&format!("POST /body HTTP/1.1\r\nHost: a\r\n{head}")).await;
        assert_status(&text, 408);
        assert!(text.contains("connection: close"), "{text}");
        assert!(text.ends_with("body too slow"), "{text}");
        assert_about(start, SHORT);
    }
}

#[tokio::test]
async fn expect_continue_is_not_sent_for_a_refused_body() {
    let server = Server::start(limits()).await;
    let text = server
        .talk("POST /body HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n")
        .await;
    assert_status(&text, 413);
}

#[tokio::test]
async fn sized_body_over_the_limit_is_413_without_being_read() {
    let server = Server::start(limits()).await;
    // The body is never sent, so a server that tried to read it would answer 408.
    let text = server.talk("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n").await;
    assert_status(&text, 413);
}

#[tokio::test]
async fn endless_chunked_body_is_413_in_constant_memory() {
    let server = Server::start(limits()).await;
    let before = peak_memory();
    let (mut reader, mut writer) = server.connect().await.into_split();
    let sending = tokio::spawn(async move {
        let head = "POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut sent = writer.write_all(head.as_bytes()).await.map_or(0, |()| 1);
        let mut chunk = format!("{MIB:x}\r\n").into_bytes();
        chunk.resize(chunk.len() + MIB, b'x');
        chunk.extend(b"\r\n");
        while sent <= 300 && writer.write_all(&chunk).await.is_ok() {
            sent += 1;
        }
        sent
    });
    let mut text = Vec::new();
    let _ = timeout(LONG, reader.read_to_end(&mut text)).await.unwrap();
    assert_status(&String::from_utf8_lossy(&text), 413);
    assert!(sending.await.unwrap() < 300, "the body was read to its end");
    let grown = peak_memory() - before;
    assert!(grown < 20 * MIB, "grown by {grown}");
}

#[tokio::test]
async fn refusal_reaches_a_client_that_is_still_sending() {
    // Less than the bytes that may be discarded, so that the linger time suffices.
    let mut limits = limits();
    limits.linger_bytes = 64 * MIB;
    let server = Server::start(limits).await;
    for (path, extra, status) in [
        ("/body", "", 413),
        ("/deny", "", 401),
        ("/nowhere", "", 404),
        // Clients that try HTTP/2 send this; the upgrade is ignored.
        ("/body", "Connection: upgrade\r\nUpgrade: h2c\r\n", 413),
    ] {
        let mut client = server.connect().await;
        let length = 6 * MIB;
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: a\r\n{extra}Content-Length: {length}\r\n\r\n");
        send(&mut client, &head).await;
        let piece = vec![b'x'; MIB / 2];
        for _ in 0..12 {
            client.write_all(&piece).await.expect(path); // a reset fails here
            sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(answer(&mut client).await.0, status, "{path} {extra}");
        assert_eq!(rest(&mut client).await, "");
    }
}

#[tokio::test]
async fn linger_is_limited_in_time() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    send(&mut client, "POST /deny HTTP/1.1\r\nHost: a\r\nContent-Length: 999999\r\n\r\n").await;
    let start = Instant::now();
    while client.write_all(b"x").await.is_ok() {
        assert!(start.elapsed() < LONG, "still read");
        sleep(Duration::from_millis(10)).await;
    }
    assert_about(start, limits().linger);
}

#[tokio::test]
async fn body_reader_limits_size_and_time() {
    let far = Duration::from_secs(60);
    let read = |pieces: &'static [&'static str], declared, limit| {
        body::read(pieces_of(pieces), declared, limit, far)
    };
    assert_eq!(read(&[], None, 4).await.unwrap(), "");
    assert_eq!(read(&["", "ab", "", "cd", ""], None, 4).await.unwrap(), "abcd");
    assert_eq!(read(&["ab", "cd"], Some(4), 4).await.unwrap(), "abcd");
    assert_eq!(read(&["ab", "cde"], None, 4).await, Err(BodyError::TooLarge));
    assert_eq!(read(&["abcde"], None, 4).await, Err(BodyError::TooLarge));
    assert_eq!(read(&["a"], Some(5), 4).await, Err(BodyError::TooLarge));
    assert_eq!(read(&["a"], Some(u64::MAX), 4).await, Err(BodyError::TooLarge));

    let whole = Bytes::from(vec![b'x'; 100]);
    let address = whole.as_ptr();
    let same =
        body::read(stream::iter([Ok::<_, warp::Error>(whole)]), None, 100, far).await.unwrap();
    assert_eq!(same.as_ptr(), address, "one piece is not copied");

    let stuck = pieces_of(&["a"]).chain(stream::pending());
    assert_eq!(body::read(stuck, None, 4, SHORT / 10).await, Err(BodyError::TooSlow));
}
