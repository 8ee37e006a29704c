//! A Redis that fails under load, and the program that is not started again.

use std::sync::Arc;

use crate::backend::servers::{self, wait_until};
use crate::backend::{Backend, connect};
use crate::binary::Program;
use crate::harness::ADMIN;
use crate::load::Load;
use crate::world::{Clock, World};

struct Scene {
    /// It has on disk what it has acknowledged.
    redis: servers::Server,
    program: Program,
    world: World,
    load: Load,
}

impl Scene {
    fn set() -> Self {
        let redis = servers::Server::start(&[]);
        let store = format!("--store={}", redis.url());
        let program = Program::start(&["serve", &store], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
        // Its clock is not that of this Redis, and nobody asks for it.
        let direct = Arc::new(connect(&redis.url()));
        let world = World::on(&Backend { clock: Clock::noon(), store: direct, redis: None });
        let load = Load::start(&world, program.client.address);
        Self { redis, program, world, load }
    }

    fn wait_until_readiness_is(&self, status: u16) {
        let readiness = || self.program.client.get("/readyz");
        wait_until("readiness changes", || readiness().status == status);
    }

    /// More is filed, and nothing was filed but what was acknowledged.
    fn check(self) {
        self.load.wait_for(50);
        self.load.end(&self.world);
    }
}

#[test]
fn a_redis_that_dies_is_missed_and_found_again() {
    let mut scene = Scene::set();
    for _ in 0..2 {
        scene.load.wait_for(50);
        scene.redis.stop();
        scene.load.wait_for_refusals(10);
        scene.wait_until_readiness_is(503);
        scene.program.client.get("/readyz").refused(503, "store unavailable");
        scene.redis.resume();
        scene.wait_until_readiness_is(200);
    }
    scene.check();
}

/// Nobody waits for it longer than a client does, and nobody is told anything of it but the truth.
#[test]
fn a_redis_that_stalls_is_not_waited_for() {
    let scene = Scene::set();
    scene.load.wait_for(50);
    scene.redis.signal("STOP");
    scene.load.wait_for_refusals(4);
    scene.program.client.get("/readyz").refused(503, "store unavailable");
    scene.redis.signal("CONT");
    scene.wait_until_readiness_is(200);
    scene.check();
}

#[test]
fn a_redis_that_forgets_the_scripts_is_taught_again() {
    let scene = Scene::set();
    for _ in 0..50 {
        scene.redis.cli(&["script", "flush"]);
        scene.load.wait_for(3);
        scene.program.client.get("/readyz").expect(200);
    }
    scene.check();
}

#[test]
fn a_redis_without_memory_takes_nothing_and_goes_on_reading() {
    let scene = Scene::set();
    for _ in 0..3 {
        scene.load.wait_for(50);
        scene.redis.cli(&["config", "set", "maxmemory", "1"]);
        scene.load.wait_for_refusals(20);
        scene.program.client.get("/api/swarm/takes/1").expect(200);
        scene.program.client.get("/readyz").expect(200);
        scene.redis.cli(&["config", "set", "maxmemory", "0"]);
    }
    scene.check();
}
