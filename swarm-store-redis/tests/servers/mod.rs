//! Servers for tests, on free ports of the loopback interface.
//!
//! Each is the child of a shell that waits for the end of its standard input and then kills it.
//! The other end is held by the test's process, so that no server outlives it, however it ends:
//! neither a `static` nor a test that is killed drops anything.
//!
//! `SWARM_REDIS_SERVER` names the program to test with, another release or Valkey; `redis-server`
//! from the `PATH` unless it is set.

#![allow(dead_code, reason = "not every test needs every helper")]
#![allow(clippy::expect_used, clippy::panic, reason = "a test without a server fails")]
#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// At the word `keep` it leaves the files for the next start. The configuration of a sentinel is the
/// first word of its arguments.
const WATCH: &str = r#"
    trap "" HUP INT TERM
    folder=$1; shift
    "${SWARM_REDIS_SERVER:-redis-server}" $SWARM_TEST_SENTINEL --dir "$folder" "$@" > /dev/null & server=$!
    read word
    kill -9 $server; wait
    [ "$word" = keep ] || rm -rf "$folder"
"#;

/// A `redis-server`.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) folder: PathBuf,
    environment: Vec<(String, String)>,
    options: Vec<String>,
    shell: Option<Child>,
}

impl Server {
    /// Starts one that writes each change to its disk.
    pub(crate) fn start(options: &[&str]) -> Self {
        Self::start_in(&[], options)
    }

    /// Starts it with these variables in its environment.
    pub(crate) fn start_in(environment: &[(&str, &str)], options: &[&str]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let environment = environment.iter().map(owned).collect();
        let options = options.iter().map(ToString::to_string).collect();
        let folder = tempfile::tempdir().unwrap().keep();
        let mut server = Self { port: free_port(), folder, environment, options, shell: None };
        server.resume();
        server
    }

    /// Starts it again where it stopped: same port, same files.
    pub(crate) fn resume(&mut self) {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", WATCH, "sh"])
            .arg(&self.folder)
            .arg("--port")
            .arg(self.port.to_string())
            .args(["--bind", "127.0.0.1"]);
        shell.args(["--daemonize", "no", "--save", "", "--repl-diskless-sync-delay", "0"]);
        shell.arg("--pidfile").arg(self.folder.join("pid"));
        shell.args(["--appendonly", "yes", "--appendfsync", "always"]).args(&self.options);
        shell.envs(self.environment.iter().map(|(name, value)| (name, value)));
        self.shell = Some(shell.stdin(Stdio::piped()).spawn().unwrap());
        wait_until("redis-server answers", || self.answers());
    }

    /// The same, with these options besides.
    pub(crate) fn resume_with(&mut self, options: &[&str]) {
        self.options.extend(options.iter().map(ToString::to_string));
        self.resume();
    }

    /// Kills it, with what it holds in memory.
    pub(crate) fn stop(&mut self) {
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

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: &str) {
        // While it is stopped it cannot be asked.
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"kill -"$0" "$(cat "$1/pid")""#, signal]).arg(&self.folder);
        assert!(shell.status().unwrap().success());
    }

    /// What `redis-cli` prints.
    pub(crate) fn cli(&self, command: &[&str]) -> String {
        cli(&[&["-p", &self.port.to_string()], command].concat())
    }

    /// Makes it the replica of who listens at this port, and waits until it has caught up.
    pub(crate) fn follow(&self, port: u16) {
        self.cli(&["replicaof", "127.0.0.1", &port.to_string()]);
        self.wait_until_it_says("master_link_status:up");
    }

    /// Waits until this stands in what it says of its replication.
    pub(crate) fn wait_until_it_says(&self, line: &str) {
        wait_until(line, || self.cli(&["info", "replication"]).contains(line));
    }

    /// Waits until it sends clients of the cluster to these ports.
    pub(crate) fn wait_until_it_leads_to(&self, ports: &[u16]) {
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

/// A cluster of three.
pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Server>,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        Self::start_with(0)
    }

    /// Each with as many replicas.
    pub(crate) fn start_with(replicas: usize) -> Self {
        let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "5000"];
        let nodes = (0..3 * (1 + replicas)).map(|_| Server::start(&options));
        let nodes: Vec<Server> = nodes.collect();
        let addresses: Vec<String> =
            nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        let mut create = vec!["--cluster", "create"];
        create.extend(addresses.iter().map(String::as_str));
        let each = replicas.to_string();
        create.extend(["--cluster-replicas", &each, "--cluster-yes"]);
        let said = cli(&create);
        assert!(said.contains("All 16384 slots covered"), "{said}");
        let cluster = Self { nodes };
        cluster.wait_until_it_is_whole();
        let has_replicas = format!("connected_slaves:{replicas}");
        for node in &cluster.nodes {
            wait_until("replicas follow", || {
                let info = node.cli(&["info", "replication"]);
                info.contains("master_link_status:up") || info.contains(&has_replicas)
            });
        }
        cluster
    }

    pub(crate) fn wait_until_it_is_whole(&self) {
        for node in &self.nodes {
            wait_until("the cluster is whole", || {
                node.cli(&["cluster", "info"]).contains("cluster_state:ok")
            });
        }
    }

    pub(crate) fn url(&self) -> String {
        let nodes: Vec<String> =
            self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        format!("redis-cluster://{}", nodes.join(","))
    }
}

/// A port that nobody listens at; nor at the one 10,000 above, where nodes of a cluster meet. Both
/// are below those that a system gives to who asks for any: no other test comes in between.
pub(crate) fn free_port() -> u16 {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    loop {
        let asked = ASKED.fetch_add(1, Ordering::Relaxed);
        let spread = std::process::id().wrapping_mul(131).wrapping_add(asked) % 12_000;
        let port = 10_000 + u16::try_from(spread).unwrap();
        let free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if free(port) && free(port + 10_000) {
            return port;
        }
    }
}

fn cli(arguments: &[&str]) -> String {
    let output = Command::new("redis-cli").args(arguments).output();
    let output = output.expect("redis-cli is not on the PATH: install redis (or valkey)");
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..1_000 {
        if done() {
            return;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("waited 20 seconds for: {what} (does redis-server, or SWARM_REDIS_SERVER, run?)");
}
