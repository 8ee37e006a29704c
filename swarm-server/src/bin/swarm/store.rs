//! Opens the store at an address.

use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use percent_encoding::percent_decode_str;
#[cfg(any(feature = "postgres", feature = "redis"))]
use swarm_core::domain::may_be_host;
use swarm_core::store::{ReadOnly, Store};
use swarm_core::{Committees, Swarm, SystemEntropy};
use swarm_http::Services;
use swarm_store_memory::MemoryStore;
#[cfg(feature = "postgres")]
use swarm_store_postgres::PostgresStore;
#[cfg(feature = "redis")]
use swarm_store_redis::RedisStore;
#[cfg(feature = "sqlite")]
use swarm_store_sqlite::SqliteStore;

use crate::Failure;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "redis"))]
use crate::failure::with_causes;
use crate::failure::{full_path, missing_folder};

/// The default store: a file in the working directory (MANUAL.md, 13.1).
pub(crate) const DEFAULT_STORE: &str = "sqlite:swarm.db";

/// The address of the in-memory store, which is lost when the process ends.
const MEMORY: &str = "memory";

/// The prefix of the path of a SQLite file.
const SQLITE: &str = "sqlite:";

/// The URL schemes of Redis.
const REDIS: [&str; 6] = [
    "redis://",
    "rediss://",
    "redis-cluster://",
    "rediss-cluster://",
    "redis-sentinel://",
    "rediss-sentinel://",
];

/// The URL schemes of PostgreSQL.
const POSTGRES: [&str; 2] = ["postgres://", "postgresql://"];

const UNKNOWN: &str = "store: must be sqlite:PATH, memory, postgres://…, redis://…, rediss://…, \
                       redis-cluster://… or redis-sentinel://…";

/// SQLite would take them for a part of the name.
const SQLITE_PARAMETERS: &str =
    "store: sqlite:PATH has no parameters, and its path no question mark";

/// Elsewhere they are no names of files; here they would make files of these names.
const SQLITE_NAMES: &str = "store: sqlite:PATH is the path of a file, not :memory: or file:…; the store in memory is called memory";

/// The path of a SQLite file. Some write it like a URL, `sqlite://swarm.db` or `sqlite:///srv/swarm.db`.
pub(crate) fn sqlite_path(store: &str) -> Option<&Path> {
    let path = store.strip_prefix(SQLITE)?;
    Some(Path::new(path.strip_prefix("//").unwrap_or(path)))
}

/// Whether this is the address of the in-memory store.
pub(crate) fn is_memory(store: &str) -> bool {
    store == MEMORY
}

/// A store that is open.
pub(crate) struct Opened {
    /// Both interfaces.
    pub(crate) services: Services,
    /// The store, to list its tenants and to move them.
    pub(crate) store: Store,
}

/// Opens the store at this address (MANUAL.md, 13.1). A missing file is created, which is logged.
pub(crate) async fn open(store: &str) -> Result<Opened, Failure> {
    open_for(Use::Serve, store).await
}

/// Opens an existing store for reads only.
pub(crate) async fn open_read_only(store: &str) -> Result<Opened, Failure> {
    exists(store)?;
    open_for(Use::Read, store).await
}

/// Opens an existing store to see whether it can be served.
pub(crate) async fn open_to_check(store: &str) -> Result<Opened, Failure> {
    exists(store)?;
    open_for(Use::Check, store).await
}

/// Whether the tables of a store are there, at an address of the right form. Those of SQLite and Redis need not be created
/// before they are used.
pub(crate) async fn is_created(store: &str) -> Result<bool, Failure> {
    match Kind::of(store)? {
        #[cfg(feature = "postgres")]
        Kind::Postgres => connected(store, PostgresStore::is_created(store).await),
        _ => Ok(true),
    }
}

/// What a store is opened for.
#[derive(Clone, Copy)]
enum Use {
    Serve,
    /// Commits are refused, and nothing is written.
    Read,
    /// Commits are refused. A file has to be writable.
    Check,
}

async fn open_for(used: Use, store: &str) -> Result<Opened, Failure> {
    check(store)?;
    match Kind::of(store)? {
        Kind::Memory => Ok(opened(used, MemoryStore::new(), false)),
        #[cfg(feature = "sqlite")]
        Kind::Sqlite => Ok(opened(used, sqlite(used, store).await?, true)),
        #[cfg(feature = "postgres")]
        Kind::Postgres => {
            let connecting = match used {
                Use::Serve => PostgresStore::create(store).await,
                Use::Read | Use::Check => PostgresStore::connect_read_only(store).await,
            };
            Ok(opened(used, connected(store, connecting)?, true))
        }
        #[cfg(feature = "redis")]
        Kind::Redis => Ok(opened(used, connected(store, RedisStore::connect(store).await)?, true)),
        #[cfg(not(all(feature = "sqlite", feature = "postgres", feature = "redis")))]
        kind => Err(kind.is_not_built()),
    }
}

/// Checks the form of an address, without connecting.
pub(crate) fn check(store: &str) -> Result<(), Failure> {
    match Kind::of(store)? {
        Kind::Memory => Ok(()),
        #[cfg(feature = "sqlite")]
        Kind::Sqlite => Ok(()),
        #[cfg(feature = "postgres")]
        Kind::Postgres => connected(store, PostgresStore::check_address(store)),
        #[cfg(feature = "redis")]
        Kind::Redis => connected(store, RedisStore::check_address(store)),
        #[cfg(not(all(feature = "sqlite", feature = "postgres", feature = "redis")))]
        kind => Err(kind.is_not_built()),
    }
}

/// The kinds of stores, whether or not they are in this build.
enum Kind {
    Memory,
    Sqlite,
    Postgres,
    Redis,
}

impl Kind {
    fn of(store: &str) -> Result<Self, Failure> {
        let has_scheme = |schemes: &[&str]| schemes.iter().any(|it| store.starts_with(it));
        let file = sqlite_path(store).and_then(Path::to_str).unwrap_or_default();
        match store {
            MEMORY => Ok(Self::Memory),
            _ if file.ends_with(":memory:") || file.starts_with("file:") => {
                Err(SQLITE_NAMES.into())
            }
            _ if !file.is_empty() && store.contains('?') => Err(SQLITE_PARAMETERS.into()),
            _ if !file.is_empty() => Ok(Self::Sqlite),
            _ if has_scheme(&POSTGRES) => Ok(Self::Postgres),
            _ if has_scheme(&REDIS) => Ok(Self::Redis),
            _ => Err(UNKNOWN.into()),
        }
    }

    /// The refusal of a store that this build leaves out.
    #[cfg(not(all(feature = "sqlite", feature = "postgres", feature = "redis")))]
    fn is_not_built(&self) -> Failure {
        let (name, feature) = match self {
            Self::Memory => ("memory", "bin"),
            Self::Sqlite => ("SQLite", "sqlite"),
            Self::Postgres => ("PostgreSQL", "postgres"),
            Self::Redis => ("Redis", "redis"),
        };
        format!("store: this build of swarm has no {name} (feature `{feature}`)").into()
    }
}

/// Names the store in the error. Where user or password end earlier than they were meant to, the error says so alone: other texts name parts
/// of them as hosts and parameters. An `@` in them ends nothing: Redis takes the last one, and PostgreSQL names it.
#[cfg(any(feature = "postgres", feature = "redis"))]
fn connected<T>(store: &str, connected: Result<T, swarm_core::StoreError>) -> Result<T, Failure> {
    let described = |error| match credentials(store) {
        Some(found) if found.contains(['/', '#', '?']) => {
            let scheme = store.split(':').next().unwrap_or_default();
            format!("store: {scheme}: {PERCENT_ENCODE}")
        }
        found => {
            let text = with_causes(&format!("store: {}", shown(store)), &error);
            let is_encoded = found.is_none_or(is_encoded);
            if is_encoded { text } else { format!("{text}; {PERCENT_ENCODE}") }
        }
    };
    Ok(connected.map_err(described)?)
}

#[cfg(any(feature = "postgres", feature = "redis"))]
const PERCENT_ENCODE: &str = "user and password of an address are to be percent-encoded: % as %25, @ as %40, / as %2F, \
                              # as %23, ? as %3F, : as %3A";

/// What was meant as user and password in an address: all before its last `@`, but for one in the value of a parameter.
#[cfg(any(feature = "postgres", feature = "redis"))]
fn credentials(store: &str) -> Option<&str> {
    let (_, rest) = store.split_once("://")?;
    let end = rest.rfind('@')?;
    let (before, parameters) = rest.get(..end)?.split_once('?').unwrap_or((rest.get(..end)?, ""));
    // Without credentials, what is before the parameters are hosts with their ports.
    let hosts = before.rsplit_once('@').map_or(before, |(_, hosts)| hosts);
    let hosts = hosts.split('/').next().unwrap_or_default();
    match parameters.contains('=') && hosts.split(',').all(may_be_host) {
        true => before.rsplit_once('@').map(|(credentials, _)| credentials),
        false => rest.get(..end),
    }
}

/// Whether each percent sign encodes something.
#[cfg(any(feature = "mail", feature = "postgres", feature = "redis"))]
pub(crate) fn encodes_percent_signs(credentials: &str) -> bool {
    credentials.split('%').skip(1).all(|digits| {
        digits.get(..2).is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()))
    })
}

/// Whether each percent sign encodes something, and the whole is UTF-8 without characters that an address may not have.
#[cfg(any(feature = "postgres", feature = "redis"))]
fn is_encoded(credentials: &str) -> bool {
    !credentials.contains(['[', ']', ' '])
        && encodes_percent_signs(credentials)
        && percent_decode_str(credentials).decode_utf8().is_ok()
}

/// Opens an existing store.
pub(crate) async fn open_existing(store: &str) -> Result<Opened, Failure> {
    exists(store)?;
    open(store).await
}

/// Opens a store that exists to read all of it. A file that cannot be written is opened as one that is only read.
pub(crate) async fn open_to_dump(store: &str) -> Result<Opened, Failure> {
    let Some(file) = sqlite_path(store) else { return open(store).await };
    if file.metadata().is_ok_and(|file| file.len() == 0) {
        return Err(format!("store: {} is empty", full_path(file).display()).into());
    }
    match open(store).await {
        Err(failure) => open_read_only(store).await.map_err(|_| failure),
        opened => opened,
    }
}

/// The file that opening this store would create, if it would.
pub(crate) fn new_file(store: &str) -> Option<PathBuf> {
    sqlite_path(store).filter(|path| !path.exists()).map(Path::to_owned)
}

/// Checks that a missing file would be created: there is a folder for it, and no commits of the one before.
pub(crate) fn may_be_made(file: &Path) -> Result<(), Failure> {
    if let Some(missing) = missing_folder(file) {
        return Err(format!("store: {missing}").into());
    }
    #[cfg(feature = "sqlite")]
    SqliteStore::check_new(full_path(file)).map_err(|error| with_causes("store", &error))?;
    Ok(())
}

/// Checks that what is written to a store outlives this program.
pub(crate) fn outlives(store: &str) -> Result<(), Failure> {
    if store == MEMORY {
        return Err("store: memory ends with this command: give another store".into());
    }
    Ok(())
}

/// Checks the form of an address, and that its store can exist already.
pub(crate) fn exists(store: &str) -> Result<(), Failure> {
    check(store)?;
    if store == MEMORY {
        return Err("store: memory is empty at start: give the server's store".into());
    }
    match new_file(store) {
        Some(path) => {
            let path = full_path(&path);
            Err(format!("store: there is no file {path:?}: give the server's store").into())
        }
        None => Ok(()),
    }
}

/// The settings of a checked address, without a password.
pub(crate) fn settings(store: &str) -> String {
    let (_, settings) = store.split_once('?').unwrap_or_default();
    let is_public = |setting: &&str| {
        let name = setting.split('=').next().unwrap_or_default();
        !name.is_empty() && percent_decode_str(name).decode_utf8_lossy() != "password"
    };
    let public: Vec<_> = settings.split('&').filter(is_public).collect();
    if public.is_empty() { String::new() } else { format!("?{}", public.join("&")) }
}

/// The address without user, password and settings, for messages. If it is malformed, only the scheme,
/// because any part could be the password. A path that is no name is left out for the same reason.
pub(crate) fn shown(store: &str) -> String {
    if store.starts_with(SQLITE) {
        return store.to_owned();
    }
    let Some((scheme, rest)) = store.split_once("://") else { return store.to_owned() };
    let (rest, settings) = rest.split_once('?').unwrap_or((rest, ""));
    if settings.contains('@') {
        return scheme.to_owned();
    }
    let rest = rest.rsplit_once('@').map_or(rest, |(_, hosts)| hosts);
    let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
    let database = if is_name(scheme, path) { format!("/{path}") } else { String::new() };
    let is_port = |port: &str| port.is_empty() || port.parse::<u16>().is_ok();
    let is_ipv6 = |host: &str| {
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
    };
    let is_host = |host: &str| match host.rsplit_once(':') {
        _ if is_ipv6(host) => true,
        Some((name, port)) => !name.is_empty() && is_port(port),
        None => !host.is_empty(),
    };
    // PostgreSQL may have its host among the settings.
    let has_hosts = hosts.split(',').all(is_host) || (hosts.is_empty() && !database.is_empty());
    if has_hosts { format!("{scheme}://{hosts}{database}") } else { scheme.to_owned() }
}

/// Whether a path is the name of a database of PostgreSQL or of a primary that sentinels know, or the number of a database of Redis.
fn is_name(scheme: &str, path: &str) -> bool {
    let is_named = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.' | '%');
    !path.is_empty()
        && match scheme {
            "postgres" | "postgresql" | "redis-sentinel" | "rediss-sentinel" => {
                path.chars().all(is_named)
            }
            "redis" | "rediss" => path.bytes().all(|it| it.is_ascii_digit()),
            _ => false,
        }
}

/// Both interfaces for this use. A slow store gets the basis cache: takes are first judged by cached facts, so that most
/// cost one call of the store instead of two.
fn opened(used: Use, store: impl Into<Store>, is_slow: bool) -> Opened {
    let store = store.into();
    let is_served = matches!(used, Use::Serve);
    let served = if is_served { store.clone() } else { store.intercepted(Arc::new(ReadOnly)) };
    let committees = Committees::new(served.clone(), SystemEntropy);
    let swarm = Swarm::new(served, SystemEntropy);
    let swarm = if is_served && is_slow { swarm.with_basis_cache() } else { swarm };
    let services = Services::from((swarm, committees));
    // No change feed where no background work runs.
    let services = if is_served { services.with_changes(store.clone()) } else { services };
    Opened { services, store }
}

#[cfg(feature = "sqlite")]
async fn sqlite(used: Use, store: &str) -> Result<SqliteStore, Failure> {
    let path = sqlite_path(store).ok_or(UNKNOWN)?;
    let (is_new, file) = (!path.exists(), path.to_owned());
    let open = move || match used {
        Use::Serve | Use::Check => SqliteStore::open(file),
        Use::Read => SqliteStore::open_read_only(file),
    };
    let opened = tokio::task::spawn_blocking(open).await?;
    let name = path.display();
    let store = opened
        .map_err(|error| with_causes(&format!("store: {}", full_path(path).display()), &error))?;
    if is_new {
        tracing::info!("store: created {name}");
    }
    Ok(store)
}

#[cfg(all(test, any(feature = "postgres", feature = "redis")))]
mod tests {
    use super::*;

    #[test]
    fn settings_are_shown_without_a_password() {
        for (store, shown) in [
            ("postgres://h/d?pool=4&password=hush&strict=true", "?pool=4&strict=true"),
            ("postgres://h/d?%70assword=hush", ""),
            ("postgres://h/d?passwor%64=hush&pool=4", "?pool=4"),
            ("postgres://h/d?password=hush", ""),
            ("postgres://h/d?", ""),
            ("redis://:hush@h:1", ""),
            ("sqlite:swarm.db", ""),
        ] {
            assert_eq!(settings(store), shown, "{store}");
        }
    }

    #[test]
    fn database_is_shown_without_user_and_password() {
        for (store, expected) in [
            ("postgres://ada:hush@a:1,b:2/desk?pool=4", "postgres://a:1,b:2/desk"),
            ("postgres://ada:hu/sh@h/d-1", "postgres://h/d-1"),
            ("postgres:///desk?host=/run/postgresql", "postgres:///desk"),
            ("postgres://ada:hush/desk", "postgres"),
            ("postgres://ada:h?ush@h/desk", "postgres"),
            ("postgres://h/desk/hush", "postgres://h"),
            ("postgres://h/?password=hush", "postgres://h"),
            ("rediss://:hush@h:1/3?strict=true", "rediss://h:1/3"),
            ("redis://h/hush", "redis://h"),
            ("redis-sentinel://:hush@a:1,b:2/desk", "redis-sentinel://a:1,b:2/desk"),
            ("redis-sentinel://:hush@a:1,b:2/desk/hush", "redis-sentinel://a:1,b:2"),
            ("postgres://ada:hush@127.0.0.1:/desk", "postgres://127.0.0.1:/desk"),
            ("redis://:hush@localhost:", "redis://localhost:"),
            ("redis://:hush", "redis"),
            ("postgres://ada:hush@[::1],[::2]:1/desk", "postgres://[::1],[::2]:1/desk"),
            ("smtps://ada:hush@h:465", "smtps://h:465"),
        ] {
            assert_eq!(shown(store), expected, "{store}");
        }
    }

    #[test]
    fn characters_that_end_a_password_are_found() {
        let has_fault = |store: &str| {
            let ends = |found: &str| found.contains(['/', '#', '?']);
            credentials(store).is_some_and(|found| ends(found) || !is_encoded(found))
        };
        for bad in [
            "p/ss",
            "p#ss",
            "p?ss",
            "100%",
            "%zz",
            "%4",
            "a b",
            "p[ss",
            "p@s?x",
            "a?b=c",
            "a=b?c",
            "r%de",
            "p@ss/w#r%d?",
        ] {
            for url in [
                format!("redis://:{bad}@h:1"),
                format!("postgres://u:{bad}@h/d"),
                format!("postgres://u:{bad}@h/d?pool=4"),
            ] {
                assert!(has_fault(&url), "{url}");
            }
        }
        for good in [
            "redis://h:1",
            "redis://:p%40%2F%23%25@h:1",
            "redis-sentinel://:pw@a:1,b:2/name?strict=true",
            "postgres://h/d?user=a@b",
            "postgres://u:p:w@h/d?application_name=a@b",
            "postgres:///d?host=/run/postgresql",
            "memory",
        ] {
            assert!(!has_fault(good), "{good}");
        }
    }
}
