//! `swarm demo`: a server on an in-memory store, filled through the public API with sample data: three subjects, 25
//! members, a year of weekly sessions with outcomes, some weeks of daily ones in every state, blind ones too, open ones in
//! which a newcomer may file, memos and a committee.

mod author;
mod committee;
mod desk;
mod requests;
mod sessions;
mod words;
mod year;

use std::net::SocketAddr;
use std::sync::Arc;

use swarm_client::Client;
use swarm_core::{Committees, SessionId, Swarm, SystemEntropy, TakeId};
use swarm_http::{Services, Site};
use swarm_maintenance::LogQueuedMail;
use swarm_store_memory::MemoryStore;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tracing_subscriber::filter::LevelFilter;

use crate::arguments::DemoOptions;
use crate::secrets::{self, GivenToken, mint_token};
use crate::{Failure, console, log, serve, signing_key, tenants};

use author::Author;
use desk::{Desk, StoryClock};

pub(crate) async fn run(options: DemoOptions) -> Result<(), Failure> {
    let early = serve::end_at_signals()?;
    log::start(options.log_format, LevelFilter::ERROR)?;
    let admin_token = match secrets::admin_token()? {
        Some(given) => given,
        None => GivenToken { source: "admin token".to_owned(), token: mint_token()? },
    };
    let signal = serve::stop_signal()?;
    early.abort();
    let GivenToken { source, token: admin_token } = admin_token;
    let mut tenant = tenants::default_tenant(&source, &admin_token)?;
    tenant.name = "Demo desk".to_owned();
    let clock = StoryClock::new();
    let time = clock.clone();
    let store = MemoryStore::with_clock(move || time.now());
    let swarm = Swarm::new(store.clone(), SystemEntropy);
    let committees = Committees::new(store, SystemEntropy);
    let services = Services::from((swarm, committees));
    let services = services.with_signer(signing_key::in_process()?);
    let site = Arc::new(Site::single(services, tenant));
    let maintenance = site.maintenance().with(LogQueuedMail::default);
    let listener = serve::bind("listen", &options.listen).await?;
    serve::print_address(&listener, false)?;
    let server = listener.local_addr()?;
    let (failed, failure) = oneshot::channel::<Failure>();
    let (filled, is_filled) = oneshot::channel::<()>();
    let until = async {
        tokio::select! { () = signal => None, failure = failure => failure.ok() }
    };
    let mut ended = None;
    tokio::spawn(async move {
        // The client is blocking.
        match spawn_blocking(move || fill(server, admin_token, clock)).await {
            // Keep the sender alive, so that the server runs until a signal arrives.
            Ok(Ok(())) => {
                drop(filled);
                std::future::pending().await
            }
            Ok(Err(failure)) => drop(failed.send(failure)),
            Err(panicked) => drop(failed.send(panicked.into())),
        }
    });
    let stop = async { ended = until.await };
    // Until the data is filed, the store's clock differs from this program's.
    let maintenance = |mut stopping: serve::Stopping| async move {
        tokio::select! {
            _ = is_filled => maintenance.run_until(stopping).await,
            () = &mut stopping => Ok(()),
        }
    };
    serve::serve(listener, &site, maintenance, serve::limits(false), stop).await?;
    ended.map_or(Ok(()), Err)
}

/// Files the sample data in chronological order, and prints what to open.
fn fill(server: SocketAddr, admin_token: String, clock: StoryClock) -> Result<(), Failure> {
    let client = Client::new(&format!("http://{server}"))?.without_retries();
    let end = clock.now();
    let mut desk = Desk { client, server, admin_token, clock, end, members: Vec::new() };
    sessions::begin(&mut desk)?;
    year::run(&desk)?;
    let keys = committee::create_members(&desk)?;
    let (mut opened, mut before) = (None, None);
    for days_ago in (1..=words::DAYS).rev() {
        let session = sessions::past(&mut desk, days_ago, before)?;
        before = Some(session);
        opened = opened.or((days_ago == sessions::BLIND).then_some(session));
        match days_ago {
            2 => committee::session(&desk, &keys, 0, days_ago)?,
            1 => committee::session(&desk, &keys, 1, days_ago)?,
            _ => {}
        }
    }
    sessions::pending(&desk)?;
    let without_roster = sessions::without_roster(&desk)?;
    let practice = sessions::practice(&desk)?;
    let sealed = sessions::sealed(&desk)?;
    let takes = sessions::open(&desk)?;
    sessions::applications(&desk)?;
    desk.clock.resume();
    let key = desk.members.first().map_or_else(String::new, Author::public_key);
    let opened = opened.ok_or("no blind session")?;
    print(&desk, takes, [sealed, opened, without_roster, practice], &key);
    Ok(())
}

fn print(
    desk: &Desk,
    [first, amended]: [TakeId; 2],
    [sealed, opened, without_roster, practice]: [SessionId; 4],
    key: &str,
) {
    let Desk { server, admin_token, .. } = desk;
    console::say(&format!(
        "
Sample data: a year of sessions, {} members. Open:
  http://{server}/   home page
  http://{server}/swarm/sessions   all sessions
  http://{server}/swarm/ranking   who was right: a year of outcomes
  http://{server}/swarm/takes/{amended}   an amended take
  http://{server}/swarm/takes/{first}   the first revision of it
  http://{server}/swarm/sessions/{sealed}   a blind session, its takes sealed
  http://{server}/swarm/sessions/{opened}   one whose takes were opened
  http://{server}/swarm/sessions/{without_roster}   an open session without a roster: any member may file in it
  http://{server}/swarm/sessions/{practice}   a practice session: it counts for nothing
  http://{server}/api/swarm/open-session   the open session, as JSON

Verify the take with its author's own key:
  swarm verify http://{server}/swarm/takes/{amended} --key {key}

The operators' console: http://{server}/operate
  its token, which is also the X-Admin-Token of the API: {admin_token}

Press Ctrl-C to stop. The data is lost then.",
        desk.members.len()
    ));
}
