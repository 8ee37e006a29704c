//! Redis failures under load, and recovery without a restart of the program.

use swarm_redis_testing::{Server, wait_until};

use crate::backend::{Backend, connect};
use crate::fixture::{Clock, Fixture};
use crate::harness::ADMIN;
use crate::load::Load;
use crate::program::Program;

struct FailingRedis {
    /// A Redis that syncs every write.
    redis: Server,
    program: Program,
    fixture: Fixture,
    load: Load,
}

impl FailingRedis {
    fn start() -> Self {
        let redis = Server::start(&[]);
        let store = format!("--store={}", redis.url());
        let program = Program::start(&["serve", &store], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
        // The clock of this handle is not that of Redis, and is not used.
        let direct = connect(&redis.url()).into();
        let fixture = Fixture::on(&Backend::within(Clock::noon(), direct));
        let load = Load::start(&fixture, program.client.address);
        Self { redis, program, fixture, load }
    }

    fn wait_until_readiness_is(&self, status: u16) {
        let readiness = || self.program.client.get("/readyz");
        wait_until("readiness changes", || readiness().status == status);
    }

    /// Checks that filing works again, and that only acknowledged takes are stored.
    fn check(self) {
        self.load.wait_for(50);
        self.load.end(&self.fixture);
    }
}

#[test]
fn server_recovers_from_a_killed_redis() {
    let mut failing = FailingRedis::start();
    for _ in 0..2 {
        failing.load.wait_for(50);
        failing.redis.stop();
        failing.load.wait_for_refusals(10);
        failing.wait_until_readiness_is(503);
        failing.program.client.get("/readyz").refused(503, "store unavailable");
        failing.redis.resume();
        failing.wait_until_readiness_is(200);
    }
    failing.check();
}

/// Requests time out before clients do, and every answer is correct.
#[test]
fn stalled_redis_times_out() {
    let failing = FailingRedis::start();
    failing.load.wait_for(50);
    failing.redis.signal("STOP");
    failing.load.wait_for_refusals(4);
    failing.program.client.get("/readyz").refused(503, "store unavailable");
    failing.redis.signal("CONT");
    failing.wait_until_readiness_is(200);
    failing.check();
}

#[test]
fn scripts_are_reloaded_after_a_flush() {
    let failing = FailingRedis::start();
    for _ in 0..50 {
        failing.redis.cli(&["script", "flush"]);
        failing.load.wait_for(3);
        failing.program.client.get("/readyz").expect(200);
    }
    failing.check();
}

#[test]
fn redis_out_of_memory_refuses_writes_and_serves_reads() {
    let failing = FailingRedis::start();
    for _ in 0..3 {
        failing.load.wait_for(50);
        failing.redis.cli(&["config", "set", "maxmemory", "1"]);
        failing.load.wait_for_refusals(20);
        failing.program.client.get("/api/swarm/takes/1").expect(200);
        let full = failing.program.client.get("/readyz").expect(503).json();
        assert_eq!(full["detail"], "redis has less than 5 % of its maxmemory left");
        // A server started meanwhile serves reads and reports the same.
        let store = format!("--store={}", failing.redis.url());
        let another = Program::start(&["serve", &store], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
        another.client.get("/api/swarm/takes/1").expect(200);
        assert_eq!(another.client.get("/readyz").expect(503).json(), full);
        failing.redis.cli(&["config", "set", "maxmemory", "0"]);
        failing.program.client.get("/readyz").expect(200);
    }
    failing.check();
}
