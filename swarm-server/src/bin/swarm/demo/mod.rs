//! `swarm demo`: an in-memory store, filled through the API that any client uses with some weeks of
//! a desk: three subjects, twelve members, sessions, memos, the committee.

mod author;
mod clock;
mod committee;
mod desk;
mod sessions;
mod words;

use std::net::SocketAddr;
use std::sync::Arc;

use swarm_client::Client;
use swarm_core::{Committees, Swarm, SystemEntropy, TakeId};
use swarm_http::Site;
use swarm_maintenance::LogQueuedMail;
use swarm_store_memory::MemoryStore;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tracing_subscriber::filter::LevelFilter;

use crate::arguments::DemoOptions;
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
    let maintenance = site.maintenance().with(LogQueuedMail::default);
    let listener = serve::bind("listen", &options.listen).await?;
    serve::say_address(&listener, false)?;
    let server = listener.local_addr()?;
    let (failed, failure) = oneshot::channel::<Failure>();
    let (filled, is_filled) = oneshot::channel::<()>();
    let signal = serve::stop_signal()?;
    let until = async {
        tokio::select! { () = signal => None, failure = failure => failure.ok() }
    };
    let mut ended = None;
    tokio::spawn(async move {
        // The client blocks.
        match spawn_blocking(move || fill(server, admin_token, clock)).await {
            // The sender is kept, so that the server goes on until a signal comes.
            Ok(Ok(())) => {
                drop(filled);
                std::future::pending().await
            }
            Ok(Err(failure)) => drop(failed.send(failure)),
            Err(panicked) => drop(failed.send(panicked.into())),
        }
    });
    let stop = async { ended = until.await };
    // Until then the store's clock is another than this program's.
    let maintenance = async {
        let _ = is_filled.await;
        maintenance.run().await
    };
    serve::serve(listener, &site, maintenance, serve::limits(false), stop).await?;
    ended.map_or(Ok(()), Err)
}

/// Files everything in order of time, and prints what to open.
fn fill(server: SocketAddr, admin_token: String, clock: StoryClock) -> Result<(), Failure> {
    let client = Client::new(&format!("http://{server}"))?.without_retries();
    let end = clock.now();
    let mut desk = Desk { client, server, admin_token, clock, end, members: Vec::new() };
    sessions::begin(&mut desk)?;
    let keys = committee::seat(&desk)?;
    for days_ago in (1..=words::DAYS).rev() {
        sessions::past(&desk, days_ago)?;
        match days_ago {
            2 => committee::session(&desk, &keys, 0, days_ago)?,
            1 => committee::session(&desk, &keys, 1, days_ago)?,
            _ => {}
        }
    }
    let takes = sessions::open(&desk)?;
    desk.clock.resume();
    let key = desk.members.first().map_or_else(String::new, Author::public_key);
    print(&desk, takes, &key);
    Ok(())
}

fn print(desk: &Desk, [first, amended]: [TakeId; 2], key: &str) {
    let Desk { server, admin_token, .. } = desk;
    console::say(&format!(
        "
Some weeks of a desk with {} members. Open:
  http://{server}/   its home page
  http://{server}/swarm/sessions   its sessions, as their pages
  http://{server}/swarm/takes/{amended}   a take, and below it
  http://{server}/swarm/takes/{first}   the take that it amends
  http://{server}/api/swarm/open-session   the session that takes can be filed in, as JSON

Verify the first take, by the key that its author has and the server was not asked for:
  swarm verify http://{server}/swarm/takes/{amended} --key {key}

Operate it with the header X-Admin-Token: {admin_token}

Ctrl-C ends the demonstration, and everything in it.",
        desk.members.len()
    ));
}
