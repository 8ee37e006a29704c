//! Power loss, simulated: the process is killed, and its append-only file is truncated to what was
//! synced to disk.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test that fails panics")]

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use swarm_core::TenantId;
use swarm_redis_testing::{Server, compiled, wait_until};
use swarm_store_redis::RedisStore;
use tempfile::TempDir;

use crate::load::Load;
use crate::world::recovered;

#[tokio::test(flavor = "multi_thread")]
async fn power_loss_with_appendfsync_always_loses_no_take() {
    let mut outage = Outage::start(&["--appendfsync", "always"]).await;
    for round in 0..6 {
        outage.lose_power(round % 3).await;
        assert_eq!(outage.load.lost().await, [0, 0], "round {round}");
    }
}

/// If this fails, the other tests here prove nothing.
#[tokio::test(flavor = "multi_thread")]
async fn power_loss_with_appendfsync_everysec_loses_takes() {
    let mut outage = Outage::start(&["--appendfsync", "everysec"]).await;
    outage.lose_power(0).await;
    assert!(outage.load.lost().await.iter().all(|lost| *lost > 0));
}

/// With `no-appendfsync-on-rewrite yes` the server does not sync during a rewrite, and takes are lost.
#[tokio::test(flavor = "multi_thread")]
async fn power_loss_during_rewrite_loses_no_take_if_still_synced() {
    for (unsynced, loses) in [("no", false), ("yes", true)] {
        // It takes some seconds to rewrite the file.
        let slow = ["--rdb-key-save-delay", "200000", "--no-appendfsync-on-rewrite", unsynced];
        let mut outage = Outage::start(&[&["--appendfsync", "always"][..], &slow].concat()).await;
        outage.server.cli(&["bgrewriteaof"]);
        wait_until("the file is rewritten", || {
            outage.server.cli(&["info", "persistence"]).contains("aof_rewrite_in_progress:1")
        });
        outage.lose_power(0).await;
        assert_eq!(outage.load.lost().await.map(|lost| lost > 0), [loses; 2]);
    }
}

/// A server under load, with a library that records how much of its file is synced.
struct Outage {
    server: Server,
    load: Load,
    /// Contains the library that records synced lengths.
    _library: TempDir,
}

impl Outage {
    /// Starts it with these options. The members are on disk.
    async fn start(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let library = compiled(include_str!("power/fsync.c"), folder.path());
        let preload = ("LD_PRELOAD", library.to_str().unwrap());
        let server = Server::start_in(&[preload], options);
        let store = RedisStore::connect(&server.url()).await.unwrap();
        let load = Load::new(&store, "acme").await;
        let outage = Self { server, load, _library: folder };
        wait_until("all is on disk", || outage.synced() == outage.written());
        outage
    }

    /// Simulates a loss of power, when some acknowledged data is not synced, if that can be found in ten
    /// attempts. `thirds` thirds of the unsynced data survive.
    async fn lose_power(&mut self, thirds: u64) {
        self.load.begin();
        for _ in 0..10 {
            let written = self.written();
            self.load.goes_on().await;
            self.server.signal("STOP");
            if self.synced() <= written {
                break;
            }
            self.server.signal("CONT");
        }
        self.server.stop();
        self.load.end().await;

        let (synced, written) = (self.synced(), self.written());
        assert!(synced <= written);
        let kept = synced + (written - synced) * thirds / 3;
        File::options().write(true).open(self.file()).unwrap().set_len(kept).unwrap();
        repair(&self.server.folder);
        self.server.resume();
        // Read through a new connection: a store that has seen the lost takes refuses to commit.
        let store = RedisStore::connect(&self.server.url()).await.unwrap();
        self.load.store = store.open(&TenantId::parse("acme").unwrap());
        recovered(&self.load.store).await;
    }

    /// The length of the append-only file.
    fn written(&self) -> u64 {
        fs::metadata(self.file()).unwrap().len()
    }

    /// How much of it is synced; 0 if it never was.
    fn synced(&self) -> u64 {
        let length = fs::read(self.file().with_extension("aof.synced"));
        length.map_or(0, |length| u64::from_ne_bytes(length.try_into().unwrap()))
    }

    /// The current append-only file. Redis 6.2 has one; later releases keep it in a folder, with a base file
    /// and a manifest, and begin another with each rewrite.
    fn file(&self) -> PathBuf {
        let folder = &self.server.folder;
        let folders = [folder.clone(), folder.join("appendonlydir")];
        let files = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_one = |name: &str| name.starts_with("appendonly.") && name.ends_with(".aof");
        files.map(|file| file.unwrap().path()).filter(|path| is_one(&name(path))).max().unwrap()
    }
}

/// Truncates the append-only file to its last complete transaction. Redis itself would cut off only the
/// incomplete command and continue within the transaction.
fn repair(folder: &Path) {
    let listed = folder.join("appendonlydir/appendonly.aof.manifest");
    let file = if listed.exists() { listed } else { folder.join("appendonly.aof") };
    let server = env::var_os("SWARM_REDIS_SERVER").unwrap_or_else(|| "redis-server".into());
    // Under this name the server binary is the repair tool of its own release.
    let mut check = Command::new(server);
    check.arg0("redis-check-aof").arg("--fix").arg(file);
    let mut check = check.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    check.stdin.take().unwrap().write_all(b"y\n").unwrap();
    let said = check.wait_with_output().unwrap();
    assert!(said.status.success(), "{said:?}");
}
