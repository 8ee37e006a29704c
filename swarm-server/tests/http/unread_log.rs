//! Log and standard output that are not read, or cannot be written: requests are not delayed, and the
//! program does not end.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use swarm_redis_testing::wait_until;
use tempfile::TempDir;

use crate::harness::{ADMIN, Client};
use crate::program::swarm;

/// More lines than the queue of the log holds.
const REQUESTS: usize = 12_000;

#[test]
fn log_lines_on_a_full_disk_are_dropped_and_counted() {
    let program = UnreadLog::start(full());
    program.ask(REQUESTS);
    program.drops_at_least(REQUESTS);
    program.ends_in_order();
}

#[test]
fn log_lines_to_a_closed_pipe_are_dropped_and_counted() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let program = UnreadLog::start(writer.into());
    program.ask(REQUESTS);
    program.drops_at_least(REQUESTS);
    program.ends_in_order();
}

#[test]
fn unread_log_does_not_delay_requests() {
    let (mut reader, writer) = stalled();
    let program = UnreadLog::start(writer);
    program.ask(REQUESTS);
    program.drops_at_least(1);
    // A reader that continues finds complete lines.
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
fn unread_log_does_not_delay_the_exit() {
    let (_reader, writer) = stalled();
    let program = UnreadLog::start(writer);
    program.ask(REQUESTS);
    program.ends_in_order();
}

/// The log is readable here, and contains the address.
#[test]
fn unwritable_standard_output_does_not_fail_the_start() {
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

/// An error that cannot be printed does not change the exit code.
#[test]
fn failure_with_unwritable_stderr_has_the_same_exit_code() {
    let status = swarm(&["serve", "--store=postgres://a"], &[]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

/// The program with a log that is not read.
struct UnreadLog {
    child: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl UnreadLog {
    fn start(log: Stdio) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Without a token in the environment, one is printed.
        let mut command = swarm(&["serve", "--listen=127.0.0.1:0"], &[]);
        let mut child = command.current_dir(folder.path()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").expect(&line);
        Self { child, address: address.parse().unwrap(), _folder: folder }
    }

    /// Sends requests, each of which logs a line.
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
                // The previous line may be incomplete.
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

    /// Checks that SIGTERM ends the program, with success.
    fn ends_in_order(mut self) {
        let id = self.child.id().to_string();
        assert!(std::process::Command::new("kill").arg(&id).status().unwrap().success());
        wait_until("the program ends", || self.child.try_wait().unwrap().is_some());
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

/// The capacity of a pipe, in bytes.
const PIPE: usize = 64 << 10;

/// A full pipe.
fn stalled() -> (std::io::PipeReader, Stdio) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&[b'\n'; PIPE]).unwrap();
    (reader, writer.into())
}
