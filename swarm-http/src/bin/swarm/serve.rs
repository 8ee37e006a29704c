//! `swarm serve`

use std::env::{self, VarError};
use std::future::Future;
use std::sync::Arc;

use swarm_http::Site;
use swarm_http::server::{self, Limits};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::filter::LevelFilter;

use crate::arguments::Options;
use crate::background::Work;
use crate::failure::with_causes;
use crate::mail::Smtp;
use crate::{Failure, background, export, log, site, store};

pub(crate) async fn run(options: Options) -> Result<(), Failure> {
    let config = options.resolve()?;
    log::start(config.log_format, LevelFilter::INFO)?;
    let services = store::open(&config.store).await?;
    let site = site::configured(&config, services, admin_token()?)?;
    // The store has warned of itself when it was opened: here its warnings are only counted.
    site.ready().await.map_err(|error| with_causes("store", &error))?;
    let smtp = config.mail.as_ref().map(Smtp::new).transpose()?;
    let listener = listen(&config.listen).await?;
    let work = Work { smtp, exports: export::folders(&config)? };
    serve(listener, site, work, stop_signal()?).await
}

/// The operator's token of a single tenant, where the environment has one.
pub(crate) fn admin_token() -> Result<Option<String>, Failure> {
    match env::var("SWARM_ADMIN_TOKEN") {
        Ok(token) => Ok(Some(token)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err("SWARM_ADMIN_TOKEN is no text".into()),
    }
}

/// Takes the address, and says on standard output which one it is.
pub(crate) async fn listen(address: &str) -> Result<TcpListener, Failure> {
    let bound = TcpListener::bind(address).await;
    let listener = bound.map_err(|error| format!("listen: {address:?}: {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(listener)
}

/// Serves until told to stop, and then finishes what is in flight.
pub(crate) async fn serve(
    listener: TcpListener,
    site: Site,
    work: Work,
    stop: impl Future<Output = ()>,
) -> Result<(), Failure> {
    let mut background = background::start(&site, work);
    let filter = swarm_http::site(&Arc::new(site));
    let mut failed = false;
    let stop = async {
        tokio::select! {
            () = stop => {}
            _ = background.join_next() => failed = true,
        }
    };
    server::serve(listener, filter, Limits::default(), stop).await?;
    if failed { Err("the work in the background failed".into()) } else { Ok(()) }
}

/// Resolves with the first SIGTERM or SIGINT.
pub(crate) fn stop_signal() -> Result<impl Future<Output = ()>, Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => tracing::info!("SIGTERM: stopping"),
            _ = interrupt.recv() => tracing::info!("SIGINT: stopping"),
        }
    })
}
