//! Disks that fail under load, and the server that is not started again.

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
fn a_disk_that_is_full_takes_nothing_and_is_found_again() {
    survives("full");
}

#[test]
fn a_disk_that_is_read_only_takes_nothing_and_is_found_again() {
    survives("read-only");
}

/// While the disk fails, writes are refused and reads go on; once it does not, all goes on, and
/// nothing was filed but what was acknowledged.
fn survives(fault: &str) {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let (disk, library) = (folder.path().join("disk"), library("disk.c"));
    fs::write(&disk, "").unwrap();
    let preload = [("LD_PRELOAD", library.as_str()), ("SWARM_TEST_DISK", disk.to_str().unwrap())];
    let environment = [TOKEN, &preload].concat();
    let program = Program::start_in(Arc::clone(&folder), &["serve"], &environment);
    // Its clock is not that of the program, and nobody asks for it.
    let direct = Arc::new(SqliteStore::open(folder.path().join("swarm.db")).unwrap());
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
            // One that is started only now, too, serves what is there, and says why no more can be.
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
