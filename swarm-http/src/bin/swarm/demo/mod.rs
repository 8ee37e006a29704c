//! `swarm demo`: an in-memory store, filled through the API that any client uses with some weeks of
//! a desk: three subjects, twelve members, sessions, memos, the committee.

mod author;
mod clock;
mod committee;
mod desk;
mod sessions;
mod words;

use std::sync::Arc;

use swarm_core::{Committees, Swarm, SystemEntropy};
use swarm_http::Site;
use swarm_http::maintenance::{LogQueuedMail, Maintenance};
use swarm_store_memory::MemoryStore;
use tokio::sync::oneshot;
use tracing_subscriber::filter::LevelFilter;

use crate::arguments::DemoOptions;
use crate::client::Client;
use crate::secrets::mint_token;
use crate::{Failure, console, log, serve, tenants};

use author::Author;
use clock::StoryClock;
use desk::Desk;

pub(crate) async fn run(options: DemoOptions) -> Result<(), Failure> {
    log::start(options.log_format, LevelFilter::ERROR)?;
    let admin_token = match serve::admin_token()? {
        Some(token) => token,
        None => mint_token()?,
    };
    let mut tenant = tenants::default_tenant(Some(admin_token.clone()))?;
    tenant.name = "Demo desk".to_owned();
    let clock = StoryClock::new();
    let time = clock.clone();
    let store = MemoryStore::with_clock(move || time.now());
    let swarm = Swarm::new(store.clone(), SystemEntropy);
    let committees = Committees::new(store, SystemEntropy);
    let site = Arc::new(Site::single((swarm, committees), tenant));
    let maintenance = Maintenance::new(&site).with(LogQueuedMail::default);
    let listener = serve::listen(&options.listen).await?;
    let server = listener.local_addr()?;
    let (failed, failure) = oneshot::channel::<Failure>();
    let signal = serve::stop_signal()?;
    let until = async {
        tokio::select! { () = signal => None, failure = failure => failure.ok() }
    };
    let mut ended = None;
    tokio::spawn(async move {
        match fill(Client { server, admin_token }, clock).await {
            // The sender is kept, so that the server goes on until a signal comes.
            Ok(()) => std::future::pending().await,
            Err(failure) => drop(failed.send(failure)),
        }
    });
    let stop = async { ended = until.await };
    serve::serve(listener, &site, maintenance, serve::limits(false), stop).await?;
    ended.map_or(Ok(()), Err)
}

/// Tells the story from its beginning, and prints what to open.
async fn fill(client: Client, clock: StoryClock) -> Result<(), Failure> {
    let end = clock.now();
    let mut desk = Desk { client, clock, end, members: Vec::new() };
    sessions::begin(&mut desk).await?;
    let keys = committee::seat(&desk).await?;
    for days_ago in (1..=words::DAYS).rev() {
        sessions::past(&desk, days_ago).await?;
        match days_ago {
            2 => committee::session(&desk, &keys, 0, days_ago).await?,
            1 => committee::session(&desk, &keys, 1, days_ago).await?,
            _ => {}
        }
    }
    let (first, amended) = sessions::open(&desk).await?;
    desk.clock.resume();
    let key = desk.members.first().map_or_else(String::new, Author::public_key);
    print(&desk, [first, amended], &key);
    Ok(())
}

fn print(desk: &Desk, [first, amended]: [u64; 2], key: &str) {
    let Client { server, admin_token } = &desk.client;
    console::say(&format!(
        "
Some weeks of a desk with {} members. Open:
  http://{server}/   its home page
  http://{server}/swarm/sessions   its sessions, as their pages
  http://{server}/swarm/takes/{amended}   a take, and below it
  http://{server}/swarm/takes/{first}   the take that it amends
  http://{server}/api/swarm/open-session   the session that takes can be filed in, as JSON

Verify the first take, by the key that its author has and the server was not asked for:
  python3 examples/clients/swarm_client.py verify http://{server}/swarm/takes/{amended} --key {key}

Operate it with the header X-Admin-Token: {admin_token}

Ctrl-C ends the demonstration, and everything in it.",
        desk.members.len()
    ));
}
