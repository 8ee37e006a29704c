//! Lists as files that are longer than a page: streamed with bounded memory, and cut where they cannot be read to their end.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use swarm_core::StoreError;

use crate::fixture::{Clock, Fixture};
use crate::observed_store::observed_store;

/// More than two pages.
const SESSIONS: u64 = 1_150;

/// A fixture with that many sessions, whose reads of sessions fail after so many, unless 0.
fn fixture() -> (Fixture, Arc<AtomicU64>) {
    let clock = Clock::noon();
    let store = clock.store();
    let reads_left = Arc::new(AtomicU64::new(u64::MAX));
    let left = Arc::clone(&reads_left);
    let observed = observed_store(&store, move |call| {
        let is_read = call.op.starts_with("session") && !call.done;
        let fails = is_read && left.fetch_sub(1, Ordering::SeqCst) == 0;
        if fails { Err(StoreError::unavailable("test", "no answer")) } else { Ok(()) }
    });
    let fixture = Fixture::serve(clock, store, observed);
    for _ in 0..SESSIONS {
        fixture.convene("2026-11-21", "aurora");
    }
    (fixture, reads_left)
}

/// An answer as it comes over a socket: the head, the chunks, and whether they ended well.
struct Raw {
    head: String,
    body: Vec<u8>,
    largest: usize,
    is_whole: bool,
}

/// The answer, unless it is no stream.
fn try_fetch(address: SocketAddr, path: &str, headers: &str) -> Option<Raw> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{headers}connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).unwrap() == 0 {
            // The connection was cut before anything was sent: nobody takes that for a file either.
            assert_eq!(head, "");
            return Some(Raw { head, body: Vec::new(), largest: 0, is_whole: false });
        }
    }
    let mut raw = Raw { head: head.to_lowercase(), body: Vec::new(), largest: 0, is_whole: false };
    if !raw.head.contains("transfer-encoding: chunked") {
        return None;
    }
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).unwrap_or_default() == 0 {
            return Some(raw);
        }
        let length = usize::from_str_radix(line.trim(), 16).unwrap();
        let mut chunk = vec![0; length + 2];
        if stream.read_exact(&mut chunk).is_err() {
            return Some(raw);
        }
        if length == 0 {
            raw.is_whole = true;
            return Some(raw);
        }
        chunk.truncate(length);
        raw.largest = raw.largest.max(length);
        raw.body.extend(chunk);
    }
}

fn fetch(address: SocketAddr, path: &str, headers: &str) -> Raw {
    try_fetch(address, path, headers).expect("a stream")
}

fn ids(text: &str) -> BTreeSet<u64> {
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| row["id"].as_u64().unwrap()).collect()
}

#[test]
fn long_list_is_one_file_of_all_rows() {
    let (fixture, _) = fixture();
    let address = fixture.client.address;
    let plain = fetch(address, "/swarm/sessions.ndjson", "");
    assert!(plain.is_whole);
    let text = String::from_utf8(plain.body).unwrap();
    assert_eq!(text.lines().count() as u64, SESSIONS);
    assert_eq!(ids(&text), (1..=SESSIONS).collect());
    for header in ["etag", "content-length", "link"] {
        assert!(!plain.head.contains(&format!("\n{header}:")), "{}", plain.head);
    }
    for header in [
        "cache-control: no-store",
        "access-control-allow-origin: *",
        "content-disposition: attachment; filename=\"sessions.ndjson\"",
        "content-type: application/x-ndjson",
    ] {
        assert!(plain.head.contains(header), "{}", plain.head);
    }
    // It was sent page by page, and no part is much longer than a page.
    assert!(plain.largest < text.len() / 2 + 1_000, "{} of {}", plain.largest, text.len());

    let gzip = fetch(address, "/swarm/sessions.ndjson", "accept-encoding: gzip\r\n");
    assert!(gzip.is_whole && gzip.head.contains("content-encoding: gzip"), "{}", gzip.head);
    let mut unpacked = String::new();
    flate2::read::GzDecoder::new(&*gzip.body).read_to_string(&mut unpacked).unwrap();
    assert_eq!(unpacked, text);
    assert!(gzip.body.len() < text.len() / 4, "{}", gzip.body.len());

    let csv = fetch(address, "/swarm/sessions.csv", "");
    let csv = String::from_utf8(csv.body).unwrap();
    assert_eq!(csv.matches("\r\n").count() as u64, SESSIONS + 1, "with a header");
    let (header, rows) = csv.split_once("\r\n").unwrap();
    let columns = header.matches("\",\"").count();
    assert!(header.starts_with("\"id\",\"date\""), "{header}");
    let first = rows.lines().next().unwrap();
    assert!(
        first.starts_with(&format!("{SESSIONS},")) && first.matches(',').count() == columns,
        "{first}"
    );
}

#[test]
fn filters_and_positions_hold_and_a_limit_asks_for_a_page() {
    let (fixture, _) = fixture();
    let address = fixture.client.address;
    let before = fetch(address, "/swarm/sessions.ndjson?before=701", "");
    assert_eq!(ids(&String::from_utf8(before.body).unwrap()), (1..=700).collect());
    // What fits a page is answered as before, with its length and its ETag.
    let short = fixture.client.get("/swarm/sessions.ndjson?before=401").expect(200);
    assert_eq!(ids(&short.text).len(), 400);
    assert!(short.header("etag").is_some() && short.header("link").is_none(), "{short:?}");
    let page = fixture.client.get("/swarm/sessions.ndjson?limit=10").expect(200);
    assert_eq!(ids(&page.text).len(), 10);
    assert!(page.header("link").unwrap().contains("rel=\"next\""), "{page:?}");
    fixture.client.get("/swarm/sessions.ndjson?before=x").expect(400);
    let head = fixture.client.send("HEAD", "/swarm/sessions.csv", &[], b"").expect(200);
    assert_eq!(head.text, "");
}

/// The client notices: the chunks have no end, and a compressed file has none either.
#[test]
fn file_that_cannot_be_read_to_its_end_is_cut() {
    let (fixture, reads_left) = fixture();
    let address = fixture.client.address;
    let mut cut = [0, 0];
    for (reads, gzip) in (0..60).flat_map(|reads| [(reads, true), (reads, false)]) {
        reads_left.store(reads, Ordering::SeqCst);
        let headers = if gzip { "accept-encoding: gzip\r\n" } else { "" };
        let answer = try_fetch(address, "/swarm/sessions.ndjson", headers);
        reads_left.store(u64::MAX, Ordering::SeqCst);
        // Without a first page it is a plain 503. With all pages it is whole.
        let Some(raw) = answer.filter(|raw| !raw.is_whole) else { continue };
        cut[usize::from(gzip)] += 1;
        if gzip {
            let mut unpacked = Vec::new();
            let whole = flate2::read::GzDecoder::new(&*raw.body).read_to_end(&mut unpacked);
            assert!(whole.is_err(), "a gzip file without an end");
        } else {
            let lines = raw.body.iter().filter(|byte| **byte == b'\n').count();
            assert!((lines as u64) < SESSIONS, "{lines}");
        }
    }
    assert!(cut[0] > 0 && cut[1] > 0, "{cut:?}");
    // What was cut holds up nobody.
    assert!(fetch(address, "/swarm/sessions.ndjson", "").is_whole);
}
