//! Two servers on one store. They are killed and come back at the same address.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use swarm_redis_testing::{Server as Redis, free_port};
use tempfile::TempDir;

use crate::client::{ADMIN, Client};

/// What both servers stand on.
pub struct Store {
    url: String,
    _redis: Option<Redis>,
    folder: TempDir,
}

impl Store {
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("swarm.db").display());
        Self { url, _redis: None, folder }
    }

    pub fn redis() -> Self {
        let redis = Redis::start(&["--appendonly", "no"]);
        Self { url: redis.url(), _redis: Some(redis), folder: tempfile::tempdir().unwrap() }
    }
}

/// Two servers, and the store behind them.
pub struct Servers {
    servers: [Server; 2],
    // Dropped last.
    _store: Store,
}

impl Servers {
    pub fn start(store: Store) -> Self {
        // One after the other: the first makes what is missing in their folder.
        let servers = [Server::start(&store), Server::start(&store)];
        Self { servers, _store: store }
    }

    /// One of the two, by any number.
    pub fn client(&self, number: u64) -> Client {
        Client::new(self.servers[usize::from(!number.is_multiple_of(2))].address)
    }

    /// Kills one, by any number, and starts it again.
    pub fn kill_and_restart(&self, number: u64) {
        let server = &self.servers[usize::from(!number.is_multiple_of(2))];
        server.kill();
        server.run();
    }

    /// Kills one for good.
    pub fn kill(&self, number: u64) {
        self.servers[usize::from(!number.is_multiple_of(2))].kill();
    }
}

struct Server {
    address: SocketAddr,
    store: String,
    folder: std::path::PathBuf,
    process: Mutex<Option<Child>>,
}

impl Server {
    fn start(store: &Store) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let (url, folder) = (store.url.clone(), store.folder.path().to_owned());
        let server = Self { address, store: url, folder, process: Mutex::new(None) };
        server.run();
        server
    }

    /// Starts the process, and waits until it answers.
    fn run(&self) {
        let process = swarm(&self.folder, &self.store, self.address).spawn().unwrap();
        *self.process.lock().unwrap() = Some(process);
        let (client, started) = (Client::new(self.address), Instant::now());
        while client.get("/readyz").is_none_or(|answer| answer.status != 200) {
            assert!(started.elapsed() < Duration::from_secs(20), "the server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// SIGKILL.
    fn kill(&self) {
        if let Some(mut process) = self.process.lock().unwrap().take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn swarm(folder: &Path, store: &str, address: SocketAddr) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_swarm"));
    command.arg("serve").arg(format!("--store={store}")).arg(format!("--listen={address}"));
    command.env_clear().env("SWARM_ADMIN_TOKEN", ADMIN).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}
