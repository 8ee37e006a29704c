//! Two servers on one store, either of which is killed with SIGKILL at random moments: between a commit and what it queues,
//! between that and the delivery, and between the delivery and its record (API.md, 7.5 and 15).
//!
//! The clocks of the store and of the servers stand still while servers are killed and started again. Then neither runs, and
//! the clocks move past all leases. So two deliveries at the same time by these clocks are of one lease.

mod checks;
mod mail_sink;
mod workload;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::Duration;

use swarm_core::rules::LEASE_MILLIS;
use swarm_redis_testing::wait_until;
use tempfile::TempDir;
use tokio::time::Instant;

use crate::backend::{Backend, FILE};
use crate::clock::Clock;
use crate::histories::Random;
use crate::program::{Program, configuration};
use crate::tenant_configuration::tenant;
use crate::webhooks::{Receiver, Reply};

use checks::Arrived;
use mail_sink::MailSink;
use workload::Workload;

/// How long the receivers keep the sender waiting after they have what it sends, so that many kills are in between.
const LATENCY: Duration = Duration::from_millis(5);

/// When sessions close, after the beginning: less than an hour, so that members are reminded at once.
const CLOSES_AFTER: i64 = 50 * 60 * 1_000;

/// How much longer the last phase may take until everything was done once.
const PATIENCE: Duration = Duration::from_secs(60);

/// Threads that send requests.
const WORKERS: u64 = 3;

/// How much is done.
struct Effort {
    /// The number of times that the clocks stand still.
    phases: u64,
    phase: Duration,
}

const SHORT: Effort = Effort { phases: 3, phase: Duration::from_millis(1_500) };
const LONG: Effort = Effort { phases: 10, phase: Duration::from_secs(8) };

#[test]
fn deliveries_of_killed_servers_on_sqlite() {
    run("sqlite", &Backend::sqlite(), &SHORT);
}

mod nightly {
    #[test]
    fn deliveries_of_killed_servers() {
        super::run("sqlite-long", &super::Backend::sqlite(), &super::LONG);
    }
}

mod nightly_on_redis {
    #[test]
    fn deliveries_of_killed_servers() {
        super::run("redis", &super::Backend::redis(), &super::LONG);
    }
}

mod nightly_on_postgres {
    #[test]
    fn deliveries_of_killed_servers() {
        super::run("postgres", &super::Backend::postgres(), &super::LONG);
    }
}

/// The servers' store, clock, configuration and receivers.
struct World<'a> {
    backend: &'a Backend,
    store: String,
    /// The clock of the servers. It is that of the store as well, but for PostgreSQL.
    clock: Clock,
    configuration: PathBuf,
    /// With the signing key.
    folder: Arc<TempDir>,
    receiver: Receiver,
    sink: MailSink,
}

impl<'a> World<'a> {
    fn new(name: &str, backend: &'a Backend) -> Self {
        let (receiver, sink) = (Receiver::start(), MailSink::start());
        receiver.answer(Reply::Late(LATENCY));
        let server = format!("smtp_url = \"{}\"\nmail_from = \"desk@acme.example\"\n", sink.url);
        let lines = format!("remind = \"1h\"\n{}", receiver.table("closing = \"1h\""));
        let text = server + &tenant("acme", &lines);
        let configuration = configuration(&format!("killed-deliveries-{name}.toml"), &text);
        let redis = backend.redis.as_ref().map(|redis| redis.url());
        let file = backend.folder.as_ref();
        let file = file.map(|folder| format!("sqlite:{}", folder.path().join(FILE).display()));
        let store = redis.or(file).or(backend.postgres.clone()).unwrap();
        let is_postgres = backend.postgres.is_some();
        let clock = if is_postgres { Clock::of_programs() } else { backend.clock.clone() };
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self { backend, store, clock, configuration, folder, receiver, sink }
    }

    fn serve(&self) -> Program {
        let store = format!("--store={}", self.store);
        let arguments = ["serve", &store, "--config", self.configuration.to_str().unwrap()];
        Program::start_in(Arc::clone(&self.folder), &arguments, &self.clock.environment())
    }

    fn let_leases_expire(&self) {
        let millis = LEASE_MILLIS + 1_000;
        self.backend.clock.move_by(millis);
        if self.backend.postgres.is_some() {
            self.clock.move_by(millis);
        }
    }
}

fn run(name: &str, backend: &Backend, effort: &Effort) {
    let world = World::new(name, backend);
    let mut random = Random(700);
    // One after the other: the first creates the signing key.
    let mut servers = Vec::from([world.serve(), world.serve()]);
    let client = |server: &Program| server.client.at("acme.example");
    let clients = [client(&servers[0]), client(&servers[1])];
    let workload = Workload::begin(clients, world.clock.after(CLOSES_AFTER));
    for phase in 0..effort.phases {
        workload.is_over.store(false, Ordering::SeqCst);
        thread::scope(|scope| {
            let _ends = Ends(&workload.is_over);
            for seed in 0..WORKERS {
                let workload = &workload;
                scope.spawn(move || workload.run(&mut Random(701 + phase * WORKERS + seed)));
            }
            let end = Instant::now() + effort.phase;
            let is_last = phase + 1 == effort.phases;
            // A busy machine does less in the time.
            let goes_on = || {
                let now = Instant::now();
                now < end || is_last && !workload.done.is_everything() && now < end + PATIENCE
            };
            while goes_on() {
                sleep(Duration::from_millis(20 + random.below(200)));
                let server = random.below(2) as usize;
                drop(servers.remove(server));
                sleep(Duration::from_millis(random.below(60)));
                servers.insert(server, world.serve());
                *workload.clients[server].lock().unwrap() = client(&servers[server]);
            }
        });
        servers.clear();
        world.let_leases_expire();
        for number in 0..2 {
            servers.push(world.serve());
            *workload.clients[number].lock().unwrap() = client(&servers[number]);
        }
    }

    let mut arrived = Arrived::read(&client(&servers[0]), &world.receiver, &world.sink);
    wait_until("everything is delivered", || {
        arrived = Arrived::read(&client(&servers[0]), &world.receiver, &world.sink);
        arrived.is_everything()
    });
    // Nothing comes twice now.
    sleep(Duration::from_secs(1));
    Arrived::read(&client(&servers[0]), &world.receiver, &world.sink).check(&workload.done);
}

/// Ends the workload, also where the test fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
