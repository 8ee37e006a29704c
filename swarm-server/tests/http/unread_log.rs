//! The log, and the line on standard output, where nobody can or does read them: neither holds a
//! request up, nor ends the program.
#![allow(clippy::disallowed_methods, reason = "deadlines are measured from outside")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use swarm_redis_testing::wait_until;
use tempfile::TempDir;

use crate::harness::{ADMIN, Client};
use crate::program::swarm;

/// More lines than may wait.
const REQUESTS: usize = 12_000;

#[test]
fn a_log_on_a_full_disk_is_dropped_and_counted() {
    let program = UnreadLog::start(full());
    program.ask(REQUESTS);
    program.drops_at_least(REQUESTS);
    program.ends_in_order();
}

#[test]
fn a_log_that_nobody_has_open_is_dropped_and_counted() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let program = UnreadLog::start(writer.into());
    program.ask(REQUESTS);
    program.drops_at_least(REQUESTS);
    program.ends_in_order();
}

#[test]
fn a_log_that_nobody_reads_holds_nothing_up() {
    let (mut reader, writer) = stalled();
    let program = UnreadLog::start(writer);
    program.ask(REQUESTS);
    program.drops_at_least(1);
    // Whoever reads on finds whole lines.
    let mut rest = [0; 200_000];
    reader.read_exact(&mut rest).unwrap();
    let text = String::from_utf8(rest[PIPE..].to_vec()).unwrap();
    assert!(text.contains("listening"), "{}", &text[..300]);
    let answered = text.lines().filter(|line| line.contains("answered"));
    assert!(answered.clone().count() > 100);
    assert!(answered.skip(1).all(|line| line.contains("route=\"/healthz\"")));
    drop(reader);
    program.ends_in_order();
}

#[test]
fn a_log_that_nobody_reads_does_not_keep_the_program_alive() {
    let (_reader, writer) = stalled();
    let program = UnreadLog::start(writer);
    program.ask(REQUESTS);
    program.ends_in_order();
}

/// With a log that can be read, which tells the address.
#[test]
fn nobody_has_to_hear_where_the_program_listens() {
    let ((_reader, stalled), (closed, writer)) = (stalled(), std::io::pipe().unwrap());
    drop(closed);
    for stdout in [stalled, full(), writer.into()] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = swarm(&["serve"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
        command.arg("--listen=127.0.0.1:0").current_dir(folder.path()).stdout(stdout);
        let mut child = command.spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = log.find(|line| line.as_ref().unwrap().contains("listening")).unwrap().unwrap();
        let address = line.rsplit("address=").next().unwrap().parse().unwrap();
        let program = UnreadLog { child, address, _folder: folder };
        Client::new(address).get("/readyz").expect(200);
        program.ends_in_order();
    }
}

/// What nobody can be told is no reason to fail otherwise than it would.
#[test]
fn a_failure_that_nobody_can_be_told_is_one_exit_code() {
    let status = swarm(&["serve", "--store=postgres://a"], &[]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

/// The program, its log on something that nobody reads.
struct UnreadLog {
    child: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl UnreadLog {
    fn start(log: Stdio) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Without a token of the environment, one is printed.
        let mut command = swarm(&["serve", "--listen=127.0.0.1:0"], &[]);
        let mut child = command.current_dir(folder.path()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").expect(&line);
        Self { child, address: address.parse().unwrap(), _folder: folder }
    }

    /// So many requests, each of which is a line of the log.
    fn ask(&self, requests: usize) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut answers = BufReader::new(stream.try_clone().unwrap());
        for _ in 0..requests / 100 {
            let request = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
            stream.write_all(request.repeat(100).as_bytes()).unwrap();
            let mut answered = 0;
            while answered < 100 {
                let mut line = Vec::new();
                assert_ne!(answers.read_until(b'\n', &mut line).unwrap(), 0, "closed");
                // The one before ends without a line end.
                answered += usize::from(line.ends_with(b"HTTP/1.1 200 OK\r\n"));
            }
        }
    }

    fn drops_at_least(&self, lines: usize) {
        let dropped = || {
            let metrics = Client::new(self.address).get("/metrics").expect(200).text;
            let mut lines = metrics.lines();
            let count = lines.find_map(|line| line.strip_prefix("swarm_log_lines_dropped_total "));
            count.unwrap().parse::<usize>().unwrap()
        };
        wait_until("lines are counted", || dropped() >= lines);
    }

    /// SIGTERM ends it, soon and well.
    fn ends_in_order(mut self) {
        let id = self.child.id().to_string();
        let began = Instant::now();
        assert!(std::process::Command::new("kill").arg(&id).status().unwrap().success());
        while self.child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < Duration::from_secs(20), "it goes on");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for UnreadLog {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

/// What fits into a pipe.
const PIPE: usize = 64 << 10;

/// A pipe that takes no more.
fn stalled() -> (std::io::PipeReader, Stdio) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&[b'\n'; PIPE]).unwrap();
    (reader, writer.into())
}
