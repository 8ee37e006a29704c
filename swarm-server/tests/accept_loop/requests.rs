//! The Host header, keep-alive, pipelining and ambiguous framing.

use crate::client::{answer, assert_status, send};
use crate::server::{Server, limits};

#[tokio::test]
async fn host_is_required_exactly_once() {
    let server = Server::start(limits()).await;
    for (head, status, body) in [
        ("GET /ping HTTP/1.1\r\n", 400, r#"{"error":"missing host"}"#),
        ("GET /ping HTTP/1.0\r\n", 400, r#"{"error":"missing host"}"#),
        ("GET /healthz HTTP/1.1\r\n", 400, r#"{"error":"missing host"}"#),
        ("GET http://a/ping HTTP/1.1\r\n", 400, r#"{"error":"missing host"}"#),
        // A probe of a load balancer reaches the service, which has no such path here.
        ("GET /healthz HTTP/1.0\r\n", 404, ""),
        ("HEAD /readyz HTTP/1.0\r\n", 404, ""),
        ("GET http://a/healthz HTTP/1.0\r\n", 404, ""),
        ("GET http://a/healthz HTTP/1.1\r\nHost:\r\n", 404, ""),
        ("GET http://a@b/healthz HTTP/1.0\r\n", 400, r#"{"error":"invalid host"}"#),
        ("OPTIONS / HTTP/1.0\r\n", 404, ""),
        ("GET /metrics HTTP/1.0\r\nHost:\r\n", 404, ""),
        ("GET /metrics HTTP/1.1\r\nHost: \r\n", 404, ""),
        ("GET /metrics HTTP/1.1\r\nHost: a b\r\n", 400, r#"{"error":"invalid host"}"#),
        ("GET /metrics HTTP/1.1\r\nHost:\r\nHost:\r\n", 400, r#"{"error":"invalid host"}"#),
        ("GET /healthz/ HTTP/1.0\r\n", 400, r#"{"error":"missing host"}"#),
        ("GET /ping HTTP/1.1\r\nHost:\r\n", 400, r#"{"error":"invalid host"}"#),
        ("GET /ping HTTP/1.1\r\nHost: :80\r\n", 400, r#"{"error":"invalid host"}"#),
        ("GET /ping HTTP/1.1\r\nHost: a\r\nHost: a\r\n", 400, r#"{"error":"invalid host"}"#),
        ("GET /ping HTTP/1.1\r\nHost: a b\r\n", 400, r#"{"error":"invalid host"}"#),
        ("GET /ping HTTP/1.1\r\nHost: a@b\r\n", 400, r#"{"error":"invalid host"}"#),
        ("GET /ping HTTP/1.1\r\nHost: a/b\r\n", 400, r#"{"error":"invalid host"}"#),
        ("GET /ping HTTP/1.1\r\nHost: [::1]:80\r\n", 200, "pong"),
        ("GET /ping HTTP/1.0\r\nHost: a:80\r\n", 200, "pong"),
        ("GET http://b/ping HTTP/1.1\r\nHost: a\r\n", 200, "pong"),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n", 404, ""),
        ("CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n", 400, r#"{"error":"invalid target"}"#),
    ] {
        let text = server.talk(&format!("{head}Connection: close\r\n\r\n")).await;
        assert_status(&text, status);
        assert!(text.ends_with(body), "{head}: {text}");
        let json = text.contains("content-type: application/json\r\n");
        assert_eq!(json, status == 400, "{text}");
    }
}

#[tokio::test]
async fn peer_is_in_the_extensions() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    send(&mut client, "GET /peer HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let own = client.local_addr().unwrap().to_string();
    assert_eq!(answer(&mut client).await, (200, own));
}

#[tokio::test]
async fn connection_is_kept_alive() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    for _ in 0..5 {
        send(&mut client, "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert_eq!(answer(&mut client).await, (200, "pong".into()));
        send(&mut client, "POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok").await;
        assert_eq!(answer(&mut client).await, (200, "read 2".into()));
    }
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let server = Server::start(limits()).await;
    let mut client = server.connect().await;
    let mut all = String::new();
    for _ in 0..20 {
        all += "GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET /ping HTTP/1.1\r\nHost: a\r\n\r\n";
        all += "POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
    }
    send(&mut client, &all).await;
    for _ in 0..20 {
        for body in ["slow", "pong", "read 3"] {
            assert_eq!(answer(&mut client).await, (200, body.into()));
        }
    }
}

#[tokio::test]
async fn ambiguous_framing_gets_at_most_one_answer() {
    let server = Server::start(limits()).await;
    let inner = "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n";
    for framing in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        "Content-Length: 4\r\nContent-Length: 0\r\n\r\n",
        "Content-Length: 4, 0\r\n\r\n",
        "Content-Length: +0\r\n\r\n",
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 99999999999999999999999\r\n\r\n",
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n1\nab\n0\n\n",
        "X: y\r\n Content-Length: 4\r\n\r\n",
    ] {
        // One handler reads the body, the other does not.
        for path in ["/body", "/deny"] {
            let text =
                server.talk(&format!("POST {path} HTTP/1.1\r\nHost: a\r\n{framing}{inner}")).await;
            assert!(text.matches("HTTP/1.1 ").count() <= 1, "{framing}: {text}");
            assert!(!text.contains("pong"), "{framing}: {text}");
        }
    }
}

#[tokio::test]
async fn body_without_a_definite_length_is_400() {
    let server = Server::start(limits()).await;
    for framing in [
        "Content-Length: 18446744073709551616",
        "Content-Length: 99999999999999999999999",
        "Content-Length: 4\r\nContent-Length: 5",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: gzip, chunked",
    ] {
        let request = format!("POST /body HTTP/1.1\r\nHost: a\r\n{framing}\r\n\r\n0\r\n\r\n");
        let text = server.talk(&request).await;
        assert_status(&text, 400);
        assert_eq!(text.matches("HTTP/1.1 ").count(), 1, "{framing}: {text}");
    }
    let request = "POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n";
    let mut client = server.connect().await;
    send(&mut client, request).await;
    assert_eq!(answer(&mut client).await, (200, "read 0".into()));
}
