//! The address of a client behind a trusted proxy.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;

/// The client's address: the one that the trusted proxy appended to `X-Forwarded-For`, with or without
/// a port. Earlier values are under the client's control.
pub(crate) fn forwarded_address(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
    let last = last.rsplit(',').next()?.trim();
    let with_port = || last.parse().map(|address: SocketAddr| address.ip());
    last.parse().or_else(|_| with_port()).ok()
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
        for none in [&[][..], &[""], &["192.0.2.7, unknown"]] {
            assert_eq!(address(none), None);
        }
    }
}
