//! A primary that sentinels watch, and know the place of.

use redis::sentinel::{Sentinel, SentinelNodeConnectionInfo};
use redis::{
    Client, ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo, RedisConnectionInfo,
    RedisResult, TlsMode,
};

use crate::address;
use crate::server::tuned;

/// A primary by the name that its sentinels have for it.
pub(crate) struct Watched {
    sentinels: Vec<ConnectionInfo>,
    name: String,
    /// How to speak to the servers, wherever they are.
    servers: SentinelNodeConnectionInfo,
}

impl Watched {
    /// Reads `redis-sentinel://[user:password@]host:port,…/name`; `None` when it is not the address
    /// of sentinels. The credentials are for the servers.
    pub(crate) fn parse(url: &str) -> RedisResult<Option<Self>> {
        let Some((scheme, rest)) = url.split_once("-sentinel://") else { return Ok(None) };
        let nameless = (ErrorKind::InvalidClientConfig, "an address of sentinels ends with /name");
        let (hosts, name) = rest.trim_end_matches('/').rsplit_once('/').ok_or(nameless)?;
        let infos = address::each(scheme, hosts).into_iter().map(|url| url.into_connection_info());
        let infos = infos.collect::<RedisResult<Vec<_>>>()?;
        let none = (ErrorKind::EmptySentinelList, "no sentinel is named");
        let servers = servers(infos.first().ok_or(none)?.clone());
        let anonymous =
            |info: ConnectionInfo| info.set_redis_settings(RedisConnectionInfo::default());
        let sentinels = infos.into_iter().map(anonymous).collect();
        Ok(Some(Self { sentinels, name: name.to_owned(), servers }))
    }

    /// The way to what a sentinel holds for the primary, and what says so itself. A sentinel that is
    /// wrong, or silent for a second, is passed over.
    pub(crate) async fn primary(&self) -> RedisResult<Client> {
        let mut sentinels = Sentinel::build(self.sentinels.clone())?;
        sentinels.async_master_for(&self.name, Some(&self.servers)).await
    }
}

/// Servers are spoken to as this address says.
fn servers(address: ConnectionInfo) -> SentinelNodeConnectionInfo {
    let address = tuned(address);
    let servers = SentinelNodeConnectionInfo::default()
        .set_redis_connection_info(address.redis_settings().clone())
        .set_tcp_settings(address.tcp_settings().clone());
    match address.addr() {
        ConnectionAddr::TcpTls { .. } => servers.set_tls_mode(TlsMode::Secure),
        _ => servers,
    }
}
