//! A primary that is looked up through the sentinels that monitor it.

use redis::sentinel::{Sentinel, SentinelNodeConnectionInfo};
use redis::{
    Client, ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo, RedisConnectionInfo,
    RedisResult, TlsMode,
};

use super::options::{each_host, tuned};

/// A primary, by the name under which its sentinels monitor it.
#[derive(Clone)]
pub(super) struct MonitoredPrimary {
    sentinels: Vec<ConnectionInfo>,
    name: String,
    /// How to connect to the servers that sentinels return.
    servers: SentinelNodeConnectionInfo,
}

impl MonitoredPrimary {
    /// Reads `redis-sentinel://[user:password@]host:port,…/name`; `None` when it is not the address
    /// of sentinels. The credentials are for the servers.
    pub(super) fn parse(url: &str) -> RedisResult<Option<Self>> {
        let Some((scheme, rest)) = url.split_once("-sentinel://") else { return Ok(None) };
        let nameless = (ErrorKind::InvalidClientConfig, "an address of sentinels ends with /name");
        let (hosts, name) = rest.trim_end_matches('/').rsplit_once('/').ok_or(nameless)?;
        let infos = each_host(scheme, hosts).into_iter().map(|url| url.into_connection_info());
        let infos = infos.collect::<RedisResult<Vec<_>>>()?;
        let none = (ErrorKind::EmptySentinelList, "no sentinel is named");
        let servers = servers(infos.first().ok_or(none)?.clone());
        let anonymous =
            |info: ConnectionInfo| info.set_redis_settings(RedisConnectionInfo::default());
        let sentinels = infos.into_iter().map(anonymous).collect();
        Ok(Some(Self { sentinels, name: name.to_owned(), servers }))
    }

    /// A client of the server that a sentinel returns, if that server confirms that it is a primary.
    /// A sentinel that is wrong, or does not answer within a second, is skipped.
    pub(super) async fn locate(&self) -> RedisResult<Client> {
        let mut sentinels = Sentinel::build(self.sentinels.clone())?;
        sentinels.async_master_for(&self.name, Some(&self.servers)).await
    }
}

/// Connections to servers use the credentials and the encryption of this address.
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
