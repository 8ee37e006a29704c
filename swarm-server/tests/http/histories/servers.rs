//! Two servers on one store. Servers and stores are killed with SIGKILL, and restarted with the same address and files.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use swarm_postgres_testing::Server as Postgres;
use swarm_redis_testing::{Server as Redis, free_port, wait_until};
use tempfile::TempDir;

use crate::histories::client::{ADMIN, Client};

/// The store of both servers, with a folder for their signing key.
pub struct Store {
    url: String,
    process: Option<Mutex<StoreProcess>>,
    folder: TempDir,
}

/// A store that is a process of its own.
enum StoreProcess {
    Redis(Redis),
    Postgres(Postgres),
}

impl Store {
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("swarm.db").display());
        Self { url, process: None, folder }
    }

    /// A Redis that syncs each commit to its append-only file.
    pub fn redis() -> Self {
        let redis = Redis::start(&["--appendonly", "yes", "--appendfsync", "always"]);
        Self::of(redis.url(), StoreProcess::Redis(redis))
    }

    pub fn postgres() -> Self {
        let postgres = Postgres::start(&[]);
        Self::of(postgres.url(), StoreProcess::Postgres(postgres))
    }

    fn of(url: String, process: StoreProcess) -> Self {
        Self { url, process: Some(Mutex::new(process)), folder: tempfile::tempdir().unwrap() }
    }
}

impl StoreProcess {
    fn kill(&mut self) {
        match self {
            Self::Redis(redis) => redis.stop(),
            Self::Postgres(postgres) => postgres.kill(),
        }
    }

    fn restart(&mut self) {
        match self {
            Self::Redis(redis) => redis.resume(),
            Self::Postgres(postgres) => postgres.resume(),
        }
    }
}

/// Two servers, and their store.
pub struct Servers {
    servers: [Server; 2],
    // Dropped last.
    store: Store,
}

impl Servers {
    pub fn start(store: Store) -> Self {
        // One after the other: the first one creates the signing key.
        let servers = [Server::start(&store), Server::start(&store)];
        Self { servers, store }
    }

    /// A client of the first server for even numbers, of the second for odd ones.
    pub fn client(&self, number: u64) -> Client {
        Client::new(self.servers[usize::from(!number.is_multiple_of(2))].address)
    }

    /// Whether the store is a process of its own, so that it can be killed.
    pub fn store_is_a_process(&self) -> bool {
        self.store.process.is_some()
    }

    pub fn kill(&self, server: usize) {
        self.servers[server].kill();
    }

    pub fn restart(&self, server: usize) {
        self.servers[server].spawn();
    }

    pub fn kill_store(&self) {
        self.store.process.as_ref().unwrap().lock().unwrap().kill();
    }

    pub fn restart_store(&self) {
        self.store.process.as_ref().unwrap().lock().unwrap().restart();
    }

    /// The last warnings and errors in the logs of both servers.
    pub fn warnings(&self) -> String {
        let logs = self.servers.iter().map(|server| std::fs::read_to_string(&server.log).unwrap());
        let text = logs.collect::<String>();
        let is_warning = |line: &&str| line.contains(" WARN ") || line.contains(" ERROR ");
        let lines: Vec<_> = text.lines().filter(is_warning).collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }

    /// Waits until both servers answer, and reach their store.
    pub fn wait_until_ready(&self) {
        self.servers.iter().for_each(Server::wait_until_ready);
    }
}

struct Server {
    address: SocketAddr,
    store: String,
    folder: PathBuf,
    log: PathBuf,
    process: Mutex<Option<Child>>,
}

impl Server {
    fn start(store: &Store) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let (url, folder) = (store.url.clone(), store.folder.path().to_owned());
        let log = folder.join(format!("{}.log", address.port()));
        let server = Self { address, store: url, folder, log, process: Mutex::new(None) };
        server.spawn();
        server.wait_until_ready();
        server
    }

    fn spawn(&self) {
        let log = File::options().create(true).append(true).open(&self.log).unwrap();
        let mut command = swarm(&self.folder, &self.store, self.address);
        let process = command.stderr(log).spawn().unwrap();
        *self.process.lock().unwrap() = Some(process);
    }

    fn wait_until_ready(&self) {
        let client = Client::new(self.address);
        wait_until("the server is ready", || {
            client.get("/readyz").is_some_and(|answer| answer.status == 200)
        });
    }

    /// Sends SIGKILL.
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
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}
