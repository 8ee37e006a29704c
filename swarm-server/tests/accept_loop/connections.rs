//! Idle connections, slow and oversized heads.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::time::sleep;

use crate::client::{answer, assert_about, assert_status, rest, send};
use crate::server::{Server, limits};
use crate::{LONG, SHORT};

#[tokio::test]
async fn idle_connection_is_closed() {
    let server = Server::start(limits()).await;
    let start = Instant::now();
    let mut client = server.connect().await;
    assert_eq!(rest(&mut client).await, "");
    assert_about(start, SHORT);
}

#[tokio::test]
async fn idle_connection_is_closed_after_an_answer_too() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    sleep(SHORT / 2).await;
    let start = Instant::now();
    send(&mut client, "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(answer(&mut client).await, (200, "pong".into()));
    assert_eq!(rest(&mut client).await, "");
    assert_about(start, SHORT);
}

#[tokio::test]
async fn header_deadline_applies_to_a_slow_header() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    let start = Instant::now();
    send(&mut client, "GET /ping HTTP/1.1\r\nHost: a\r\nX: ").await;
    while start.elapsed() < LONG {
        if client.write_all(b"x").await.is_err() {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    assert_about(start, SHORT);
}

#[tokio::test]
async fn oversized_header_is_431() {
    let server = Server::start(limits()).await;
    let head = format!("GET /ping HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(40 << 10));
    assert_status(&server.talk(&head).await, 431);
}

#[tokio::test]
async fn h2_preface_is_refused() {
    let mut limits = limits();
    limits.header_deadline = LONG;
    let server = Server::start(limits).await;
    let start = Instant::now();
    let text = server.talk("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await;
    assert!(!text.starts_with("HTTP/1.1 2"), "{text}");
    assert!(start.elapsed() < LONG / 2);
}
