//! Limits on connections and slow readers, graceful shutdown, panics.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::client::{answer, assert_about, assert_status, rest, send};
use crate::server::{Server, limits};
use crate::{LONG, MIB, SHORT};

#[tokio::test]
async fn connection_over_the_limit_closes_the_longest_idle_one() {
    let mut limits = limits();
    limits.connections = 2;
    limits.header_deadline = LONG * 2;
    let server = Server::start(limits).await;
    let mut halfway = server.connect().await;
    send(&mut halfway, "GET /ping HTTP/1.1\r\nHost: a\r\n").await;
    sleep(SHORT / 3).await;
    let mut busy = server.connect().await;
    send(&mut busy, "GET /slower HTTP/1.1\r\nHost: a\r\n\r\n").await;
    sleep(SHORT / 3).await;
    for _ in 0..3 {
        let mut newcomer = server.connect().await;
        send(&mut newcomer, "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert_eq!(answer(&mut newcomer).await, (200, "pong".into()));
    }
    assert_eq!(rest(&mut halfway).await, "");
    assert_eq!(answer(&mut busy).await, (200, "slow".into()));
}

#[tokio::test]
async fn connections_are_limited_per_address() {
    let mut limits = limits();
    limits.connections_per_address = Some(1);
    limits.header_deadline = LONG * 2;
    let server = Server::start(limits).await;
    let mut first = server.connect().await;
    sleep(SHORT / 3).await;
    let mut second = server.connect().await;
    assert_eq!(rest(&mut first).await, "");
    send(&mut second, "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(answer(&mut second).await, (200, "pong".into()));
}

#[tokio::test]
async fn client_that_reads_too_slowly_is_dropped() {
    let mut limits = limits();
    limits.write_deadline = SHORT * 3;
    limits.write_rate = 64 * MIB;
    let server = Server::start(limits).await;
    let mut client = server.connect().await;
    let start = Instant::now();
    send(&mut client, "GET /big HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let mut piece = vec![0; 256 << 10];
    while !server.big_dropped.load(Ordering::SeqCst) {
        assert!(start.elapsed() < LONG, "still writing");
        // Reads a little more often than the write deadline.
        let _ = client.read(&mut piece).await;
        sleep(SHORT / 3).await;
    }
}

#[tokio::test]
async fn client_that_does_not_read_is_dropped() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    let start = Instant::now();
    send(&mut client, "GET /big HTTP/1.1\r\nHost: a\r\n\r\n").await;
    while !server.big_dropped.load(Ordering::SeqCst) {
        assert!(start.elapsed() < LONG, "still writing");
        sleep(Duration::from_millis(10)).await;
    }
    assert_about(start, SHORT);
    let mut got = Vec::new();
    let _ = client.read_to_end(&mut got).await;
    assert!(got.len() < 64 * MIB);
}

#[tokio::test]
async fn client_that_reads_slowly_is_served() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    send(&mut client, "GET /big HTTP/1.0\r\nHost: a\r\n\r\n").await;
    let start = Instant::now();
    let mut piece = vec![0; MIB];
    let mut got = 0;
    loop {
        match timeout(LONG, client.read(&mut piece)).await.unwrap().unwrap() {
            0 => break,
            length => got += length,
        }
        sleep(Duration::from_millis(5)).await;
    }
    assert!(got > 64 * MIB, "{got} bytes");
    assert!(start.elapsed() > SHORT);
}

#[tokio::test]
async fn shutdown_completes_requests_in_flight() {
    let mut server = Server::start(limits()).await;
    let mut busy = server.connect().await;
    let mut idle = server.connect().await;
    send(&mut busy, "GET /slower HTTP/1.1\r\nHost: a\r\n\r\n").await;
    sleep(SHORT / 6).await;
    server.stop();
    sleep(SHORT / 6).await;
    assert!(TcpStream::connect(server.address).await.is_err());
    assert_eq!(rest(&mut idle).await, "");
    let text = rest(&mut busy).await;
    assert_status(&text, 200);
    assert!(text.contains("connection: close"), "{text}");
    assert!(text.ends_with("slow"), "{text}");
    drop((busy, idle));
    let start = Instant::now();
    server.done.await.unwrap().unwrap();
    assert!(start.elapsed() < SHORT);
}

#[tokio::test]
async fn shutdown_drops_requests_after_the_drain_time() {
    let mut server = Server::start(limits()).await;
    let mut stuck = server.connect().await;
    send(&mut stuck, "GET /stuck HTTP/1.1\r\nHost: a\r\n\r\n").await;
    sleep(SHORT / 6).await;
    server.stop();
    let start = Instant::now();
    server.done.await.unwrap().unwrap();
    assert_about(start, limits().drain);
    assert_eq!(rest(&mut stuck).await, "");
}

#[tokio::test]
async fn panicking_handler_closes_its_connection_only() {
    let server = Server::start(limits()).await;
    assert_eq!(server.talk("GET /panic HTTP/1.1\r\nHost: a\r\n\r\n").await, "");
    let text = server.talk("GET /ping HTTP/1.0\r\nHost: a\r\n\r\n").await;
    assert_status(&text, 200);
}
