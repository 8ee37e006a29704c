//! A thousand requests that wait and two hundred streams: they are bounded by address and in all, and takes go on beside them.
//! How long takes wait meanwhile is measured by the bench `attacks`.
#![allow(clippy::disallowed_methods, reason = "deadlines are measured from outside")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{ADMIN, Author};
use crate::many_connections::allow_sockets;
use crate::program::Program;

/// The places of one address, and of the server (API.md, 11.10).
const OF_ADDRESS: usize = 512;
const OF_SERVER: usize = 2_048;

/// What 1,200 followers may take, in bytes.
const MEMORY: usize = 96 << 20;

/// A follower, whose answer has begun if it is a stream.
struct Follower {
    stream: BufReader<TcpStream>,
    status: u16,
}

/// Sends a request as the proxy of this client would.
fn ask(server: SocketAddr, client: &str, path: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(server).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: {client}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    BufReader::new(stream)
}

fn follow(server: SocketAddr, client: &str) -> Follower {
    let mut stream = ask(server, client, "/api/swarm/events");
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    Follower { stream, status }
}

fn program() -> Program {
    allow_sockets();
    let arguments = ["serve", "--store=memory", "--trust-forwarded"];
    Program::start(&arguments, &[("SWARM_ADMIN_TOKEN", ADMIN)])
}

#[test]
fn one_address_cannot_take_all_places() {
    let program = program();
    let server = program.client.address;
    let followers: Vec<_> = (0..OF_ADDRESS + 40).map(|_| follow(server, "203.0.113.1")).collect();
    let counted = |status| followers.iter().filter(|it| it.status == status).count();
    assert_eq!((counted(200), counted(503)), (OF_ADDRESS, 40));
    // A request that would wait is answered at once, and others have places.
    let begun = Instant::now();
    let headers = [("x-forwarded-for", "203.0.113.1")];
    let path = "/api/swarm/log?after=9&wait=30";
    program.client.send("GET", path, &headers, b"").expect(200);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(follow(server, "203.0.113.2").status, 200);
    // All addresses together cannot take more than there are, and what they leave is free again.
    let more: Vec<_> = (0..OF_SERVER)
        .map(|nth| follow(server, &format!("198.51.100.{}", nth / 400)))
        .filter(|it| it.status == 200)
        .collect();
    assert_eq!(more.len() + OF_ADDRESS, OF_SERVER);
    assert_eq!(follow(server, "192.0.2.1").status, 503);
    drop((followers, more));
    swarm_redis_testing::wait_until("there are places again", || {
        follow(server, "192.0.2.1").status == 200
    });
}

#[test]
fn takes_go_on_beside_a_thousand_waiting_readers_and_200_streams() {
    let program = program();
    let client = &program.client;
    let server = client.address;
    client.convene("2026-11-21", "aurora");
    let authors: Vec<_> = (0..10).map(|nth| Author::join(client, &format!("A{nth}"))).collect();
    let file = |author: &Author| {
        let begun = Instant::now();
        client.submit(author, author.draft("2026-11-21", "aurora")).expect(201);
        begun.elapsed()
    };
    let mut alone: Vec<_> = authors.iter().map(file).collect();
    let before = program.memory();
    let of = |nth: usize| format!("203.0.113.{}", nth % 100);
    let wait = "/api/swarm/log?after=1000000&kind=operation&wait=60";
    let waiting: Vec<_> = (0..1_000).map(|nth| ask(server, &of(nth), wait)).collect();
    let streams: Vec<_> = (0..200).map(|nth| follow(server, &of(nth))).collect();
    assert!(streams.iter().all(|it| it.status == 200));
    let mut beside: Vec<_> = (0..3).flat_map(|_| authors.iter().map(file)).collect();
    // Every stream has every take.
    let last = client.get("/api/swarm/log?limit=1000").expect(200).json()["next"].clone();
    for mut follower in streams {
        let ends = format!("id: {last}\n");
        let mut line = String::new();
        follower.stream.get_ref().set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        while !line.ends_with(&ends) {
            assert_ne!(follower.stream.read_line(&mut line).unwrap(), 0, "cut off: {line}");
        }
    }
    let grown = program.peak_memory().saturating_sub(before);
    assert!(grown < MEMORY, "grown by {} MiB", grown >> 20);
    alone.sort_unstable();
    beside.sort_unstable();
    println!("takes: {:?} alone, {:?} beside; {} MiB", alone.last(), beside.last(), grown >> 20);
    assert!(beside[beside.len() / 2] < Duration::from_secs(1), "{beside:?}");
    // The readers still wait: nothing came that they wait for.
    for reader in waiting {
        reader.get_ref().set_nonblocking(true).unwrap();
        let mut byte = [0];
        let seen = reader.get_ref().peek(&mut byte);
        assert!(seen.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock));
    }
    let state = client.operate("/sessions/1/state", &json!({ "state": "window_closed" }));
    state.expect(200);
}
