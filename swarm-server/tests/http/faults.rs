//! A Redis that fails under load, and the program that is not started again.

use std::sync::Arc;

use swarm_redis_testing::{Server, wait_until};

use crate::backend::{Backend, connect};
use crate::fixture::{Clock, Fixture};
use crate::harness::ADMIN;
use crate::load::Load;
use crate::program::Program;

struct FailingRedis {
    /// It has on disk what it has acknowledged.
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
        // Its clock is not that of this Redis, and nobody asks for it.
        let direct = Arc::new(connect(&redis.url()));
        let fixture = Fixture::on(&Backend::within(Clock::noon(), direct));
        let load = Load::start(&fixture, program.client.address);
        Self { redis, program, fixture, load }
    }

    fn wait_until_readiness_is(&self, status: u16) {
        let readiness = || self.program.client.get("/readyz");
        wait_until("readiness changes", || readiness().status == status);
    }

    /// More is filed, and nothing was filed but what was acknowledged.
    fn check(self) {
        self.load.wait_for(50);
        self.load.end(&self.fixture);
    }
}

#[test]
fn a_redis_that_dies_is_missed_and_found_again() {
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

/// Nobody waits for it longer than a client does, and nobody is told anything of it but the truth.
#[test]
fn a_redis_that_stalls_is_not_waited_for() {
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
fn a_redis_that_forgets_the_scripts_is_taught_again() {
    let failing = FailingRedis::start();
    for _ in 0..50 {
        failing.redis.cli(&["script", "flush"]);
        failing.load.wait_for(3);
        failing.program.client.get("/readyz").expect(200);
    }
    failing.check();
}

#[test]
fn a_redis_without_memory_takes_nothing_and_goes_on_reading() {
    let failing = FailingRedis::start();
    for _ in 0..3 {
        failing.load.wait_for(50);
        failing.redis.cli(&["config", "set", "maxmemory", "1"]);
        failing.load.wait_for_refusals(20);
        failing.program.client.get("/api/swarm/takes/1").expect(200);
        let full = failing.program.client.get("/readyz").expect(503).json();
        assert_eq!(full["detail"], "redis has less than 5 % of its maxmemory left");
        // A server that is started by then reads and says the same.
        let store = format!("--store={}", failing.redis.url());
        let another = Program::start(&["serve", &store], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
        another.client.get("/api/swarm/takes/1").expect(200);
        assert_eq!(another.client.get("/readyz").expect(503).json(), full);
        failing.redis.cli(&["config", "set", "maxmemory", "0"]);
        failing.program.client.get("/readyz").expect(200);
    }
    failing.check();
}
