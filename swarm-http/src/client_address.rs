//! The address of a client: behind a trusted proxy, or as the program around the service says.

use std::net::{IpAddr, SocketAddrV4};

use http::HeaderMap;

/// The address of the client, as an extension that the program around the [`service`](crate::service) sets in a request: its server
/// accepts the connection, and the service cannot know it otherwise. In axum it comes from `ConnectInfo<SocketAddr>`.
///
/// Wrong tokens are counted by it (API.md, 4.5), and clients get fair shares of the server by it (MANUAL.md, 12.3). Without it, all
/// clients share one count, so that one who guesses tokens delays all others; and nothing bounds what one client takes.
/// [`Site::trust_forwarded`](crate::Site::trust_forwarded) takes precedence. The accept loop of `swarm-server` knows the address
/// without it, and a warp filter has no extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

/// The client's address: the one that the trusted proxy appended to `X-Forwarded-For`, with or without
/// brackets, a zone and a port. Earlier values are under the client's control.
pub(crate) fn forwarded_address(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
    let last = last.rsplit(',').next()?.trim();
    if let Ok(with_port) = last.parse::<SocketAddrV4>() {
        return Some((*with_port.ip()).into());
    }
    let (address, port) = match last.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']')?,
        None => (last, ""),
    };
    // The zone is the name of an interface of the proxy.
    let address = address.split('%').next()?.parse().ok()?;
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then_some(address)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn client_is_last_forwarded_address() {
        let address = |values: &[&'static str]| {
            let header = |value: &&'static str| {
                ("x-forwarded-for".parse().unwrap(), HeaderValue::from_static(value))
            };
            forwarded_address(&values.iter().map(header).collect())
        };
        let is = |text: &str| Some(text.parse().unwrap());
        assert_eq!(address(&["192.0.2.7"]), is("192.0.2.7"));
        assert_eq!(address(&["203.0.113.1, 192.0.2.7"]), is("192.0.2.7"));
        assert_eq!(address(&["203.0.113.1", "unknown,192.0.2.7:4711"]), is("192.0.2.7"));
        assert_eq!(address(&["2001:db8::1"]), is("2001:db8::1"));
        assert_eq!(address(&["[2001:db8::1]:80"]), is("2001:db8::1"));
        assert_eq!(address(&["[2001:db8::1]"]), is("2001:db8::1"));
        for zoned in ["fe80::1%eth0", "[fe80::1%eth0]", "[fe80::1%25eth0]:80", "[fe80::1%2]:80"] {
            assert_eq!(address(&[zoned]), is("fe80::1"), "{zoned}");
        }
        for none in [
            &[][..],
            &[""],
            &["192.0.2.7, unknown"],
            &["[2001:db8::1"],
            &["[2001:db8::1]80"],
            &["[2001:db8::1]:http"],
        ] {
            assert_eq!(address(none), None);
        }
    }
}
