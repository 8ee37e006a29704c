//! `swarm serve`: runs the server.

use std::convert::Infallible;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::process;
use std::sync::Arc;
use std::time::Duration;

use swarm_core::Error;
use swarm_core::store::StoreErrorKind;
use swarm_http::Site;
use swarm_server::{Limits, Listener};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;
use tracing_subscriber::filter::LevelFilter;

use crate::arguments::Options;
use crate::config::Config;
use crate::effective_settings::ServerSettings;
use crate::failure::{Failure, with_causes};
use crate::open_site::OpenSite;
use crate::store::Opened;
use crate::tenants::ServedIds;
use crate::tls_files::TlsFiles;
use crate::{console, descriptors, log, memory, open_site, secrets, signing_key, store};

/// How long the background work may take to end its rounds, once the last connection is closed.
const LAST_ROUND: Duration = Duration::from_secs(2);

/// Interval between counts of the warnings of the store.
const COUNT_WARNINGS_EVERY: Duration = Duration::from_secs(5);

pub(crate) async fn run(options: Options) -> Result<(), Failure> {
    // First: a signal that has no handler ends the process, or nothing where that is process 1 of a container.
    let (early, hangup) = (end_at_signals()?, signal(SignalKind::hangup())?);
    let mut config = options.clone().resolve()?;
    let (settings, served) = (ServerSettings::of(&config), ServedIds::of(&config));
    log::start(config.log_format, LevelFilter::INFO)?;
    tracing::info!(version = env!("SWARM_VERSION"), "starting");
    let limits = limits(config.trust_forwarded);
    let (file, read_only) = (config.file.take(), config.read_only);
    let Started { listener, metrics_listener, tls, open } = start(config, &served).await?;
    let stop = stop_signal()?;
    early.abort();
    // Not before: a start that fails must not show a token that nothing accepts.
    if let Some(token) = &open.minted_token {
        console::warn(&format!("admin token: {token}"));
    }
    print_address(&listener, tls.is_some())?;
    let site = Arc::clone(&open.site);
    let maintenance = open.maintenance();
    let maintenance = move |stopping: Stopping| async move {
        if !read_only {
            return maintenance.run_until(stopping).await;
        }
        stopping.await;
        Ok(())
    };
    let listener = match &tls {
        Some(tls) => tls.listen(listener),
        None => listener.into(),
    };
    if let Some(listener) = metrics_listener {
        tracing::info!(address = %listener.local_addr()?, "listening for metrics");
        // Serve until the process ends, so that the drain can be observed too.
        let never = std::future::pending();
        let operations = swarm_http::operations(&site);
        tokio::spawn(swarm_server::serve(listener, operations, Limits::default(), never));
    }
    let counted = Arc::clone(&site);
    let stop = async move {
        tokio::select! {
            () = stop => {}
            () = reload_on(hangup, Reloaded { file, open, tls, options, settings }) => {}
            () = keep_warnings_counted(&counted) => {}
        }
    };
    serve(listener, &site, maintenance, limits, stop).await
}

/// A server that has opened its store, and accepts no connections yet.
struct Started {
    listener: TcpListener,
    metrics_listener: Option<TcpListener>,
    tls: Option<TlsFiles>,
    open: OpenSite,
}

/// Binds the addresses, opens the store, and looks at what is in it.
async fn start(mut config: Config, served: &ServedIds) -> Result<Started, Failure> {
    // Bind first: an address in use stops the start before a store is created.
    let listener = bind("listen", &config.listen).await?;
    let metrics_listener = match &config.metrics_listen {
        Some(address) => Some(bind("metrics_listen", address).await?),
        None => None,
    };
    let tls = config.tls.clone().map(TlsFiles::read).transpose()?;
    let read_only = config.read_only;
    let key = config.signing_key.take();
    let (signing_key, is_memory) = (key.clone(), store::is_memory(&config.store));
    let checkpoints = move || match read_only {
        true => None,
        false => signing_key::kept_checkpoints(signing_key.as_deref(), is_memory),
    };
    let open_store = async |store: &str| {
        let signer = match read_only {
            // It signs nothing, and makes no file.
            true => signing_key::in_process()?,
            false => signing_key::signer(key.as_deref(), store::is_memory(store))?,
        };
        let Opened { services, store } = match read_only {
            true => store::open_read_only(store).await?,
            false => store::open(store).await?,
        };
        Ok(Opened { services: services.with_signer(signer), store })
    };
    let expiry = tls.as_ref().map(TlsFiles::expiry);
    let open = open_site::open(config, secrets::admin_token()?, expiry, open_store).await?;
    if !read_only {
        let tenants: Vec<_> = open.site.tenants().iter().map(|it| it.config().clone()).collect();
        open_site::warn_of(&tenants);
        // Before anything is committed.
        open_site::check_logs(&open.site).await;
        open_site::begin_webhooks(&open.site).await;
    }
    count_warnings(&open.site, checkpoints).await?;
    if let Some(warning) = served.warning(&open.store).await {
        tracing::warn!("{warning}");
    }
    Ok(Started { listener, metrics_listener, tls, open })
}

/// Counts the warnings of the store; opening it has logged them. A store that opened but is
/// misconfigured or full now, or went back, is served nevertheless: `/readyz` has the reason, and reads may work.
async fn count_warnings(
    site: &Site,
    checkpoints: impl FnOnce() -> Option<PathBuf>,
) -> Result<(), Failure> {
    match site.ready().await {
        Err(Error::Store(error)) if error.kind() == StoreErrorKind::WentBack => {
            tracing::error!("{}", with_causes("store", &error));
            if let Some(file) = checkpoints() {
                tracing::error!(
                    "no commit is accepted: {} remembers a log that the store does not have. If the store was replaced \
                     or emptied on purpose, run for each tenant: swarm admin accept store. Else put back the store that \
                     belongs to this file",
                    file.display()
                );
            }
            Ok(())
        }
        Err(Error::Store(error))
            if matches!(
                error.kind(),
                StoreErrorKind::Misconfigured | StoreErrorKind::ClockBehind
            ) =>
        {
            tracing::error!("{}", with_causes("store", &error));
            Ok(())
        }
        other => Ok(other.map(drop).map_err(|error| with_causes("store", &error))?),
    }
}

/// Counts the warnings of the store periodically, so that `/metrics` has them without requests to
/// `/readyz`.
async fn keep_warnings_counted(site: &Site) {
    loop {
        tokio::time::sleep(COUNT_WARNINGS_EVERY).await;
        // `/readyz` reports errors.
        let _ = site.ready().await;
    }
}

/// The limits of connections. Behind a proxy there is no limit per address, because all clients have the
/// address of the proxy.
pub(crate) fn limits(behind_proxy: bool) -> Limits {
    let mut limits = Limits::default();
    limits.connections = descriptors::make_room_for(limits.connections);
    if behind_proxy {
        limits.connections_per_address = None;
    }
    limits
}

/// The settings that SIGHUP reloads, and the settings that it only compares.
struct Reloaded {
    file: Option<PathBuf>,
    open: OpenSite,
    tls: Option<TlsFiles>,
    options: Options,
    settings: ServerSettings,
}

/// Reloads the tenants and the certificate at each SIGHUP. Never returns.
async fn reload_on(mut hangup: Signal, reloaded: Reloaded) {
    while hangup.recv().await.is_some() {
        reloaded.reload().await;
    }
    std::future::pending().await
}

impl Reloaded {
    async fn reload(&self) {
        if let Some(tls) = &self.tls {
            tls.reload();
        }
        match &self.file {
            Some(file) => {
                self.open.reload(file).await;
                self.warn_of_settings_that_need_a_restart();
            }
            None if self.tls.is_none() => tracing::warn!("SIGHUP: there is no file to reload"),
            None => {}
        }
    }

    /// A file with a fault has been logged.
    fn warn_of_settings_that_need_a_restart(&self) {
        let Ok(config) = self.options.clone().resolve() else { return };
        let changed = self.settings.changed(&ServerSettings::of(&config));
        if !changed.is_empty() {
            let keys = changed.join(", ");
            tracing::warn!(keys, "not taken up: these settings want a restart");
        }
    }
}

/// Binds the address. Connections wait in the backlog until the server accepts them.
pub(crate) async fn bind(key: &str, address: &str) -> Result<TcpListener, Failure> {
    let bound = TcpListener::bind(address).await;
    Ok(bound.map_err(|error| format!("{key}: {address:?}: {error}"))?)
}

/// Prints the address on standard output.
pub(crate) fn print_address(listener: &TcpListener, over_tls: bool) -> Result<(), Failure> {
    let scheme = if over_tls { "https" } else { "http" };
    console::say(&format!("listening on {scheme}://{}", listener.local_addr()?));
    Ok(())
}

/// Resolves when the server begins to stop.
pub(crate) type Stopping = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Serves until `stop` resolves or the background work fails, then drains the connections, and lets the background work
/// end its rounds.
pub(crate) async fn serve<F>(
    listener: impl Into<Listener>,
    site: &Arc<Site>,
    maintenance: impl FnOnce(Stopping) -> F,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> Result<(), Failure>
where
    F: Future<Output = Result<(), JoinError>> + Send + 'static,
{
    let (stopping, stopped) = oneshot::channel::<Infallible>();
    let mut maintenance = tokio::spawn(maintenance(Box::pin(async { drop(stopped.await) })));
    let mut failed = false;
    let stop = async {
        tokio::select! {
            () = stop => {}
            _ = &mut maintenance => failed = true,
            _ = memory::give_back(site) => {}
        }
        drop(stopping);
    };
    swarm_server::serve_site(listener, site, limits, stop).await?;
    // What is cut off here is tried again when its lease expires.
    if !failed && timeout(LAST_ROUND, &mut maintenance).await.is_err() {
        maintenance.abort();
    }
    if failed { Err("the background work failed".into()) } else { Ok(()) }
}

/// Ends the process at SIGTERM or SIGINT, until this task is aborted: a start may wait for the store, and holds up its own thread while it reads files,
/// of which a pipe or a mount may never answer. The threads that open the store are not waited for: what they write is there as a whole or not at all.
pub(crate) fn end_at_signals() -> Result<JoinHandle<()>, Failure> {
    let stop = stop_signal()?;
    Ok(tokio::spawn(async move {
        stop.await;
        console::flush();
        process::exit(0)
    }))
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
