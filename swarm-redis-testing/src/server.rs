//! Servers on free ports of the loopback interface.
//!
//! Each server is started by a shell that waits until its standard input is closed, and then kills
//! the server. The test process holds the other end of that pipe, so no server outlives it, however
//! the process ends: destructors run neither for a `static` nor in a process that is killed.
//!
//! `SWARM_REDIS_SERVER` names the program to test with, another release or Valkey; `redis-server`
//! from the `PATH` unless it is set.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::ports::free_port;

/// The script of that shell. When it reads the word `keep`, it leaves the files for the next start.
/// Libraries that are preloaded into the server must not be loaded into the commands that follow:
/// their files may be gone by then. A sentinel has its configuration file as its first argument.
const WATCH: &str = r#"
    trap "" HUP INT TERM
    folder=$1; shift
    "${SWARM_REDIS_SERVER:-redis-server}" $SWARM_TEST_SENTINEL --dir "$folder" "$@" > /dev/null & server=$!
    unset LD_PRELOAD
    read word
    kill -9 $server; wait
    [ "$word" = keep ] || rm -rf "$folder"
"#;

/// A `redis-server`, killed when it is dropped, and its files with it.
#[derive(Debug)]
pub struct Server {
    /// Its port.
    pub port: u16,
    /// The folder of its files.
    pub folder: PathBuf,
    environment: Vec<(String, String)>,
    options: Vec<String>,
    shell: Option<Child>,
}

impl Server {
    /// Starts a server that writes each change to its disk.
    pub fn start(options: &[&str]) -> Self {
        Self::start_in(&[], options)
    }

    /// Starts a server with these environment variables.
    pub fn start_in(environment: &[(&str, &str)], options: &[&str]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let environment = environment.iter().map(owned).collect();
        let options = options.iter().map(ToString::to_string).collect();
        let folder = tempfile::tempdir().unwrap().keep();
        let mut server = Self { port: free_port(), folder, environment, options, shell: None };
        server.resume();
        server
    }

    /// Restarts it with the same port and files.
    pub fn resume(&mut self) {
        self.repair();
        let mut shell = Command::new("sh");
        shell
            .args(["-c", WATCH, "sh"])
            .arg(&self.folder)
            .arg("--port")
            .arg(self.port.to_string())
            .args(["--bind", "127.0.0.1"]);
        shell.args(["--daemonize", "no", "--save", "", "--repl-diskless-sync-delay", "0"]);
        shell.arg("--pidfile").arg(self.folder.join("pid"));
        shell
            .args(["--appendonly", "yes", "--appendfsync", "always"])
            .args(["--aof-load-truncated", "no"])
            .args(&self.options);
        shell.envs(self.environment.iter().map(|(name, value)| (name, value)));
        self.shell = Some(shell.stdin(Stdio::piped()).spawn().unwrap());
        wait_until("redis-server answers", || self.answers());
    }

    /// Cuts off the incomplete transaction that a kill in the middle of a write leaves at the end of the append-only file:
    /// a server with `aof-load-truncated no` does not start with it.
    fn repair(&self) {
        let manifest = self.folder.join("appendonlydir/appendonly.aof.manifest");
        if manifest.exists() {
            let fix = r#"echo y | redis-check-aof --fix "$0" > /dev/null"#;
            let status = Command::new("sh").args(["-c", fix]).arg(&manifest).status().unwrap();
            assert!(status.success(), "the append-only file cannot be repaired");
        }
    }

    /// The same, with these additional options.
    pub fn resume_with(&mut self, options: &[&str]) {
        self.options.extend(options.iter().map(ToString::to_string));
        self.resume();
    }

    /// Kills it; what is only in memory is lost.
    pub fn stop(&mut self) {
        self.end("keep");
    }

    fn end(&mut self, word: &str) {
        if let Some(mut shell) = self.shell.take() {
            if let Some(mut stdin) = shell.stdin.take() {
                writeln!(stdin, "{word}").unwrap();
            }
            shell.wait().unwrap();
        }
    }

    /// The number of script calls so far.
    pub fn scripts(&self) -> u64 {
        self.calls("evalsha")
    }

    /// The number of calls of this command so far, those by scripts included.
    pub fn calls(&self, command: &str) -> u64 {
        let value = self.info_field("commandstats", &format!("cmdstat_{command}:calls="));
        value.split(',').next().and_then(|calls| calls.parse().ok()).unwrap_or_default()
    }

    /// The number of reads from its connections so far.
    pub fn reads(&self) -> u64 {
        self.info_field("stats", "total_reads_processed:")
            .parse()
            .expect("redis 6.2 or later reports it")
    }

    /// Its process id.
    pub fn process(&self) -> u32 {
        self.info_field("server", "process_id:").parse().unwrap()
    }

    /// The value of a field of `INFO section`.
    fn info_field(&self, section: &str, name: &str) -> String {
        let info = self.cli(&["info", section]);
        let value = info.lines().find_map(|line| line.strip_prefix(name));
        value.unwrap_or_default().trim().to_owned()
    }

    /// The URL for a store.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: &str) {
        // A stopped process does not answer.
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"kill -"$0" "$(cat "$1/pid")""#, signal]).arg(&self.folder);
        assert!(shell.status().unwrap().success());
    }

    /// The output of `redis-cli`. Bytes that are no text are replaced.
    pub fn cli(&self, command: &[&str]) -> String {
        cli(&[&["-p", &self.port.to_string()], command].concat())
    }

    /// Makes it a replica of the server on this port, and waits until it has caught up.
    pub fn replicate_from(&self, port: u16) {
        self.cli(&["replicaof", "127.0.0.1", &port.to_string()]);
        self.wait_until_it_says("master_link_status:up");
    }

    /// Waits until `INFO replication` contains this line.
    pub fn wait_until_it_says(&self, line: &str) {
        wait_until(line, || self.cli(&["info", "replication"]).contains(line));
    }

    /// Waits until it redirects cluster clients to these ports.
    pub fn wait_until_it_leads_to(&self, ports: &[u16]) {
        wait_until("the cluster has new ports", || {
            let slots = self.cli(&["cluster", "slots"]);
            ports.iter().all(|port| slots.contains(&port.to_string()))
        });
    }

    fn answers(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return false };
        let mut answer = [0; 5];
        let asked = stream.write_all(b"PING\r\n").and_then(|()| stream.read_exact(&mut answer));
        asked.is_ok() && answer == *b"+PONG"
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end("");
    }
}

/// The output of `redis-cli`. Bytes that are no text are replaced.
pub(crate) fn cli(arguments: &[&str]) -> String {
    let output = Command::new("redis-cli").args(arguments).output();
    let output = output.expect("redis-cli is not on the PATH: install redis (or valkey)");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Waits until `done` returns true; `what` is the message when it does not. The limit, two minutes of sleeping, only
/// bounds a test that has failed: it is long because others may be using the machine.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if done() {
            return;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("waited two minutes for: {what} (does redis-server, or SWARM_REDIS_SERVER, run?)");
}
