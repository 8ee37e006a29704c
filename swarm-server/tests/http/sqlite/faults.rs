//! Disks that fail under load, and recovery without a restart.

use std::fs;
use std::sync::Arc;

use swarm_redis_testing::wait_until;
use swarm_store_sqlite::SqliteStore;

use super::{TOKEN, library};
use crate::backend::Backend;
use crate::clock::Clock;
use crate::fixture::Fixture;
use crate::load::Load;
use crate::program::Program;

#[test]
fn server_recovers_from_a_full_disk() {
    assert_recovers("full");
}

#[test]
fn server_recovers_from_a_read_only_disk() {
    assert_recovers("read-only");
}

/// While the disk fails, writes are refused and reads work. Afterwards writes work again, and only
/// acknowledged takes are stored.
fn assert_recovers(fault: &str) {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let (disk, library) = (folder.path().join("disk"), library("disk.c"));
    fs::write(&disk, "").unwrap();
    let preload = [("LD_PRELOAD", library.as_str()), ("SWARM_TEST_DISK", disk.to_str().unwrap())];
    let environment = [TOKEN, &preload].concat();
    let program = Program::start_in(Arc::clone(&folder), &["serve"], &environment);
    // The clock of this handle is not that of the program, and is not used.
    let direct = SqliteStore::open(folder.path().join("swarm.db")).unwrap().into();
    let fixture = Fixture::on(&Backend::within(Clock::noon(), direct));
    let load = Load::start(&fixture, program.client.address);

    for _ in 0..2 {
        load.wait_for(50);
        fs::write(&disk, fault).unwrap();
        load.wait_for_refusals(10);
        let unready = program.client.get("/readyz").expect(503).json();
        assert_eq!(unready["error"], "store unavailable");
        program.client.get("/api/swarm/takes/1").expect(200);
        if fault == "full" {
            assert_eq!(unready["detail"], "database or disk is full");
            // A server started on the full disk serves reads too, and reports the reason.
            let another = Program::start_in(Arc::clone(&folder), &["serve"], &environment);
            another.client.get("/api/swarm/takes/1").expect(200);
            assert_eq!(another.client.get("/readyz").expect(503).json(), unready);
            let metrics = another.client.get("/metrics").expect(200).text;
            assert!(metrics.contains("\nswarm_store_warnings 1\n"), "{metrics}");
        }
        fs::write(&disk, "").unwrap();
        wait_until("the disk is found again", || program.client.get("/readyz").status == 200);
    }
    load.wait_for(50);
    load.end(&fixture);
}
