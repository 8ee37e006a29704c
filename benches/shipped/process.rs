//! Processes pinned to a core, and their processor time.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The core of the measured process.
pub const MEASURED: usize = 0;

/// The core of everything else: the clients, and `redis-server`.
pub const OTHER: usize = 1;

/// Pins this process and its children to one core.
///
/// # Panics
/// When there is no such core.
pub fn stay_on(core: usize) {
    let mut cores = rustix::thread::CpuSet::new();
    cores.set(core);
    rustix::thread::sched_setaffinity(None, &cores).expect("two cores");
}

/// Runs this thread only while its core is idle (`SCHED_IDLE`). At a low priority it would still finish its
/// time slice while measured clients wait to read an answer.
///
/// # Panics
/// Without the program `chrt`.
pub fn give_way() {
    let thread = rustix::thread::gettid().to_string();
    let status = Command::new("chrt").args(["--idle", "--pid", "0", &thread]).status();
    assert!(status.expect("chrt").success(), "it does not give way");
}

/// A server on the measured core; killed on drop.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// The address.
    pub address: SocketAddr,
}

impl Process {
    /// Starts a command that prints `listening on http://ADDRESS` as its first line; its log is dropped.
    ///
    /// # Panics
    /// When it prints something else.
    pub fn start(command: &Command) -> Self {
        Self::start_with_log(command, Stdio::null())
    }

    /// Starts a server with its log redirected.
    ///
    /// # Panics
    /// When it prints something else.
    pub fn start_with_log(command: &Command, log: Stdio) -> Self {
        let (child, line) = start(command, log);
        let address = line.trim().strip_prefix("listening on http://").expect("an address");
        Self { child, address: address.parse().expect("an address") }
    }

    /// Starts a command that listens at this address after printing a line.
    ///
    /// # Panics
    /// When it prints none.
    pub fn start_at(command: &Command, address: SocketAddr) -> Self {
        let (child, line) = start(command, Stdio::inherit());
        assert!(!line.is_empty(), "it has ended before it listened");
        Self { child, address }
    }

    /// Its processor time so far.
    pub fn used(&self) -> Duration {
        used(self.child.id())
    }

    /// Its peak resident memory since the last call, in bytes.
    ///
    /// # Panics
    /// When it runs no more.
    pub fn peak(&self) -> usize {
        let peak = self.memory("VmHWM:");
        // 5 resets the peak to the current size (proc_pid_clear_refs).
        std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").expect("it runs");
        peak
    }

    /// Its resident memory now, in bytes.
    ///
    /// # Panics
    /// When it runs no more.
    pub fn resident(&self) -> usize {
        self.memory("VmRSS:")
    }

    fn memory(&self, figure: &str) -> usize {
        memory_of(self.child.id(), figure).expect("it runs")
    }
}

/// The peak resident memory of a process, in bytes; `None` once it has ended.
pub fn peak_of(process: u32) -> Option<usize> {
    memory_of(process, "VmHWM:")
}

fn memory_of(process: u32, figure: &str) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(figure))?;
    let kibibytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes << 10)
}

/// Starts a command on the measured core; returns the first line that it prints.
fn start(command: &Command, log: Stdio) -> (Child, String) {
    let mut child = Command::new("taskset")
        .args(["-c", &MEASURED.to_string()])
        .arg(command.get_program())
        .args(command.get_args())
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(command.get_current_dir().unwrap_or(".".as_ref()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .expect("taskset");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("it is piped");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    (child, line)
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The processor time of the threads of a process.
///
/// # Panics
/// When it runs no more.
pub fn used(process: u32) -> Duration {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("it runs");
    let nanoseconds = threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok())
        .filter_map(|line| line.split(' ').next()?.parse::<u64>().ok())
        .sum();
    Duration::from_nanos(nanoseconds)
}
