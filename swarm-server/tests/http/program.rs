//! Runs the binary `swarm` as an operator would.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, LazyLock};
use std::thread::JoinHandle;

use swarm_redis_testing::free_port;
use tempfile::TempDir;

use crate::harness::{ADMIN, Client};

/// A running `swarm`; killed when dropped.
pub struct Program {
    child: Child,
    stdout: BufReader<std::process::ChildStdout>,
    stderr: Option<JoinHandle<String>>,
    pub client: Client,
    /// Its working directory.
    pub folder: Arc<TempDir>,
}

impl Program {
    /// Starts it in an empty folder and on a free port, and waits until it listens.
    pub fn start(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::start_in(Arc::new(tempfile::tempdir().unwrap()), arguments, environment)
    }

    /// Starts it with an address of its own for health and metrics. Returns a client of that address too.
    pub fn with_operations_apart(
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> (Self, Client) {
        let apart = format!("127.0.0.1:{}", free_port());
        let flag = format!("--metrics-listen={apart}");
        let program = Self::start(&[arguments, &[&flag]].concat(), environment);
        (program, Client::new(apart.parse().unwrap()))
    }

    pub fn start_in(
        folder: Arc<TempDir>,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        Self::spawn(folder, swarm(arguments, environment))
    }

    /// Starts the demo, with the admin token of the tests, and waits until its data is filed. Also returns what it printed.
    pub fn demo() -> (Self, String) {
        let mut program = Self::start(&["demo"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
        let mut printed = String::new();
        while !printed.contains("Ctrl-C") {
            let line = program.line();
            assert!(!line.is_empty(), "the demo ended: {printed}");
            printed += &line;
        }
        (program, printed)
    }

    /// Starts it by another command.
    pub fn run(command: Command, environment: &[(&str, &str)]) -> Self {
        Self::spawn(Arc::new(tempfile::tempdir().unwrap()), prepared(command, environment))
    }

    fn spawn(folder: Arc<TempDir>, mut command: Command) -> Self {
        let mut child =
            command.arg("--listen=127.0.0.1:0").current_dir(folder.path()).spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let Some(address) = line.trim().strip_prefix("listening on http://") else {
            panic!("{line}{:?}{}", child.wait(), stderr.join().unwrap());
        };
        let client = Client::new(address.parse().unwrap());
        Self { child, stdout, stderr: Some(stderr), client, folder }
    }

    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    /// Its environment variables.
    pub fn environment(&self) -> String {
        let read = std::fs::read(format!("/proc/{}/environ", self.child.id())).unwrap();
        String::from_utf8(read).unwrap()
    }

    /// Its resident memory, in bytes.
    pub fn memory(&self) -> usize {
        self.memory_figure("VmRSS:")
    }

    /// The highest resident memory that it has had, in bytes.
    pub fn peak_memory(&self) -> usize {
        self.memory_figure("VmHWM:")
    }

    fn memory_figure(&self, name: &str) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
    }

    /// The niceness of each of its threads of this name.
    pub fn nicenesses(&self, thread: &str) -> Vec<i32> {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        // A thread may end meanwhile.
        let stats =
            threads.filter_map(|it| std::fs::read_to_string(it.unwrap().path().join("stat")).ok());
        let niceness = |stat: String| {
            let (name, fields) = stat.split_once('(').unwrap().1.rsplit_once(") ").unwrap();
            (name == thread).then(|| fields.split(' ').nth(16).unwrap().parse::<i32>().unwrap())
        };
        stats.filter_map(niceness).collect()
    }

    pub fn signal(&self, signal: &str) {
        send(signal, &self.child.id().to_string());
    }

    /// Sends the signal, and waits for the exit; returns the status and the log.
    pub fn stop(mut self, signal: &str) -> (ExitStatus, String) {
        self.signal(signal);
        let status = self.child.wait().unwrap();
        (status, self.stderr.take().unwrap().join().unwrap())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends the signal to the process with this number.
pub fn send(signal: &str, process: &str) {
    assert!(Command::new("kill").args(["-s", signal, process]).status().unwrap().success());
}

pub fn swarm(arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_swarm"));
    command.args(arguments);
    prepared(command, environment)
}

fn prepared(mut command: Command, environment: &[(&str, &str)]) -> Command {
    command.env_clear().envs(environment.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The error text of a start that fails.
pub fn refusal(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let environment = &[&[("SWARM_LISTEN", "127.0.0.1:0")], environment].concat();
    let output = swarm(arguments, environment).current_dir(folder.path()).output().unwrap();
    assert!(!output.status.success(), "{arguments:?} {environment:?} started");
    String::from_utf8(output.stderr).unwrap()
}

/// Writes a configuration file that no other process of the tests writes.
pub fn configuration(name: &str, text: &str) -> PathBuf {
    let path = scratch_folder().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// The folder for files of this process. Processes of the tests may run at the same time from one target folder: a server that is
/// started again would read what another process has half written. Folders of processes that have ended are removed.
pub fn scratch_folder() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("processes");
        std::fs::create_dir_all(&all).unwrap();
        let processes = Path::new("/proc");
        for entry in std::fs::read_dir(&all).unwrap().map_while(Result::ok) {
            if processes.join("self").exists() && !processes.join(entry.file_name()).exists() {
                // Another process may remove it too.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let folder = all.join(std::process::id().to_string());
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    });
    &FOLDER
}
