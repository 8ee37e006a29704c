//! Limits on the memory that clients can make the binary hold.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::harness::{ADMIN, Author};
use crate::program::Program;
use crate::raw_http::{Connection, elsewhere};
use swarm_redis_testing::wait_until;

const MIB: usize = 1 << 20;

#[test]
fn stalled_readers_share_one_cached_answer() {
    let program = Program::start(&["serve", "--store=memory"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let note = "n".repeat(240_000);
    for number in 0..16 {
        let subject = json!({ "id": format!("s{number}"), "name": "s", "structuralNotes": [note] });
        program.client.operate("/subjects", &subject).expect(201);
    }
    program.client.get("/api/swarm/subjects").expect(200);
    let before = program.memory();
    let readers: Vec<_> = (0..200)
        .map(|_| {
            let mut reader = TcpStream::connect(program.client.address).unwrap();
            reader.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            reader.write_all(b"GET /api/swarm/subjects HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
            let mut line = [0; 15];
            reader.read_exact(&mut line).unwrap();
            assert_eq!(&line, b"HTTP/1.1 200 OK");
            reader
        })
        .collect();
    // Each answer has four million bytes.
    let grown = program.memory().saturating_sub(before);
    assert!(grown < 60 * MIB, "grown by {} MiB", grown / MIB);
    assert!(program.client.get("/api/swarm/subjects").expect(200).text.len() > 16 * note.len());
    drop(readers);
}

/// The cache of answers, which holds up to 64 MiB, forgets them too.
#[test]
fn memory_that_slow_readers_took_is_given_back() {
    let program = Program::start(&["serve", "--store=memory"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let note = "n".repeat(240_000);
    for number in 0..16 {
        let subject = json!({ "id": format!("s{number}"), "name": "s", "structuralNotes": [note] });
        program.client.operate("/subjects", &subject).expect(201);
    }
    let before = program.memory();
    let readers: Vec<_> = (0..200)
        .map(|number| {
            let mut reader = elsewhere(program.client.address, Some(4_096));
            // Answers that differ, or are cached each by itself.
            let path = match number % 3 {
                0 => format!("/api/swarm/subjects?limit={}", 10 + number),
                1 => format!("/api/swarm/subjects?after=s{}", number % 7),
                _ => format!("/swarm/subjects/s{}", number % 16),
            };
            reader.write_all(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).unwrap();
            reader
        })
        .collect();
    let grown = || program.memory().saturating_sub(before);
    wait_until("the answers are made", || grown() > 80 * MIB);
    std::thread::sleep(Duration::from_secs(2));
    drop(readers);
    std::thread::sleep(Duration::from_secs(6));
    assert!(grown() < 60 * MIB, "{} MiB are kept", grown() / MIB);
}

#[test]
fn large_body_with_an_unknown_token_is_not_read() {
    let program = Program::start(&["serve", "--store=memory"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let before = program.memory();
    let body = vec![b' '; MIB];
    let connections: Vec<_> = (0..64)
        .map(|number| {
            let mut connection = Connection::open(program.client.address);
            // Sends only half of the body.
            let framing = match number % 2 {
                0 => format!("Content-Length: {}\r\n\r\n", 2 * MIB),
                _ => format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", 2 * MIB),
            };
            connection.send(memo_head("tok_made_up", &framing).as_bytes()).unwrap();
            // The server may refuse it and close the connection meanwhile.
            let _ = connection.send(&body);
            connection
        })
        .map(|mut connection| {
            let answer = connection.receive(false).unwrap();
            assert_eq!(answer.status, 401, "{answer:?}");
            connection
        })
        .collect();
    let grown = program.memory().saturating_sub(before);
    assert!(grown < 40 * MIB, "grown by {} MiB", grown / MIB);
    drop(connections);
}

#[test]
fn large_body_of_a_member_is_read_sized_and_chunked() {
    let program = Program::start(&["serve", "--store=memory"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let author = Author::join(&program.client, "Ada");
    let memo = json!({ "title": "Long", "body": "b".repeat(100_000) }).to_string();
    for framing in [
        format!("Content-Length: {}\r\n\r\n{memo}", memo.len()),
        format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{memo}\r\n0\r\n\r\n", memo.len()),
    ] {
        let mut connection = Connection::open(program.client.address);
        connection.send(memo_head(&author.token, &framing).as_bytes()).unwrap();
        assert_eq!(connection.receive(false).unwrap().status, 201);
    }
}

fn memo_head(token: &str, framing: &str) -> String {
    format!(
        "POST /api/swarm/memos HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {token}\r\n{framing}"
    )
}
